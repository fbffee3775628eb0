"""NOT NULL: a flag of the column before 18, from 18 on a constraint with a name that children inherit.

Follows catalog/heap.c (AddRelationNotNullConstraints), catalog/pg_constraint.c (AdjustNotNullInheritance) and
commands/tablecmds.c (ATExecSetNotNull, ATExecDropNotNull, ATPrepAddPrimaryKey).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, NotNull, Relation
from pubcheck.postgres.ddl.new_objects import NAME_BYTES, choose_constraint_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, alterable_column, change_columns, require_column

_PLAIN = NotNull()
_ONLY = "Do not specify the ONLY keyword."
_INHERIT = (
    "You might need to make the existing constraint inheritable using ALTER TABLE ... ALTER CONSTRAINT ... INHERIT."
)
_VALIDATE = "You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT."


def name_constraints(session: Session, row: Relation) -> tuple[Column, ...]:
    """Return the columns of a new table with names for their NOT NULL constraints.

    The table's own constraints are named first, then inherited ones. Raises ServerError 42710 for a name that is given
    twice.
    """
    catalog = session.catalog
    used: set[str] = set()
    columns = list(row.columns)
    names_in_use = catalog.constraint_names
    constraints = [
        (column.constraint or _PLAIN, position) for position, column in enumerate(columns) if column.not_null
    ]
    if row.parents:
        constraints.sort(key=lambda entry: not entry[0].local)
    for held, position in constraints:
        name, column = held.name, columns[position]
        if name in used:
            if held.local:
                raise ServerError(
                    "42710", 'constraint "{name}" for relation "{owner}" already exists', name=name, owner=row.name
                )
            name = ""
        if not name:
            name = f"{row.name}_{column.name}_not_null"
            if (
                len(name) > NAME_BYTES
                or not name.isascii()
                or name in used
                or (row.namespace, name) in names_in_use.groups
            ):
                name = choose_constraint_name(catalog, row.namespace, row.name, column.name, "not_null", used)
        if held.no_inherit and row.kind == "p":
            raise ServerError("0A000", "not-null constraints on partitioned tables cannot be NO INHERIT")
        used.add(name)
        columns[position] = replace(
            column, constraint=replace(held, name=name) if held is not _PLAIN else NotNull(name)
        )
        names_in_use.add((row.namespace, name), row.oid)
    return tuple(columns) if used else row.columns


def column_of_constraint(row: Relation, name: str) -> Column | None:
    """Return the column whose NOT NULL constraint has that name."""
    for column in row.columns:
        if column.not_null and column.constraint is not None and column.constraint.name == name:
            return column
    return None


def rename_constraint(session: Session, relation: int, column: Column, name: str) -> None:
    """Rename the NOT NULL constraint of a column. Raises ServerError 42710."""
    names, held = session.catalog.constraint_names, column.constraint or _PLAIN
    row = session.catalog.relations[relation]
    refuse_taken_name(session, row, name)
    names.remove((row.namespace, held.name), relation)
    names.add((row.namespace, name), relation)
    change_columns(session, relation, [column.number], constraint=replace(held, name=name))


def refuse_taken_name(session: Session, row: Relation, name: str) -> None:
    """Refuse, with ServerError 42710, the name of another constraint of the relation."""
    if (row.namespace, name) not in session.catalog.constraint_names.groups:
        return
    if session.catalog.constraint(row.oid, name) is not None or column_of_constraint(row, name) is not None:
        raise ServerError(
            "42710", 'constraint "{name}" for relation "{owner}" already exists', name=name, owner=row.name
        )


def refuse_system_column(name: str) -> None:
    if name in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot add not-null constraint on system column "{name}"')


def require_not_null(session: Session, relation: int, numbers: Iterable[int]) -> None:
    """Make the columns of a primary key NOT NULL, here and in all children.

    Raises ServerError 55000 for a constraint that is not sufficient for a key (18).
    """
    for number in numbers:
        row = session.catalog.relations[relation]
        if not number:
            continue
        column = row.columns[number - 1]
        held = column.constraint
        if column.not_null and held is not None and (held.no_inherit or not held.validated):
            kind, hint = ("NO INHERIT", _INHERIT) if held.no_inherit else ("NOT VALID", _VALIDATE)
            raise ServerError(
                "55000",
                f'cannot create primary key on column "{column.name}"',
                detail=f'The constraint "{held.name}" on column "{column.name}" of table "{row.name}", marked {kind}, '
                "is incompatible with a primary key.",
                hint=hint,
            )
        if not column.not_null:
            set_not_null(session, relation, column.name)


def set_not_null(session: Session, relation: int, name: str, *, recurse: bool = True) -> None:
    """ALTER COLUMN ... SET NOT NULL. Raises ServerError 42703, 42P16, 0A000."""
    catalog = session.catalog
    if catalog.major.named_not_null:
        _set(session, relation, name, "", recurse, recursing=False)
        return
    row = catalog.relations[relation]
    alterable_column(session, relation, name)
    if not recurse and row.kind == "p":
        for child in catalog.children.get(relation):
            column = catalog.relations[child].column(name)
            if column is not None and not column.not_null and catalog.relations[child].seen:
                raise ServerError(
                    "42P16",
                    "constraint must be added to child tables too",
                    detail=f'Column "{name}" of relation "{catalog.relations[child].name}" is not already NOT NULL.',
                    hint=_ONLY,
                )
    for oid in catalog.descendants(relation) if recurse else [relation]:
        column = catalog.relations[oid].column(name)
        if column is not None and not column.not_null:
            change_columns(session, oid, [column.number], not_null=True)


def _set(session: Session, relation: int, name: str, constraint: str, recurse: bool, *, recursing: bool) -> None:
    catalog = session.catalog
    column = alterable_column(session, relation, name)
    row = catalog.relations[relation]
    held = column.constraint or _PLAIN
    if column.not_null:
        if held.no_inherit and recurse:
            raise ServerError(
                "0A000",
                f'cannot change NO INHERIT status of NOT NULL constraint "{held.name}" on relation "{row.name}"',
            )
        if recursing:
            held = replace(held, inherited=held.inherited + 1)
        elif not held.local:
            held = replace(held, local=True)
        elif not held.validated:
            validate(session, relation, column)
            return
        change_columns(session, relation, [column.number], constraint=held)
        return
    no_inherit = False
    if not recurse and catalog.children.has(relation):
        if row.kind == "p":
            raise ServerError("42P16", "constraint must be added to child tables too", hint=_ONLY)
        no_inherit = True
    new = NotNull(
        constraint or choose_constraint_name(catalog, row.namespace, row.name, name, "not_null"),
        inherited=1 if recursing else 0,
        local=not recursing,
        no_inherit=no_inherit,
    )
    _store(session, row, column, new)
    if recurse:
        for child in sorted(catalog.children.get(relation)):
            _set(session, child, name, new.name, recurse, recursing=True)


def _store(session: Session, row: Relation, column: Column, held: NotNull) -> None:
    session.catalog.constraint_names.add((row.namespace, held.name), row.oid)
    change_columns(session, row.oid, [column.number], not_null=True, constraint=held)


def add_not_null(session: Session, relation: int, name: str, constraint: NotNull, recurse: bool) -> None:
    """ADD [CONSTRAINT name] NOT NULL column (ATAddCheckNNConstraint). Raises ServerError 42703, 42P16, 55000."""
    catalog = session.catalog
    refuse_system_column(name)
    row = catalog.relations[relation]
    if constraint.no_inherit and row.kind == "p":
        raise ServerError("0A000", "not-null constraints on partitioned tables cannot be NO INHERIT")
    column = require_column(session, relation, name)
    if column.not_null:
        held = column.constraint or _PLAIN
        if held.no_inherit != constraint.no_inherit:
            raise ServerError(
                "55000",
                f'cannot change NO INHERIT status of NOT NULL constraint "{held.name}" on relation "{row.name}"',
                hint=_INHERIT,
            )
        if constraint.local and constraint.name and constraint.name != held.name:
            raise ServerError(
                "55000",
                f'cannot create not-null constraint "{constraint.name}" on column "{name}" of table "{row.name}"',
                detail=f'A not-null constraint named "{held.name}" already exists for this column.',
            )
        if not held.validated and constraint.validated:
            message = f'incompatible NOT VALID constraint "{held.name}" on relation "{row.name}"'
            raise ServerError("55000", message, hint=_VALIDATE)
        if not constraint.local:
            held = replace(held, inherited=held.inherited + 1)
        elif not held.local:
            held = replace(held, local=True)
        change_columns(session, relation, [column.number], constraint=held)
        return
    if not constraint.name:
        chosen = choose_constraint_name(catalog, row.namespace, row.name, name, "not_null")
        constraint = replace(constraint, name=chosen)
    _store(session, row, column, constraint)
    children = sorted(catalog.children.get(relation))
    if constraint.no_inherit or not children:
        return
    if not recurse:
        raise ServerError("42P16", "constraint must be added to child tables too")
    for child in children:
        add_not_null(session, child, name, replace(constraint, inherited=1, local=False), recurse)


def validate(session: Session, relation: int, column: Column) -> None:
    """VALIDATE CONSTRAINT of a NOT NULL constraint, in the children too."""
    catalog = session.catalog
    for oid in catalog.descendants(relation):
        member_column = catalog.relations[oid].column(column.name)
        if (
            member_column is not None
            and member_column.constraint is not None
            and not member_column.constraint.validated
        ):
            change_columns(
                session, oid, [member_column.number], constraint=replace(member_column.constraint, validated=True)
            )


def set_inheritance(session: Session, relation: int, column: Column, *, no_inherit: bool) -> None:
    """ALTER CONSTRAINT ... INHERIT and NO INHERIT (ATExecAlterConstrInheritability), which change direct children only.

    Raises ServerError 55000, 0A000.
    """
    catalog = session.catalog
    row, held = catalog.relations[relation], column.constraint or _PLAIN
    if no_inherit and held.inherited:
        raise ServerError("55000", f'cannot alter inherited constraint "{held.name}" on relation "{row.name}"')
    if held.no_inherit == no_inherit:
        return
    change_columns(session, relation, [column.number], constraint=replace(held, no_inherit=no_inherit))
    for child in sorted(catalog.children.get(relation)):
        if not no_inherit:
            _set(session, child, column.name, held.name, recurse=True, recursing=True)
            continue
        inherited = catalog.relations[child].column(column.name)
        if inherited is not None and inherited.constraint is not None:
            left = replace(inherited.constraint, inherited=inherited.constraint.inherited - 1, local=True)
            change_columns(session, child, [inherited.number], constraint=left)


def drop_not_null(session: Session, relation: int, name: str, *, recurse: bool) -> None:
    """ALTER COLUMN ... DROP NOT NULL. What a key or the replica identity needs cannot become nullable.

    Raises ServerError 42703, 42601, 42P16.
    """
    catalog = session.catalog
    if catalog.major.named_not_null:
        row = catalog.relations[relation]
        column = alterable_column(session, relation, name)
        if not column.not_null and row.seen:
            return
        if column.identity:
            raise ServerError("42601", f'column "{column.name}" of relation "{row.name}" is an identity column')
        if column.constraint is not None:
            drop_constraint(session, relation, column, recurse=recurse)
            return
    else:
        row = catalog.relations[relation]
        if not recurse and row.kind == "p" and catalog.children.has(relation):
            message = "cannot remove constraint from only the partitioned table when partitions exist"
            raise ServerError("42P16", message, hint=_ONLY)
    family = catalog.descendants(relation) if recurse else [relation]
    for oid in family:
        _forget_flag(session, oid, name, family)


def _forget_flag(session: Session, relation: int, name: str, going: Collection[int]) -> None:
    """Clear the flag of a table and its children, before 18."""
    catalog = session.catalog
    column = alterable_column(session, relation, name)
    row = catalog.relations[relation]
    if column.identity:
        raise ServerError("42601", f'column "{name}" of relation "{row.name}" is an identity column')
    _refuse_needed(session, row, column)
    for parent in row.parents if row.partition else ():
        above = catalog.relations[parent].column(name)
        if above is not None and above.not_null and parent not in going:
            raise ServerError("42P16", f'column "{name}" is marked NOT NULL in parent table')
    if column.not_null:
        change_columns(session, relation, [column.number], not_null=False)


def _refuse_needed(session: Session, row: Relation, column: Column) -> None:
    """Refused for a column of the primary key or of the index that REPLICA IDENTITY names."""
    catalog = session.catalog
    for oid in catalog.key_indexes_of.get(row.oid):
        index = catalog.indexes[oid]
        if index.primary and column.number in index.keys:
            raise ServerError("42P16", f'column "{column.name}" is in a primary key')
    from pubcheck.postgres.ddl.replica_identity import refuse_nullable

    refuse_nullable(session, row, column)


def drop_constraint(session: Session, relation: int, column: Column, *, recurse: bool, recursing: bool = False) -> None:
    """dropconstraint_internal for a NOT NULL constraint; children lose what they only inherited."""
    catalog = session.catalog
    row = catalog.relations[relation]
    held = column.constraint or _PLAIN
    if held.inherited > 0 and not recursing:
        raise ServerError("42P16", f'cannot drop inherited constraint "{held.name}" of relation "{row.name}"')
    if column.identity:
        raise ServerError("42601", f'column "{column.name}" of relation "{row.name}" is an identity column')
    _refuse_needed(session, row, column)
    change_columns(session, relation, [column.number], not_null=False, constraint=None)
    if held.no_inherit:
        return
    for child in sorted(catalog.children.get(relation)):
        child_column = catalog.relations[child].column(column.name)
        if child_column is None or child_column.constraint is None or not child_column.not_null:
            continue
        if recurse and child_column.constraint.inherited == 1 and not child_column.constraint.local:
            drop_constraint(session, child, child_column, recurse=True, recursing=True)
        else:
            left = replace(
                child_column.constraint,
                inherited=max(0, child_column.constraint.inherited - 1),
                local=child_column.constraint.local or not recurse,
            )
            change_columns(session, child, [child_column.number], constraint=left)


def refuse_renewal(session: Session, members: Sequence[int], name: str) -> None:
    """Raise the errors of 18, which recreates the NOT NULL constraints of a changed column, a parent's first."""
    catalog = session.catalog
    above: dict[int, set[str]] = {}
    for member in members:
        row, column = catalog.relations[member], require_column(session, member, name)
        held = column.constraint if column.not_null else None
        names = {inherited_name for parent in row.parents for inherited_name in above.get(parent, ())}
        if held is not None and held.local:
            if names - {held.name}:
                raise ServerError(
                    "55000", f'cannot create not-null constraint "{held.name}" on column "{name}" of table "{row.name}"'
                )
            if not held.no_inherit:
                names.add(held.name)
        above[member] = names
