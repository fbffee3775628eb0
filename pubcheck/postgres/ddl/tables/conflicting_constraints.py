"""Constraints and defaults that a column cannot have, or cannot have together (parser/parse_utilcmd.c:
transformColumnDefinition, transformConstraintAttrs).

Such a refusal is not reported; the table or column is then not created.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.versions import Major

_VALUES = ("CONSTR_DEFAULT", "CONSTR_IDENTITY", "CONSTR_GENERATED")
_ENFORCEMENT = ("CONSTR_ATTR_ENFORCED", "CONSTR_ATTR_NOT_ENFORCED")
_DEFERRING = ("CONSTR_ATTR_DEFERRABLE", "CONSTR_ATTR_NOT_DEFERRABLE", "CONSTR_ATTR_DEFERRED", "CONSTR_ATTR_IMMEDIATE")
_DEFERRABLE = ("CONSTR_PRIMARY", "CONSTR_UNIQUE", "CONSTR_EXCLUSION", "CONSTR_FOREIGN")


def refuse_contradictions(major: Major, constraints: Sequence[Node], serial: bool) -> None:
    """Raise ServerError 42601 for conflicting constraints of a column; ``serial``: its type gives it a default and NOT
    NULL.
    """
    kinds = tuple([item["Constraint"]["contype"] for item in constraints])
    message = _contradiction(kinds, serial, named=major.named_not_null, enforcement=major.enforcement)
    if message is not None:
        raise ServerError("42601", message)


@lru_cache(maxsize=1024)
def _contradiction(kinds: tuple[str, ...], serial: bool, *, named: bool, enforcement: bool) -> str | None:
    if "CONSTR_NULL" in kinds:
        filled = ("CONSTR_NOTNULL", "CONSTR_IDENTITY", *(("CONSTR_PRIMARY",) if named else ()))
        if serial or any(kind in filled for kind in kinds):
            return "conflicting NULL/NOT NULL declarations"
    if serial + sum(kind in _VALUES for kind in kinds) > 1:
        return "multiple default values, identities or generation expressions"
    last = ""
    for kind in kinds:
        if kind in _ENFORCEMENT:
            if not enforcement or last not in ("CONSTR_CHECK", "CONSTR_FOREIGN"):
                return "misplaced ENFORCED clause"
        elif kind in _DEFERRING:
            if last not in _DEFERRABLE:
                return "misplaced DEFERRABLE clause"
        else:
            last = kind
    return None
