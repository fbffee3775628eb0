"""Alembic's operations, each as the statements that it sends to PostgreSQL."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from pubcheck.extract.frameworks.alchemy import (
    Column,
    Type,
    add_actions,
    add_constraint,
    add_reference,
    expression,
    identifier,
)
from pubcheck.extract.frameworks.operations import Place, Sql, Unreadable, create_enum, quoted
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.python import Module, keywords, last_name


class Operation:
    """One call of an operation: its arguments by name, and the statements that it makes."""

    def __init__(self, tree: Module, project: Project, call: ast.Call, batch: ast.Call | None) -> None:
        self.module, self.project, self.call, self.batch = tree, project, call, batch
        self.statements: list[Sql] = []
        self.unknown_types: list[str] = []

    def arguments(self, *names: str) -> dict[str, ast.expr]:
        """The arguments by their names; ``names`` are those of the positional ones, of which a batch has no table."""
        if self.batch is not None:
            names = tuple(name for name in names if name not in ("table_name", "source_table"))
        given = keywords(self.call)
        if len(self.call.args) > len(names):
            raise Unreadable
        return {**dict(zip(names, self.call.args, strict=False)), **given}

    def start(self, words: str) -> Sql:
        """A new statement that begins with some words, which have the place of the call."""
        sql = Sql(self.module.place(self.call)).add(words, self.module.place(self.call.func))
        self.statements.append(sql)
        return sql

    def table(self, sql: Sql, given: dict[str, ast.expr], key: str = "table_name") -> str:
        """Adds the name of the table that is changed; that name without its schema."""
        if self.batch is not None:
            given = keywords(self.batch)
            node = self.batch.args[0] if self.batch.args else given.get("table_name")
        else:
            node = given.get(key)
        name = self.module.text(node)
        self.schema(sql, given)
        sql.name(name, self.module.place(node) if node is not None else None)
        return name

    def schema(self, sql: Sql, given: dict[str, ast.expr], key: str = "schema") -> None:
        schema = identifier(self.module, given.get(key))
        if schema:
            sql.name(schema).add(".")

    def table_if_known(self) -> str:
        """The name of the table that an operation of which no more is known concerns; "" where that is not known."""
        try:
            if self.batch is not None:
                given = keywords(self.batch)
                return self.module.text(self.batch.args[0] if self.batch.args else given.get("table_name"))
            name = last_name(self.call)
            if name not in _TABLE_FIRST and name not in _TABLE_SECOND:
                return ""
            position = 0 if name in _TABLE_FIRST else 1
            for each in self.call.keywords:
                if each.arg in ("table_name", "source_table", "old_table_name"):
                    return self.module.text(each.value)
            return self.module.text(self.call.args[position])
        except (Unreadable, IndexError):
            return ""

    def column(self, sql: Sql, column: Column, *, key: bool = False) -> None:
        """Adds the definition of a column; before the statement, what makes its type. ``key``: it is all of the
        primary key."""
        assert column.type is not None
        if column.type.enum is not None:
            self.statements.insert(0, Sql(self.module.place(self.call)).add(create_enum(*column.type.enum)))
        if column.type.unknown:
            self.unknown_types.append(column.type.unknown)
        sql.name(column.name, column.place).add(column.definition(key=key))

    def known(self, table: str, name: str) -> None:
        if name:
            self.project.parts.add((table, name))

    def unless_none(self, given: dict[str, ast.expr], key: str) -> ast.expr | None:
        """An argument, None where it is left out or None."""
        node = given.get(key)
        return None if isinstance(node, ast.Constant) and node.value is None else node

    def index_of(self, column: Column, table: str, given: dict[str, ast.expr]) -> None:
        """What ``index=True`` of a column makes."""
        if column.index:
            name = f"ix_{table}_{column.name}"
            sql = self.start("CREATE UNIQUE INDEX " if column.unique else "CREATE INDEX ").name(name).add(" ON ")
            self.table(sql, given)
            sql.add(" ").names([(column.name, None)])
            self.known(table, name)


_TABLE_FIRST = frozenset(["create_table", "drop_table", "rename_table", "add_column", "drop_column", "alter_column"])
_TABLE_SECOND = frozenset(
    [
        "create_index",
        "create_primary_key",
        "create_unique_constraint",
        "create_foreign_key",
        "create_check_constraint",
        "drop_constraint",
        "create_exclude_constraint",
        "drop_index",
    ]
)


def _create_table(at: Operation) -> None:
    given = {each.arg: each.value for each in at.call.keywords if each.arg is not None}
    if len(given) != len(at.call.keywords) or any(isinstance(each, ast.Starred) for each in at.call.args):
        raise Unreadable
    if not given.keys().isdisjoint(("postgresql_partition_by", "postgresql_inherits", "prefixes")):
        raise Unreadable
    given = {"table_name": at.call.args[0], **given} if at.call.args else given
    guard = at.module.truth(given.get("if_not_exists"), False)
    sql = at.start("CREATE TABLE IF NOT EXISTS " if guard else "CREATE TABLE ")
    table = at.table(sql, given)
    columns = {each: Column(at.module, each) for each in at.call.args[1:] if last_name(each) == "Column"}
    key = _key(at.module, at.call.args[1:], columns.values())
    sql.add(" (")
    for number, each in enumerate(at.call.args[1:]):
        sql.add(", " if number else "")
        if each in columns:
            column = columns[each]
            at.column(sql, column, key=key == [column.name])
            for reference in column.references:
                add_reference(at.module, sql, [at.module.text(reference.args[0])], keywords(reference))
            if column.unique and not column.index:
                sql.add(" UNIQUE")
        elif isinstance(each, ast.Call):
            at.known(table, add_constraint(at.module, sql, each) or _default_name(at.module, table, each))
        else:
            raise Unreadable
    for column in columns.values():
        # The names that PostgreSQL gives to constraints without one.
        at.known(table, f"{table}_{column.name}_key" if column.unique and not column.index else "")
        at.known(table, f"{table}_{column.name}_fkey" if column.references else "")
    primary = [(column.name, None) for column in columns.values() if column.primary]
    at.known(table, f"{table}_pkey" if primary else "")
    if primary:
        sql.add(", PRIMARY KEY ").names(primary)
    sql.add(")")
    for column in columns.values():
        at.index_of(column, table, given)


def _default_name(tree: Module, table: str, node: ast.Call) -> str:
    """The name that PostgreSQL gives to a constraint without one, "" where that takes more than its columns."""
    ends = {"PrimaryKeyConstraint": "pkey", "UniqueConstraint": "key", "ForeignKeyConstraint": "fkey"}
    end = ends.get(last_name(node), "")
    listed = tree.items(node.args[0]) if end == "fkey" else node.args if end == "key" else []
    return "_".join([table, *(tree.text(each) for each in listed), end]) if end else ""


def _key(tree: Module, elements: Iterable[ast.expr], columns: Iterable[Column]) -> list[str]:
    """The columns of a new table's primary key."""
    names = [column.name for column in columns if column.primary]
    for each in elements:
        if isinstance(each, ast.Call) and last_name(each) == "PrimaryKeyConstraint":
            names += [tree.text(name) for name in each.args]
    return names


