"""ALTER COLUMN ... TYPE: what the server refuses without a cast, and the objects that prevent it
(commands/tablecmds.c: ATPrepAlterColumnType, ATExecAlterColumnType).

A refusal because there is no cast is not reported; the column then keeps its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_to_target_type
from pubcheck.postgres.analysis.pathways import can_coerce
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import COLLATION, FIRST_NORMAL_OID, NORMAL, OTHER, PROC, PUBLICATION_REL, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Column, Constraint, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.not_null import refuse_renewal
from pubcheck.postgres.ddl.object_descriptions import RELKIND_NOUN, quote, relation_name
from pubcheck.postgres.ddl.stored_expressions import analyze_stored, refuse_pair
from pubcheck.postgres.ddl.tables.column_definition import depend_on_type, refuse_identity_type
from pubcheck.postgres.ddl.tables.default_values import add_use_of_default
from pubcheck.postgres.ddl.types import collation_of, typmod_of
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.primnodes import IMPLICIT, Expr
from pubcheck.postgres.session import (
    Session,
    alterable_column,
    change_columns,
    having_column,
    put_columns,
    rename_columns,
    require_column,
)
from pubcheck.postgres.session.syscache import SysCache


def _refuse_cast(session: Session, row: Relation, column: Column, oid: int, typmod: int, using: Node | None) -> None:
    """Raise ServerError 42804 if the column, or the USING expression, cannot be assigned to the new type.

    Raises the errors of analysis for an invalid USING. A type that is unknown may have a cast.
    """
    if not row.seen or row.kind not in "rp" or not oid:
        return
    with only_certain(session):
        if column.generated == "v":
            _check_virtual(session, column, oid)
        elif using is None:
            _check_column(session, column, oid, typmod)
        else:
            _check_using(session, row, column.name, oid, typmod, using)


def _check_column(session: Session, column: Column, oid: int, typmod: int) -> None:
    cache = session.syscache
    if not column.type or can_coerce(cache, column.type, oid, "a"):
        return
    using = f"{quote(session, column.name)}::{cache.format_type(oid, typmod)}"
    raise ServerError(
        "42804",
        f'column "{column.name}" cannot be cast automatically to type {cache.format_type(oid)}',
        hint=None if column.generated else f'You might need to specify "USING {using}".',
    )


def _check_virtual(session: Session, column: Column, oid: int) -> None:
    """The expression of a virtual column is read again with the new type; no row is."""
    if column.type and not can_coerce(session.syscache, column.type, oid, "a"):
        named = session.syscache.format_type(oid)
        raise ServerError(
            "42804", f'generation expression for column "{column.name}" cannot be cast automatically to type {named}'
        )


def _check_using(session: Session, row: Relation, column: str, oid: int, typmod: int, using: Node) -> None:
    p, expr = analyze_stored(session, row, using, "transform expressions")
    if coerce_to_target_type(p, expr, expr.type, oid, typmod, "a", IMPLICIT, -1) is not None:
        return
    named = session.syscache.format_type(oid)
    raise ServerError(
        "42804",
        f'result of USING clause for column "{column}" cannot be cast automatically to type {named}',
        hint="You might need to add an explicit cast.",
    )


def refuse_default(session: Session, column: Column, oid: int) -> None:
    """Raise ServerError 42804 for a default whose own type cannot be assigned to the column's new type."""
    if not column.default_type or not column.has_default or not oid or session.blind:
        return
    cache = session.syscache
    try:
        if can_coerce(cache, column.default_type, oid, "a"):
            return
        named = cache.format_type(oid)
    except Unknowable:
        return
    raise ServerError("42804", f'default for column "{column.name}" cannot be cast automatically to type {named}')


# CHECK constraints and indexes, which are written out with the old types and read again with the new.


def rebuild_dependents(session: Session, former: Mapping[int, Relation]) -> None:
    """Raise ServerError if a CHECK or an index over a column of a changed type cannot be recreated.

    ``former``: the relations with the types that they had. If it is not known, neither is the new type.
    """
    for oid, was in former.items():
        row = session.catalog.relations[oid]
        changed = [new for old, new in zip(was.columns, row.columns, strict=False) if old.type != new.type]
        if not changed or not row.seen or row.kind not in "rp":
            continue
        with session.apart() as basis:
            try:
                _read_again(session, was, row, changed)
            except Unknowable:
                unknown = {column.number for column in changed}
                columns = (
                    replace(column, type=0, typmod=-1, collation=0) if column.number in unknown else column
                    for column in row.columns
                )
                put_columns(session, row, tuple(columns))
            except ServerError as error:
                error.key = None
                if basis.certain and not session.blind:
                    raise


_OPEN_METHODS = frozenset(("gin", "gist", "spgist"))
"""Index methods whose operator classes are not known."""


