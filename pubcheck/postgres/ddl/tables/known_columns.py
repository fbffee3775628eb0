"""CREATE TABLE as pg_dump writes it, with column definitions that were analysed before.

A dump of thousands of tables has a few hundred different definitions of columns, such as ``text NOT NULL``. A table of
such columns is neither parsed nor are its columns analysed again. The grammar is free of context: the text between
two commas of the list means the same in every table.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import FIRST_GENERATED, PG_CATALOG
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.ddl.tables.column_definition import define_column, is_just_not_null, refuse_pseudo_type
from pubcheck.postgres.ddl.tables.default_types import is_simple, without_null_default
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import LARGEST, Node, is_too_large, parse
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session
from pubcheck.postgres.session.connection import EVENT_TRIGGERS
from pubcheck.postgres.tokens import identifier

_HEAD = lazy_compile(r"CREATE TABLE ([a-z_][a-z0-9_]{0,62})\.([a-z_][a-z0-9_]{0,62}) \(\n    ")
_SEPARATOR = ",\n    "
_END = "\n)"
_LOOKED_AHEAD = frozenset(("format", "nulls", "without"))
"""Words that the scanner takes for another token before some others (base_yylex), so that the definition matters."""
_FIELDS = frozenset(("colname", "typeName", "is_local", "constraints", "location"))
"""The fields of a ColumnDef with no more than a type and constraints."""


def parse_table(sql: str, known: Sequence[KnownColumns], most: int = LARGEST) -> tuple[str, Node] | None:
    """Parse a statement as ``parse`` does.

    If it is a CREATE TABLE of columns that are all in ``known``, its node has ``columns`` (by major) in the place of
    ``tableElts``.
    """
    head = _HEAD.match(sql)
    if head is None or not (sql.endswith(_END) and sql.isascii() and not is_too_large(sql, most)):
        return parse(sql, most)
    definitions = sql[head.end() : -len(_END)].split(_SEPARATOR)
    columns = {columns_of_major.major: columns_of_major.columns(definitions) for columns_of_major in known}
    schema, name = head.groups()
    node: Node = {
        "relation": {
            "schemaname": schema,
            "relname": name,
            "inh": True,
            "relpersistence": "p",
            "location": head.start(1),
        },
        "oncommit": "ONCOMMIT_NOOP",
    }
    if None not in columns.values() and _is_name(schema):
        return "CreateStmt", {**node, "columns": columns}
    statement = parse(sql, most)
    if statement is not None and statement[0] == "CreateStmt":
        elements = statement[1].get("tableElts", ())
        if statement[1] == {**node, "tableElts": elements} and len(elements) == len(definitions):
            for columns_of_major in known:
                columns_of_major.learn(definitions, elements, head.end())
    return statement


class KnownColumns:
    """The columns of one session by their numbers and the texts of their definitions.

    Only columns of built-in types are kept, without constraints and defaults that create something. They hold as long
    as the names in them mean the same.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.major = session.catalog.major.number
        self._columns = _Columns()
        self._meanings = -1

    def columns(self, definitions: Sequence[str]) -> list[Column] | None:
        """Return the columns of a table, or None if one is not known."""
        if self._meanings != self._session.catalog.journal.meanings:
            return None
        columns = self._columns
        try:
            row = [columns[key] for key in enumerate(definitions, 1)]
        except KeyError:
            return None
        return row if len({column.name for column in row}) == len(row) else None

    def learn(self, definitions: Sequence[str], elements: Sequence[Node], start: int) -> None:
        """Keep the columns that the grammar found at these definitions; ``start`` is where the first one begins."""
        session = self._session
        settings, meanings = session.catalog.settings, session.catalog.journal.meanings
        if self._meanings != meanings:
            self._columns, self._meanings = _Columns(), meanings
        if EVENT_TRIGGERS in settings or session.catalog.keeps_definitions or session.known_path[:1] != (PG_CATALOG,):
            return
        patterns = self._columns.patterns
        for definition, element in zip(definitions, elements, strict=True):
            body = element.get("ColumnDef", {})
            name, _, pattern = definition.partition(" ")
            if body.get("location") == start and body["colname"] == name and pattern not in patterns:
                patterns[pattern] = _pattern(session, body, pattern)
            start += len(definition) + len(_SEPARATOR)


class _Columns(dict[tuple[int, str], Column]):
    """Columns by their numbers and definitions; raises KeyError for an unknown one.

    ``patterns`` are columns by their definitions without the name, None for those that must be analysed each time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.patterns: dict[str, Column | None] = {}

    def __missing__(self, key: tuple[int, str]) -> Column:
        number, definition = key
        name, _, pattern = definition.partition(" ")
        column = self.patterns[pattern]
        if column is None or not _is_name(name) or name in SYSTEM_COLUMNS:
            raise KeyError(key)
        column = self[key] = replace(column, number=number, name=name)
        return column


def _is_name(word: str) -> bool:
    """Return whether a word is a name of a column or schema, whatever comes after it."""
    return identifier(word) == word and len(word) <= 63 and word not in _LOOKED_AHEAD


def _pattern(session: Session, body: Node, pattern: str) -> Column | None:
    """Return the column of a definition that has no effect besides and depends on built-in objects only, or None."""
    names = [part["String"]["sval"] for part in body.get("typeName", {"names": ()})["names"]]
    if not names or names[:-1] not in ([], ["pg_catalog"]) or "--" in pattern or "/*" in pattern:
        return None
    if not builtins(session.catalog.major.number).type("pg_catalog", names[-1]) or not body.keys() <= _FIELDS:
        return None
    for item in body.get("constraints", ()):
        constraint = item["Constraint"]
        is_default = constraint["contype"] == "CONSTR_DEFAULT" and is_simple(constraint["raw_expr"])
        if not (is_default or is_just_not_null(item)):
            return None
    constraints: list[Node] = []
    owned: list[tuple[str, Node]] = []
    try:
        with session.apart() as basis:
            column = without_null_default(define_column(session, body, 1, constraints, owned))
            refuse_pseudo_type(column)
    except ServerError:
        return None
    builtin = 0 < column.type < FIRST_GENERATED and column.default_type < FIRST_GENERATED
    return column if builtin and basis.certain and not (constraints or owned) else None
