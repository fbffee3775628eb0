"""A publisher in miniature: simple DML on tables in memory, and what pgoutput would send of it as pubcheck sees it.

The catalog, the names, the columns, the filters' fate and the conflicts are pubcheck's; the rows are kept here. What is
beyond it raises Unsupported: a test says which cases are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from pubcheck.checks.write.replica_identity import refusals
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Filter, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor import Context, evaluate
from pubcheck.postgres.input import InputContext, read
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, split_statements
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.publication_lookup import is_publishable, replica_identity
from pubcheck.postgres.replication.row_changes import (
    UNCHANGED,
    Change,
    LoggedChange,
    Matches,
    Row,
    logged_change,
    published_change,
)
from pubcheck.postgres.replication.subscription_set import Combined, combine
from pubcheck.postgres.session import Session
from tests.postgres.ddl.support import play

Values = dict[int, Any]

TOASTED = 2000
"""Bytes from which a text is stored out of line, in columns whose storage is EXTERNAL."""


class Unsupported(Exception):
    """Beyond what the tests' own SQL can do."""


class Stopped(Exception):
    """The server's error: (at, SQLSTATE, message)."""

    def __init__(self, place: str | None, sqlstate: str, message: str) -> None:
        super().__init__(message)
        self.at, self.sqlstate, self.message = place, sqlstate, message


