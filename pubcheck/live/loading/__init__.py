"""The rows of a snapshot as rows of the catalog, one module for each subject; their expressions as parse trees, and
their names as oids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import (
    DATABASE_OWNER,
    EXTENSION,
    NAMESPACE,
    NORMAL,
    OTHER,
    PROC,
    RELATION,
    SUPERUSER,
    Catalog,
    Object,
)
from pubcheck.postgres.catalog.rows import OtherObject, Place, Relation, Role
from pubcheck.postgres.ddl.partition_bounds import STRATEGIES, has_usual_order, partition_key
from pubcheck.postgres.ddl.types import type_collation
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


_NOT_LISTED = ("information_schema", "pg_toast")
"""Schemas whose types are of no interest."""


class References:
    """The oids of the objects that a snapshot names. ``checked``: a name that leads nowhere raises DanglingName;
    otherwise it is that of an object that no model of a server has."""

    def __init__(self, session: Session, objects: Iterable[records.AnyObject], *, checked: bool = False) -> None:
        self.session, self.catalog, self._checked = session, session.catalog, checked
        self.schemas: dict[str, int] = dict(self.catalog.namespace_names)
        self.relations: dict[str, int] = {}
        self.constraints: dict[tuple[str, str], int] = {}
        self.constraint_of_index: dict[str, int] = {}
        self.roles_with_members: set[str] = set()
        self.extensions: dict[str, int] = {}
        self._roles = {"pg_database_owner": DATABASE_OWNER}
        self._own_types: dict[str, tuple[int, str]] = {}
        self._types: dict[str, tuple[int, int]] = {"": (0, 0)}
        self._functions: dict[str, int] = {"": 0}
        self._operators: dict[str, int] = {"": 0}
        self._collations: dict[str, int] = {"": 0}
        self._families: dict[str, int] = {}
        self._numbers: dict[int, dict[str, int]] = {}
        last = 0
        for row in objects:
            last = max(last, row.oid)
            if isinstance(row, records.Relation | records.Index):
                self.relations[records.reference(row.schema, row.name)] = row.oid
                if isinstance(row, records.Index) and row.constraint is not None:
                    last = max(last, row.constraint.oid)
            elif isinstance(row, records.Constraint):
                self.constraints[row.table, row.name] = row.oid
            elif isinstance(row, records.Role):
                self._roles[row.name] = row.oid
                self.roles_with_members.update(membership.role for membership in row.member_of)
            elif isinstance(row, records.Type):
                self._enter_type(row)
                last = max(last, row.array_oid, *(check.oid for check in row.checks))
            elif isinstance(row, records.Function):
                self._functions[f"{records.reference(row.schema, row.name)}({','.join(row.arguments)})"] = row.oid
            elif isinstance(row, records.Operator):
                self._operators[f"{records.reference(row.schema, row.name)}({row.left},{row.right})"] = row.oid
            elif isinstance(row, records.Extension):
                self.extensions[row.name] = row.oid
            elif isinstance(row, records.Collation):
                self._collations[records.reference(row.schema, row.name)] = row.oid
        self.catalog.reserve_oids(last)

    def _enter_type(self, row: records.Type) -> None:
        self._own_types[records.reference(row.schema, row.name)] = row.oid, row.collation
        if row.array_oid:
            self._own_types[records.reference(row.schema, row.array)] = row.array_oid, row.collation

    def role(self, name: str) -> int:
        """Return the oid of a role, which is entered if it is one that every server has."""
        oid = self._roles.get(name)
        if oid is None:
            builtin = self.session.syscache.builtin.role(name) if name.startswith("pg_") else 0
            oid = self._roles[name] = builtin or self.catalog.new_oid()
            self.catalog.add(Role(oid, name, seen=True))
        return oid

    def type(self, name: str) -> int:
        """Return the oid of a type, 0 for an empty name."""
        return self.type_with_collation(name)[0]

    def type_with_collation(self, name: str) -> tuple[int, int]:
        """Return a type and the collation that its columns have without a COLLATE clause."""
        known = self._types.get(name)
        if known is None:
            known = self._types[name] = self._own_type(name) or self._builtin_type(name) or self._row_type(name)
            self._check("type", name, known[0])
        return known

    def _check(self, kind: str, name: str, oid: int) -> None:
        if self._checked and not oid and parts(name)[0] not in _NOT_LISTED:
            raise records.DanglingName(f"there is no {kind} {name} in the snapshot")

    def _own_type(self, name: str) -> tuple[int, int] | None:
        oid, collation = self._own_types.get(name, (0, ""))
        return (oid, self.collation(collation)) if oid else None

    def _builtin_type(self, name: str) -> tuple[int, int] | None:
        schema, plain = parts(name)
        oid = builtins(self.catalog.major.number).type(schema, plain)
        if not oid:
            return None
        return oid, type_collation(self.session, oid)

    def _row_type(self, name: str) -> tuple[int, int]:
        """Return the type of a relation's rows, or the array type over it."""
        schema, plain = parts(name)
        relation = self.relations.get(name)
        if relation is not None:
            row = Relation(relation, plain, self.schemas[schema], "r", SUPERUSER, seen=True)
            return self.catalog.row_type(row).oid, 0
        element = records.reference(schema, plain.removeprefix("_"))
        if not plain.startswith("_") or element not in self.relations:
            return 0, 0
        return self.catalog.types[self.type(element)].array, 0

    def collation(self, name: str) -> int:
        """Return the oid of a collation, 0 for an empty name."""
        oid = self._collations.get(name)
        if oid is None:
            row = self.session.syscache.collation_named(list(parts(name)), exists=True)
            oid = self._collations[name] = row.oid
        return oid

    def function(self, name: str) -> int:
        """Return the oid of a function by its name and argument types, 0 for an empty name."""
        oid = self._functions.get(name)
        if oid is None:
            (_, plain), arguments = self._signature(name)
            rows = self.session.syscache.builtin.procs(plain)
            oid = self._functions[name] = next((row.oid for row in rows if row.arguments == arguments), 0)
            self._check("function", name.partition("(")[0], oid)
        return oid

    def operator(self, name: str) -> int:
        """Return the oid of an operator by its name and operand types, 0 for an empty name."""
        oid = self._operators.get(name)
        if oid is None:
            (_, plain), (left, right) = self._signature(name)
            rows = self.session.syscache.builtin.operators(plain, not left)
            oid = next((row.oid for row in rows if (row.left, row.right) == (left, right)), 0)
            self._check("operator", name.partition("(")[0], oid)
            self._operators[name] = oid
        return oid

    def _signature(self, name: str) -> tuple[tuple[str, str], tuple[int, ...]]:
        start = _closing(name)
        inside = name[start + 1 : -1]
        types = tuple(map(self.type, _split(inside, ","))) if inside else ()
        return parts(name[:start]), types

    def family(self, name: str) -> int:
        """Return an oid for an operator family."""
        return self._families.setdefault(name, 0) or self._new_family(name)

    def _new_family(self, name: str) -> int:
        schema, plain = parts(name)
        row = OtherObject(self.catalog.new_oid(), "operator family", plain, self.schemas[schema], SUPERUSER)
        self.catalog.add(row)
        self._families[name] = row.oid
        return row.oid

    def used(self, name: str) -> Object | None:
        """Return the relation, column or function that ``uses`` names."""
        relation = self.relations.get(name)
        if relation is not None:
            return RELATION, relation, 0
        if name.endswith(")"):
            function = self._functions.get(name)
            return None if function is None else (PROC, function, 0)
        *table, column = _split(name, ".")
        relation = self.relations.get(".".join(table))
        if relation is None:
            return None
        number = self.numbers(self.catalog.relations[relation]).get(_unquoted(column))
        return None if number is None else (RELATION, relation, number)

    def numbers(self, table: Relation) -> dict[str, int]:
        """Return the numbers of a relation's columns by their names."""
        numbers = self._numbers.get(table.oid)
        if numbers is None:
            numbers = self._numbers[table.oid] = {row.name: row.number for row in table.columns if not row.dropped}
        return numbers


def parts(name: str) -> tuple[str, str]:
    """Return the schema and the name of a reference."""
    pieces = [_unquoted(piece) for piece in _split(name, ".")]
    return (pieces[0], pieces[1]) if len(pieces) > 1 else ("pg_catalog", pieces[0])


def _unquoted(piece: str) -> str:
    return piece[1:-1].replace('""', '"') if piece.startswith('"') else piece


def _split(text: str, separator: str) -> list[str]:
    """Return the pieces of a text between separators that are not inside double quotes."""
    if '"' not in text:
        return text.split(separator)
    pieces, start, inside = [], 0, False
    for position, character in enumerate(text):
        if character == '"':
            inside = not inside
        elif character == separator and not inside:
            pieces.append(text[start:position])
            start = position + 1
    return [*pieces, text[start:]]


def _closing(name: str) -> int:
    """Return the position of the parenthesis that opens the argument types."""
    inside = False
    for position, character in enumerate(name):
        if character == '"':
            inside = not inside
        elif character == "(" and not inside:
            return position
    return len(name)
