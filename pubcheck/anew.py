"""Programs that make the same thing twice: tests, examples, one database after the other.

The statements of a program stand in one file and run in no known order. Where one makes what another made before, what
came between is taken for another run, on another database: all that the program did so far is taken back.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pubcheck.postgres.parse import Node
from pubcheck.sources.text import Source

_Key = tuple[str, str, str]
_DROPPED = {"OBJECT_TABLE": "table", "OBJECT_SCHEMA": "schema"}
"""What may be dropped and made again in one run. A publication is dropped first where a run may have left it."""


def in_any_order(source: Source) -> bool:
    """Whether the statements of a source are those of a program, as a whole."""
    view = source.view
    return view is not None and view.quoted and view.perhaps == ((0, len(source.text)),)


class Made:
    """What a program has made since it last began anew."""

    def __init__(self) -> None:
        self._made: set[_Key] = set()

    def again(self, name: str, node: Node, unknown: AbstractSet[str]) -> bool:
        """Take note of a statement; whether it makes what was made before. Each of the ``unknown`` names may be another
        one every time."""
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