def _drop_table(at: Operation) -> None:
    given = at.arguments("table_name")
    guard = at.module.truth(given.get("if_exists"), False)
    at.table(at.start("DROP TABLE IF EXISTS " if guard else "DROP TABLE "), given)


def _rename_table(at: Operation) -> None:
    given = at.arguments("old_table_name", "new_table_name", "schema")
    sql = at.start("ALTER TABLE ")
    old = at.table(sql, given, "old_table_name")
    new = at.module.text(given.get("new_table_name"))
    sql.add(" RENAME TO ").name(new, at.module.place(given["new_table_name"]))
    at.project.parts |= {(new, part) for table, part in at.project.parts if table == old}


def _add_column(at: Operation) -> None:
    given = at.arguments("table_name", "column")
    column = Column(at.module, given["column"]) if "column" in given else None
    if column is None:
        raise Unreadable
    sql = at.start("ALTER TABLE ")
    table = at.table(sql, given)
    guard = at.module.truth(given.get("if_not_exists"), False)
    sql.add(" ADD COLUMN IF NOT EXISTS " if guard else " ADD COLUMN ")
    at.column(sql, column)
    if column.primary and at.module.truth(given.get("inline_primary_key"), False):
        sql.add(" PRIMARY KEY")
    if column.unique and not column.index:
        sql.add(", ADD UNIQUE ").names([(column.name, None)])
    for reference in column.references:
        target = at.module.text(reference.args[0])
        actions = keywords(reference)
        name = identifier(at.module, actions.get("name"))
        sql.add(", ADD ").add(f"CONSTRAINT {quoted(name)} " if name else "")
        sql.add("FOREIGN KEY ").names([(column.name, None)])
        add_reference(at.module, sql, [target], actions)
        at.known(table, name)
    at.index_of(column, table, given)


