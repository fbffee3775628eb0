"""The columns of a table (commands/tablecmds.c): ADD COLUMN, and changes of existing columns other than of their types:
SET and DROP DEFAULT, GENERATED (SET and DROP EXPRESSION), IDENTITY, SET STORAGE, SET COMPRESSION, SET STATISTICS, and
DROP COLUMN, here and in all children.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import DEFAULT, INTERNAL, RELATION, Object
from pubcheck.postgres.catalog.rows import Column, NotNull, Relation
from pubcheck.postgres.ddl.constraints import add_constraint, order_constraints
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.indexes import rebuild_indexes
from pubcheck.postgres.ddl.not_null import add_not_null, refuse_renewal
from pubcheck.postgres.ddl.storage import refuse_compression, storage_of
from pubcheck.postgres.ddl.tables.column_definition import (
    attach_default,
    define_column,
    depend_on_type,
    kept_tree,
    refuse_identity_type,
    refuse_pseudo_type,
)
from pubcheck.postgres.ddl.tables.default_types import default_type, is_simple, without_null_default
from pubcheck.postgres.errors import ServerError, without_position
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.session import (
    DIFFERENT,
    SYSTEM_COLUMNS,
    Session,
    alterable_column,
    change_columns,
    difference,
    having_column,
    put_columns,
    rename_columns,
    require_column,
)


def add_column(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    body = command["def"]["ColumnDef"]
    row = catalog.relations[relation]
    name = body["colname"]
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot add column to typed table")
    if row.partition:
        raise ServerError("42809", "cannot add column to a partition")
    if row.column(name) is not None:
        if command.get("missing_ok"):
            session.notices.append(f'column "{name}" of relation "{row.name}" already exists, skipping')
            return
        raise ServerError("42701", 'column "{name}" of relation "{owner}" already exists', name=name, owner=row.name)
    if not recurse and catalog.children.has(relation):
        raise ServerError("42P16", "column must be added to child tables too")
    deferred: list[Node] = []
    owned: list[tuple[str, Node]] = []
    column = without_null_default(define_column(session, body, len(row.columns) + 1, deferred, owned))
    refuse_pseudo_type(column)
    if column.identity and catalog.children.has(relation) and row.kind != "p":
        raise ServerError("42P16", "cannot recursively add identity column to table that has child tables")
    not_null = column.constraint
    if column.not_null and catalog.major.named_not_null:
        # The constraint is one of its own, which children inherit (18).
        not_null = not_null or NotNull()
        column = replace(column, not_null=False, constraint=None)
    put_columns(session, row, (*row.columns, column))
    depend_on_type(session, relation, column)
    if column.generated == "s" or column.identity or any("serial" in definition for _, definition in owned):
        rebuild_indexes(session, relation)
    for child in sorted(catalog.children.get(relation)):
        _add_inherited(session, child, column)
    if not_null is not None:
        add_not_null(session, relation, name, not_null, recurse)
    with without_position():
        for owner, definition in owned:
            attach_default(session, relation, owner, definition)
            if row.kind == "r" and definition.get("contype") == "CONSTR_DEFAULT" and _may_fail(definition["raw_expr"]):
                # Loaded only where it does not show at a glance.
                from pubcheck.postgres.ddl.stored_expressions import refuse_default_of_rows

                refuse_default_of_rows(session, catalog.relations[relation], owner, definition["raw_expr"])
        for constraint in order_constraints(deferred):
            add_constraint(session, relation, constraint, recurse)


def _may_fail(default: Node) -> bool:
    """Return whether a default is more than a literal, a literal with its type or a call without arguments."""
    inner = default["TypeCast"]["arg"] if "TypeCast" in default else default
    return not is_simple(default) or "TypeCast" in inner


def _add_inherited(session: Session, child: int, column: Column) -> None:
    """ATExecAddColumn going down: a column that is there already is inherited from here on, and it goes no deeper."""
    catalog = session.catalog
    row = catalog.relations[child]
    existing = row.column(column.name)
    if existing is not None:
        if wrong := difference(existing, column):
            message = f'child table "{row.name}" has different {wrong} for column "{column.name}"'
            raise ServerError(DIFFERENT[wrong], message)
        change_columns(session, child, [existing.number], inherited=existing.inherited + 1)
        return
    new = replace(column, number=len(row.columns) + 1, inherited=1, local=False)
    put_columns(session, row, (*row.columns, new))
    depend_on_type(session, child, new)
    if new.generated == "s":
        rebuild_indexes(session, child)
    if new.generated:
        attach_default(session, child, new.name, {"contype": "CONSTR_GENERATED"})
    for grandchild in sorted(catalog.children.get(child)):
        _add_inherited(session, grandchild, column)


def set_default(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ALTER COLUMN ... SET and DROP DEFAULT, which go down to children (ATSimpleRecursion)."""
    for member in session.catalog.descendants(relation) if recurse else (relation,):
        try:
            _set_default_of(session, member, command)
        except ServerError as error:
            error.location = error.culprit = None  # cookDefault is not given the text here
            raise


