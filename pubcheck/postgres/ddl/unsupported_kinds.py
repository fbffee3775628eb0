"""The error of an ALTER TABLE action that a kind of relation does not take (ATSimplePermissions)."""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.relkind import RELKIND_SINGULAR, not_supported_for


def not_alterable(action: str, relation: Relation, key: str | None = None) -> ServerError:
    """Return the error, with a key if it is reported."""
    return ServerError(
        "42809",
        'ALTER action {action} cannot be performed on relation "{relation}"',
        key=key,
        detail=not_supported_for(relation.kind),
        action=action,
        relation=relation.name,
        kind=RELKIND_SINGULAR[relation.kind],
    )
