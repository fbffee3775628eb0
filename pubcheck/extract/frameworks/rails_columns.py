"""Columns of ActiveRecord as PostgreSQL's, and the names that Rails gives to indexes."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.extract.frameworks.operations import Place, Unreadable
from pubcheck.extract.frameworks.ruby import Command
from pubcheck.extract.frameworks.tokens import Value
from pubcheck.postgres.tokens import in_quotes
from pubcheck.words import words

_TYPES = {
    name: name
    for name in words("""
    bigint bigserial bit boolean box cidr circle citext date daterange hstore inet int4range int8range integer
    interval json jsonb line lseg ltree macaddr money numeric numrange oid path point polygon serial text tsrange
    tstzrange tsvector uuid xml
""")
} | {
    "binary": "bytea",
    "bit_varying": "bit varying",
    "blob": "bytea",
    "datetime": "timestamp without time zone",
    "decimal": "numeric",
    "float": "double precision",
    "primary_key": "bigserial",
    "string": "character varying",
    "time": "time without time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
}
_OF_EXTENSIONS = frozenset(["geography", "geometry", "halfvec", "sparsevec", "st_point", "st_polygon", "vector"])
"""Types that are not PostgreSQL's own: nothing is known of them but that they make a column."""
_BYTES = {1: "smallint", 2: "smallint", 3: "integer", 4: "integer", 5: "bigint", 6: "bigint", 7: "bigint", 8: "bigint"}


class Column(Struct, frozen=True):
    """A column: what is written behind its name, and the name of a type that is not PostgreSQL's."""

    name: str
    place: Place | None
    definition: str
    unknown: str = ""


def column_of(kind: str, name: Value, options: dict[str, Value]) -> Column:
    """Return a column of a type as Rails calls it."""
    type, unknown = _type(kind, options)
    rest = ""
    if kind == "virtual":
        rest = f" GENERATED ALWAYS AS ({options['as'].text()})"
        rest += " STORED" if "stored" in options and options["stored"].known is True else " VIRTUAL"
    if "array" in options and options["array"].known is True:
        type += "[]"
    null = options["null"].known if "null" in options else None
    if not isinstance(null, bool | None):
        raise Unreadable
    return Column(name.text(), name.place, f" {type}{rest}{' NOT NULL' if null is False else ''}", unknown)


def _type(kind: str, options: dict[str, Value]) -> tuple[str, str]:
    if kind == "virtual":
        return _type(options["type"].text(), {}) if "type" in options else ("text", "")
    if kind == "enum":
        named = options.get("enum_type")
        name = named.text() if named is not None else "enum"
        return in_quotes(name), name
    if kind in _OF_EXTENSIONS:
        return in_quotes(kind), kind
    type = _TYPES.get(kind)
    if type is None:
        raise Unreadable
    numbers = {key: options[key].known for key in ("limit", "precision", "scale") if key in options}
    limit = numbers.get("limit")
    if kind == "integer" and isinstance(limit, int):
        return _BYTES.get(limit, "integer"), ""
    if kind in ("string", "bit", "bit_varying") and isinstance(limit, int):
        return f"{type}({limit})", ""
    if kind in ("decimal", "numeric") and isinstance(numbers.get("precision"), int):
        scale = numbers.get("scale")
        return f"{type}({numbers['precision']}{f', {scale}' if isinstance(scale, int) else ''})", ""
    return type, ""


def columns_of_reference(name: Value, options: dict[str, Value]) -> list[Column]:
    """Return the columns that refer to another table's rows, whichever table that is."""
    kind = options["type"].text() if "type" in options else "bigint"
    nullability = {key: value for key, value in options.items() if key == "null"}
    columns = [column_of(kind, Value(name.place, f"{name.text()}_id"), nullability)]
    polymorphic = options["polymorphic"].known if "polymorphic" in options else False
    if polymorphic is not False:
        columns.insert(0, column_of("string", Value(name.place, f"{name.text()}_type"), nullability))
    return columns


def timestamps(command: Command) -> list[Column]:
    """Return the columns created_at and updated_at, which are NOT NULL by default."""
    options = {"null": Value(command.place, False), **{k: v for k, v in command.options.items() if k == "null"}}
    kind = "timestamptz" if command.name == "timestamptz" else "datetime"
    return [column_of(kind, Value(command.place, name), options) for name in ("created_at", "updated_at")]


def index_name(table: str, columns: list[str]) -> str:
    """Return the name that Rails gives to an index; one that is too long it makes another way."""
    table = table.replace(".", "_")
    name = f"index_{table}_on_{'_and_'.join(columns)}"
    if len(name) > 62 or not all(column.isidentifier() for column in columns):
        raise Unreadable
    return name
