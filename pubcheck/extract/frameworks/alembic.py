"""Alembic: the operations of ``upgrade()`` as the statements that it sends to PostgreSQL."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from pubcheck.extract.frameworks.alchemy import (
    Column,
    Operation,
    Type,
    add_actions,
    add_constraint,
    add_reference,
    expression,
    identifier,
)
from pubcheck.extract.frameworks.operations import Operations, Sql, Unreadable, create_enum
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.python import Module, keywords, last_name, module
from pubcheck.postgres.tokens import in_quotes
from pubcheck.words import word_set

_WITHOUT_TABLES = frozenset(["execute", "bulk_insert", "get_bind", "get_context", "f", "create_table_comment"])
_HARMLESS = frozenset(["print", "len", "str", "int", "list", "dict", "set", "sorted", "range", "Session"])
_HARMLESS_METHODS = word_set("""
    execute executemany scalar scalars fetchall fetchone first all commit flush rollback close begin begin_nested info
    debug warning error add add_all append extend update items keys values get format join insert query filter where
    create drop mappings bindparams values_list dialect connect connection exec_driver_sql
""")
"""The methods of connections, types and collections that create no table."""


def alembic(text: str, project: Project) -> Operations | None:
    """Return the operations of a migration; None if it cannot be read."""
    tree = module(text)
    upgrade = tree.functions.get("upgrade") if tree is not None else None
    if tree is None or upgrade is None:
        return None
    reader = _Upgrade(tree, project)
    try:
        reader.block(upgrade.body, conditional=False)
    except RecursionError:
        return None
    return reader.operations


class _Upgrade:
    """Reads the statements of a migration in order."""

    def __init__(self, tree: Module, project: Project) -> None:
        self.module, self.project = tree, project
        self.operations = Operations()
        self._batches: dict[str, ast.Call] = {}
        self._entered: list[str] = ["upgrade"]
        self._left = False
        """Whether the migration may have ended before."""

    def block(self, body: list[ast.stmt], *, conditional: bool) -> None:
        for statement in body:
            self._statement(statement, conditional=conditional or self._left)

    def _statement(self, node: ast.stmt, *, conditional: bool) -> None:
        if isinstance(node, ast.With):
            for item in node.items:
                self._entering(item)
            self.block(node.body, conditional=conditional)
        elif isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.Match):
            for body in _bodies(node):
                self.block(body, conditional=True)
        elif isinstance(node, ast.Return | ast.Raise):
            self._left = True
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass):
            for call in _outer_calls(node):
                self._call(call, conditional=conditional)

    def _entering(self, item: ast.withitem) -> None:
        call = item.context_expr
        if isinstance(call, ast.Call) and last_name(call) == "batch_alter_table":
            self.operations.read.append(self.module.place(call))
            if isinstance(item.optional_vars, ast.Name):
                self._batches[item.optional_vars.id] = call

    def _call(self, call: ast.Call, *, conditional: bool) -> None:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        name = last_name(call)
        if isinstance(owner, ast.Name) and owner.id in self._batches:
            self._operation(call, name, self._batches[owner.id], conditional=conditional)
        elif last_name(owner) == "op":
            if name not in _WITHOUT_TABLES:
                self._operation(call, name, None, conditional=conditional)
        elif isinstance(call.func, ast.Name) and name in self.module.functions:
            self._local(call, name, conditional=conditional)
        elif (owner is None and name not in _HARMLESS) or (owner is not None and name not in _HARMLESS_METHODS):
            self.operations.doubt(self.module.place(call)[0])

    def _local(self, call: ast.Call, name: str, *, conditional: bool) -> None:
        """A function of the same file, which is read where it is called; one with arguments may do anything."""
        function = self.module.functions[name]
        if call.args or call.keywords or name in self._entered:
            self.operations.doubt(self.module.place(call)[0])
            return
        self._entered.append(name)
        start, count = self.module.place(call)[0], len(self.operations.calls)
        left, self._left = self._left, False
        self.block(function.body, conditional=conditional)
        self._left = left
        # Its statements run where the method is called, so statements defined elsewhere are out of order.
        if len(self.operations.calls) > count and self.module.place(function)[0] > start:
            del self.operations.calls[count:]
            self.operations.doubt(start)

    def _operation(self, call: ast.Call, name: str, batch: ast.Call | None, *, conditional: bool) -> None:
        place = self.module.place(call)
        operation = Operation(self.module, self.project, call, batch)
        try:
            render = RENDERED.get(name)
            if render is None:
                raise Unreadable
            render(operation)
        except (Unreadable, IndexError):
            self.operations.doubt(place[0], operation.table_if_known())
        else:
            self.operations.calls += [statement.call(conditional=conditional) for statement in operation.statements]
            for unknown in operation.unknown_types:
                self.operations.doubt_type(place[0], unknown)
            self.operations.read.append(place)


def _bodies(node: ast.If | ast.For | ast.While | ast.Try | ast.Match) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    if isinstance(node, ast.Try):
        return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
    return [node.body, node.orelse]


def _outer_calls(node: ast.AST) -> list[ast.Call]:
    """Return the calls in a statement that are not part of another one."""
    calls: list[ast.Call] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Call):
            calls.append(current)
        else:
            waiting += reversed(list(ast.iter_child_nodes(current)))
    return calls


def _create_table(operation: Operation) -> None:
    arguments = {argument.arg: argument.value for argument in operation.call.keywords if argument.arg is not None}
    if len(arguments) != len(operation.call.keywords) or any(
        isinstance(argument, ast.Starred) for argument in operation.call.args
    ):
        raise Unreadable
    if not arguments.keys().isdisjoint(("postgresql_partition_by", "postgresql_inherits", "prefixes")):
        raise Unreadable
    arguments = {"table_name": operation.call.args[0], **arguments} if operation.call.args else arguments
    guard = operation.module.truth(arguments.get("if_not_exists"), False)
    sql = operation.start("CREATE TABLE IF NOT EXISTS " if guard else "CREATE TABLE ")
    table = operation.table(sql, arguments)
    columns = {
        argument: Column(operation.module, argument)
        for argument in operation.call.args[1:]
        if last_name(argument) == "Column"
    }
    key = _key(operation.module, operation.call.args[1:], columns.values())
    sql.add(" (")
    for number, argument in enumerate(operation.call.args[1:]):
        sql.add(", " if number else "")
        if argument in columns:
            column = columns[argument]
            operation.column(sql, column, key=key == [column.name])
            for reference in column.references:
                add_reference(operation.module, sql, [operation.module.text(reference.args[0])], keywords(reference))
            if column.unique and not column.index:
                sql.add(" UNIQUE")
        elif isinstance(argument, ast.Call):
            operation.known(
                table,
                add_constraint(operation.module, sql, argument) or _default_name(operation.module, table, argument),
            )
        else:
            raise Unreadable
    for column in columns.values():
        # The names that PostgreSQL gives to constraints without one.
        operation.known(table, f"{table}_{column.name}_key" if column.unique and not column.index else "")
        operation.known(table, f"{table}_{column.name}_fkey" if column.references else "")
    primary = [(column.name, None) for column in columns.values() if column.primary]
    operation.known(table, f"{table}_pkey" if primary else "")
    if primary:
        sql.add(", PRIMARY KEY ").names(primary)
    sql.add(")")
    for column in columns.values():
        operation.index_of(column, table, arguments)


def _default_name(tree: Module, table: str, node: ast.Call) -> str:
    """Return the name that PostgreSQL gives to a constraint without one, "" where that takes more than its columns."""
    ends = {"PrimaryKeyConstraint": "pkey", "UniqueConstraint": "key", "ForeignKeyConstraint": "fkey"}
    end = ends.get(last_name(node), "")
    listed = tree.items(node.args[0]) if end == "fkey" else node.args if end == "key" else []
    return "_".join([table, *(tree.text(column) for column in listed), end]) if end else ""


def _key(tree: Module, elements: Iterable[ast.expr], columns: Iterable[Column]) -> list[str]:
    """Return the columns of a new table's primary key."""
    names = [column.name for column in columns if column.primary]
    for element in elements:
        if isinstance(element, ast.Call) and last_name(element) == "PrimaryKeyConstraint":
            names += [tree.text(name) for name in element.args]
    return names