class Publisher:
    """One database of one major. ``changes`` are lines as tests.support.pgoutput.describe writes them."""

    def __init__(self, major: int, publications: tuple[str, ...] = (), relations: bool = False) -> None:
        self.session = Session(Catalog(major), complete=True)
        self.catalog = self.session.catalog
        self.publications = publications
        self.relations = relations
        self.changes: list[str] = []
        self.decoding = False
        self.rows: dict[int, list[Values]] = {}
        self.defaults: dict[tuple[str, str], Node] = {}
        self.generated: dict[tuple[str, str], Node] = {}
        self.external: set[tuple[int, int]] = set()
        self._announced: set[int] = set()

    def run(self, text: str) -> None:
        """One statement. Raises Unsupported, and Stopped for what the server refuses at writing or at decoding."""
        parsed = parse_with(self.catalog.major.newer_grammar, text)
        if parsed is None:
            return
        name, node = parsed
        if name == "InsertStmt":
            self._insert(node)
        elif name == "UpdateStmt":
            self._update(node)
        elif name == "DeleteStmt":
            self._delete(node)
        elif name == "TruncateStmt":
            self._truncate(node)
        elif name == "TransactionStmt":
            if node["kind"] not in ("TRANS_STMT_BEGIN", "TRANS_STMT_COMMIT"):
                raise Unsupported(text)
        elif name == "SelectStmt":
            if any(word in text for word in ("lo_from", "pg_logical")):
                return
        else:
            self._definitions(name, node)
            play(self.session, text)
            self._announced.clear()
            self._fill()

    # What the catalog does not keep.

    def _definitions(self, name: str, node: Node) -> None:
        """Expressions of defaults and generated columns; columns that are stored out of line."""
        if name == "CreateStmt":
            for parent in (item["RangeVar"]["relname"] for item in node.get("inhRelations", ())):
                for known in (self.defaults, self.generated):
                    own = {(node["relation"]["relname"], key[1]): known[key] for key in known if key[0] == parent}
                    known.update(own)
            for item in node.get("tableElts", ()):
                if "ColumnDef" in item:
                    self._column(node["relation"]["relname"], item["ColumnDef"])
        elif name == "AlterTableStmt":
            table = node["relation"]["relname"]
            for command in (item["AlterTableCmd"] for item in node["cmds"]):
                if command["subtype"] == "AT_AddColumn":
                    self._column(table, command["def"]["ColumnDef"])
                elif command["subtype"] == "AT_SetStorage":
                    relation = self._relation(node["relation"])
                    column = relation.column(command["name"])
                    assert column is not None
                    self.external.add((relation.oid, column.number))

    def _column(self, table: str, definition: Node) -> None:
        for constraint in (item["Constraint"] for item in definition.get("constraints", ())):
            key = (table, definition["colname"])
            if constraint["contype"] == "CONSTR_DEFAULT":
                self.defaults[key] = constraint["raw_expr"]
            elif constraint["contype"] == "CONSTR_GENERATED":
                self.generated[key] = constraint["raw_expr"]

    def _fill(self) -> None:
        """Columns that rows do not have yet."""
        for oid, rows in self.rows.items():
            relation = self.catalog.relations.get(oid)
            for row in rows if relation is not None else ():
                assert relation is not None
                for column in relation.live():
                    if column.number not in row:
                        row[column.number] = self._default(relation, column.name)

    def _default(self, relation: Relation, column: str) -> Any:
        tree = self.defaults.get((relation.name, column))
        return None if tree is None else value(tree, {})

    # Statements.

    def _relation(self, node: Node) -> Relation:
        relation = self.session.find_relation(node)
        if relation is None:
            raise Unsupported(f"no relation {node}")
        return relation

    def _insert(self, node: Node) -> None:
        if node.keys() & {"onConflictClause", "withClause", "returningList"}:
            raise Unsupported("INSERT with more than values")
        relation = self._relation(node["relation"])
        lists = node.get("selectStmt", {}).get("SelectStmt", {}).get("valuesLists")
        if lists is None:
            raise Unsupported("INSERT without VALUES")
        named = [item["ResTarget"]["name"] for item in node.get("cols", ())]
        for item in lists:
            values = [value(element, {}) for element in item["List"]["items"]]
            names = named or [column.name for column in relation.live()][: len(values)]
            new = {column.name: self._default(relation, column.name) for column in relation.live()}
            new.update(zip(names, values, strict=True))
            self.store(relation, new)

    def store(self, relation: Relation, new: dict[str, Any]) -> None:
        """Insert a row by column names."""
        leaf = self._leaf(relation, new)
        row = self._row(leaf, new)
        self.rows.setdefault(leaf.oid, []).append(row)
        self._log(leaf, "insert", None, row)

    def _row(self, leaf: Relation, new: dict[str, Any]) -> Values:
        """A row by the leaf's numbers, with what is generated and as its types have it."""
        new = dict(new)
        for column in leaf.live():
            if column.generated:
                new[column.name] = value(self.generated[leaf.name, column.name], new)
            if column.type == _BPCHAR and new[column.name] is not None:
                new[column.name] = new[column.name].rstrip(" ").ljust(column.typmod - 4)
            elif column.type == _VARCHAR and new[column.name] is not None and column.typmod > 4:
                text = new[column.name]
                new[column.name] = text[: column.typmod - 4] if not text[column.typmod - 4 :].strip() else text
            elif column.type in _INTEGERS and isinstance(new[column.name], str):
                new[column.name] = int(new[column.name])
        return {column.number: new[column.name] for column in leaf.live()}

    def _named(self, relation: Relation, row: Values) -> dict[str, Any]:
        return {column.name: row[column.number] for column in relation.live()}

    def _leaf(self, relation: Relation, new: dict[str, Any]) -> Relation:
        while relation.kind == "p":
            children = [self.catalog.relations[oid] for oid in self.catalog.children.get(relation.oid)]
            keys = [new[relation.columns[number - 1].name] for number in relation.partition_key]
            fitting = [child for child in children if _takes(child.bound, keys)]
            if not fitting:
                raise Unsupported("no partition for the row")
            relation = fitting[0]
        return relation

    def _targets(self, node: Node, where: Node | None = None) -> Iterator[tuple[Relation, Relation]]:
        """The tables whose rows a statement looks at, each with the relation that the statement names.

        Of a partitioned table only the leaf that is left when the planner prunes by ``key = constant``.
        """
        named = self._relation(node)
        key = [named.columns[number - 1].name for number in named.partition_key]
        if named.kind == "p" and where is not None and [*_equal(where)] == key:
            try:
                yield named, self._leaf(named, _equal(where))
            except Unsupported:
                return
            return
        oids = self.catalog.descendants(named.oid) if node.get("inh", True) or named.kind == "p" else [named.oid]
        for oid in oids:
            relation = self.catalog.relations[oid]
            if relation.kind == "r":
                yield named, relation

    def _update(self, node: Node) -> None:
        if node.keys() & {"fromClause", "withClause", "returningList"}:
            raise Unsupported("UPDATE with more than one table")
        self._refuse(node, "update")
        targets = list(self._targets(node["relation"], node.get("whereClause")))
        pending = [
            (named, relation, row)
            for named, relation in targets
            for row in list(self.rows.get(relation.oid, ()))
            if _true(node.get("whereClause"), self._named(relation, row))
        ]
        for named, relation, row in pending:
            old = self._named(relation, row)
            new = dict(old)
            for item in (node_of_list["ResTarget"] for node_of_list in node["targetList"]):
                new[item["name"]] = value(item["val"], old)
            rows = self.rows[relation.oid]
            rows.remove(row)
            if named.kind == "p" and self._leaf(named, new).oid != relation.oid:
                self._log(relation, "delete", row, None)
                self.store(named, new)
                continue
            after = self._row(relation, new)
            rows.append(after)
            self._log(relation, "update", row, after)

    def _delete(self, node: Node) -> None:
        if node.keys() & {"usingClause", "withClause", "returningList"}:
            raise Unsupported("DELETE with more than one table")
        self._refuse(node, "delete")
        for _, relation in list(self._targets(node["relation"], node.get("whereClause"))):
            for row in list(self.rows.get(relation.oid, ())):
                if _true(node.get("whereClause"), self._named(relation, row)):
                    self.rows[relation.oid].remove(row)
                    self._log(relation, "delete", row, None)

    def _refuse(self, node: Node, operation: str) -> None:
        for _, relation in self._targets(node["relation"], node.get("whereClause")):
            causes = refusals(self.catalog, relation).get(operation)  # type: ignore[call-overload]
            if causes:
                raise Stopped(None, causes[0].server.sqlstate, causes[0].server.message)

    def _truncate(self, node: Node) -> None:
        truncated: dict[int, None] = {}
        for item in (node_of_list["RangeVar"] for node_of_list in node["relations"]):
            relation = self._relation(item)
            only = not item.get("inh", True) and relation.kind != "p"
            truncated.update(dict.fromkeys([relation.oid] if only else self.catalog.descendants(relation.oid)))
        if node.get("behavior") == "DROP_CASCADE":
            for constraint in self.catalog.constraints.values():
                if constraint.kind == "f" and constraint.references in truncated:
                    truncated[constraint.relation] = None
        for oid in truncated:
            self.rows.pop(oid, None)
        if not self.decoding:
            return
        named = []
        for oid in truncated:
            relation = self.catalog.relations[oid]
            got = self._combined(relation)
            if got is not None and got.truncate:
                named.append(self.shown(oid))
                self._announce(got)
        if named:
            self.changes.append("TRUNCATE " + ", ".join(named))

    # Decoding.

    def _log(self, relation: Relation, operation: Any, old: Values | None, new: Values | None) -> None:
        if not self.decoding:
            return
        got = self._combined(relation)
        if got is None:
            return
        apart = {
            number
            for number, item in (old or {}).items()
            if (relation.oid, number) in self.external and isinstance(item, str) and len(item) > TOASTED
        }
        change = logged_change(replica_identity(self.catalog, relation), operation, old, new, apart)
        sent = published_change(self.catalog, got, change, self._matcher(got))
        if sent is not None:
            self._announce(got)
            self.changes.append(self._line(got, sent, change))

    def _combined(self, relation: Relation) -> Combined | None:
        """What the subscription gets of a relation, or the error at which decoding stops."""
        if not is_publishable(relation):
            return None
        missing = [name for name in self.publications if name not in self.catalog.publication_names]
        if missing and self.catalog.major.number < 18:
            raise Stopped("decoding", "42704", f'publication "{missing[0]}" does not exist')
        names = self.catalog.publication_names
        got = combine(self.catalog, [names[name] for name in self.publications if name in names], relation.oid)
        if got is not None and got.conflict is not None:
            raise Stopped("decoding", got.conflict.server.sqlstate, got.conflict.server.message)
        return got

    def _matcher(self, got: Combined) -> Matches:
        """Filters evaluated as pubcheck does, for rows of the relation that the changes bear the name of."""
        target = self.catalog.relations[got.arrives_as]
        inputs = InputContext(self.catalog.major.number, self.session.syscache, lambda _: None)
        context = Context(inputs, "C.UTF-8")

        def matches(condition: Filter, row: Row) -> bool | None:
            if not isinstance(condition.expr, Expr):
                raise Unsupported("a filter that is not judged")
            values = {
                column.number: None
                if row.get(column.number) in (None, UNCHANGED)
                else read(inputs, column.type, _text(row[column.number], whole=True), column.typmod)
                for column in target.live()
            }
            try:
                return evaluate(condition.expr, values, context)
            except ServerError as error:
                raise Stopped("decoding", error.sqlstate, error.message) from None

        return matches

    def shown(self, oid: int) -> str:
        """A relation's qualified name."""
        relation = self.catalog.relations[oid]
        return f"{self.catalog.namespaces[relation.namespace].name}.{relation.name}"

    def _announce(self, got: Combined) -> None:
        """RELATION messages: the ancestor's, then the table's own, with the same column numbers."""
        if not self.relations or got.relation in self._announced:
            return
        self._announced.add(got.relation)
        if got.arrives_as != got.relation:
            raise Unsupported("RELATION messages of partitions under their root")
        relation = self.catalog.relations[got.relation]
        identity = replica_identity(self.catalog, relation)
        names = [relation.columns[number - 1].name for number in got.columns]
        key = [relation.columns[number - 1].name for number in got.columns if number in identity.columns]
        self.changes.append(
            f"RELATION {self.shown(got.relation)} ident={relation.identity} cols=({','.join(names)})"
            f" key=({','.join(key)})"
        )

    def _line(self, got: Combined, change: Change, original: LoggedChange) -> str:
        relation, target = self.catalog.relations[got.relation], self.catalog.relations[got.arrives_as]
        names = {number: relation.columns[number - 1].name for number in got.columns}
        assert set(names.values()) <= {column.name for column in target.live()}

        def shown(row: Row) -> str:
            return "(" + ", ".join(f"{names[number]}={_text(row[number])}" for number in got.columns) + ")"

        # The letter is the ancestor's identity, the row what the table's own made the log keep.
        letter = "O" if target.identity == "f" else "K"
        name = self.shown(got.arrives_as)
        if change.operation == "insert":
            assert change.new is not None
            return f"INSERT {name} {shown(change.new)}"
        if change.operation == "delete":
            assert change.old is not None
            return f"DELETE {name} {letter}{shown(change.old)}"
        assert change.new is not None
        old = "" if change.old is None else f"old{letter}{shown(change.old)} "
        return f"UPDATE {name} {old}new{shown(change.new)}"


