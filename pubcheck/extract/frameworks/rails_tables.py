"""Rails' commands, each as the statements that ActiveRecord sends to PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from pubcheck.extract.frameworks.operations import Operations, Place, Sql, Unreadable, create_enum, qualified
from pubcheck.extract.frameworks.project import Project
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


class StatementWriter:
    """Collects the statements of the command that is read."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.operations = Operations()
        self.at = (0, 0)
        """The place of the command that is read."""
        self.pending: list[Sql] = []
        """Its statements."""

    def doubt(self, table: str) -> None:
        self.operations.doubt(self.at[0], table)

    def start(self, words: str, table: Value, after: str = "") -> Sql:
        """Return a new statement about a table."""
        sql = Sql(self.at).add(words).add(qualified(table.text()), table.place).add(after)
        self.pending.append(sql)
        return sql

    def send(self, statement: str) -> None:
        """A new statement without a table's name."""
        self.pending.append(Sql(self.at).add(statement))

    def unknown_type(self, name: str) -> None:
        if name and ("", name) not in self.project.parts:
            self.operations.doubt_type(self.at[0], name)

    def add(self, sql: Sql, column: Column) -> None:
        """Add the definition of a column."""
        self.unknown_type(column.unknown)
        sql.add(in_quotes(column.name), column.place).add(column.definition)


def _truth(command: Command, name: str, default: bool = False) -> bool:
    known = command.options[name].known if name in command.options else default
    if not isinstance(known, bool | None):
        raise Unreadable
    return bool(known)


def _create_table(writer: StatementWriter, command: Command) -> None:
    table, options = command.arguments[0], command.options
    if not options.keys().isdisjoint(("as", "inherits")):
        raise Unreadable
    columns, later = _block(writer, command, table)
    force = options["force"].known if "force" in options else False
    if force:
        writer.start("DROP TABLE IF EXISTS ", table, " CASCADE")
    words = "CREATE TEMPORARY TABLE " if _truth(command, "temporary") else "CREATE TABLE "
    sql = writer.start(words + ("IF NOT EXISTS " if _truth(command, "if_not_exists") else ""), table, " (")
    parts = [*_key(command), *columns]
    for number, column in enumerate(parts):
        writer.add(sql.add(", " if number else ""), column)
    keys = options["primary_key"].known if "primary_key" in options else None
    if isinstance(keys, list):
        sql.add(", PRIMARY KEY ").names((action.text(), action.place) for action in keys)
    sql.add(")").add(f" {options['options'].text()}" if "options" in options else "")
    for action in later:
        action()


def _key(command: Command) -> list[Column]:
    """Return the column of the key that a table has by default."""
    options = command.options
    kind = options["id"].known if "id" in options else True
    name = options["primary_key"].known if "primary_key" in options else "id"
    if kind is False or isinstance(name, list):
        return []
    if isinstance(kind, dict):
        kind = kind["type"].known if "type" in kind else True
    if not isinstance(name, str) or not isinstance(kind, str | bool):
        raise Unreadable
    type = "bigserial" if kind is True or kind == "primary_key" else "serial" if kind in ("integer", "serial") else kind
    column = column_of(type if isinstance(type, str) else "bigserial", Value(command.place, name), {})
    return [Column(name, None, f"{column.definition} PRIMARY KEY", column.unknown)]


def _block(writer: StatementWriter, command: Command, table: Value) -> tuple[list[Column], list[Callable[[], None]]]:
    """Return the columns of a block of a new table, and what makes its indexes."""
    columns: list[Column] = []
    later: list[Callable[[], None]] = []
    for inner in command.body:
        if inner.perhaps or inner.opens or inner.receiver != command.variable or inner.odd:
            raise Unreadable
        if inner.name in ("timestamps", "timestamptz") and not inner.arguments:
            columns += timestamps(inner)
        elif inner.name in ("references", "belongs_to"):
            for name in inner.arguments:
                columns += columns_of_reference(name, inner.options)
                later += _index_of_reference(writer, table, name, inner.options)
        elif inner.name == "index":
            later.append(partial(_index, writer, table, inner.arguments[0], inner))
        elif inner.name in ("foreign_key", "check_constraint", "comment"):
            continue
        elif inner.name == "column":
            columns += [column_of(inner.arguments[1].text(), inner.arguments[0], inner.options)]
        elif inner.name == "primary_key":
            kind = inner.arguments[1].text() if len(inner.arguments) > 1 else "bigserial"
            column = column_of(kind, inner.arguments[0], inner.options)
            columns.append(Column(column.name, column.place, f"{column.definition} PRIMARY KEY", column.unknown))
        else:
            columns += [column_of(inner.name, name, inner.options) for name in inner.arguments]
            for name in inner.arguments:
                indexed = inner.options["index"].known if "index" in inner.options else None
                if indexed:
                    later.append(partial(_index_as, writer, table, [name], inner.options["index"]))
            if not inner.arguments:
                raise Unreadable
    return columns, later


