"""Django's operations, each as the statements that its PostgreSQL backend sends."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from pubcheck.extract.frameworks.django_fields import NAME_LENGTH, Field, constraint_name
from pubcheck.extract.frameworks.django_state import Model, default_table, joining_table, table_sql
from pubcheck.extract.frameworks.operations import Place, Sql, Unreadable, quoted
from pubcheck.extract.frameworks.python import keywords, last_name

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.extract.frameworks.django_writer import StatementWriter

_Arguments = dict[str, ast.expr]
_UNKNOWN = "unknown"
"""The name of a type that a foreign key takes from a column that is not known."""


def given_table(at: StatementWriter, given: _Arguments) -> str:
    """The table that a model is given by its options, "" where it is left to Django."""
    options = _options(given)
    value = at.module.value(options["db_table"]) if "db_table" in options else None
    return str(value or "")


def _options(given: _Arguments) -> _Arguments:
    written = given.get("options")
    if written is None:
        return {}
    if not isinstance(written, ast.Dict):
        raise Unreadable
    found: _Arguments = {}
    for key, value in zip(written.keys, written.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise Unreadable
        found[key.value] = value
    return found


def _create_model(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    name, options = at.module.text(given.get("name")), _options(given)
    proxy = at.module.truth(options.get("proxy"), False)
    managed = at.module.truth(options.get("managed"), True) and not proxy
    model = Model(at.app, name.lower(), given_table(at, given) or None, managed=managed)
    for each in at.module.items(given.get("fields")):
        pair = at.module.items(each)
        field = Field(at.module, at.module.text(pair[0]), pair[1], at.app, at.module.place(pair[0]))
        model.fields[field.name] = field
    if proxy:
        at.state.models[at.app, model.name] = model
        return
    if model.key is None and model.composite is None:
        # As DEFAULT_AUTO_FIELD says: bigint or integer.
        made = ast.parse("models.BigAutoField(primary_key=True)", mode="eval").body
        model.fields = {"id": Field(at.module, "id", made, at.app, None), **model.fields}
    at.state.models[at.app, model.name] = model
    sql = at.start(model, "CREATE TABLE ", at.module.place(call.func))
    place = options.get("db_table") or given.get("name")
    sql.add(table_sql(model.table), at.module.place(place) if place is not None else None).add(" (")
    columns = [field for field in model.fields.values() if field.column]
    for number, field in enumerate(columns):
        _column(at, sql.add(", " if number else ""), model, field)
    if "order_with_respect_to" in options:
        sql.add(', "_order" integer NOT NULL')
    if model.composite is not None:
        keys = [quoted(_field(model, name).column) for name in model.composite.parts]
        sql.add(f", PRIMARY KEY ({', '.join(keys)})", model.composite.place)
    sql.add(")")
    for field in columns:
        _reference(at, model, field)
    for field in model.fields.values():
        _joining(at, model, field)
    _unite(at, model, _together(at, options.get("unique_together")))
    for key in ("constraints", "indexes"):
        for each in at.module.items(options[key]) if key in options else ():
            _add_part(at, model, each)


def _column(at: StatementWriter, sql: Sql, model: Model, field: Field) -> None:
    """Adds the definition of a column."""
    sql.add(quoted(field.column), field.place).add(f" {field.definition(_type(at, field))}")
    if field.unique:
        name = f"{model.table.strip(chr(34)).rpartition('.')[2].strip(chr(34))}_{field.column}_key"
        field.unique_name = name if len(name.encode()) <= NAME_LENGTH else ""


def _type(at: StatementWriter, field: Field) -> str:
    type = at.state.referred(field)[2] if field.refers else field.type
    if not type or field.unknown:
        at.unknown_type(field.unknown or _UNKNOWN)
    return type or quoted(_UNKNOWN)


def _reference(at: StatementWriter, model: Model, field: Field) -> None:
    """The foreign key of a field, where the table that it refers to is known."""
    table, column, _ = at.state.referred(field) if field.refers else ("", "", "")
    if not field.constrained or not table or not column:
        return
    plain = table.strip('"')
    field.reference_name = constraint_name(model.table, [field.column], f"_fk_{plain}_{column}")
    sql = at.start(model, "ALTER TABLE ").add(table_sql(model.table))
    sql.add(f" ADD CONSTRAINT {quoted(field.reference_name)} FOREIGN KEY (").add(quoted(field.column), field.place)
    sql.add(f") REFERENCES {table_sql(table)} ({quoted(column)}) DEFERRABLE INITIALLY DEFERRED")


def _joining(at: StatementWriter, model: Model, field: Field) -> None:
    """The table of a field that refers to many, with a key and two columns that are unique together."""
    if not field.many or field.through:
        return
    table, key = joining_table(model, field), at.state.resolve(field.target) if field.target is not None else None
    if key is None:
        at.doubt(table)
        return
    own, other = joining_columns(model.name, key[1], same=key == (model.app, model.name))
    types = [at.state.type_of(model.key) if model.key is not None else "", at.state.key_type(key)]
    if not all(types):
        at.unknown_type(_UNKNOWN)
    first, second = (type or quoted(_UNKNOWN) for type in types)
    sql = at.start(model, "CREATE TABLE ").add(table_sql(table), field.place)
    # Bigint, or integer by an old DEFAULT_AUTO_FIELD.
    sql.add(' ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY')
    sql.add(f", {quoted(own)} {first} NOT NULL, {quoted(other)} {second} NOT NULL)")
    name = constraint_name(table, [own, other], "_uniq")
    sql = at.start(model, "ALTER TABLE ").add(table_sql(table), field.place)
    sql.add(f" ADD CONSTRAINT {quoted(name)} UNIQUE ({quoted(own)}, {quoted(other)})")
    for column, target in ((own, model), (other, at.state.models.get(key))):
        if target is not None and target.managed and field.constrained:
            _join(at, model, field, column, target)


def _join(at: StatementWriter, model: Model, field: Field, column: str, target: Model) -> None:
    """The foreign key of a column of the table of a field that refers to many."""
    if target.key is None:
        return
    table, key = joining_table(model, field), target.key.column
    plain = target.table.strip('"')
    name = field.joined[column] = constraint_name(table, [column], f"_fk_{plain}_{key}")
    sql = at.start(model, "ALTER TABLE ").add(table_sql(table), field.place)
    sql.add(f" ADD CONSTRAINT {quoted(name)} FOREIGN KEY ({quoted(column)})")
    sql.add(f" REFERENCES {table_sql(target.table)} ({quoted(key)}) DEFERRABLE INITIALLY DEFERRED")


def joining_columns(model: str, other: str, *, same: bool) -> tuple[str, str]:
    return (f"from_{model}_id", f"to_{model}_id") if same else (f"{model}_id", f"{other}_id")


def _delete_model(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("name")))
    for field in model.fields.values():
        if field.many and not field.through:
            at.start(model, "DROP TABLE ").add(table_sql(joining_table(model, field))).add(" CASCADE")
    sql = at.start(model, "DROP TABLE ", at.module.place(call.func))
    sql.add(table_sql(model.table), _place(at, given.get("name"))).add(" CASCADE")
    del at.state.models[model.app, model.name]


def _add_field(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    name, written = given.get("name"), given.get("field")
    if name is None or written is None:
        raise Unreadable
    field = Field(at.module, at.module.text(name), written, at.app, at.module.place(name))
    model.fields[field.name] = field
    if field.column:
        sql = at.start(model, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(model.table))
        _column(at, sql.add(" ADD COLUMN "), model, field)
        _reference(at, model, field)
    _joining(at, model, field)


def _remove_field(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    field = _field(model, at.module.text(given.get("name")))
    del model.fields[field.name]
    model.uniques = {key: name for key, name in model.uniques.items() if field.name not in key}
    place = _place(at, given.get("name"))
    if field.column:
        sql = at.start(model, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(model.table))
        sql.add(" DROP COLUMN ").add(quoted(field.column), place).add(" CASCADE")
    elif field.many and not field.through:
        sql = at.start(model, "DROP TABLE ", at.module.place(call.func))
        sql.add(table_sql(joining_table(model, field)), place).add(" CASCADE")


def _alter_field(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    old, written = _field(model, at.module.text(given.get("name"))), given.get("field")
    if written is None:
        raise Unreadable
    new = Field(at.module, old.name, written, at.app, _place(at, given.get("name")))
    if (old.many, old.through) != (new.many, new.through) or (old.primary != new.primary):
        raise Unreadable
    before, after = (_alter_type(at, field) for field in (old, new))
    released = _release(at, call, model) if old.primary and before != after else []
    joined = _release_joined(at, call, model) if old.primary and before != after else []
    new.unique_name, new.reference_name = old.unique_name, old.reference_name
    new.joined = old.joined
    model.fields[old.name] = new
    if new.many:
        if joining_table(model, old) != joining_table(model, new) or old.target != new.target:
            raise Unreadable
        return
    if old.reference_name and (old.target != new.target or before != after or not new.constrained):
        _alter(at, call, model).add(f" DROP CONSTRAINT {quoted(old.reference_name)}")
        new.reference_name = ""
    if old.unique and not new.unique:
        if not old.unique_name:
            raise Unreadable
        _alter(at, call, model).add(f" DROP CONSTRAINT {quoted(old.unique_name)}")
    if old.column != new.column:
        _alter(at, call, model).add(f" RENAME COLUMN {quoted(old.column)} TO ").add(quoted(new.column), new.place)
    column = quoted(new.column)
    if before != after:
        sql = _alter(at, call, model).add(" ALTER COLUMN ").add(column, new.place)
        sql.add(f" TYPE {after} USING {column}::{after}")
    if (old.null and not old.primary) != (new.null and not new.primary):
        sql = _alter(at, call, model).add(" ALTER COLUMN ").add(column, new.place)
        sql.add(" DROP NOT NULL" if new.null else " SET NOT NULL")
    if new.unique and not old.unique:
        new.unique_name = constraint_name(model.table, [new.column], "_uniq")
        sql = _alter(at, call, model).add(f" ADD CONSTRAINT {quoted(new.unique_name)} UNIQUE (")
        sql.add(column, new.place).add(")")
    if not new.reference_name:
        _reference(at, model, new)
    for other, field in released:
        sql = _alter(at, call, other).add(f" ALTER COLUMN {quoted(field.column)} TYPE {after}")
        sql.add(f" USING {quoted(field.column)}::{after}")
        _reference(at, other, field)
    for other, field, name in joined:
        sql = at.start(other, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(joining_table(other, field)))
        sql.add(f" ALTER COLUMN {quoted(name)} TYPE {after} USING {quoted(name)}::{after}")
        _join(at, other, field, name, model)


def _alter_type(at: StatementWriter, field: Field) -> str:
    return "" if field.many else _type(at, field)


def _release(at: StatementWriter, call: ast.Call, model: Model) -> list[tuple[Model, Field]]:
    """Drops the foreign keys that refer to a model's key, so that its type can be changed, and returns their fields."""
    found = []
    for other in at.state.models.values():
        for field in other.fields.values():
            target = at.state.resolve(field.target) if field.target is not None else None
            if target == (model.app, model.name) and field.refers and not field.to_field:
                found.append((other, field))
                if field.reference_name:
                    _alter(at, call, other).add(f" DROP CONSTRAINT {quoted(field.reference_name)}")
    return found