def decoded(
    major: int, setup: tuple[str, ...], publications: str, sql: tuple[str, ...], relations: bool = False
) -> list[str]:
    """What pgoutput sends of the statements of ``sql``. Raises Unsupported and Stopped."""
    publisher = Publisher(major, tuple(publications.split(",")), relations)
    for text in setup:
        for statement in split_statements(text):
            publisher.run(statement)
    publisher.decoding = True
    for text in sql:
        publisher.run(text)
    return publisher.changes


_BPCHAR, _VARCHAR = 1042, 1043
_INTEGERS = (20, 21, 23)
_LONGEST = 60


def _text(item: Any, whole: bool = False) -> str:
    if item is None:
        return "NULL"
    if item is UNCHANGED:
        return "<unchanged toast>"
    if isinstance(item, bool):
        return "t" if item else "f"
    text = str(item)
    return text if whole or len(text) <= _LONGEST else f"{text[:10]}...({len(text)})"


def _takes(bound: tuple[Any, ...] | None, keys: list[Any]) -> bool:
    if bound is None or bound[0] not in "lr":
        raise Unsupported(f"partition bound {bound}")
    if bound[0] == "l":
        return keys[0] in bound[1]
    row = tuple((0, key) for key in keys)
    return bool(bound[1] <= row < bound[2])