def _drop_table(operation: Operation) -> None:
    arguments = operation.arguments("table_name")
    guard = operation.module.truth(arguments.get("if_exists"), False)
    operation.table(operation.start("DROP TABLE IF EXISTS " if guard else "DROP TABLE "), arguments)


def _rename_table(operation: Operation) -> None:
    arguments = operation.arguments("old_table_name", "new_table_name", "schema")
    sql = operation.start("ALTER TABLE ")
    old = operation.table(sql, arguments, "old_table_name")
    new = operation.module.text(arguments.get("new_table_name"))
    sql.add(" RENAME TO ").name(new, operation.module.place(arguments["new_table_name"]))
    operation.project.parts |= {(new, part) for table, part in operation.project.parts if table == old}


def _add_column(operation: Operation) -> None:
    arguments = operation.arguments("table_name", "column")
    column = Column(operation.module, arguments["column"]) if "column" in arguments else None
    if column is None:
        raise Unreadable
    sql = operation.start("ALTER TABLE ")
    table = operation.table(sql, arguments)
    guard = operation.module.truth(arguments.get("if_not_exists"), False)
    sql.add(" ADD COLUMN IF NOT EXISTS " if guard else " ADD COLUMN ")
    operation.column(sql, column)
    if column.primary and operation.module.truth(arguments.get("inline_primary_key"), False):
        sql.add(" PRIMARY KEY")
    if column.unique and not column.index:
        sql.add(", ADD UNIQUE ").names([(column.name, None)])
    for reference in column.references:
        target = operation.module.text(reference.args[0])
        actions = keywords(reference)
        name = identifier(operation.module, actions.get("name"))
        sql.add(", ADD ").add(f"CONSTRAINT {in_quotes(name)} " if name else "")
        sql.add("FOREIGN KEY ").names([(column.name, None)])
        add_reference(operation.module, sql, [target], actions)
        operation.known(table, name)
    operation.index_of(column, table, arguments)