def _release_joined(at: StatementWriter, call: ast.Call, model: Model) -> list[tuple[Model, Field, str]]:
    """Likewise those of the tables of fields that refer to many."""
    found = []
    for other in at.state.models.values():
        for field in other.fields.values():
            key = at.state.resolve(field.target) if field.joined and field.target is not None else None
            if key is None:
                continue
            own, far = joining_columns(other.name, key[1], same=key == (other.app, other.name))
            sides = ((own, other is model), (far, key == (model.app, model.name)))
            for column in [column for column, concerned in sides if concerned and column in field.joined]:
                found.append((other, field, column))
                sql = at.start(other, "ALTER TABLE ", at.module.place(call.func))
                sql.add(f"{table_sql(joining_table(other, field))} DROP CONSTRAINT {quoted(field.joined[column])}")
    return found


def _alter(at: StatementWriter, call: ast.Call, model: Model) -> Sql:
    return at.start(model, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(model.table))


def _field(model: Model, name: str) -> Field:
    found = model.fields.get(name)
    if found is None:
        raise Unreadable
    return found


def _place(at: StatementWriter, node: ast.expr | None) -> Place | None:
    return at.module.place(node) if node is not None else None


def _rename_field(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    field = _field(model, at.module.text(given.get("old_name")))
    before, table = field.column, joining_table(model, field)
    old, new = field.name, at.module.text(given.get("new_name"))
    model.fields = {new if name == old else name: each for name, each in model.fields.items()}
    field.renamed(new)
    model.uniques = {tuple(new if name == old else name for name in key): each for key, each in model.uniques.items()}
    place = _place(at, given.get("new_name"))
    if field.column != before:
        _alter(at, call, model).add(f" RENAME COLUMN {quoted(before)} TO ").add(quoted(field.column), place)
    elif field.many and not field.through and joining_table(model, field) != table:
        sql = at.start(model, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(table))
        sql.add(" RENAME TO ").add(table_sql(joining_table(model, field)), place)


def _rename_model(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    old, new = (at.module.text(given.get(key)).lower() for key in ("old_name", "new_name"))
    model = at.model(old)
    del at.state.models[model.app, old]
    at.state.models[model.app, new] = model
    for each in at.state.models.values():
        for field in each.fields.values():
            if field.target == (model.app, old) and not (field.many and not field.through):
                field.target = (model.app, new)
    model.name = new
    if not model.explicit:
        _retable(at, call, model, default_table(model.app, new), _place(at, given.get("new_name")))
    for field in model.fields.values():
        if field.many and not field.through and field.target != (model.app, old):
            _rename_column(at, call, model, field, f"{old}_id", f"{new}_id")
    for other, field in at.state.pointing((model.app, old)):
        field.target = (model.app, new)
        if other is model:
            for way in ("from", "to"):
                _rename_column(at, call, model, field, f"{way}_{old}_id", f"{way}_{new}_id")
        else:
            _rename_column(at, call, other, field, f"{old}_id", f"{new}_id")


def _rename_column(at: StatementWriter, call: ast.Call, model: Model, field: Field, old: str, new: str) -> None:
    """Of the table of a field that refers to many."""
    if old != new:
        if old in field.joined:
            field.joined[new] = field.joined.pop(old)
        sql = at.start(model, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(joining_table(model, field)))
        sql.add(f" RENAME COLUMN {quoted(old)} TO {quoted(new)}")


def _retable(at: StatementWriter, call: ast.Call, model: Model, table: str, place: Place | None) -> None:
    """The table of a model gets another name, and with it those of its fields."""
    fields = [field for field in model.fields.values() if field.many and not field.through and not field.table]
    before = [model.table, *(joining_table(model, field) for field in fields)]
    model.table = table
    for old, new in zip(before, [table, *(joining_table(model, field) for field in fields)], strict=True):
        if old != new:
            sql = at.start(model, "ALTER TABLE ", at.module.place(call.func)).add(table_sql(old))
            sql.add(" RENAME TO ").add(table_sql(new), place)


def _alter_model_table(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("name")))
    value = at.module.value(given.get("table"))
    if value is not None and (not isinstance(value, str) or '"' in value):
        raise Unreadable
    model.explicit = value is not None
    _retable(at, call, model, value or default_table(model.app, model.name), _place(at, given.get("table")))


def _together(at: StatementWriter, node: ast.expr | None) -> list[tuple[str, ...]]:
    """The sets of fields that are unique together, however they are written."""
    if node is None:
        return []
    if isinstance(node, ast.Call) and last_name(node) == "set" and len(node.args) <= 1:
        node = node.args[0] if node.args else ast.Constant(None)
    if isinstance(node, ast.Set):
        node = ast.List(node.elts, ast.Load())
    value = at.module.value(node)
    if not value:
        return []
    if not isinstance(value, list):
        raise Unreadable
    sets = [value] if isinstance(value[0], str) else value
    if not all(isinstance(each, list) and all(isinstance(name, str) for name in each) for each in sets):
        raise Unreadable
    return [tuple(each) for each in sets]


def _unite(at: StatementWriter, model: Model, sets: Iterable[tuple[str, ...]]) -> None:
    for names in sets:
        columns = [_field(model, name).column for name in names]
        name = constraint_name(model.table, columns, "_uniq")
        model.uniques[names] = name
        sql = at.start(model, "ALTER TABLE ").add(table_sql(model.table))
        sql.add(f" ADD CONSTRAINT {quoted(name)} UNIQUE ({', '.join(map(quoted, columns))})")


def _alter_unique_together(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("name")))
    wanted = _together(at, given.get("unique_together"))
    for names in [each for each in model.uniques if each not in wanted]:
        _alter(at, call, model).add(f" DROP CONSTRAINT {quoted(model.uniques.pop(names))}")
    _unite(at, model, [names for names in wanted if names not in model.uniques])


