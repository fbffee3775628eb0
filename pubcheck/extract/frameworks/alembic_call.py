"""A call of an operation of Alembic, and its arguments."""

from __future__ import annotations

import ast

from pubcheck.extract.frameworks.alchemy import Column, identifier
from pubcheck.extract.frameworks.operations import Sql, Unreadable, create_enum
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.python import Module, keywords, last_name
from pubcheck.words import word_set


class Operation:
    """One call of an operation: its arguments by name, and the statements that it creates."""

    def __init__(self, tree: Module, project: Project, call: ast.Call, batch: ast.Call | None) -> None:
        self.module, self.project, self.call, self.batch = tree, project, call, batch
        self.statements: list[Sql] = []
        self.unknown_types: list[str] = []

    def arguments(self, *names: str) -> dict[str, ast.expr]:
        """Return the arguments by name. ``names`` are those of positional ones; a batch leaves out the table."""
        if self.batch is not None:
            names = tuple(name for name in names if name not in ("table_name", "source_table"))
        named = keywords(self.call)
        if len(self.call.args) > len(names):
            raise Unreadable
        return {**dict(zip(names, self.call.args, strict=False)), **named}

    def start(self, words: str) -> Sql:
        """Return a new statement that begins with some words, which have the place of the call."""
        sql = Sql(self.module.place(self.call)).add(words, self.module.place(self.call.func))
        self.statements.append(sql)
        return sql

    def table(self, sql: Sql, arguments: dict[str, ast.expr], key: str = "table_name") -> str:
        """Add the name of the table that is changed; that name without its schema."""
        if self.batch is not None:
            arguments = keywords(self.batch)
            node = self.batch.args[0] if self.batch.args else arguments.get("table_name")
        else:
            node = arguments.get(key)
        name = self.module.text(node)
        self.schema(sql, arguments)
        sql.name(name, self.module.place_of(node))
        return name

    def schema(self, sql: Sql, arguments: dict[str, ast.expr], key: str = "schema") -> None:
        schema = identifier(self.module, arguments.get(key))
        if schema:
            sql.name(schema).add(".")

    def table_if_known(self) -> str:
        """Return the name of the table of an otherwise unknown operation; "" if the table is unknown too."""
        try:
            if self.batch is not None:
                arguments = keywords(self.batch)
                return self.module.text(self.batch.args[0] if self.batch.args else arguments.get("table_name"))
            name = last_name(self.call)
            if name not in _TABLE_FIRST and name not in _TABLE_SECOND:
                return ""
            position = 0 if name in _TABLE_FIRST else 1
            for keyword in self.call.keywords:
                if keyword.arg in ("table_name", "source_table", "old_table_name"):
                    return self.module.text(keyword.value)
            return self.module.text(self.call.args[position])
        except (Unreadable, IndexError):
            return ""

    def column(self, sql: Sql, column: Column, *, key: bool = False) -> None:
        """Add the definition of a column, and create its type before. ``key``: it is the whole primary key."""
        assert column.type is not None
        if column.type.enum is not None:
            self.statements.insert(0, Sql(self.module.place(self.call)).add(create_enum(*column.type.enum)))
        if column.type.unknown:
            self.unknown_types.append(column.type.unknown)
        sql.name(column.name, column.place).add(column.definition(key=key))

    def known(self, table: str, name: str) -> None:
        if name:
            self.project.parts.add((table, name))

    def unless_none(self, arguments: dict[str, ast.expr], key: str) -> ast.expr | None:
        """Return an argument, None where it is left out or None."""
        node = arguments.get(key)
        return None if isinstance(node, ast.Constant) and node.value is None else node

    def index_of(self, column: Column, table: str, arguments: dict[str, ast.expr]) -> None:
        """Create the index of a column with ``index=True``."""
        if column.index:
            name = f"ix_{table}_{column.name}"
            sql = self.start("CREATE UNIQUE INDEX " if column.unique else "CREATE INDEX ").name(name).add(" ON ")
            self.table(sql, arguments)
            sql.add(" ").names([(column.name, None)])
            self.known(table, name)


_TABLE_FIRST = frozenset(["create_table", "drop_table", "rename_table", "add_column", "drop_column", "alter_column"])


_TABLE_SECOND = word_set("""
    create_index create_primary_key create_unique_constraint create_foreign_key create_check_constraint
    drop_constraint create_exclude_constraint drop_index
""")
