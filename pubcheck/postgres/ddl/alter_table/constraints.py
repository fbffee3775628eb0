"""ADD, ALTER, DROP and VALIDATE CONSTRAINT, SET and DROP NOT NULL (commands/tablecmds.c)."""

from __future__ import annotations

from contextlib import nullcontext

from msgspec.structs import replace

from pubcheck.postgres.catalog import CONSTRAINT
from pubcheck.postgres.catalog.rows import Constraint
from pubcheck.postgres.ddl import not_null
from pubcheck.postgres.ddl.check_expressions import refuse_failing
from pubcheck.postgres.ddl.constraints import add_constraint
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.errors import ServerError, without_position
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import require_column


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
            require_column(session, relation, key["String"]["sval"])
    with without_position() if constraint["contype"] == "CONSTR_CHECK" else nullcontext():
        add_constraint(session, relation, constraint, recurse)
    row = session.catalog.relations[relation]
    if constraint["contype"] == "CONSTR_CHECK" and row.kind == "r" and not constraint.get("skip_validation"):
        refuse_failing(session, row, constraint["raw_expr"])


def validate(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    constraint = catalog.constraint(relation, command["name"])
    if constraint is not None:
        catalog.constraints.put(constraint.oid, replace(constraint, validated=True))
        return
    row = catalog.relations[relation]
    column = not_null.column_of_constraint(row, command["name"])
    if column is not None:
        not_null.validate(session, relation, column)
    elif row.seen:
        raise ServerError("42704", f'constraint "{command["name"]}" of relation "{row.name}" does not exist')


def alter(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAlterConstraint; what it changes counts here as far as a constraint is enforced."""
    catalog, change = session.catalog, command["def"]["ATAlterConstraint"]
    row, name = catalog.relations[relation], change["conname"]
    constraint = catalog.constraint(relation, name)
    if "alterEnforceability" in change and not catalog.major.enforcement:
        raise ServerError("42601", 'syntax error at or near "ENFORCED"')
    if constraint is None:
        if row.seen and not_null.column_of_constraint(row, name) is None:
            raise ServerError("42704", f'constraint "{name}" of relation "{row.name}" does not exist')
    elif constraint.kind == "c" and "alterEnforceability" in change and catalog.major.alters_check_enforcement:
        catalog.constraints.put(constraint.oid, replace(constraint, enforced=change.get("is_enforced", False)))
    elif constraint.kind != "f" and ("alterDeferrability" in change or "alterEnforceability" in change):
        raise ServerError("42809", f'constraint "{name}" of relation "{row.name}" is not a foreign key constraint')
    elif "alterEnforceability" in change:
        catalog.constraints.put(constraint.oid, replace(constraint, enforced=change.get("is_enforced", False)))
    elif "alterDeferrability" in change:
        timing = {"deferrable": change.get("deferrable", False), "deferred": change.get("initdeferred", False)}
        catalog.constraints.put(constraint.oid, replace(constraint, **timing))
