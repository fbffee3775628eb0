"""Knex: the calls of its schema builder as the statements that it sends to PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.extract.frameworks.javascript import Link, callback, chain, tokens, value
from pubcheck.extract.frameworks.operations import Operations, Place, Sql, Unreadable, qualified
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.tokens import Token, Value
from pubcheck.extract.program_migrations import code_of, doubtful, undone
from pubcheck.extract.string_literals import LANGUAGES, literals
from pubcheck.postgres.tokens import in_quotes
from pubcheck.words import word_set, words

_TYPES = {
    name: name
    for name in words("""
    bigint boolean date geography geometry integer json jsonb point smallint text time uuid
""")
} | {
    "bigInteger": "bigint",
    "binary": "bytea",
    "double": "double precision",
    "enu": "text",
    "enum": "text",
    "float": "real",
    "int": "integer",
    "mediumint": "integer",
    "tinyint": "smallint",
}
SERIALS = {"bigIncrements": "bigserial", "bigincrements": "bigserial", "increments": "serial"}
_UNREAD = frozenset(["geography", "geometry"])
_HARMLESS_MODIFIERS = word_set("""
    after checkBetween checkIn checkLength checkNegative checkNotIn checkPositive checkRegex collate comment defaultTo
    deferrable first index onUpdate unsigned withKeyName
""")


class Column(Struct):
    """A column: its ``type``, and what its modifiers say. ``changes``: it is there already and gets another type.
    ``key`` and ``unique``: the name of that constraint, "" where it has none, None without such a constraint;
    ``refers``: the table and the column that it refers to, and what a DELETE there does."""

    name: Value
    type: str
    unknown: str = ""
    null: bool = True
    changes: bool = False
    key: str | None = None
    unique: str | None = None
    refers: list[str] = []

    @property
    def place(self) -> Place:
        return self.name.place

    def definition(self) -> str:
        return f" {self.type}{'' if self.null else ' NOT NULL'}"


def columns_of(links: list[Link]) -> list[Column]:
    """Return the columns that a chain of calls of a table builder makes."""
    first, *modifiers = links
    if first.name == "timestamps":
        return _timestamps(first)
    name = first.value(0)
    if first.name in SERIALS:
        name = Value(first.place, "id") if name.known is None else name
        options = first.value(1).known
        keyless = isinstance(options, dict) and "primaryKey" in options and options["primaryKey"].known is False
        column = Column(name, SERIALS[first.name], null=False, key=None if keyless else "")
    else:
        type, unknown = _type(first)
        column = Column(name, type, unknown)
    name.text()
    for modifier in modifiers:
        _modify(column, modifier)
    return [column]


def _type(link: Link) -> tuple[str, str]:
    kind = link.name
    if kind == "specificType":
        return link.value(1).text(), ""
    if kind == "string":
        size = link.value(1).known
        return f"varchar({size if isinstance(size, int) else 255})", ""
    if kind == "decimal":
        precision, scale = (link.value(number).known for number in (1, 2))
        return (
            f"decimal({precision if isinstance(precision, int) else 8}, {scale if isinstance(scale, int) else 2})",
            "",
        )
    if kind in ("datetime", "timestamp"):
        option = link.value(1).known
        zoned = option.get("useTz", Value(link.place, True)).known if isinstance(option, dict) else option is not True
        return f"timestamp {'without' if zoned is False else 'with'} time zone", ""
    if kind in ("enu", "enum") and isinstance(link.value(2).known, dict):
        option = link.value(2).known
        name = option.get("enumName") if isinstance(option, dict) else None
        if name is not None:
            return in_quotes(name.text()), name.text()
    if kind in _UNREAD:
        return in_quotes(kind), kind
    type = _TYPES.get(kind)
    if type is None:
        raise Unreadable
    return type, ""


def _modify(column: Column, link: Link) -> None:
    name = link.name
    if name == "notNullable":
        column.null = False
    elif name == "nullable":
        column.null = link.value(0).known is not False
    elif name == "alter":
        if link.arguments:
            raise Unreadable
        column.changes = True
    elif name == "primary":
        column.key = constraint(link.value(0), "constraintName")
    elif name == "unique":
        column.unique = constraint(link.value(0), "indexName")
    elif name == "references":
        table, _, target_column = link.value(0).text().rpartition(".")
        column.refers = [table, target_column, ""]
    elif name == "inTable" and column.refers:
        column.refers[0] = link.value(0).text()
    elif name in ("onDelete", "onUpdate") and column.refers:
        if name == "onDelete":
            column.refers[2] = link.value(0).text()
    elif name not in _HARMLESS_MODIFIERS:
        raise Unreadable


def constraint(option: Value, key: str) -> str:
    """Return the name that an option gives to a constraint, "" where it is left to Knex."""
    known = option.known.get(key, Value(option.place, None)).known if isinstance(option.known, dict) else option.known
    if not isinstance(known, str | None):
        raise Unreadable
    return known or ""


def _timestamps(link: Link) -> list[Column]:
    option = link.value(0).known
    camel, filled = link.value(2).known, link.value(1).known
    if isinstance(option, dict):
        camel, filled = (option[key].known if key in option else None for key in ("useCamelCase", "defaultToNow"))
    names = ("createdAt", "updatedAt") if camel is True else ("created_at", "updated_at")
    return [Column(Value(link.place, name), "timestamp with time zone", null=filled is not True) for name in names]


_HARMLESS = word_set("""
    catch createExtension createExtensionIfNotExists hasColumn hasTable raw then toString toSQL
