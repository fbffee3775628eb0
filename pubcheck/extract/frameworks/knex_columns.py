"""Columns of Knex's table builder as PostgreSQL's."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.extract.frameworks.javascript import Link
from pubcheck.extract.frameworks.operations import Place, Unreadable
from pubcheck.extract.frameworks.tokens import Value
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
_HARMLESS = word_set("""
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
    elif name not in _HARMLESS:
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
