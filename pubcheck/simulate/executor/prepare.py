"""The functions that analyse statements that change rows, by their parse nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node

_PREPARE: Deferred[str, Callable[[Any, Node, Any], Any]] = Deferred(
    "pubcheck.simulate.executor",
    {
        "DeleteStmt": "delete:prepare_delete",
        "InsertStmt": "insert:prepare_insert",
        "MergeStmt": "merge:prepare_merge",
        "UpdateStmt": "update:prepare_update",
    },
)


def prepare_changes(session: Any, kind: str, node: Node, outer: Any) -> Any:
    """Analyse a statement in its scope: a ``Changes``. Raises ServerError, NotFollowed."""
    return _PREPARE[kind](session, node, outer)
