"""The expressions of a snapshot as parse trees."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.partition_bounds import STRATEGIES
from pubcheck.postgres.ddl.tables.partition_keys import has_usual_order, partition_key
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.parse_tree import column_names


class Expressions:
    """Parses expressions; equal texts are parsed once."""

    def __init__(self) -> None:
        self._trees: dict[str, tuple[Node, ...]] = {}

    def tree(self, text: str) -> Node:
        """Return the tree of one expression. Nobody may change it."""
        return self.trees(text)[0]

    def trees(self, text: str) -> tuple[Node, ...]:
        """Return the trees of expressions that are separated by commas."""
        if not text:
            return ()
        trees = self._trees.get(text)
        if trees is None:
            trees = self._trees[text] = _parsed(text)
        return trees

    def fresh_tree(self, text: str) -> Node:
        """Return a tree of its own."""
        return _parsed(text)[0]

    def with_partition_key(self, catalog: Catalog, relation: Relation, key: str) -> Relation:
        """Return a partitioned table with its key, as pg_get_partkeydef shows it."""
        spec = self.statement(f"CREATE TABLE t () PARTITION BY {key}")["partspec"]
        expressions = [item["PartitionElem"].get("expr") for item in spec["partParams"]]
        named = (relation.column(name) for name in column_names(expressions))
        return replace(
            relation,
            partition_key=partition_key(relation, spec),
            partition_reads=tuple(column.number for column in named if column is not None),
            strategy=STRATEGIES[spec["strategy"]],
            usual_order=has_usual_order(catalog, relation, spec),
        )

    def bound(self, text: str) -> Node:
        """Return the PartitionBoundSpec of a bound, as pg_get_expr shows it."""
        node: Node = self.statement(f"CREATE TABLE t PARTITION OF p {text}")["partbound"]
        return node

    @staticmethod
    def statement(text: str) -> Node:
        """Return the tree of a statement."""
        return _statement(text)


def _parsed(text: str) -> tuple[Node, ...]:
    targets: list[Any] = _statement(f"SELECT {text}")["targetList"]
    return tuple(target["ResTarget"]["val"] for target in targets)


def _statement(text: str) -> Node:
    statement = parse(text)
    assert statement is not None
    return statement[1]
