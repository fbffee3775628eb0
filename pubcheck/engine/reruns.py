"""Programs that build several databases: tests, examples.

The statements of a program are in one file and run in no known order. A test case has a database of its own, on which
the statements outside of all cases ran before. Where a statement creates what another one created before, it is taken
for another run, on another database: all that the program did so far is taken back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from pubcheck.postgres.parse import Node

_Key = tuple[str, str, str]
_DROPPED = {"OBJECT_TABLE": "table", "OBJECT_SCHEMA": "schema"}
"""What may be dropped and made again in one run. A publication is dropped first where a run may have left it."""


_LEAVE = ("TRANS_STMT_ROLLBACK_TO", "TRANS_STMT_RELEASE")
_ENTER = "TRANS_STMT_SAVEPOINT"


class RunObjects:
    """What a program has made in the run at hand. ``cases`` are the spans of its test cases."""

    def __init__(self, cases: tuple[tuple[int, int], ...]) -> None:
        self._made: set[_Key] = set()
        self._cases = cases
        self._starts = [start for start, _ in cases]
        self._case = -1
        self._before: set[_Key] = set()

    def reach(self, at: int) -> Iterator[str]:
        """Go on to an offset of the program; the transaction statements that begin and end the cases on the way."""
        number = bisect_right(self._starts, at) - 1
        case = number if number >= 0 and at < self._cases[number][1] else -1
        if case == self._case:
            return
        if self._case >= 0:
            self._made = self._before
            yield from _LEAVE
        if case >= 0:
            self._before = {*self._made}
            yield _ENTER
        self._case = case

    def record(self, name: str, node: Node, unknown: AbstractSet[str]) -> Iterator[str]:
        """Take note of a statement; the transaction statements that begin another run if it creates what is there. Each
        of the ``unknown`` names may be another one every time."""
        if self._again(name, node, unknown):
            yield from ("TRANS_STMT_ROLLBACK", "TRANS_STMT_BEGIN")
            if self._case >= 0:
                self._before = set()
                yield _ENTER

    def _again(self, name: str, node: Node, unknown: AbstractSet[str]) -> bool:
        """Take note of a statement; whether it creates what was created before."""
        key = _key(name, node)
        if key is not None and key[2] not in unknown:
            if key in self._made:
                self._made = {key}
                return True
            self._made.add(key)
        elif name == "DropStmt" and node["removeType"] in _DROPPED:
            kind = _DROPPED[node["removeType"]]
            for gone in (_named(item) for item in node["objects"]):
                self._made = {
                    key for key in self._made if key[::2] != (kind, gone) and (kind != "schema" or key[1] != gone)
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
    """The last part of a dropped object's name."""
    while "List" in item:
        item = item["List"]["items"][-1]
    return str(item.get("String", {}).get("sval", ""))
