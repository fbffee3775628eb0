"""The rows of a snapshot as rows of the catalog, one module for each subject; their expressions as parse trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.live.loading.references import References
from pubcheck.postgres.catalog import EXTENSION, NAMESPACE, NORMAL, OTHER, PROC, SUPERUSER, Catalog, Object
from pubcheck.postgres.catalog.rows import OtherObject, Place, Relation
from pubcheck.postgres.ddl.partition_bounds import STRATEGIES, has_usual_order, partition_key
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.session import Session


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


class Loading:
    """A snapshot on its way into the catalog of a session. ``source`` is its number among the unit's sources; the
    object on each line is the statement of that number. ``checked``: a name that leads nowhere is an error."""

    def __init__(self, session: Session, snapshot: doc.Snapshot, source: int, *, checked: bool = False) -> None:
        self.session, self.catalog = session, session.catalog
        self.snapshot, self.source = snapshot, source
        self.refs = References(session, snapshot.objects, checked=checked)
        self.expressions = Expressions()
        self.number = 0
        """The number of the object that is being loaded."""

    def objects(self) -> Iterator[records.AnyObject]:
        """Yield the objects, each while it is being loaded."""
        for number, row in enumerate(self.snapshot.objects):
            self.number = number
            yield row

    def place(self) -> Place:
        """Return the place of the object that is being loaded."""
        return Place(self.source, self.number, 0, 0)

    def enter(self, kind: str, row: records.InSchema) -> int:
        """Let an object depend on its schema and its extension, and return the schema."""
        namespace = self.refs.schemas[row.schema]
        self.catalog.depend((kind, row.oid, 0), (NAMESPACE, namespace, 0), NORMAL)
        if row.extension:
            self.catalog.depend((kind, row.oid, 0), (OTHER, self.refs.extensions[row.extension], 0), EXTENSION)
        return namespace

    def add_other(
        self, row: records.SnapshotObject, kind: str, namespace: int, owner: str = "", **fields: object
    ) -> Object:
        """Add an object that needs only a name, and return its address."""
        role = self.refs.role(owner) if owner else SUPERUSER
        self.catalog.add(OtherObject(row.oid, kind, row.name, namespace, role, **fields))  # type: ignore[arg-type]
        return OTHER, row.oid, 0

    def depend_on(self, dependent: Object, names: Iterable[str]) -> None:
        """Let an object depend on relations, columns and functions, which are named as ``uses`` has them."""
        for name in names:
            used = self.refs.used(name)
            if used is not None:
                self.catalog.depend(dependent, used, NORMAL)

    def calls(self, dependent: Object, function: str) -> int:
        """Let an object depend on a function, and return its oid."""
        oid = self.refs.function(function)
        self.catalog.depend(dependent, (PROC, oid, 0), NORMAL)
        return oid