def _read_again(session: Session, was: Relation, row: Relation, changed: list[Column]) -> None:
    catalog = session.catalog
    numbers, names = {column.number for column in changed}, {column.name for column in changed}
    for oid in catalog.constraints_of.get(row.oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "c" and not numbers.isdisjoint(constraint.keys):
            _read(session, was, row, [constraint.tree])
    for oid in catalog.indexes_of.get(row.oid):
        index = catalog.indexes[oid]
        for column in changed:
            if index.method == "btree" and column.number in index.keys and not _indexable(session, column.type):
                raise ServerError("42704", "data type has no default operator class")
            if index.method in _OPEN_METHODS and column.number in index.keys:
                raise Unknowable("the operator classes of the method")
        if index.trees and not names.isdisjoint(column_names(list(index.trees))):
            _read(session, was, row, index.trees)
    for constraint in catalog.constraints.values():
        if constraint.kind == "f" and row.oid in (constraint.relation, constraint.references):
            _refuse_foreign_key(session, constraint, row.oid, numbers)


def _refuse_foreign_key(session: Session, constraint: Constraint, changed: int, numbers: set[int]) -> None:
    """Raise ServerError 42804 if columns of these numbers of a changed relation no longer fit a foreign key."""
    catalog = session.catalog
    for key, referenced_key in zip(constraint.keys, constraint.referenced_keys, strict=False):
        pair = (constraint.relation, key), (constraint.references, referenced_key)
        if any(relation == changed and number in numbers for relation, number in pair):
            column, to_column = (catalog.relations[relation].columns[number - 1] for relation, number in pair)
            if column.type and to_column.type and column.type != to_column.type:
                refuse_pair(session, column, to_column, constraint.name)


def _indexable(session: Session, oid: int) -> bool:
    return session.syscache.default_class(oid, "b") != (0, 0)


def _read(session: Session, was: Relation, row: Relation, trees: Iterable[Any]) -> None:
    for tree in trees:
        if tree is None:
            raise Unknowable("a condition")
        bare = rename_columns(tree)
        casts: dict[int, int] = {}
        try:
            expr = transform(parse_state(session, was), bare)
        except ServerError:
            raise Unknowable("a condition") from None
        _deparsed(expr, 0, casts)
        p = parse_state(session, row)
        again = transform(p, _with_casts(p.cache, bare, casts))
        if expr.type == BOOL:
            coerce_to_boolean(p, again, "CHECK")


def _deparsed(expr: Expr, shown: int, casts: dict[int, int]) -> None:
    """The casts that ruleutils.c writes at columns and literals, by location: those that analysis added."""
    if expr.node in ("Var", "Const"):
        if shown or expr.node == "Const":
            casts[expr.location] = shown or expr.type
        return
    if expr.form == IMPLICIT and expr.args:
        _deparsed(expr.args[0], shown or expr.type, casts)
        return
    for arg in expr.args:
        _deparsed(arg, 0, casts)


def _with_casts(cache: SysCache, tree: Any, casts: dict[int, int]) -> Any:
    if type(tree) is list:
        return [_with_casts(cache, item, casts) for item in tree]
    if type(tree) is not dict:
        return tree
    for kind in ("A_Const", "ColumnRef"):
        if kind in tree:
            oid = casts.get(tree[kind].get("location", 0), 0)
            return {"TypeCast": {"arg": tree, "typeName": _type_name(cache, oid), "location": -1}} if oid else tree
    return {key: _with_casts(cache, value, casts) for key, value in tree.items()}


def _type_name(cache: SysCache, oid: int) -> Node:
    row = cache.type(oid)
    schema = "pg_catalog" if oid < FIRST_NORMAL_OID else cache.session.catalog.namespaces[row.namespace].name
    return {"names": [{"String": {"sval": schema}}, {"String": {"sval": row.name}}], "typemod": -1}


class NewType(NamedTuple):
    oid: int
    typmod: int
    collation: int


def prepare_type(session: Session, relation: int, command: Node, recurse: bool) -> NewType:
    """ATPrepAlterColumnType, which comes before any command of the statement is done. Raises ServerError."""
    catalog = session.catalog
    name = command["name"]
    definition = command["def"]["ColumnDef"]
    column = alterable_column(session, relation, name, location=_place(session, definition))
    row = catalog.relations[relation]
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot alter column type of typed table")
    type_name = definition["typeName"]
    if column.generated and "raw_default" in definition:
        raise ServerError(
            "42611",
            "cannot specify USING when altering type of generated column",
            detail=f'Column "{name}" is a generated column.',
            location=_place(session, definition),
        )
    if column.inherited and row.seen:
        raise ServerError("42P16", f'cannot alter inherited column "{name}"', location=_place(session, definition))
    try:
        oid = session.type_oid(type_name)
    except ServerError as error:
        error.location = error.culprit = _place(session, type_name)
        raise
    typmod = typmod_of(session, type_name, oid) if "typmods" in type_name else -1
    collation = collation_of(session, definition.get("collClause"), oid)
    if column.identity:
        refuse_identity_type(replace(column, type=oid))
    for member in having_column(session, relation, name, recurse):
        _refuse_partition_key(session, member, name, _place(session, definition))
    _refuse_cast(session, row, column, oid, typmod, definition.get("raw_default"))
    if not recurse and catalog.children.has(relation):
        raise ServerError("42P16", f'type of inherited column "{name}" must be changed in child tables too')
    return NewType(oid, typmod, collation)


def alter_type(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAlterColumnType: objects that depend on the column may forbid it."""
    catalog, name = session.catalog, command["name"]
    oid, typmod, collation = prepare_type(session, relation, command, recurse)
    members = having_column(session, relation, name, recurse)
    refuse_renewal(session, members, name)
    for member in members:
        member_column = require_column(session, member, name)
        if member_column.inherited > sum(parent in members for parent in catalog.relations[member].parents):
            member_name = catalog.relations[member].name
            raise ServerError("42P16", f'cannot alter inherited column "{name}" of relation "{member_name}"')
        refuse_default(session, member_column, oid)
        _refuse_type_change(session, catalog.relations[member], member_column)
        for used in ((TYPE, member_column.type), (COLLATION, member_column.collation)):
            catalog.forget_dependencies((RELATION, member), member_column.number, on=used)
        change_columns(
            session, member, [member_column.number], type=oid, typmod=typmod, collation=collation, storage=""
        )
        depend_on_type(session, member, require_column(session, member, name))
        default_type = catalog.types.get(member_column.default_type) if member_column.has_default else None
        if default_type is not None and default_type.kind != "d" and default_type.oid != oid:
            # The default is of its type as before, and cast to the new one.
            add_use_of_default(session, member, member_column.number, (TYPE, default_type.oid, 0))
        _rebuild_keys(session, member, member_column.number)


def _place(session: Session, node: Node) -> int | None:
    """Return the place to which the server points."""
    return node.get("location") if session.catalog.major.alter_type_position else None


def _rebuild_keys(session: Session, relation: int, number: int) -> None:
    """ATPostAlterTypeCleanup makes indexes again, a partition's key as a part of its parent's and as that is."""
    catalog = session.catalog
    for oid in catalog.indexes_of.get(relation):
        index = catalog.indexes[oid]
        if number in (*index.keys, *index.included) and not index.valid and catalog.relations[oid].kind == "i":
            index = replace(index, valid=True)
            catalog.put_index(index)
        owner = catalog.owner_of_index(oid) if index.parent and number in index.keys else None
        if owner is not None and not owner.local:
            above = catalog.indexes[index.parent]
            if (index.primary, index.immediate) != (above.primary, above.immediate):
                kind = "p" if above.primary else "u"
                catalog.put_index(replace(index, primary=above.primary, immediate=above.immediate))
                catalog.constraints.put(owner.oid, replace(owner, kind=kind, deferrable=not above.immediate))


def _refuse_partition_key(session: Session, relation: int, name: str, location: int | None) -> None:
    row = session.catalog.relations[relation]
    column = require_column(session, relation, name)
    if column.number in row.partition_key:
        message = f'cannot alter column "{name}" because it is part of the partition key of relation "{row.name}"'
        raise ServerError("42P16", message, location=location)


def _refuse_type_change(session: Session, row: Relation, column: Column) -> None:
    """RememberAllDependentForRebuilding: the first dependent that cannot be rebuilt, in the order they came."""
    catalog = session.catalog
    for dependent, number, kind in catalog.dependents.get((RELATION, row.oid)):
        if number != column.number:
            continue
        if dependent[0] == PUBLICATION_REL:
            member = catalog.publication_rels[dependent[1]]
            publication = catalog.publications[member.publication].name
            session.doubt_members([member.oid])
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a publication WHERE clause",
                key="type-of-column-in-publication",
                detail=f"publication of table {relation_name(session, row)} in publication {publication} "
                f'depends on column "{column.name}"' + "." * catalog.major.dependency_in_sentences,
                column=column.name,
            ).about(publication, session.qualified(row))
        if dependent[0] == RELATION and kind == NORMAL and catalog.relations[dependent[1]].kind in "vm":
            view = catalog.relations[dependent[1]]
            session.rests_on(view)
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a view or rule",
                detail=f"rule _RETURN on {RELKIND_NOUN[view.kind]} {relation_name(session, view)} "
                f'depends on column "{column.name}"' + "." * catalog.major.dependency_in_sentences,
            )
        if dependent[0] == RELATION and dependent[1] == row.oid and dependent[2]:
            generated = row.columns[dependent[2] - 1].name
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a generated column",
                key="type-of-column-in-expression" if catalog.memberships.has(row.oid) else None,
                detail=f'Column "{column.name}" is used by generated column "{generated}".',
            )
        if dependent[0] == PROC:
            raise ServerError("0A000", "cannot alter type of a column used by a function or procedure")
        if dependent[0] == OTHER and kind == NORMAL:
            raise ServerError("0A000", "cannot alter type of a column used by another object")