def _drop_column(operation: Operation) -> None:
    arguments = operation.arguments("table_name", "column_name")
    sql = operation.start("ALTER TABLE ")
    operation.table(sql, arguments)
    guard = operation.module.truth(arguments.get("if_exists"), False)
    column = arguments.get("column_name")
    sql.add(" DROP COLUMN IF EXISTS " if guard else " DROP COLUMN ").name(
        operation.module.text(column), operation.module.place_of(column)
    )


def _alter_column(operation: Operation) -> None:
    arguments = operation.arguments("table_name", "column_name")
    column = operation.module.text(arguments.get("column_name"))
    place = operation.module.place_of(arguments.get("column_name"))

    def alter(words: str) -> Sql:
        sql = operation.start("ALTER TABLE ")
        operation.table(sql, arguments)
        return sql.add(words).name(column, place)

    typed = operation.unless_none(arguments, "type_")
    if typed is not None:
        changed = Type(operation.module, typed)
        if changed.unknown:
            operation.unknown_types.append(changed.unknown)
        sql = alter(" ALTER COLUMN ").add(f" TYPE {changed.sql}")
        if "postgresql_using" in arguments:
            sql.add(f" USING {expression(operation.module, arguments['postgresql_using'])}")
        if changed.enum is not None:
            operation.statements.insert(0, Sql(operation.module.place(operation.call)).add(create_enum(*changed.enum)))
    nullable = operation.unless_none(arguments, "nullable")
    if nullable is not None:
        alter(" ALTER COLUMN ").add(" DROP NOT NULL" if operation.module.truth(nullable, True) else " SET NOT NULL")
    renamed = operation.unless_none(arguments, "new_column_name")
    if renamed is not None:
        alter(" RENAME COLUMN ").add(" TO ").name(operation.module.text(renamed), operation.module.place(renamed))


def _create_index(operation: Operation) -> None:
    arguments = operation.arguments("index_name", "table_name", "columns")
    unique = operation.module.truth(arguments.get("unique"), False)
    name = identifier(operation.module, arguments.get("index_name"))
    words = "CREATE UNIQUE INDEX " if unique else "CREATE INDEX "
    guard = "IF NOT EXISTS " if operation.module.truth(arguments.get("if_not_exists"), False) else ""
    sql = operation.start(words + guard)
    if name:
        sql.name(name, operation.module.place_of(arguments.get("index_name"))).add(" ")
    elif guard:
        raise Unreadable
    sql.add("ON ")
    table = operation.table(sql, arguments)
    method = operation.unless_none(arguments, "postgresql_using")
    sql.add(f" USING {in_quotes(operation.module.text(method))}" if method is not None else "")
    for number, element in enumerate(operation.module.items(arguments.get("columns"))):
        sql.add(", " if number else " (")
        if isinstance(element, ast.Call):
            sql.add(
                f"({expression(operation.module, element)})"
                if last_name(element) != "column"
                else expression(operation.module, element)
            )
        else:
            sql.name(operation.module.text(element), operation.module.place(element))
    sql.add(")")
    if "postgresql_include" in arguments:
        sql.add(" INCLUDE ").names(operation.module.names(operation.module.items(arguments["postgresql_include"])))
    if operation.unless_none(arguments, "postgresql_nulls_not_distinct") is not None:
        raise Unreadable
    where = operation.unless_none(arguments, "postgresql_where")
    sql.add(f" WHERE {expression(operation.module, where)}" if where is not None else "")
    operation.known(table, name)