def _set_default_of(session: Session, relation: int, command: Node) -> None:
    """ATExecColumnDefault: a new default replaces what the old one depended on."""
    catalog = session.catalog
    column = alterable_column(session, relation, command["name"])
    row = catalog.relations[relation]
    if column.identity or column.generated:
        kind = "an identity" if column.identity else "a generated"
        message = f'column "{column.name}" of relation "{row.name}" is {kind} column'
        raise ServerError("42601", message, hint=_instead(session, column, "def" in command))
    _forget_default(session, relation, column.number)
    of_type = default_type(session, command["def"], column.type, column.typmod) if "def" in command else 0
    tree = kept_tree(session, command["def"]) if "def" in command else None
    new = without_null_default(replace(column, has_default="def" in command, default_type=of_type, tree=tree))
    if new != column:
        columns = row.columns
        put_columns(session, row, (*columns[: new.number - 1], new, *columns[new.number :]))
    if "def" in command:
        attach_default(session, relation, column.name, {"contype": "CONSTR_DEFAULT", "raw_expr": command["def"]})


def _instead(session: Session, column: Column, new: bool) -> str | None:
    if column.identity:
        action = None if new else "DROP IDENTITY"
    elif new:
        action = "SET EXPRESSION" if session.catalog.major.set_expression else None
    else:
        action = "DROP EXPRESSION"
    return action and f"Use ALTER TABLE ... ALTER COLUMN ... {action} instead."


def _forget_default(session: Session, relation: int, number: int) -> None:
    catalog = session.catalog
    for dependent, of, _ in catalog.dependents.get((RELATION, relation)):
        if dependent[0] == DEFAULT and of == number:
            catalog.remove(DEFAULT, dependent[1])


