"""ADD, ALTER, DROP and VALIDATE CONSTRAINT, SET and DROP NOT NULL (commands/tablecmds.c)."""

from __future__ import annotations

from contextlib import nullcontext

from msgspec.structs import replace

from pubcheck.postgres.catalog import CONSTRAINT
from pubcheck.postgres.catalog.rows import Constraint
from pubcheck.postgres.ddl import not_null
from pubcheck.postgres.ddl.constraints import add_constraint
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.row_constraints import refuse_failing
from pubcheck.postgres.errors import ServerError, without_position
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session, alterable_column


def drop(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    name = command["name"]
    constraint = catalog.constraint(relation, name)
    if constraint is None:
        column = not_null.column_of_constraint(row, name)
        if column is not None:
            not_null.drop_constraint(session, relation, column, recurse=recurse)
        elif command.get("missing_ok"):
            session.notices.append(f'constraint "{name}" of relation "{row.name}" does not exist, skipping')
        elif row.seen:
            raise ServerError("42704", f'constraint "{name}" of relation "{row.name}" does not exist')
        return
    if constraint.inherited and not constraint.local:
        raise ServerError("42P16", f'cannot drop inherited constraint "{name}" of relation "{row.name}"')
    perform_deletion(session, [(CONSTRAINT, constraint.oid, 0)], command.get("behavior") == "DROP_CASCADE")
    if constraint.kind == "c":
        for child in catalog.children.get(relation):
            _drop_inherited_check(session, child, name)


def _drop_inherited_check(session: Session, child: int, name: str) -> None:
    catalog = session.catalog
    constraint: Constraint | None = catalog.constraint(child, name)
    if constraint is None:
        return
    if constraint.inherited > 1 or constraint.local:
        catalog.constraints.put(constraint.oid, replace(constraint, inherited=constraint.inherited - 1))
        return
    catalog.remove(CONSTRAINT, constraint.oid)
    for grandchild in catalog.children.get(child):
        _drop_inherited_check(session, grandchild, name)


def drop_not_null(session: Session, relation: int, command: Node, recurse: bool) -> None:
    not_null.drop_not_null(session, relation, command["name"], recurse=recurse)


def set_not_null(session: Session, relation: int, command: Node, recurse: bool) -> None:
    not_null.set_not_null(session, relation, command["name"], recurse=recurse)


def add(session: Session, relation: int, command: Node, recurse: bool) -> None:
    constraint = command["def"]["Constraint"]
    if constraint["contype"] == "CONSTR_PRIMARY":
        # The columns are set NOT NULL first: errors about that do not mention the key.
        for key in constraint.get("keys", ()):
            if session.catalog.major.named_not_null:
                not_null.refuse_system_column(key["String"]["sval"])
            alterable_column(session, relation, key["String"]["sval"])
    with without_position() if constraint["contype"] == "CONSTR_CHECK" else nullcontext():
        add_constraint(session, relation, constraint, recurse)
    row = session.catalog.relations[relation]
    if constraint["contype"] == "CONSTR_CHECK" and row.kind == "r" and not constraint.get("skip_validation"):
        refuse_failing(session, row, constraint["raw_expr"])


def validate(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecValidateConstraint."""
    catalog, name = session.catalog, command["name"]
    row, constraint = catalog.relations[relation], catalog.constraint(relation, name)
    column = not_null.column_of_constraint(row, name)
    if constraint is not None and constraint.index and constraint.kind != "f":
        if catalog.major.named_not_null:
            message = f'cannot validate constraint "{name}" of relation "{row.name}"'
            detail = "This operation is not supported for this type of constraint."
            raise ServerError("42809", message, detail=detail)
        message = f'constraint "{name}" of relation "{row.name}" is not a foreign key or check constraint'
        raise ServerError("42809", message)
    if constraint is not None:
        catalog.constraints.put(constraint.oid, replace(constraint, validated=True))
    elif column is not None:
        not_null.validate(session, relation, column)
    elif row.seen:
        raise ServerError("42704", f'constraint "{name}" of relation "{row.name}" does not exist')


def alter(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAlterConstraint; what it changes counts here as far as a constraint is enforced or inherited."""
    catalog, change = session.catalog, command["def"]["ATAlterConstraint"]
    row, name = catalog.relations[relation], change["conname"]
    if not catalog.major.enforcement:
        _refuse_newer_change(change)
    constraint, column = catalog.constraint(relation, name), not_null.column_of_constraint(row, name)
    if constraint is None and column is None:
        if row.seen:
            raise ServerError("42704", f'constraint "{name}" of relation "{row.name}" does not exist')
        return
    kind = "n" if constraint is None else constraint.kind
    if "alterDeferrability" in change and kind != "f":
        raise ServerError("42809", f'constraint "{name}" of relation "{row.name}" is not a foreign key constraint')
    enforced = "fc" if catalog.major.alters_check_enforcement else "f"
    if "alterEnforceability" in change and kind not in enforced:
        raise ServerError("42809", f'cannot alter enforceability of constraint "{name}" of relation "{row.name}"')
    if "alterInheritability" in change and kind != "n":
        raise ServerError("42809", f'constraint "{name}" of relation "{row.name}" is not a not-null constraint')
    if constraint is not None:
        _put_changed(session, constraint, change)
    elif column is not None and "alterInheritability" in change:
        not_null.set_inheritance(session, relation, column, no_inherit=change.get("noinherit", False))


def _put_changed(session: Session, constraint: Constraint, change: Node) -> None:
    if "alterEnforceability" in change:
        constraint = replace(constraint, enforced=change.get("is_enforced", False))
    if "alterDeferrability" in change:
        timing = {"deferrable": change.get("deferrable", False), "deferred": change.get("initdeferred", False)}
        constraint = replace(constraint, **timing)
    session.catalog.constraints.put(constraint.oid, constraint)


def _refuse_newer_change(change: Node) -> None:
    """Raise the errors of the grammar before 18, which changes foreign keys only."""
    if "alterEnforceability" in change:
        raise ServerError("42601", 'syntax error at or near "ENFORCED"')
    if change.get("noinherit"):
        raise ServerError("0A000", "FOREIGN KEY constraints cannot be marked NO INHERIT")
    if "alterInheritability" in change:
        raise ServerError("42601", 'syntax error at or near "INHERIT"')