def _drop_column(at: Operation) -> None:
    given = at.arguments("table_name", "column_name")
    sql = at.start("ALTER TABLE ")
    at.table(sql, given)
    guard = at.module.truth(given.get("if_exists"), False)
    column = given.get("column_name")
    sql.add(" DROP COLUMN IF EXISTS " if guard else " DROP COLUMN ").name(at.module.text(column), _place(at, column))


def _alter_column(at: Operation) -> None:
    given = at.arguments("table_name", "column_name")
    column = at.module.text(given.get("column_name"))
    place = _place(at, given.get("column_name"))

    def alter(words: str) -> Sql:
        sql = at.start("ALTER TABLE ")
        at.table(sql, given)
        return sql.add(words).name(column, place)

    typed = at.unless_none(given, "type_")
    if typed is not None:
        changed = Type(at.module, typed)
        if changed.unknown:
            at.unknown_types.append(changed.unknown)
        sql = alter(" ALTER COLUMN ").add(f" TYPE {changed.sql}")
        if "postgresql_using" in given:
            sql.add(f" USING {expression(at.module, given['postgresql_using'])}")
        if changed.enum is not None:
            at.statements.insert(0, Sql(at.module.place(at.call)).add(create_enum(*changed.enum)))
    nullable = at.unless_none(given, "nullable")
    if nullable is not None:
        alter(" ALTER COLUMN ").add(" DROP NOT NULL" if at.module.truth(nullable, True) else " SET NOT NULL")
    renamed = at.unless_none(given, "new_column_name")
    if renamed is not None:
        alter(" RENAME COLUMN ").add(" TO ").name(at.module.text(renamed), at.module.place(renamed))


def _place(at: Operation, node: ast.expr | None) -> Place | None:
    return at.module.place(node) if node is not None else None


def _create_index(at: Operation) -> None:
    given = at.arguments("index_name", "table_name", "columns")
    unique = at.module.truth(given.get("unique"), False)
    name = identifier(at.module, given.get("index_name"))
    words = "CREATE UNIQUE INDEX " if unique else "CREATE INDEX "
    guard = "IF NOT EXISTS " if at.module.truth(given.get("if_not_exists"), False) else ""
    sql = at.start(words + guard)
    if name:
        sql.name(name, _place(at, given.get("index_name"))).add(" ")
    elif guard:
        raise Unreadable
    sql.add("ON ")
    table = at.table(sql, given)
    method = at.unless_none(given, "postgresql_using")
    sql.add(f" USING {quoted(at.module.text(method))}" if method is not None else "")
    for number, each in enumerate(at.module.items(given.get("columns"))):
        sql.add(", " if number else " (")
        if isinstance(each, ast.Call):
            sql.add(f"({expression(at.module, each)})" if last_name(each) != "column" else expression(at.module, each))
        else:
            sql.name(at.module.text(each), at.module.place(each))
    sql.add(")")
    if "postgresql_include" in given:
        sql.add(" INCLUDE ").names(at.module.names(at.module.items(given["postgresql_include"])))
    if at.unless_none(given, "postgresql_nulls_not_distinct") is not None:
        raise Unreadable
    where = at.unless_none(given, "postgresql_where")
    sql.add(f" WHERE {expression(at.module, where)}" if where is not None else "")
    at.known(table, name)


