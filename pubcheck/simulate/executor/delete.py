"""DELETE (executor/nodeModifyTable.c: ExecDelete)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.parse import Node
from pubcheck.simulate.executor.changes import delete_version
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.update import where
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.session import Result, ServerSession


def delete(session: ServerSession, node: Node) -> Result:
    from pubcheck.simulate.session import Result

    if node.keys() & {"usingClause", "withClause", "returningClause"}:
        raise NotFollowed("DELETE with USING, WITH or RETURNING")
    rv = node["relation"]
    relation = target_relation(session, rv)
    snapshot = session.snapshot()
    count = 0
    for table in list(members(session, relation, rv)):
        refuse_write(session, table, "delete")
        scope = Scope(session)
        scope.add_relation(session, table.relation, rv.get("alias", {}).get("aliasname", "") or relation.name)
        condition = where(session, scope, node)
        for version in table.storage.scan():
            if snapshot.sees(version) and (condition is None or condition((version,)) is True):
                delete_version(session, table, version)
                count += 1
    return Result(count=count)