def _add_constraint(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    _add_part(at, model, given.get("constraint") or given.get("index"))


def _add_part(at: StatementWriter, model: Model, node: ast.expr | None) -> None:
    """A constraint or an index of a model, if it is unique or a plain index: others are no replica identity."""
    if not isinstance(node, ast.Call):
        raise Unreadable
    kind, given = last_name(node), keywords(node)
    if kind not in ("UniqueConstraint", "Index"):
        if not kind.endswith(("CheckConstraint", "ExclusionConstraint", "Index")):
            raise Unreadable
        return
    name = at.module.text(given.get("name"))
    partial = "condition" in given
    if node.args or "opclasses" in given:
        if kind == "UniqueConstraint":
            raise Unreadable
        return
    fields = [each.removeprefix("-") for each, _ in at.module.names(at.module.items(given.get("fields")))]
    columns = ", ".join(quoted(_field(model, each).column) for each in fields)
    place = at.module.place(node)
    if kind == "UniqueConstraint" and not partial:
        if not given.keys().isdisjoint(("nulls_distinct", "include")):
            raise Unreadable
        later = " DEFERRABLE" if "deferrable" in given else ""
        sql = at.start(model, "ALTER TABLE ").add(table_sql(model.table))
        sql.add(f" ADD CONSTRAINT {quoted(name)} UNIQUE ({columns}){later}", place)
        model.parts[name] = f"ALTER TABLE {{}} DROP CONSTRAINT {quoted(name)}"
        return
    unique = "UNIQUE " if kind == "UniqueConstraint" else ""
    # Which rows a partial index holds is written in Python; that it is partial is what counts.
    where = f" WHERE {quoted(_field(model, fields[0]).column)} IS NOT NULL" if partial else ""
    sql = at.start(model, f"CREATE {unique}INDEX {quoted(name)} ON ").add(table_sql(model.table))
    sql.add(f" ({columns}){where}", place)
    model.parts[name] = f"DROP INDEX IF EXISTS {quoted(name)}"


def _remove_part(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    drop = model.parts.pop(at.module.text(given.get("name")), "")
    if drop:
        at.start(model, drop.format(table_sql(model.table)), at.module.place(call.func))


def _rename_index(at: StatementWriter, call: ast.Call, given: _Arguments) -> None:
    model = at.model(at.module.text(given.get("model_name")))
    old = at.module.text(given["old_name"]) if "old_name" in given else ""
    new = at.module.text(given.get("new_name"))
    if model.parts.pop(old, ""):
        at.start(model, f"ALTER INDEX {quoted(old)} RENAME TO {quoted(new)}", at.module.place(call.func))
        model.parts[new] = f"DROP INDEX IF EXISTS {quoted(new)}"


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
"""By the name of an operation, what adds its statements."""