def _index_of_reference(
    writer: StatementWriter, table: Value, name: Value, options: dict[str, Value]
) -> list[Callable[[], None]]:
    """Return the index of a reference, where it makes something unique."""
    if "index" not in options or not isinstance(options["index"].known, dict):
        return []
    column = Value(name.place, f"{name.text()}_id")
    kind = Value(name.place, f"{name.text()}_type")
    polymorphic = "polymorphic" in options and options["polymorphic"].known is not False
    return [lambda: _index_as(writer, table, [kind, column] if polymorphic else [column], options["index"])]


def _index_as(writer: StatementWriter, table: Value, columns: list[Value], option: Value) -> None:
    """An index as the option of a column says it: true, or the options of the index."""
    options = option.known if isinstance(option.known, dict) else {}
    if options or option.known is True:
        command = Command("index", option.place, arguments=[], options=options)
        _index(writer, table, Value(columns[0].place, columns), command)


def _index(writer: StatementWriter, table: Value, columns: Value, command: Command) -> None:
    options = command.options
    if not options.keys().isdisjoint(("nulls_not_distinct",)):
        raise Unreadable
    listed = columns.known if isinstance(columns.known, list) else [columns]
    names = [column.text() for column in listed]
    plain = all(re.fullmatch(r"\w+", column) for column in names)
    name = options["name"].text() if "name" in options else index_name(table.text(), names)
    unique = "UNIQUE " if _truth(command, "unique") else ""
    guard = "IF NOT EXISTS " if _truth(command, "if_not_exists") else ""
    method = f" USING {options['using'].text()}" if "using" in options else ""
    sql = writer.start(f"CREATE {unique}INDEX {guard}{in_quotes(name)} ON ", table, method)
    if plain:
        sql.add(" ").names((column.text(), column.place) for column in listed)
    else:
        sql.add(
            f" ({', '.join(column if re.search(r'[( ]', column) else in_quotes(column) for column in names)})",
            columns.place,
        )
    if "include" in options:
        sql.add(" INCLUDE ").names((column.text(), None) for column in options["include"].texts())
    if "where" in options:
        sql.add(f" WHERE {options['where'].text()}")
    writer.project.indexes.setdefault(table.text(), {})[name] = tuple(names)


def _add_index(writer: StatementWriter, command: Command) -> None:
    _index(writer, command.arguments[0], command.arguments[1], command)


def _remove_index(writer: StatementWriter, command: Command) -> None:
    table = command.arguments[0]
    indexes = writer.project.indexes.get(table.text(), {})
    if "name" in command.options:
        name = command.options["name"].text()
    else:
        columns = command.options.get("column") or command.arguments[1]
        column_names = tuple(column.text() for column in columns.texts())
        name = next((name for name, names in indexes.items() if names == column_names), "")
    if name not in indexes:
        raise Unreadable
    del indexes[name]
    writer.send(f"DROP INDEX {in_quotes(name)}")


def _drop_table(writer: StatementWriter, command: Command) -> None:
    guard = "IF EXISTS " if _truth(command, "if_exists") else ""
    cascade = " CASCADE" if command.options.get("force", Value(writer.at, None)).known == "cascade" else ""
    for table in command.arguments:
        writer.start(f"DROP TABLE {guard}", table, cascade)


def _rename_table(writer: StatementWriter, command: Command) -> None:
    old, new = command.arguments[:2]
    writer.start("ALTER TABLE ", old, " RENAME TO ").add(in_quotes(new.text()), new.place)
    known = writer.project.indexes.pop(old.text(), {})
    writer.project.indexes[new.text()] = renamed = {}
    for name, columns in known.items():
        changed = index_name(new.text(), list(columns)) if name == index_name(old.text(), list(columns)) else name
        renamed[changed] = columns
        if changed != name:
            writer.send(f"ALTER INDEX {in_quotes(name)} RENAME TO {in_quotes(changed)}")


def _alter(writer: StatementWriter, table: Value, columns: list[Column]) -> None:
    for column in columns:
        writer.add(writer.start("ALTER TABLE ", table, " ADD COLUMN "), column)


def _add_column(writer: StatementWriter, command: Command) -> None:
    table, name, kind = command.arguments[:3]
    column = column_of(kind.text(), name, command.options)
    guard = "IF NOT EXISTS " if _truth(command, "if_not_exists") else ""
    writer.add(writer.start("ALTER TABLE ", table, f" ADD COLUMN {guard}"), column)


def _add_columns(writer: StatementWriter, command: Command) -> None:
    table, *names = command.arguments
    options = dict(command.options)
    kind = options.pop("type").text() if "type" in options else ""
    _alter(writer, table, [column_of(kind, name, options) for name in names])


def _remove_column(writer: StatementWriter, command: Command) -> None:
    table, names = command.arguments[0], command.arguments[1:]
    guard = "IF EXISTS " if _truth(command, "if_exists") else ""
    for name in names[:1] if command.name == "remove_column" else names:
        writer.start("ALTER TABLE ", table, f" DROP COLUMN {guard}").add(in_quotes(name.text()), name.place)


