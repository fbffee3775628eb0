"""Django's operations, each as the statements that its PostgreSQL backend sends."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from pubcheck.extract.frameworks.django_state import (
    NAME_LENGTH,
    Field,
    Model,
    constraint_name,
    default_table,
    joining_table,
    table_sql,
)
from pubcheck.extract.frameworks.operations import Place, Sql, Unreadable
from pubcheck.extract.frameworks.python import keywords, last_name
from pubcheck.postgres.tokens import in_quotes

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.extract.frameworks.django_state import StatementWriter

_Arguments = dict[str, ast.expr]
_UNKNOWN = "unknown"
"""The name of a type that a foreign key takes from a column that is not known."""


def explicit_table(writer: StatementWriter, arguments: _Arguments) -> str:
    """Return the table that a model is given by its options, "" where it is left to Django."""
    options = _options(arguments)
    value = writer.module.value(options["db_table"]) if "db_table" in options else None
    return str(value or "")


def _options(arguments: _Arguments) -> _Arguments:
    written = arguments.get("options")
    if written is None:
        return {}
    if not isinstance(written, ast.Dict):
        raise Unreadable
    options: _Arguments = {}
    for key, value in zip(written.keys, written.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise Unreadable
        options[key.value] = value
    return options


def _create_model(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    name, options = writer.module.text(arguments.get("name")), _options(arguments)
    proxy = writer.module.truth(options.get("proxy"), False)
    managed = writer.module.truth(options.get("managed"), True) and not proxy
    model = Model(writer.app, name.lower(), explicit_table(writer, arguments) or None, managed=managed)
    for element in writer.module.items(arguments.get("fields")):
        pair = writer.module.items(element)
        field = Field(writer.module, writer.module.text(pair[0]), pair[1], writer.app, writer.module.place(pair[0]))
        model.fields[field.name] = field
    if proxy:
        writer.state.models[writer.app, model.name] = model
        return
    if model.key is None and model.composite is None:
        # As DEFAULT_AUTO_FIELD says: bigint or integer.
        default_key = ast.parse("models.BigAutoField(primary_key=True)", mode="eval").body
        model.fields = {"id": Field(writer.module, "id", default_key, writer.app, None), **model.fields}
    writer.state.models[writer.app, model.name] = model
    sql = writer.start(model, "CREATE TABLE ", writer.module.place(call.func))
    place = options.get("db_table") or arguments.get("name")
    sql.add(table_sql(model.table), writer.module.place_of(place)).add(" (")
    columns = [field for field in model.fields.values() if field.column]
    for number, field in enumerate(columns):
        _column(writer, sql.add(", " if number else ""), model, field)
    if "order_with_respect_to" in options:
        sql.add(', "_order" integer NOT NULL')
    if model.composite is not None:
        keys = [in_quotes(_field(model, name).column) for name in model.composite.parts]
        sql.add(f", PRIMARY KEY ({', '.join(keys)})", model.composite.place)
    sql.add(")")
    for field in columns:
        _reference(writer, model, field)
    for field in model.fields.values():
        _joining(writer, model, field)
    _unite(writer, model, _together(writer, options.get("unique_together")))
    for key in ("constraints", "indexes"):
        for element in writer.module.items(options[key]) if key in options else ():
            _add_part(writer, model, element)


def _column(writer: StatementWriter, sql: Sql, model: Model, field: Field) -> None:
    """Add the definition of a column."""
    sql.add(in_quotes(field.column), field.place).add(f" {field.definition(_type(writer, field))}")
    if field.unique:
        name = f"{model.table.strip(chr(34)).rpartition('.')[2].strip(chr(34))}_{field.column}_key"
        field.unique_name = name if len(name.encode()) <= NAME_LENGTH else ""


def _type(writer: StatementWriter, field: Field) -> str:
    type = writer.state.referred(field)[2] if field.refers else field.type
    if not type or field.unknown:
        writer.unknown_type(field.unknown or _UNKNOWN)
    return type or in_quotes(_UNKNOWN)


def _reference(writer: StatementWriter, model: Model, field: Field) -> None:
    """The foreign key of a field, where the table that it refers to is known."""
    table, column, _ = writer.state.referred(field) if field.refers else ("", "", "")
    if not field.constrained or not table or not column:
        return
    plain = table.strip('"')
    field.reference_name = constraint_name(model.table, [field.column], f"_fk_{plain}_{column}")
    sql = writer.start(model, "ALTER TABLE ").add(table_sql(model.table))
    sql.add(f" ADD CONSTRAINT {in_quotes(field.reference_name)} FOREIGN KEY (").add(
        in_quotes(field.column), field.place
    )
    sql.add(f") REFERENCES {table_sql(table)} ({in_quotes(column)}) DEFERRABLE INITIALLY DEFERRED")


def _joining(writer: StatementWriter, model: Model, field: Field) -> None:
    """The table of a field that refers to many, with a key and two columns that are unique together."""
    if not field.many or field.through:
        return
    table, key = joining_table(model, field), writer.state.resolve(field.target) if field.target is not None else None
    if key is None:
        writer.doubt(table)
        return
    own, far = joining_columns(model.name, key[1], same=key == (model.app, model.name))
    types = [writer.state.type_of(model.key) if model.key is not None else "", writer.state.key_type(key)]
    if not all(types):
        writer.unknown_type(_UNKNOWN)
    first, second = (type or in_quotes(_UNKNOWN) for type in types)
    sql = writer.start(model, "CREATE TABLE ").add(table_sql(table), field.place)
    # Bigint, or integer by an old DEFAULT_AUTO_FIELD.
    sql.add(' ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY')
    sql.add(f", {in_quotes(own)} {first} NOT NULL, {in_quotes(far)} {second} NOT NULL)")
    name = constraint_name(table, [own, far], "_uniq")
    sql = writer.start(model, "ALTER TABLE ").add(table_sql(table), field.place)
    sql.add(f" ADD CONSTRAINT {in_quotes(name)} UNIQUE ({in_quotes(own)}, {in_quotes(far)})")
    for column, target in ((own, model), (far, writer.state.models.get(key))):
        if target is not None and target.managed and field.constrained:
            _join(writer, model, field, column, target)


def _join(writer: StatementWriter, model: Model, field: Field, column: str, target: Model) -> None:
    """The foreign key of a column of the table of a field that refers to many."""
    if target.key is None:
        return
    table, key = joining_table(model, field), target.key.column
    plain = target.table.strip('"')
    name = field.joined[column] = constraint_name(table, [column], f"_fk_{plain}_{key}")
    sql = writer.start(model, "ALTER TABLE ").add(table_sql(table), field.place)
    sql.add(f" ADD CONSTRAINT {in_quotes(name)} FOREIGN KEY ({in_quotes(column)})")
    sql.add(f" REFERENCES {table_sql(target.table)} ({in_quotes(key)}) DEFERRABLE INITIALLY DEFERRED")


def joining_columns(model: str, target: str, *, same: bool) -> tuple[str, str]:
    return (f"from_{model}_id", f"to_{model}_id") if same else (f"{model}_id", f"{target}_id")


def _delete_model(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("name")))
    for field in model.fields.values():
        if field.many and not field.through:
            writer.start(model, "DROP TABLE ").add(table_sql(joining_table(model, field))).add(" CASCADE")
    sql = writer.start(model, "DROP TABLE ", writer.module.place(call.func))
    sql.add(table_sql(model.table), writer.module.place_of(arguments.get("name"))).add(" CASCADE")
    del writer.state.models[model.app, model.name]


def _add_field(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    name, written = arguments.get("name"), arguments.get("field")
    if name is None or written is None:
        raise Unreadable
    field = Field(writer.module, writer.module.text(name), written, writer.app, writer.module.place(name))
    model.fields[field.name] = field
    if field.column:
        sql = _alter(writer, call, model)
        _column(writer, sql.add(" ADD COLUMN "), model, field)
        _reference(writer, model, field)
    _joining(writer, model, field)


def _remove_field(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    field = _field(model, writer.module.text(arguments.get("name")))
    del model.fields[field.name]
    model.uniques = {key: name for key, name in model.uniques.items() if field.name not in key}
    place = writer.module.place_of(arguments.get("name"))
    if field.column:
        sql = _alter(writer, call, model)
        sql.add(" DROP COLUMN ").add(in_quotes(field.column), place).add(" CASCADE")
    elif field.many and not field.through:
        sql = writer.start(model, "DROP TABLE ", writer.module.place(call.func))
        sql.add(table_sql(joining_table(model, field)), place).add(" CASCADE")


def _alter_field(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    old, written = _field(model, writer.module.text(arguments.get("name"))), arguments.get("field")
    if written is None:
        raise Unreadable
    new = Field(writer.module, old.name, written, writer.app, writer.module.place_of(arguments.get("name")))
    if (old.many, old.through) != (new.many, new.through) or (old.primary != new.primary):
        raise Unreadable
    before, after = ("" if field.many else _type(writer, field) for field in (old, new))
    released = _release(writer, call, model) if old.primary and before != after else []
    joined = _release_joined(writer, call, model) if old.primary and before != after else []
    new.unique_name, new.reference_name = old.unique_name, old.reference_name
    new.joined = old.joined
    model.fields[old.name] = new
    if new.many:
        if joining_table(model, old) != joining_table(model, new) or old.target != new.target:
            raise Unreadable
        return
    if old.reference_name and (old.target != new.target or before != after or not new.constrained):
        _alter(writer, call, model).add(f" DROP CONSTRAINT {in_quotes(old.reference_name)}")
        new.reference_name = ""
    if old.unique and not new.unique:
        if not old.unique_name:
            raise Unreadable
        _alter(writer, call, model).add(f" DROP CONSTRAINT {in_quotes(old.unique_name)}")
    if old.column != new.column:
        _alter(writer, call, model).add(f" RENAME COLUMN {in_quotes(old.column)} TO ").add(
            in_quotes(new.column), new.place
        )
    column = in_quotes(new.column)
    if before != after:
        sql = _alter(writer, call, model).add(" ALTER COLUMN ").add(column, new.place)
        sql.add(f" TYPE {after} USING {column}::{after}")
    if (old.null and not old.primary) != (new.null and not new.primary):
        sql = _alter(writer, call, model).add(" ALTER COLUMN ").add(column, new.place)
        sql.add(" DROP NOT NULL" if new.null else " SET NOT NULL")
    if new.unique and not old.unique:
        new.unique_name = constraint_name(model.table, [new.column], "_uniq")
        sql = _alter(writer, call, model).add(f" ADD CONSTRAINT {in_quotes(new.unique_name)} UNIQUE (")
        sql.add(column, new.place).add(")")
    if not new.reference_name:
        _reference(writer, model, new)
    for referrer, field in released:
        sql = _alter(writer, call, referrer).add(f" ALTER COLUMN {in_quotes(field.column)} TYPE {after}")
        sql.add(f" USING {in_quotes(field.column)}::{after}")
        _reference(writer, referrer, field)
    for referrer, field, name in joined:
        sql = _alter(writer, call, referrer, joining_table(referrer, field))
        sql.add(f" ALTER COLUMN {in_quotes(name)} TYPE {after} USING {in_quotes(name)}::{after}")
        _join(writer, referrer, field, name, model)


def _release(writer: StatementWriter, call: ast.Call, model: Model) -> list[tuple[Model, Field]]:
    """Drop the foreign keys that refer to a model's key, so that its type can be changed, and returns their fields."""
    released = []
    for referrer in writer.state.models.values():
        for field in referrer.fields.values():
            target = writer.state.resolve(field.target) if field.target is not None else None
            if target == (model.app, model.name) and field.refers and not field.to_field:
                released.append((referrer, field))
                if field.reference_name:
                    _alter(writer, call, referrer).add(f" DROP CONSTRAINT {in_quotes(field.reference_name)}")
    return released


