"""The demands of a consumer, together: what a publication and its tables must be so that all of them are met."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from msgspec import Struct

from pubcheck.consumers.demands import (
    Base,
    GeneratedColumns,
    IdentityKind,
    Key,
    KeyKind,
    Kinds,
    Level,
    Members,
    Name,
    Operation,
    Operations,
    PublicationScope,
    ReplicaIdentity,
    Scope,
    Unread,
    ViaRoot,
)
from pubcheck.consumers.options import ConsumerUse
from pubcheck.consumers.profiles import Consumer, id_of, load

_Demand = TypeVar("_Demand", bound=Base)

OPERATIONS: tuple[Operation, ...] = ("insert", "update", "delete", "truncate")
_SCOPES: tuple[Scope, ...] = ("tables", "schemas", "all tables")


class Identity(Struct, frozen=True):
    """The kinds of replica identity that one claim allows, for which tables, and whether only for toastable ones."""

    allow: frozenset[IdentityKind]
    on: Level
    toastable: bool


class Wishes:
    """What one consumer demands, in its modes and for one major, without what it only tells as an effect."""

    def __init__(self, use: ConsumerUse, major: int) -> None:
        self.consumer: Consumer = load(use.consumer)
        self._id = id_of(use.consumer)
        modes = frozenset(use.modes) or self.consumer.default_modes
        claims = [claim for claim in self.consumer.claims if claim.holds_in(modes, major)]
        # What a consumer requires comes before what it recommends.
        claims.sort(key=lambda claim: claim.strength != "must")
        self._demands = [demand for claim in claims if claim.strength != "effect" for demand in claim.demands]
        self._every_demand = [demand for claim in claims for demand in claim.demands]

    def _of(self, kind: type[_Demand]) -> Iterator[_Demand]:
        return (demand for demand in self._demands if isinstance(demand, kind))

    @property
    def reads_publication(self) -> bool:
        """Whether the consumer looks at publications at all."""
        return next(self._of(Unread), None) is None

    @property
    def name(self) -> str:
        """A name that the consumer takes for its publication."""
        names = [demand for demand in self._every_demand if isinstance(demand, Name)]
        fixed = [demand.equals or demand.default for demand in names if demand.equals or demand.default]
        own = [name.replace("*", "default") for name in self.consumer.publication_names]
        prefixes = [match[1] + "default" for demand in names if (match := re.match(r"\^(\w+)$", demand.pattern))]
        patterns = [demand.pattern for demand in names if demand.pattern]
        plain = self._id.replace("-", "_")
        candidates = [*fixed, *own, *prefixes, plain, f"{plain}_publication"]
        return next(name for name in candidates if all(re.search(pattern, name) for pattern in patterns))

    @property
    def has_fixed_name(self) -> bool:
        """Whether the consumer looks for a publication of one name only."""
        return any(demand.equals for demand in self._of(Name))

    @property
    def scope(self) -> Scope:
        """The narrowest way to name tables that the consumer takes."""
        allowed = [set(demand.allow) for demand in self._of(PublicationScope)]
        return next((scope for scope in _SCOPES if all(scope in scopes for scopes in allowed)), "tables")

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations to publish: all, except those at which the consumer stops."""
        unpublished = {operation for demand in self._of(Operations) for operation in demand.unpublished}
        return tuple(operation for operation in OPERATIONS if operation not in unpublished)

    @property
    def via_root(self) -> bool | None:
        """publish_via_partition_root; None if either will do."""
        configured = any(demand.configured for demand in self._of(Members))
        return next((demand.value for demand in self._of(ViaRoot)), True if configured else None)

    @property
    def leaves_only(self) -> bool:
        """Whether partitions must be named instead of partitioned tables."""
        return any("partitioned" in demand.forbid for demand in self._of(Kinds))

    @property
    def publishes_generated(self) -> bool:
        """Whether stored generated columns must be published. A consumer that only tells so can read them too."""
        return any(isinstance(demand, GeneratedColumns) and demand.published for demand in self._every_demand)

    @property
    def identities(self) -> list[Identity]:
        """What each claim about replica identities allows."""
        return [
            Identity(frozenset(demand.allow), demand.on, demand.toastable)
            for demand in self._of(ReplicaIdentity)
            if set(demand.operations).intersection(self.operations) or not demand.operations
        ]

    @property
    def keys(self) -> list[frozenset[KeyKind]]:
        """What each claim about keys takes as one."""
        return [frozenset(demand.accept) for demand in self._of(Key)]

    @property
    def required(self) -> dict[str, tuple[str, ...]]:
        """The tables that must be members, with the statements that create them if the files do not."""
        return {
            pattern: demand.setup
            for demand in self._of(Members)
            for pattern in demand.required
            if not demand.if_created
        }
