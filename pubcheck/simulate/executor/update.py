"""UPDATE (parser/analyze.c: transformUpdateStmt; executor/nodeModifyTable.c: ExecUpdate)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.executor.changes import check_constraints, compute_generated, update_version
from pubcheck.simulate.executor.expressions import Scope, Step, assigned, compile_expression
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.session import Result, ServerSession


def update(session: ServerSession, node: Node) -> Result:
    from pubcheck.simulate.session import Result

    if node.keys() & {"fromClause", "withClause", "returningClause"}:
        raise NotFollowed("UPDATE with FROM, WITH or RETURNING")
    rv = node["relation"]
    relation = target_relation(session, rv)
    snapshot = session.snapshot()
    count = 0
    for table in list(members(session, relation, rv)):
        refuse_write(session, table, "update")
        scope = Scope(session)
        scope.add_relation(session, table.relation, rv.get("alias", {}).get("aliasname", "") or relation.name)
        condition = where(session, scope, node)
        steps = assignments(session, scope, table, node["targetList"])
        for version in table.storage.scan():
            if not snapshot.sees(version) or (condition is not None and condition((version,)) is not True):
                continue
            values = dict(version)
            values.update([(number, step((version,))) for number, step in steps])
            compute_generated(table, values)
            check_constraints(table, values)
            update_version(session, table, version, values)
            count += 1
    return Result(count=count)


def where(session: ServerSession, scope: Scope, node: Node) -> Step | None:
    tree = node.get("whereClause")
    if tree is None:
        return None
    scope.clause = "WHERE"
    expr = coerce_to_boolean(scope, scope.transform(tree), "WHERE")
    assign_collations(scope, expr)
    return compile_expression(session, scope, expr)


def assignments(session: ServerSession, scope: Scope, table: Table, targets: list[Node]) -> list[tuple[int, Step]]:
    """The new values of an UPDATE (transformUpdateTargetList). Raises ServerError 42703, 42601, 428C9."""
    steps: dict[int, Step] = {}
    scope.clause = "UPDATE"
    for item in targets:
        target = item["ResTarget"]
        column = table.relation.column(target["name"])
        if column is None:
            message = f'column "{target["name"]}" of relation "{table.relation.name}" does not exist'
            raise ServerError("42703", message, location=target.get("location"))
        if column.number in steps:
            raise ServerError("42601", f'multiple assignments to same column "{column.name}"')
        if "indirection" in target or "MultiAssignRef" in target["val"]:
            raise NotFollowed("an assignment to a part of a column, or to several")
        if "SetToDefault" in target["val"]:
            steps[column.number] = table.default(column)
            continue
        if column.generated or column.identity == "a":
            raise ServerError(
                "428C9",
                f'column "{column.name}" can only be updated to DEFAULT',
                detail=f'Column "{column.name}" is '
                + ("a generated column." if column.generated else "an identity column defined as GENERATED ALWAYS."),
            )
        steps[column.number] = compile_expression(session, scope, assigned(scope, column, target["val"]))
    return list(steps.items())