def _equal(where: Node) -> dict[str, Any]:
    """The column and the constant of a condition ``column = constant``."""
    node = where.get("A_Expr", {})
    if node.get("name") == [{"String": {"sval": "="}}] and "ColumnRef" in node["lexpr"]:
        return {node["lexpr"]["ColumnRef"]["fields"][-1]["String"]["sval"]: value(node["rexpr"], {})}
    return {}


def _true(tree: Node | None, row: dict[str, Any]) -> bool:
    return tree is None or value(tree, row) is True


# Expressions: as much of SQL as the cases have.


def value(tree: Any, row: dict[str, Any]) -> Any:
    """An expression's value for a row by column names. Raises Stopped for what the server refuses."""
    ((name, node),) = tree.items()
    if name == "A_Const":
        if node.get("isnull"):
            return None
        if "ival" in node:
            return node["ival"].get("ival", 0)
        if "boolval" in node:
            return node["boolval"].get("boolval", False)
        if "sval" in node:
            return node["sval"].get("sval", "")
    elif name == "ColumnRef":
        return row[node["fields"][-1]["String"]["sval"]]
    elif name == "A_Expr" and node["kind"] == "AEXPR_OP":
        sign = node["name"][-1]["String"]["sval"]
        right = value(node["rexpr"], row)
        left = value(node["lexpr"], row) if "lexpr" in node else 0
        return None if left is None or right is None else _operation(sign, left, right)
    elif name == "BoolExpr":
        return _boolean(node["boolop"], [value(item, row) for item in node["args"]])
    elif name == "CaseExpr" and "arg" not in node:
        for item in (node_of_list["CaseWhen"] for node_of_list in node["args"]):
            if value(item["expr"], row) is True:
                return value(item["result"], row)
        return value(node["defresult"], row) if "defresult" in node else None
    elif name == "FuncCall":
        arguments = [value(item, row) for item in node.get("args", ())]
        called = node["funcname"][-1]["String"]["sval"]
        if called in _FUNCTIONS:
            return None if None in arguments else _FUNCTIONS[called](*arguments)
    raise Unsupported(f"{name} in an expression")


_FUNCTIONS: dict[str, Any] = {
    "md5": lambda text: hashlib.md5(text.encode()).hexdigest(),
    "repeat": lambda text, count: text * count,
    "length": len,
}


def _operation(sign: str, left: Any, right: Any) -> Any:
    if type(left) is not type(right):
        raise Unsupported(f"{left!r} {sign} {right!r}")
    if sign == "/":
        if right == 0:
            raise Stopped(None, "22012", "division by zero")
        return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    if sign in "+-*":
        result = {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}[sign](right)
        if not -(2**31) <= result < 2**31:
            raise Stopped(None, "22003", "integer out of range")
        return result
    compared = {"=": left == right, "<>": left != right, "<": left < right, ">": left > right}
    compared |= {"<=": left <= right, ">=": left >= right}
    if sign not in compared:
        raise Unsupported(f"the operator {sign}")
    return compared[sign]


def _boolean(operator: str, arguments: list[Any]) -> Any:
    if operator == "NOT_EXPR":
        return None if arguments[0] is None else not arguments[0]
    decisive = operator == "OR_EXPR"
    if decisive in arguments:
        return decisive
    return None if None in arguments else not decisive