def _rename_column(writer: StatementWriter, command: Command) -> None:
    table, old, new = command.arguments[:3]
    sql = writer.start("ALTER TABLE ", table, " RENAME COLUMN ").add(in_quotes(old.text()), old.place)
    sql.add(" TO ").add(in_quotes(new.text()), new.place)
    known = writer.project.indexes.get(table.text(), {})
    for name, columns in list(known.items()):
        if old.text() in columns:
            after = tuple(new.text() if column == old.text() else column for column in columns)
            changed = index_name(table.text(), list(after)) if name == index_name(table.text(), list(columns)) else name
            known[changed] = after
            if changed != name:
                del known[name]
                writer.send(f"ALTER INDEX {in_quotes(name)} RENAME TO {in_quotes(changed)}")


def _change_column(writer: StatementWriter, command: Command) -> None:
    table, name, kind = command.arguments[:3]
    column = column_of(kind.text(), name, {**command.options, "null": Value(writer.at, None)})
    writer.unknown_type(column.unknown)
    sql = writer.start("ALTER TABLE ", table, " ALTER COLUMN ").add(in_quotes(column.name), column.place)
    sql.add(f" TYPE{column.definition}")
    if "using" in command.options:
        sql.add(f" USING {command.options['using'].text()}")
    if "null" in command.options:
        words = "DROP NOT NULL" if _truth(command, "null") else "SET NOT NULL"
        writer.start("ALTER TABLE ", table, " ALTER COLUMN ").add(f"{in_quotes(column.name)} {words}", column.place)


def _change_null(writer: StatementWriter, command: Command) -> None:
    table, name, null = command.arguments[:3]
    if not isinstance(null.known, bool):
        raise Unreadable
    words = "DROP NOT NULL" if null.known else "SET NOT NULL"
    writer.start("ALTER TABLE ", table, " ALTER COLUMN ").add(in_quotes(name.text()), name.place).add(f" {words}")


def _add_reference(writer: StatementWriter, command: Command) -> None:
    table, name = command.arguments[:2]
    _alter(writer, table, columns_of_reference(name, command.options))
    for add_index in _index_of_reference(writer, table, name, command.options):
        add_index()


def _remove_reference(writer: StatementWriter, command: Command) -> None:
    table, name = command.arguments[:2]
    polymorphic = "polymorphic" in command.options and command.options["polymorphic"].known is not False
    for end in ("_type", "_id") if polymorphic else ("_id",):
        writer.start("ALTER TABLE ", table, " DROP COLUMN ").add(in_quotes(name.text() + end), name.place)


def _add_timestamps(writer: StatementWriter, command: Command) -> None:
    _alter(writer, command.arguments[0], timestamps(command))


def _remove_timestamps(writer: StatementWriter, command: Command) -> None:
    for name in ("created_at", "updated_at"):
        writer.start("ALTER TABLE ", command.arguments[0], f' DROP COLUMN "{name}"')


_CHANGES = {
    "change": "change_column",
    "change_null": "change_column_null",
    "remove": "remove_columns",
    "remove_belongs_to": "remove_reference",
    "remove_column": "remove_column",
    "remove_columns": "remove_columns",
    "remove_index": "remove_index",
    "remove_references": "remove_reference",
    "remove_timestamps": "remove_timestamps",
    "rename": "rename_column",
}


def _change_table(writer: StatementWriter, command: Command) -> None:
    table = command.arguments[0]
    for inner in command.body:
        if (
            inner.name in _CHANGES
            and inner.receiver == command.variable
            and not (inner.perhaps or inner.opens or inner.odd)
        ):
            changed = Command(
                _CHANGES[inner.name], inner.place, arguments=[table, *inner.arguments], options=inner.options
            )
            RENDERED[changed.name](writer, changed)
        elif inner.name != "change_default":
            part = Command("", command.place, body=[inner], variable=command.variable)
            columns, later = _block(writer, part, table)
            _alter(writer, table, columns)
            for create_index in later:
                create_index()


def _create_enum(writer: StatementWriter, command: Command) -> None:
    name, labels = command.arguments[:2]
    writer.send(create_enum(in_quotes(name.text()), (label.text() for label in labels.texts())))
    writer.project.parts.add(("", name.text()))


RENDERED: Mapping[str, Callable[[StatementWriter, Command], None]] = {
    "add_belongs_to": _add_reference,
    "add_column": _add_column,
    "add_columns": _add_columns,
    "add_index": _add_index,
    "add_reference": _add_reference,
    "add_timestamps": _add_timestamps,
    "change_column": _change_column,
    "change_column_null": _change_null,
    "change_table": _change_table,
    "create_enum": _create_enum,
    "create_table": _create_table,
    "drop_table": _drop_table,
    "remove_belongs_to": _remove_reference,
    "remove_column": _remove_column,
    "remove_columns": _remove_column,
    "remove_index": _remove_index,
    "remove_reference": _remove_reference,
    "remove_timestamps": _remove_timestamps,
    "rename_column": _rename_column,
    "rename_table": _rename_table,
}
"""The function that adds a command's statements, by the name of the command."""