def set_expression(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """AT_SetExpression (17 on; virtual columns 18 on), which goes down to children (ATSimpleRecursion)."""
    if not session.catalog.major.set_expression:
        raise ServerError("42601", 'syntax error at or near "EXPRESSION"')
    alterable_column(session, relation, command["name"])
    members = having_column(session, relation, command["name"], recurse) if recurse else [relation]
    for member in members:
        _set_expression_of(session, member, command)
    refuse_renewal(session, members, command["name"])


def _set_expression_of(session: Session, relation: int, command: Node) -> None:
    """ATExecSetExpression."""
    catalog = session.catalog
    row = catalog.relations[relation]
    column = alterable_column(session, relation, command["name"])
    if not column.generated and row.seen:
        raise ServerError("55000", f'column "{column.name}" of relation "{row.name}" is not a generated column')
    if column.generated == "v":
        if any(catalog.constraints[oid].kind == "c" for oid in catalog.constraints_of.get(relation)):
            raise ServerError(
                "0A000",
                "ALTER TABLE / SET EXPRESSION is not supported for virtual generated columns "
                "in tables with check constraints",
            )
        members = catalog.memberships.get(relation)
        if members:
            raise ServerError(
                "0A000",
                "ALTER TABLE / SET EXPRESSION is not supported for virtual generated columns "
                "in tables that are part of a publication",
                key="set-expression-in-publication",
                detail=f'Column "{column.name}" of relation "{row.name}" is a virtual generated column.',
                column=column.name,
                relation=row.name,
            ).about(relation=session.qualified(row))
    catalog.forget_dependencies((RELATION, relation), column.number, on=(RELATION, relation))
    if column.generated == "s":
        rebuild_indexes(session, relation)
    _forget_default(session, relation, column.number)
    definition = {"contype": "CONSTR_GENERATED", "raw_expr": command["def"]}

    read = tuple(column_names(command["def"]))
    tree = rename_columns(command["def"])
    change_columns(session, relation, [column.number], expression=read, tree=tree)
    with without_position():
        attach_default(session, relation, column.name, definition)


def drop_expression(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepDropExpression, which goes down to children one by one and so refuses children of children."""
    catalog = session.catalog
    column = alterable_column(session, relation, command["name"])
    below = catalog.descendants(relation)[1:]
    if any(catalog.children.has(oid) for oid in below) or (below and not recurse):
        raise ServerError("0A000", "ALTER TABLE / DROP EXPRESSION must be applied to child tables too")
    row = catalog.relations[relation]
    if column.inherited and row.seen:
        raise ServerError("42P16", "cannot drop generation expression from inherited column")
    for oid in having_column(session, relation, column.name, recurse):
        member_column = require_column(session, oid, column.name)
        named = catalog.relations[oid].name
        if member_column.generated == "v":
            raise ServerError(
                "0A000",
                "ALTER TABLE / DROP EXPRESSION is not supported for virtual generated columns",
                detail=f'Column "{column.name}" of relation "{named}" is a virtual generated column.',
            )
        if not member_column.generated and catalog.relations[oid].seen:
            if command.get("missing_ok"):
                continue
            kind = "generated" if catalog.major.virtual_columns else "stored generated"
            raise ServerError("55000", f'column "{column.name}" of relation "{named}" is not a {kind} column')
        catalog.forget_dependencies((RELATION, oid), member_column.number, on=(RELATION, oid))
        _forget_default(session, oid, member_column.number)
        change_columns(session, oid, [member_column.number], generated="", expression=(), tree=None)


def add_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAddIdentity; from 17 on partitions have their root's."""
    catalog = session.catalog
    body = command["def"].get("Constraint") or command["def"]["ColumnDef"]["constraints"][0]["Constraint"]
    name = command["name"]
    column = alterable_column(session, relation, name)
    row = catalog.relations[relation]
    refuse_identity_type(column)  # which the sequence has, and that is created first
    _refuse_part_of_identity(session, row, recurse, "add")
    if row.seen and not column.not_null:
        raise ServerError(
            "55000", f'column "{name}" of relation "{row.name}" must be declared NOT NULL before identity can be added'
        )
    if column.identity:
        raise ServerError("55000", f'column "{name}" of relation "{row.name}" is already an identity column')
    if column.has_default or column.generated:
        raise ServerError("55000", f'column "{name}" of relation "{row.name}" already has a default value')
    for oid in _with_partitions(session, relation):
        member_column = require_column(session, oid, name)
        change_columns(session, oid, [member_column.number], identity=body["generated_when"])
    attach_default(session, relation, name, body)


def set_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetIdentity: SET GENERATED and the options of the sequence, as RESTART."""
    row = session.catalog.relations[relation]
    _refuse_part_of_identity(session, row, recurse, "change")
    column = alterable_column(session, relation, command["name"])
    if row.seen and not column.identity:
        raise ServerError("55000", f'column "{column.name}" of relation "{row.name}" is not an identity column')
    options = [item["DefElem"] for item in command["def"]["List"]["items"]]
    generated = [item["arg"]["Integer"]["ival"] for item in options if item["defname"] == "generated"]
    if generated:
        for oid in _with_partitions(session, relation):
            member_column = require_column(session, oid, column.name)
            change_columns(session, oid, [member_column.number], identity=chr(generated[-1]))


def _refuse_part_of_identity(session: Session, row: Relation, recurse: bool, verb: str) -> None:
    if not session.catalog.major.partitions_inherit_identity:
        return
    word = {"add": "add identity to", "drop": "drop identity from", "change": "change identity column of"}[verb]
    if row.partition:
        culprit = "a partition" if verb == "change" else "a column of a partition"
        raise ServerError("42P16", f"cannot {word} {culprit}")
    if row.kind == "p" and not recurse:
        raise ServerError(
            "42P16", f"cannot {word} a column of only the partitioned table", hint="Do not specify the ONLY keyword."
        )


def _with_partitions(session: Session, relation: int) -> list[int]:
    catalog = session.catalog
    if catalog.major.partitions_inherit_identity and catalog.relations[relation].kind == "p":
        return catalog.descendants(relation)
    return [relation]


def drop_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    name = command["name"]
    row = catalog.relations[relation]
    _refuse_part_of_identity(session, row, recurse, "drop")
    column = alterable_column(session, relation, name)
    if not column.identity:
        if row.seen and not command.get("missing_ok"):
            raise ServerError("55000", f'column "{name}" of relation "{row.name}" is not an identity column')
        return
    for oid in _with_partitions(session, relation):
        member_column = require_column(session, oid, name)
        change_columns(session, oid, [member_column.number], identity="")
    for dependent, number, kind in catalog.dependents.get((RELATION, relation)):
        if number == column.number and kind == INTERNAL and dependent[0] == RELATION:
            catalog.forget_dependencies(dependent[:2])
            perform_deletion(session, [dependent], False)


def set_storage(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetStorage, which goes down to children (ATSimpleRecursion); DEFAULT came with 16."""
    written = command["def"]["String"]["sval"]
    if written.lower() == "default" and not session.catalog.major.column_storage:
        raise ServerError("42601", f'syntax error at or near "{written}"')
    word = storage_of(session, written, alterable_column(session, relation, command["name"]).type)
    for member in having_column(session, relation, command["name"], recurse):
        column = require_column(session, member, command["name"])
        change_columns(session, member, [column.number], storage=word)


def set_compression(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetCompression, which changes nothing that is kept."""
    column = alterable_column(session, relation, command["name"])
    refuse_compression(session, command["def"]["String"]["sval"], column.type)


def set_statistics(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetStatistics, which changes nothing that is kept; an index's column is named by its number."""
    if session.catalog.relations[relation].kind in "rpmf":
        if "name" not in command:
            raise ServerError("0A000", "cannot refer to non-index column by number")
        alterable_column(session, relation, command["name"])


def drop_column(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecDropColumn: children lose the column too unless they have it from elsewhere."""
    catalog = session.catalog
    row = catalog.relations[relation]
    name = command["name"]
    if name in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot drop system column "{name}"')
    column = row.column(name)
    if column is None:
        if command.get("missing_ok"):
            session.notices.append(f'column "{name}" of relation "{row.name}" does not exist, skipping')
            return
        column = require_column(session, relation, name)
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot drop column from typed table")
    objects: list[Object] = []
    _collect_column(session, relation, column, recurse, False, objects)
    perform_deletion(session, objects, command.get("behavior") == "DROP_CASCADE")


def _collect_column(
    session: Session, relation: int, column: Column, recurse: bool, recursing: bool, objects: list[Object]
) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    name = column.name
    if column.inherited and not recursing:
        raise ServerError("42P16", f'cannot drop inherited column "{name}"')
    if column.number in row.partition_key or column.number in row.partition_reads:
        raise ServerError(
            "42P16", f'cannot drop column "{name}" because it is part of the partition key of relation "{row.name}"'
        )
    children = sorted(catalog.children.get(relation))
    if children and row.kind == "p" and not recurse:
        raise ServerError(
            "42P16",
            "cannot drop column from only the partitioned table when partitions exist",
            hint="Do not specify the ONLY keyword.",
        )
    for child in children:
        inherited = catalog.relations[child].column(name)
        if inherited is None:
            continue
        if recurse and inherited.inherited == 1 and not inherited.local:
            _collect_column(session, child, inherited, recurse, True, objects)
        else:
            change_columns(
                session,
                child,
                [inherited.number],
                inherited=max(0, inherited.inherited - 1),
                local=inherited.local or not recurse,
            )
    objects.append((RELATION, relation, column.number))
