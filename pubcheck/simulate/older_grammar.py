"""What the grammars of earlier majors refuse, although the one that parses here takes it: parts of MERGE."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.versions import Major


def refuse_newer_merge(major: Major, name: str, node: Node) -> None:
    """Raise ServerError 42601 for what MERGE has since 17, in a statement or in its WITH queries."""
    if major.merge_returning:
        return
    for merge in _merges(name, node):
        kinds = {clause["MergeWhenClause"].get("matchKind", "") for clause in merge["mergeWhenClauses"]}
        if "MERGE_WHEN_NOT_MATCHED_BY_SOURCE" in kinds:
            raise ServerError("42601", 'syntax error at or near "BY"')
        if "returningClause" in merge:
            raise ServerError("42601", 'syntax error at or near "RETURNING"')


def _merges(name: str, node: Node) -> Iterator[Node]:
    if name == "MergeStmt":
        yield node
    for item in node.get("withClause", {}).get("ctes", ()):
        for kind, body in item["CommonTableExpr"]["ctequery"].items():
            yield from _merges(kind, body)
