"""The statements of a scaffold: replica identities for the tables, and one publication, so that all demands are met.
They are linted after the schema; tables that cannot satisfy the consumer are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.consumers.demand_rules import identity_kind, is_suitable, key_kinds, primary_key
from pubcheck.checks.consumers.readers import matches
from pubcheck.checks.tables import can_be_toasted
from pubcheck.config import Config
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
from pubcheck.consumers.profiles import Consumer, ConsumerUse, id_of, load
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.replication.publication_lookup import is_publishable
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import identifier
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.source import Source

_Demand = TypeVar("_Demand", bound=Base)

_OPERATIONS: tuple[Operation, ...] = ("insert", "update", "delete", "truncate")
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
        return tuple(operation for operation in _OPERATIONS if operation not in unpublished)

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


# The statements of a scaffold: replica identities for the tables, and one publication.

_EXISTING: frozenset[IdentityKind] = frozenset(("default", "index", "full"))

_KINDS = {
    "v": "a view",
    "m": "a materialized view",
    "S": "a sequence",
    "f": "a foreign table",
    "i": "an index",
    "I": "an index",
    "c": "a type",
}


class Plan:
    """A publication for the tables of a schema. ``name`` is that of the publication, the consumer's own if empty."""

    def __init__(self, session: Session, wishes: Wishes, name: str = "") -> None:
        self.session, self.catalog, self.wishes = session, session.catalog, wishes
        self.name = name or wishes.name

    def candidates(self, patterns: Sequence[str]) -> list[Relation]:
        """Return the tables that the patterns name, with partitions if these must be named themselves."""
        rows = [row for row in self.catalog.relations.values() if is_publishable(row) and row.seen]
        chosen = [row for row in rows if not patterns or matches(patterns, self.session.qualified(row))]
        if self.wishes.leaves_only:
            oids = {row.oid for row in chosen}
            leaves = [row for row in rows if row.kind == "r"]
            return [row for row in leaves if row.oid in oids or not oids.isdisjoint(self.catalog.ancestors(row.oid))]
        roots = {row.oid for row in chosen if row.kind == "p"}
        return [row for row in chosen if roots.isdisjoint(self.catalog.ancestors(row.oid))]

    def why_unmatched(self, pattern: str) -> str:
        """Return why a pattern names no table that can be published."""
        rows = [row for row in self.catalog.relations.values() if row.kind in _KINDS or not is_publishable(row)]
        row = next((row for row in rows if matches([pattern], self.session.qualified(row))), None)
        if row is None:
            return f"there is no table {pattern}"
        kind = _KINDS.get(row.kind) or {"u": "an unlogged table", "t": "a temporary table"}.get(row.persistence)
        return f"{self.session.qualified(row)} is {kind or 'a relation'}, which cannot be published"

    def statements(self, tables: Sequence[Relation]) -> list[str]:
        """Return the statements, in the order in which they are to run."""
        created, required = self._required()
        members = [self._written(row) for row in tables if row.kind != "p" or self._has_leaves(row)]
        members += [name for name in required if name not in members]
        identities = [text for row in tables for text in self._identities(row)]
        identities += [
            text
            for setup, name in zip(created, required, strict=False)
            if setup and any("full" in wish.allow and "default" not in wish.allow for wish in self.wishes.identities)
            for text in (f"ALTER TABLE {name} REPLICA IDENTITY FULL",)
        ]
        setup = [text for texts in created for text in texts]
        return [*setup, *identities, self._publication(tables, members)]

    def _has_leaves(self, root: Relation) -> bool:
        return any(True for _ in self.catalog.descendants(root.oid))

    def _required(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the statements that create the tables which the consumer needs, and the names of these tables."""
        created: list[tuple[str, ...]] = []
        names: list[str] = []
        for pattern, setup in self.wishes.required.items():
            rows = [row for row in self.catalog.relations.values() if is_publishable(row)]
            rows = [row for row in rows if matches([pattern], self.session.qualified(row))]
            created.append(() if rows else setup)
            names.append(self._written(rows[0]) if rows else pattern)
        return created, names

    def _written(self, relation: Relation) -> str:
        """Return the name of a table with its schema, as any session finds it."""
        schema = self.catalog.namespaces[relation.namespace].name
        return f"{identifier(schema)}.{identifier(relation.name)}"

    def _publication(self, tables: Sequence[Relation], members: Sequence[str]) -> str:
        text = f"CREATE PUBLICATION {identifier(self.name)}"
        if self.wishes.scope == "all tables":
            text += " FOR ALL TABLES"
        elif self.wishes.scope == "schemas":
            schemas = dict.fromkeys(self.catalog.namespaces[row.namespace].name for row in tables)
            text += f" FOR TABLES IN SCHEMA {', '.join(map(identifier, schemas))}"
        else:
            text += " FOR TABLE\n    " + ",\n    ".join(members)
        options = self._options(tables)
        return f"{text}\n    WITH ({', '.join(options)})" if options else text

    def _options(self, tables: Iterable[Relation]) -> list[str]:
        options = []
        if self.wishes.operations != _OPERATIONS:
            options.append(f"publish = '{', '.join(self.wishes.operations)}'")
        if self.wishes.via_root and any(row.kind == "p" for row in tables):
            options.append("publish_via_partition_root = true")
        generated = any(column.generated == "s" for row in tables for column in row.live())
        if generated and self.wishes.publishes_generated and self.catalog.major.publish_generated_columns:
            options.append("publish_generated_columns = stored")
        return options

    # Replica identities.

    def _identities(self, table: Relation) -> list[str]:
        """Return the statements that give a table, or its partitions, an identity that the consumer takes."""
        rows = [table]
        if table.kind == "p":
            below = [self.catalog.relations[oid] for oid in self.catalog.descendants(table.oid)]
            rows = [*([table] if self._on_roots() else ()), *(row for row in below if row.kind == "r")]
        return [text for row in dict.fromkeys(rows) for text in self._identity(row)]

    def _on_roots(self) -> bool:
        """Return whether the partitioned table needs the identity too: it is read, or changes have its name."""
        return bool(self.wishes.via_root) or any("roots" in wish.on for wish in self.wishes.identities)

    def _identity(self, table: Relation) -> list[str]:
        present = identity_kind(self.catalog, table)
        allowed = set(_EXISTING)
        for wish in self.wishes.identities:
            if not wish.toastable or self._is_toastable(table):
                allowed &= wish.allow
        keys = self.wishes.keys
        if present in allowed and all(not key_kinds(self.catalog, table).isdisjoint(accept) for accept in keys):
            return []
        name = self._written(table)
        needs_key = any(key_kinds(self.catalog, table).isdisjoint(accept) for accept in keys)
        if "default" in allowed and primary_key(self.catalog, table) and not needs_key:
            return [f"ALTER TABLE {name} REPLICA IDENTITY DEFAULT"]
        index = self._suitable_index(table)
        if "index" in allowed and index and all("identity index" in accept for accept in keys if needs_key):
            return [f"ALTER TABLE {name} REPLICA IDENTITY USING INDEX {identifier(index)}"]
        if "full" in allowed:
            return [f"ALTER TABLE {name} REPLICA IDENTITY FULL"]
        return []

    def _suitable_index(self, table: Relation) -> str:
        """Return the name of an index that can be the replica identity, "" if there is none."""
        for oid in self.catalog.indexes_of.get(table.oid):
            if is_suitable(self.catalog.indexes[oid], table):
                return self.catalog.relations[oid].name
        return ""

    def _is_toastable(self, table: Relation) -> bool:
        try:
            return any(can_be_toasted(self.session.syscache, column) for column in table.live())
        except Unknowable:
            return True


LABEL = "scaffold.sql"
_EFFECTS = "PUB919"


class Scaffold(Struct, frozen=True):
    """The statements, and why they are not more: tables that were left out, and what makes the whole impossible."""

    statements: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()

    def sql(self) -> str:
        """Return the statements as a script, with a comment for each table that was left out."""
        comments = "".join(f"-- {name} is left out: {reason}\n" for name, reason in self.left_out)
        return comments + "".join(f"{statement};\n" for statement in self.statements)


def scaffold(unit: Unit, use: ConsumerUse, patterns: Sequence[str], config: Config, name: str = "") -> Scaffold:
    """Return the statements that publish these tables for a consumer, after the statements of the unit.

    Tables that a pattern with `*` matches and that cannot satisfy the consumer are left out; one that is named exactly
    is a problem instead, and so is a pattern that no table matches.
    """
    majors = unit.postgres or config.postgres or (DEFAULT_MAJOR,)
    config = replace(config, postgres=majors, consumers=(), select=("PUB",), ignore=(), severity=())
    wishes = Wishes(use, majors[-1])
    if not wishes.reads_publication:
        return Scaffold((), problems=(f"{wishes.consumer.name} does not read publications",))
    followed = Linter(config).follow(unit)
    plan = Plan(followed.replays[-1].session, wishes, name)
    use = replace(use, publications=(plan.name,))
    config = replace(config, consumers=(use,))
    known = {_identity(diagnostic) for diagnostic in followed.findings}
    tables = plan.candidates(patterns)
    problems = [plan.why_unmatched(pattern) for pattern in patterns if not plan.candidates([pattern])]
    if plan.name in plan.catalog.publication_names:
        advice = "drop it" if wishes.has_fixed_name else "choose another name with --publication, or drop it"
        problems.append(f'there is a publication "{plan.name}" already: {advice}')
    if problems:
        return Scaffold((), problems=tuple(problems))
    left_out: dict[str, str] = {}
    while tables:
        statements = plan.statements(tables)
        sources = (*unit.sources, Source(LABEL, "".join(f"{statement};\n" for statement in statements)))
        diagnostics = Linter(config).lint(replace(unit, sources=sources)).diagnostics
        wrong = [row for row in diagnostics if _identity(row) not in known and _counts(row, plan.name)]
        if not wrong:
            return _result(patterns, statements, left_out)
        refused = _tables_of(plan, wrong, tables)
        if not refused:
            return Scaffold((), tuple(left_out.items()), tuple(dict.fromkeys(row.message for row in wrong)))
        left_out.update({plan.session.qualified(row): reason for row, reason in refused})
        tables = [row for row in tables if all(row is not refused_row for refused_row, _ in refused)]
    problem = "no table is left" if left_out else "there are no tables"
    return Scaffold((), tuple(left_out.items()), (problem,))


def _result(patterns: Sequence[str], statements: Sequence[str], left_out: dict[str, str]) -> Scaffold:
    exact = [pattern for pattern in patterns if "*" not in pattern]
    problems = [f"{name}: {reason}" for name, reason in left_out.items() if matches(exact, name)]
    return Scaffold(() if problems else tuple(statements), tuple(left_out.items()), tuple(problems))


def _identity(diagnostic: Diagnostic) -> tuple[object, ...]:
    return diagnostic.rule, diagnostic.object, diagnostic.operation, diagnostic.message


def _counts(diagnostic: Diagnostic, publication: str) -> bool:
    """Return whether a finding speaks against the scaffold: PostgreSQL refuses something, or the consumer does."""
    if diagnostic.claim is not None:
        return diagnostic.rule != _EFFECTS and publication in diagnostic.publications
    if diagnostic.span.source.label == LABEL and diagnostic.phase == "ddl":
        return diagnostic.severity != "note"
    return diagnostic.phase == "write" and diagnostic.server is not None


def _tables_of(plan: Plan, wrong: Sequence[Diagnostic], tables: Sequence[Relation]) -> list[tuple[Relation, str]]:
    """Return the tables that findings name, or whose partitions they name, each with the first reason."""
    session, catalog = plan.session, plan.catalog
    reasons: dict[int, tuple[Relation, str]] = {}
    for diagnostic in wrong:
        names = {diagnostic.object, *diagnostic.also}
        for row in tables:
            family = [session.qualified(catalog.relations[oid]) for oid in catalog.descendants(row.oid)]
            concerned = [name for name in family if name in names]
            if concerned:
                reasons.setdefault(row.oid, (row, _reason(diagnostic, session.qualified(row), concerned)))
    return list(reasons.values())


def _reason(diagnostic: Diagnostic, table: str, concerned: Sequence[str]) -> str:
    """Return why a table is left out; ``concerned`` are the table itself or partitions and children of it."""
    if diagnostic.claim is None or not diagnostic.also:
        return diagnostic.message
    # The message names other tables too.
    prefix = "" if table in concerned else f"{concerned[0]}: "
    demand = diagnostic.claim.says.partition(". ")[0].removesuffix(".")
    return f"{prefix}{demand} ({diagnostic.claim.claim})"