def _release_joined(writer: StatementWriter, call: ast.Call, model: Model) -> list[tuple[Model, Field, str]]:
    """Likewise those of the tables of fields that refer to many."""
    released = []
    for referrer in writer.state.models.values():
        for field in referrer.fields.values():
            key = writer.state.resolve(field.target) if field.joined and field.target is not None else None
            if key is None:
                continue
            own, far = joining_columns(referrer.name, key[1], same=key == (referrer.app, referrer.name))
            sides = ((own, referrer is model), (far, key == (model.app, model.name)))
            for column in [column for column, concerned in sides if concerned and column in field.joined]:
                released.append((referrer, field, column))
                sql = _alter(writer, call, referrer, joining_table(referrer, field))
                sql.add(f" DROP CONSTRAINT {in_quotes(field.joined[column])}")
    return released


def _alter(writer: StatementWriter, call: ast.Call, model: Model, table: str = "") -> Sql:
    """Return the beginning of a statement that alters the table of a model, or one of its fields' tables."""
    return writer.start(model, "ALTER TABLE ", writer.module.place(call.func)).add(table_sql(table or model.table))


def _field(model: Model, name: str) -> Field:
    field = model.fields.get(name)
    if field is None:
        raise Unreadable
    return field


def _rename_field(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    field = _field(model, writer.module.text(arguments.get("old_name")))
    before, table = field.column, joining_table(model, field)
    old, new = field.name, writer.module.text(arguments.get("new_name"))
    model.fields = {new if name == old else name: value for name, value in model.fields.items()}
    field.renamed(new)
    model.uniques = {tuple(new if name == old else name for name in key): value for key, value in model.uniques.items()}
    place = writer.module.place_of(arguments.get("new_name"))
    if field.column != before:
        _alter(writer, call, model).add(f" RENAME COLUMN {in_quotes(before)} TO ").add(in_quotes(field.column), place)
    elif field.many and not field.through and joining_table(model, field) != table:
        sql = _alter(writer, call, model, table)
        sql.add(" RENAME TO ").add(table_sql(joining_table(model, field)), place)


def _rename_model(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    old, new = (writer.module.text(arguments.get(key)).lower() for key in ("old_name", "new_name"))
    model = writer.model(old)
    del writer.state.models[model.app, old]
    writer.state.models[model.app, new] = model
    for other_model in writer.state.models.values():
        for field in other_model.fields.values():
            if field.target == (model.app, old) and not (field.many and not field.through):
                field.target = (model.app, new)
    model.name = new
    if not model.explicit:
        _retable(writer, call, model, default_table(model.app, new), writer.module.place_of(arguments.get("new_name")))
    for field in model.fields.values():
        if field.many and not field.through and field.target != (model.app, old):
            _rename_column(writer, call, model, field, f"{old}_id", f"{new}_id")
    for referrer, field in writer.state.pointing((model.app, old)):
        field.target = (model.app, new)
        if referrer is model:
            for direction in ("from", "to"):
                _rename_column(writer, call, model, field, f"{direction}_{old}_id", f"{direction}_{new}_id")
        else:
            _rename_column(writer, call, referrer, field, f"{old}_id", f"{new}_id")


def _rename_column(writer: StatementWriter, call: ast.Call, model: Model, field: Field, old: str, new: str) -> None:
    """Rename a column of the table of a many-to-many field."""
    if old != new:
        if old in field.joined:
            field.joined[new] = field.joined.pop(old)
        sql = _alter(writer, call, model, joining_table(model, field))
        sql.add(f" RENAME COLUMN {in_quotes(old)} TO {in_quotes(new)}")


def _retable(writer: StatementWriter, call: ast.Call, model: Model, table: str, place: Place | None) -> None:
    """The table of a model gets another name, and with it those of its fields."""
    fields = [field for field in model.fields.values() if field.many and not field.through and not field.table]
    before = [model.table, *(joining_table(model, field) for field in fields)]
    model.table = table
    for old, new in zip(before, [table, *(joining_table(model, field) for field in fields)], strict=True):
        if old != new:
            _alter(writer, call, model, old).add(" RENAME TO ").add(table_sql(new), place)


def _alter_model_table(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("name")))
    value = writer.module.value(arguments.get("table"))
    if value is not None and (not isinstance(value, str) or '"' in value):
        raise Unreadable
    model.explicit = value is not None
    table = value or default_table(model.app, model.name)
    _retable(writer, call, model, table, writer.module.place_of(arguments.get("table")))


def _together(writer: StatementWriter, node: ast.expr | None) -> list[tuple[str, ...]]:
    """Return the sets of fields that are unique together, however they are written."""
    if node is None:
        return []
    if isinstance(node, ast.Call) and last_name(node) == "set" and len(node.args) <= 1:
        node = node.args[0] if node.args else ast.Constant(None)
    if isinstance(node, ast.Set):
        node = ast.List(node.elts, ast.Load())
    value = writer.module.value(node)
    if not value:
        return []
    if not isinstance(value, list):
        raise Unreadable
    sets = [value] if isinstance(value[0], str) else value
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in sets):
        raise Unreadable
    return [tuple(names) for names in sets]