def _drop_index(operation: Operation) -> None:
    arguments = operation.arguments("index_name", "table_name")
    name = identifier(operation.module, arguments.get("index_name"))
    guard = operation.module.truth(arguments.get("if_exists"), False)
    if not guard and not any(part == name for _, part in operation.project.parts):
        raise Unreadable
    sql = operation.start("DROP INDEX IF EXISTS " if guard else "DROP INDEX ")
    operation.schema(sql, keywords(operation.batch) if operation.batch is not None else arguments)
    sql.name(name, operation.module.place_of(arguments.get("index_name")))


def _constrain(operation: Operation, words: str, key: str) -> tuple[Sql, dict[str, ast.expr]]:
    """Return the beginning of a statement that adds a constraint, as far as the word for its kind."""
    names = ("constraint_name", "source_table", "referent_table", "local_cols", "remote_cols")
    arguments = (
        operation.arguments(*names)
        if words == "FOREIGN KEY"
        else operation.arguments("constraint_name", "table_name", key)
    )
    name = identifier(operation.module, arguments.get("constraint_name"))
    sql = operation.start("ALTER TABLE ")
    table = operation.table(sql, arguments, "source_table" if words == "FOREIGN KEY" else "table_name")
    sql.add(" ADD ")
    if name:
        sql.add("CONSTRAINT ").name(name).add(" ")
    operation.known(table, name)
    return sql.add(words + " "), arguments


def _create_primary_key(operation: Operation) -> None:
    sql, arguments = _constrain(operation, "PRIMARY KEY", "columns")
    sql.names(operation.module.names(operation.module.items(arguments.get("columns"))))


def _create_unique_constraint(operation: Operation) -> None:
    sql, arguments = _constrain(operation, "UNIQUE", "columns")
    if "postgresql_nulls_not_distinct" in arguments:
        raise Unreadable
    sql.names(operation.module.names(operation.module.items(arguments.get("columns"))))
    _deferrable(operation, sql, arguments)


def _create_check_constraint(operation: Operation) -> None:
    sql, arguments = _constrain(operation, "CHECK", "condition")
    if "condition" not in arguments:
        raise Unreadable
    sql.add(f"({expression(operation.module, arguments['condition'])})")


def _create_foreign_key(operation: Operation) -> None:
    sql, arguments = _constrain(operation, "FOREIGN KEY", "")
    local, remote = (
        operation.module.names(operation.module.items(arguments.get(key))) for key in ("local_cols", "remote_cols")
    )
    sql.names(local).add(" REFERENCES ")
    operation.schema(sql, arguments, "referent_schema")
    table = arguments.get("referent_table")
    sql.name(operation.module.text(table), operation.module.place_of(table)).add(" ").names(remote)
    add_actions(operation.module, sql, arguments)


def _deferrable(operation: Operation, sql: Sql, arguments: dict[str, ast.expr]) -> None:
    add_actions(operation.module, sql, {key: value for key, value in arguments.items() if key == "deferrable"})


def _drop_constraint(operation: Operation) -> None:
    arguments = operation.arguments("constraint_name", "table_name", "type_")
    name = identifier(operation.module, arguments.get("constraint_name"))
    sql = operation.start("ALTER TABLE ")
    table = operation.table(sql, arguments)
    guard = operation.module.truth(arguments.get("if_exists"), False)
    if not guard and (table, name) not in operation.project.parts:
        raise Unreadable
    sql.add(" DROP CONSTRAINT IF EXISTS " if guard else " DROP CONSTRAINT ")
    sql.name(name, operation.module.place_of(arguments.get("constraint_name")))


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
"""The function that adds an operation's statements, by the name of the operation."""