def _drop_index(at: Operation) -> None:
    given = at.arguments("index_name", "table_name")
    name = identifier(at.module, given.get("index_name"))
    guard = at.module.truth(given.get("if_exists"), False)
    if not guard and not any(part == name for _, part in at.project.parts):
        raise Unreadable
    sql = at.start("DROP INDEX IF EXISTS " if guard else "DROP INDEX ")
    at.schema(sql, keywords(at.batch) if at.batch is not None else given)
    sql.name(name, _place(at, given.get("index_name")))


def _constrain(at: Operation, words: str, key: str) -> tuple[Sql, dict[str, ast.expr]]:
    """The beginning of a statement that adds a constraint, as far as the word for its kind."""
    names = ("constraint_name", "source_table", "referent_table", "local_cols", "remote_cols")
    given = at.arguments(*names) if words == "FOREIGN KEY" else at.arguments("constraint_name", "table_name", key)
    name = identifier(at.module, given.get("constraint_name"))
    sql = at.start("ALTER TABLE ")
    table = at.table(sql, given, "source_table" if words == "FOREIGN KEY" else "table_name")
    sql.add(" ADD ")
    if name:
        sql.add("CONSTRAINT ").name(name).add(" ")
    at.known(table, name)
    return sql.add(words + " "), given


def _create_primary_key(at: Operation) -> None:
    sql, given = _constrain(at, "PRIMARY KEY", "columns")
    sql.names(at.module.names(at.module.items(given.get("columns"))))


def _create_unique_constraint(at: Operation) -> None:
    sql, given = _constrain(at, "UNIQUE", "columns")
    if "postgresql_nulls_not_distinct" in given:
        raise Unreadable
    sql.names(at.module.names(at.module.items(given.get("columns"))))
    _deferrable(at, sql, given)


def _create_check_constraint(at: Operation) -> None:
    sql, given = _constrain(at, "CHECK", "condition")
    if "condition" not in given:
        raise Unreadable
    sql.add(f"({expression(at.module, given['condition'])})")


def _create_foreign_key(at: Operation) -> None:
    sql, given = _constrain(at, "FOREIGN KEY", "")
    local, remote = (at.module.names(at.module.items(given.get(key))) for key in ("local_cols", "remote_cols"))
    sql.names(local).add(" REFERENCES ")
    at.schema(sql, given, "referent_schema")
    sql.name(at.module.text(given.get("referent_table")), _place(at, given.get("referent_table"))).add(" ").names(
        remote
    )
    add_actions(at.module, sql, given)


def _deferrable(at: Operation, sql: Sql, given: dict[str, ast.expr]) -> None:
    add_actions(at.module, sql, {key: value for key, value in given.items() if key == "deferrable"})


def _drop_constraint(at: Operation) -> None:
    given = at.arguments("constraint_name", "table_name", "type_")
    name = identifier(at.module, given.get("constraint_name"))
    sql = at.start("ALTER TABLE ")
    table = at.table(sql, given)
    guard = at.module.truth(given.get("if_exists"), False)
    if not guard and (table, name) not in at.project.parts:
        raise Unreadable
    sql.add(" DROP CONSTRAINT IF EXISTS " if guard else " DROP CONSTRAINT ")
    sql.name(name, _place(at, given.get("constraint_name")))


RENDERED: Mapping[str, Callable[[Operation], None]] = {
    "add_column": _add_column,
    "alter_column": _alter_column,
    "create_check_constraint": _create_check_constraint,
    "create_foreign_key": _create_foreign_key,
    "create_index": _create_index,
    "create_primary_key": _create_primary_key,
    "create_table": _create_table,
    "create_unique_constraint": _create_unique_constraint,
    "drop_column": _drop_column,
    "drop_constraint": _drop_constraint,
    "drop_index": _drop_index,
    "drop_table": _drop_table,
    "rename_table": _rename_table,
}
"""By the name of an operation, what adds its statements."""
