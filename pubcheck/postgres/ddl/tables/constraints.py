"""The constraints of a new table: their order, duplicates, and NOT NULL as constraints with names (18)
(parser/parse_utilcmd.c: transformIndexConstraints; commands/tablecmds.c: AddRelationNotNullConstraints).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, NotNull, Relation
from pubcheck.postgres.ddl.not_null import name_constraints, refuse_system_column
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import without_locations
from pubcheck.postgres.session import Session


def with_not_nulls(session: Session, row: Relation, constraints: list[Node]) -> Relation:
    """Return the table with its NOT NULL and PRIMARY KEY as named constraints (18)."""
    if constraints:
        row = _with_stated(row, constraints)
    named = name_constraints(session, row)
    return row if named is row.columns else replace(row, columns=named)


def _with_stated(row: Relation, constraints: list[Node]) -> Relation:
    """Return the table with the NOT NULL constraints that its ``constraints`` state; they are removed from the list."""
    not_nulls: list[tuple[str, NotNull]] = []
    for node in constraints:
        if node["contype"] == "CONSTR_NOTNULL":
            held = NotNull(node.get("conname", ""), no_inherit=node.get("is_no_inherit", False))
            name = node["keys"][0]["String"]["sval"]
            refuse_system_column(name)
            not_nulls.append((name, held))
        elif node["contype"] == "CONSTR_PRIMARY" and "indexname" not in node:
            not_nulls += ((key["String"]["sval"], NotNull()) for key in node.get("keys", ()))
    columns = list(row.columns)
    for name, held in not_nulls:
        column = row.column(name)
        if column is None:
            if row.seen:
                raise ServerError("42703", f'column "{name}" of relation "{row.name}" does not exist')
            continue
        position = column.number - 1
        columns[position] = replace(
            columns[position], not_null=True, constraint=merge_not_null(columns[position], held)
        )
    constraints[:] = [node for node in constraints if node["contype"] != "CONSTR_NOTNULL"]
    return replace(row, columns=tuple(columns)) if not_nulls else row


def merge_not_null(column: Column, new: NotNull) -> NotNull:
    """Return a table's own NOT NULL constraint merged with the existing one of its column, its own or inherited.

    Raises ServerError 42601 if its own ones differ, 42804 for one with NO INHERIT that is inherited too.
    """
    if not column.not_null:
        return new
    existing = column.constraint or NotNull()
    if existing.local and existing.no_inherit != new.no_inherit:
        message = f'conflicting NO INHERIT declaration for not-null constraint on column "{column.name}"'
        raise ServerError("42601", message)
    if existing.local and existing.name and new.name and existing.name != new.name:
        raise ServerError("42601", f'conflicting not-null constraint names "{existing.name}" and "{new.name}"')
    if existing.inherited and new.no_inherit:
        raise ServerError(
            "42804",
            f'cannot define not-null constraint with NO INHERIT on column "{column.name}"',
            detail="The column has an inherited not-null constraint.",
        )
    name = new.name or (existing.name if existing.local else "")
    return NotNull(name, inherited=existing.inherited, no_inherit=new.no_inherit)


def order_constraints(constraints: list[Node]) -> list[Node]:
    """Return the constraints in the server's order: the primary key first, then keys, foreign keys last
    (transformIndexConstraints).
    """
    if len(constraints) > 1:
        constraints = _without_repeated_keys(constraints)
    if len(constraints) < 2:
        return constraints
    rank = {"CONSTR_PRIMARY": 0, "CONSTR_UNIQUE": 1, "CONSTR_EXCLUSION": 1, "CONSTR_CHECK": 2, "CONSTR_NOTNULL": 2}
    return sorted(constraints, key=lambda constraint: rank.get(constraint["contype"], 3))


_KEY_FIELDS = ("keys", "including", "exclusions", "where_clause", "nulls_not_distinct", "deferrable", "initdeferred")


def _without_repeated_keys(constraints: list[Node]) -> list[Node]:
    """A key that is given twice is one, the primary key rather than the other, with the name that either has."""
    first: dict[str, Node] = {}
    remaining: list[Node] = []
    for constraint in sorted(constraints, key=lambda item: item["contype"] != "CONSTR_PRIMARY"):
        if constraint["contype"] in ("CONSTR_PRIMARY", "CONSTR_UNIQUE") and "indexname" not in constraint:
            definition = repr([without_locations(constraint.get(field)) for field in _KEY_FIELDS])
            existing = first.get(definition)
            if existing is not None and constraint["contype"] == "CONSTR_UNIQUE":
                if "conname" in constraint:
                    existing.setdefault("conname", constraint["conname"])
                continue
            constraint = first[definition] = {**constraint}
        remaining.append(constraint)
    return remaining