def _unite(writer: StatementWriter, model: Model, sets: Iterable[tuple[str, ...]]) -> None:
    for names in sets:
        columns = [_field(model, name).column for name in names]
        name = constraint_name(model.table, columns, "_uniq")
        model.uniques[names] = name
        sql = writer.start(model, "ALTER TABLE ").add(table_sql(model.table))
        sql.add(f" ADD CONSTRAINT {in_quotes(name)} UNIQUE ({', '.join(map(in_quotes, columns))})")


def _alter_unique_together(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("name")))
    new_sets = _together(writer, arguments.get("unique_together"))
    for names in [unique for unique in model.uniques if unique not in new_sets]:
        _alter(writer, call, model).add(f" DROP CONSTRAINT {in_quotes(model.uniques.pop(names))}")
    _unite(writer, model, [names for names in new_sets if names not in model.uniques])


def _add_constraint(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    _add_part(writer, model, arguments.get("constraint") or arguments.get("index"))


def _add_part(writer: StatementWriter, model: Model, node: ast.expr | None) -> None:
    """Write a unique constraint or a plain index of a model; others cannot be a replica identity."""
    if not isinstance(node, ast.Call):
        raise Unreadable
    kind, arguments = last_name(node), keywords(node)
    if kind not in ("UniqueConstraint", "Index"):
        if not kind.endswith(("CheckConstraint", "ExclusionConstraint", "Index")):
            raise Unreadable
        return
    name = writer.module.text(arguments.get("name"))
    partial = "condition" in arguments
    if node.args or "opclasses" in arguments:
        if kind == "UniqueConstraint":
            raise Unreadable
        return
    fields = [field.removeprefix("-") for field, _ in writer.module.names(writer.module.items(arguments.get("fields")))]
    columns = ", ".join(in_quotes(_field(model, field_name).column) for field_name in fields)
    place = writer.module.place(node)
    if kind == "UniqueConstraint" and not partial:
        if not arguments.keys().isdisjoint(("nulls_distinct", "include")):
            raise Unreadable
        later = " DEFERRABLE" if "deferrable" in arguments else ""
        sql = writer.start(model, "ALTER TABLE ").add(table_sql(model.table))
        sql.add(f" ADD CONSTRAINT {in_quotes(name)} UNIQUE ({columns}){later}", place)
        model.parts[name] = f"ALTER TABLE {{}} DROP CONSTRAINT {in_quotes(name)}"
        return
    unique = "UNIQUE " if kind == "UniqueConstraint" else ""
    # Which rows a partial index holds is written in Python; that it is partial is what counts.
    where = f" WHERE {in_quotes(_field(model, fields[0]).column)} IS NOT NULL" if partial else ""
    sql = writer.start(model, f"CREATE {unique}INDEX {in_quotes(name)} ON ").add(table_sql(model.table))
    sql.add(f" ({columns}){where}", place)
    model.parts[name] = f"DROP INDEX IF EXISTS {in_quotes(name)}"


def _remove_part(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    drop = model.parts.pop(writer.module.text(arguments.get("name")), "")
    if drop:
        writer.start(model, drop.format(table_sql(model.table)), writer.module.place(call.func))


def _rename_index(writer: StatementWriter, call: ast.Call, arguments: _Arguments) -> None:
    model = writer.model(writer.module.text(arguments.get("model_name")))
    old = writer.module.text(arguments["old_name"]) if "old_name" in arguments else ""
    new = writer.module.text(arguments.get("new_name"))
    if model.parts.pop(old, ""):
        writer.start(model, f"ALTER INDEX {in_quotes(old)} RENAME TO {in_quotes(new)}", writer.module.place(call.func))
        model.parts[new] = f"DROP INDEX IF EXISTS {in_quotes(new)}"


RENDERED: Mapping[str, Callable[[StatementWriter, ast.Call, _Arguments], None]] = {
    "AddConstraint": _add_constraint,
    "AddField": _add_field,
    "AddIndex": _add_constraint,
    "AddIndexConcurrently": _add_constraint,
    "AlterField": _alter_field,
    "AlterModelTable": _alter_model_table,
    "AlterUniqueTogether": _alter_unique_together,
    "CreateModel": _create_model,
    "DeleteModel": _delete_model,
    "RemoveConstraint": _remove_part,
    "RemoveField": _remove_field,
    "RemoveIndex": _remove_part,
    "RemoveIndexConcurrently": _remove_part,
    "RenameField": _rename_field,
    "RenameIndex": _rename_index,
    "RenameModel": _rename_model,
}
"""The function that adds an operation's statements, by the name of the operation."""
