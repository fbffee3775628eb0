"""Programs that build several databases: tests and examples.

The statements of a program are in one file and run in unknown order. A test case has its own database, on which the
statements outside all cases ran before. A statement that creates an existing object is taken for a new run on another
database: everything that the program did so far is undone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from pubcheck.postgres.parse import Node

_Key = tuple[str, str, str]
_DROPPED = {"OBJECT_TABLE": "table", "OBJECT_SCHEMA": "schema"}
"""Kinds of objects that one run may drop and create again. A publication is dropped first where an earlier run may have
left it."""


_LEAVE = ("TRANS_STMT_ROLLBACK_TO", "TRANS_STMT_RELEASE")
_ENTER = "TRANS_STMT_SAVEPOINT"


class RunObjects:
    """The objects that a program created in the current run. ``cases`` are the spans of its test cases."""

    def __init__(self, cases: tuple[tuple[int, int], ...]) -> None:
        self._created: set[_Key] = set()
        self._cases = cases
        self._starts = [start for start, _ in cases]
        self._case = -1
        self._before: set[_Key] = set()

    def reach(self, offset: int) -> Iterator[str]:
        """Advance to an offset of the program, and yield the BEGIN and ROLLBACK of test cases before it."""
        number = bisect_right(self._starts, offset) - 1
        case = number if number >= 0 and offset < self._cases[number][1] else -1
        if case == self._case:
            return
        if self._case >= 0:
            self._created = self._before
            yield from _LEAVE
        if case >= 0:
            self._before = {*self._created}
            yield _ENTER
        self._case = case

    def record(self, name: str, node: Node, unknown: AbstractSet[str]) -> Iterator[str]:
        """Record a statement. Yields the transaction statements that begin another run if it creates an existing
        object.

        ``unknown`` names may be different each time.
        """
        if self._creates_again(name, node, unknown):
            yield from ("TRANS_STMT_ROLLBACK", "TRANS_STMT_BEGIN")
            if self._case >= 0:
                self._before = set()
                yield _ENTER

    def _creates_again(self, name: str, node: Node, unknown: AbstractSet[str]) -> bool:
        """Record a statement, and return whether it creates an object that was created before."""
        key = _key(name, node)
        if key is not None and key[2] not in unknown:
            if key in self._created:
                self._created = {key}
                return True
            self._created.add(key)
        elif name == "DropStmt" and node["removeType"] in _DROPPED:
            kind = _DROPPED[node["removeType"]]
            for gone in (_named(item) for item in node["objects"]):
                self._created = {
                    key for key in self._created if key[::2] != (kind, gone) and (kind != "schema" or key[1] != gone)
                }
        return False


def _key(name: str, node: Node) -> _Key | None:
    if name == "CreateStmt":
        relation = node["relation"]
        return "table", relation.get("schemaname", ""), relation["relname"]
    if name == "CreatePublicationStmt":
        return "publication", "", node["pubname"]
    if name == "CreateSubscriptionStmt":
        return "subscription", "", node["subname"]
    if name == "CreateSchemaStmt" and not node.get("if_not_exists"):
        return "schema", "", node.get("schemaname", "")
    return None


def _named(item: Node) -> str:
    """Return the last part of a dropped object's name."""
    while "List" in item:
        item = item["List"]["items"][-1]
    return str(item.get("String", {}).get("sval", ""))