""")
_NO_CALL = frozenset(["async", "await", "catch", "for", "function", "if", "require", "return", "switch", "up", "while"])


def knex(text: str, project: Project) -> Operations | None:
    """Return the operations of the schema builder in a migration; None if there are none."""
    strings = list(literals(text, LANGUAGES["javascript"]))
    _, down = undone(text, "javascript", strings)
    code = code_of(text, "javascript", strings, down)
    if not re.search(r"\.\s*schema\b", code):
        return None
    up_strings = [string for string in strings if not any(start <= string.start < end for start, end in down)]
    spans = doubtful(text, "javascript", code, ())
    reader = _Reader(project, spans)
    try:
        reader.read_calls(tokens(text, code, up_strings))
    except RecursionError:
        return None
    return reader.operations


class _Reader:
    """Reads chains of calls in order. ``spans``: the code that may not run; None for all of it."""

    def __init__(self, project: Project, spans: tuple[tuple[int, int], ...] | None) -> None:
        self.project, self.spans = project, spans
        self.operations = Operations()
        self.at = (0, 0)
        self._schema = ""
        self._pending: list[Sql] = []

    def read_calls(self, listed: list[Token]) -> None:
        index = 0
        while index < len(listed):
            token = listed[index]
            if token.value == "schema" and token.kind == "word" and index and listed[index - 1].kind in (".", "?."):
                links, index = chain(listed, index + 1)
                self._schema = ""
                for link in links:
                    self._link(link)
                continue
            self._helper(listed, index)
            index += 1

    def _helper(self, listed: Sequence[Token], index: int) -> None:
        """A function that is handed Knex may do anything."""
        token = listed[index]
        if token.kind != "word" or token.value in _NO_CALL or index + 2 >= len(listed) or listed[index + 1].kind != "(":
            return
        handed = listed[index + 2].kind == "word" and listed[index + 2].value in ("knex", "trx", "db")
        if handed and (not index or listed[index - 1].value not in (".", "?.", "function")):
            self.operations.doubt(token.start)

    def _link(self, link: Link) -> None:
        self.at, self._pending = link.place, []
        perhaps = self.spans is None or any(start <= link.place[0] < end for start, end in self.spans)
        try:
            self._read(link)
        except (Unreadable, IndexError, ValueError):
            known = link.value(0).known
            self.operations.doubt(self.at[0], known if isinstance(known, str) else "")
        else:
            self.operations.calls += [sql.call(conditional=perhaps) for sql in self._pending]

    def _read(self, link: Link) -> None:
        name = link.name
        if name == "withSchema":
            self._schema = link.value(0).text()
        elif name in ("createTable", "createTableIfNotExists"):
            self._create(link)
        elif name in ("alterTable", "table"):
            self._alter(link)
        elif name in ("dropTable", "dropTableIfExists"):
            self.start("DROP TABLE IF EXISTS " if name.endswith("Exists") else "DROP TABLE ", link.value(0))
        elif name == "renameTable":
            new = link.value(1)
            self.start("ALTER TABLE ", link.value(0), " RENAME TO ").add(in_quotes(new.text()), new.place)
            parts = self.project.parts
            parts |= {(new.text(), part) for table, part in parts if table == link.value(0).text()}
        elif name == "createTableLike" and len(link.arguments) == 2:
            self.start("CREATE TABLE ", link.value(0), " (LIKE ").add(f"{self._table(link.value(1))} INCLUDING ALL)")
        elif name in ("createSchema", "createSchemaIfNotExists"):
            guard = "IF NOT EXISTS " if name.endswith("Exists") else ""
            self._pending.append(Sql(self.at).add(f"CREATE SCHEMA {guard}{in_quotes(link.value(0).text())}"))
        elif name not in _HARMLESS:
            raise Unreadable

    def _table(self, table: Value) -> str:
        name = qualified(table.text())
        return f"{in_quotes(self._schema)}.{name}" if self._schema else name

    def start(self, words: str, table: Value, after: str = "") -> Sql:
        """Return a new statement about a table."""
        sql = Sql(self.at).add(words).add(self._table(table), table.place).add(after)
        self._pending.append(sql)
        return sql

    def _builder(self, link: Link) -> list[list[Link]]:
        """Return the chains of calls of the function that builds a table."""
        if len(link.arguments) != 2:
            raise Unreadable
        name, body = callback(link.arguments[1])
        chains: list[list[Link]] = []
        position = 0
        while position < len(body):
            token = body[position]
            if token.kind == "word" and token.value == name:
                links, position = chain(body, position + 1)
                if not links:
                    raise Unreadable
                chains.append(links)
            elif token.kind in (";", ",") or token.value in ("return", "await"):
                position += 1
            else:
                raise Unreadable
        return chains

    def _create(self, link: Link) -> None:
        table = link.value(0)
        columns: list[Column] = []
        rest: list[list[Link]] = []
        keys: list[Value] = []
        named = ""
        for links in self._builder(link):
            if links[0].name == "primary":
                keys, named = _names(links[0]), constraint(links[0].value(1), "constraintName")
            elif links[0].name in _PARTS:
                rest.append(links)
            elif links[0].name not in _OF_TABLE:
                columns += columns_of(links)
        guard = "IF NOT EXISTS " if link.name.endswith("Exists") else ""
        sql = self.start(f"CREATE TABLE {guard}", table, " (")
        for number, column in enumerate(columns):
            self._type(column)
            sql.add(", " if number else "").add(in_quotes(column.name.text()), column.place).add(column.definition())
        marked = [column for column in columns if column.key is not None]
        keys = keys or [column.name for column in marked]
        named = named or next((column.key for column in marked if column.key), "") or f"{_plain(table)}_pkey"
        if keys:
            sql.add(f"{', ' if columns else ''}CONSTRAINT {in_quotes(named)} PRIMARY KEY ")
            sql.names((key.text(), key.place) for key in keys)
            self._know(table, named)
        sql.add(")")
        for column in columns:
            self._constrain(table, column)
        for links in rest:
            self._part(table, links)

    def _type(self, column: Column) -> None:
        if column.unknown:
            self.operations.doubt_type(self.at[0], column.unknown)

    def _know(self, table: Value, name: str) -> None:
        self.project.parts.add((table.text(), name))

    def _alter(self, link: Link) -> None:
        table = link.value(0)
        for links in self._builder(link):
            if links[0].name in _PARTS or links[0].name == "primary":
                self._part(table, links)
            elif links[0].name not in _OF_TABLE:
                for column in columns_of(links):
                    self._column(table, column)

    def _column(self, table: Value, column: Column) -> None:
        """Add a column, or changes its type and whether it is nullable."""
        self._type(column)
        name = in_quotes(column.name.text())
        if not column.changes:
            self.start("ALTER TABLE ", table, " ADD COLUMN ").add(name, column.place).add(column.definition())
            if column.key is not None:
                self._key(table, [column.name], column.key)
        else:
            for words in ("DROP NOT NULL", f"TYPE {column.type} USING ({name}::{column.type})"):
                self.start("ALTER TABLE ", table, " ALTER COLUMN ").add(name, column.place).add(f" {words}")
            if not column.null:
                self.start("ALTER TABLE ", table, " ALTER COLUMN ").add(name, column.place).add(" SET NOT NULL")
        self._constrain(table, column)

    def _constrain(self, table: Value, column: Column) -> None:
        if column.unique is not None:
            self._unique(table, [column.name], column.unique)
        if column.refers and column.refers[0]:
            self._foreign(table, [column.name], column.refers)

    def _key(self, table: Value, columns: list[Value], name: str) -> None:
        name = name or f"{_plain(table)}_pkey"
        sql = self.start("ALTER TABLE ", table, f" ADD CONSTRAINT {in_quotes(name)} PRIMARY KEY ")
        sql.names((column.text(), column.place) for column in columns)
        self._know(table, name)

    def _unique(self, table: Value, columns: list[Value], name: str) -> None:
        name = name or _name(table, columns, "unique")
        sql = self.start("ALTER TABLE ", table, f" ADD CONSTRAINT {in_quotes(name)} UNIQUE ")
        sql.names((column.text(), column.place) for column in columns)
        self._know(table, name)

    def _foreign(self, table: Value, columns: list[Value], refers: list[str]) -> None:
        name = _name(table, columns, "foreign")
        sql = self.start("ALTER TABLE ", table, f" ADD CONSTRAINT {in_quotes(name)} FOREIGN KEY ")
        sql.names((column.text(), column.place) for column in columns)
        sql.add(f" REFERENCES {self._table(Value(self.at, refers[0]))} ({in_quotes(refers[1])})")
        if refers[2]:
            sql.add(f" ON DELETE {refers[2]}" if refers[2].replace(" ", "").isalpha() else "")
        self._know(table, name)

    def _part(self, table: Value, links: list[Link]) -> None:
        """A constraint, an index, or a column that is there already."""
        link = links[0]
        name = link.name
        if name == "primary":
            self._key(table, _names(link), constraint(link.value(1), "constraintName"))
        elif name == "unique":
            option = link.value(1)
            if isinstance(option.known, dict) and not option.known.keys() <= {"indexName"}:
                raise Unreadable
            self._unique(table, _names(link), constraint(option, "indexName"))
        elif name == "index":
            named = constraint(link.value(1), "indexName") or _name(table, _names(link), "index")
            sql = self.start(f"CREATE INDEX {in_quotes(named)} ON ", table, " ")
            sql.names((column.text(), column.place) for column in _names(link))
            self._know(table, named)
        elif name in ("renameColumn", "dropColumn", "dropColumns", "setNullable", "dropNullable", "dropTimestamps"):
            self._changed(table, link)
        elif name in ("dropPrimary", "dropUnique", "dropForeign", "dropIndex"):
            self._dropped(table, link)
        elif name != "foreign":
            raise Unreadable

    def _changed(self, table: Value, link: Link) -> None:
        names = [value(column) for column in link.arguments]
        if link.name == "dropTimestamps":
            camel = bool(names) and names[0].known is True
            listed = ("createdAt", "updatedAt") if camel else ("created_at", "updated_at")
            names = [Value(link.place, column) for column in listed]
        elif link.name.startswith("dropColumn"):
            names = [text for column in names for text in column.texts()]
        words = {"setNullable": " DROP NOT NULL", "dropNullable": " SET NOT NULL"}.get(link.name)
        if link.name == "renameColumn":
            sql = self.start("ALTER TABLE ", table, " RENAME COLUMN ").add(in_quotes(names[0].text()), names[0].place)
            sql.add(" TO ").add(in_quotes(names[1].text()), names[1].place)
            return
        for column in names[:1] if words else names:
            sql = self.start("ALTER TABLE ", table, " ALTER COLUMN " if words else " DROP COLUMN ")
            sql.add(in_quotes(column.text()), column.place).add(words or "")

    def _dropped(self, table: Value, link: Link) -> None:
        kind = link.name.removeprefix("drop").lower()
        if kind == "primary":
            name = constraint(link.value(0), "constraintName") or f"{_plain(table)}_pkey"
        else:
            name = constraint(link.value(1), "indexName") or _name(table, _names(link), kind)
        if (table.text(), name) not in self.project.parts:
            raise Unreadable
        self.project.parts.discard((table.text(), name))
        if kind == "index":
            self._pending.append(Sql(self.at).add(f"DROP INDEX {in_quotes(name)}"))
        else:
            self.start("ALTER TABLE ", table, f" DROP CONSTRAINT {in_quotes(name)}")


_OF_TABLE = frozenset(["charset", "check", "collate", "comment", "engine"])
_PARTS = word_set("""
    dropColumn dropColumns dropForeign dropIndex dropNullable dropPrimary dropTimestamps dropUnique foreign index
    renameColumn setNullable unique
""")


def _names(link: Link) -> list[Value]:
    """Return the columns that the first argument of a call names."""
    return link.value(0).texts()


def _plain(table: Value) -> str:
    return re.sub(r"[./]", "_", table.text())


def _name(table: Value, columns: list[Value], kind: str) -> str:
    """Return the name that Knex gives to an index or a constraint."""
    return re.sub(r"[./]", "_", "_".join([table.text(), *(column.text() for column in columns), kind])).lower()
