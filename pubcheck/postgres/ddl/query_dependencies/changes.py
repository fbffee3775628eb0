"""What an INSERT, UPDATE or DELETE in a rule or in the body of a function reads, and the columns it depends on."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find

CHANGING = frozenset(("InsertStmt", "UpdateStmt", "DeleteStmt"))


def columns_of_change(kind: str, body: Node, target: Relation) -> list[str]:
    """Return the columns of the changed table that a command names, or fills by their order."""
    targets: Sequence[Node] = body.get("cols") or body.get("targetList") or ()
    columns = [item["ResTarget"]["name"] for item in targets]
    if kind == "InsertStmt":
        return columns or [column.name for column in target.live()[: width_of_query(body.get("selectStmt"))]]
    if "fromClause" in body or "usingClause" in body:
        return columns
    known = (target.name, body["relation"].get("alias", {}).get("aliasname"))
    for _, reference in find([body.get("whereClause"), body.get("targetList")], "ColumnRef"):
        fields = [field["String"]["sval"] for field in reference["fields"] if "String" in field]
        if len(fields) == len(reference["fields"]) and (len(fields) == 1 or fields[0] in known):
            columns.append(fields[-1])
    return columns


def query_of_change(kind: str, statement: Node) -> Node | None:
    """Return a SELECT that reads what a statement does."""
    if kind == "InsertStmt":
        query: Node = statement.get("selectStmt", {}).get("SelectStmt", {})
        clause = {key: statement[key] for key in ("withClause",) if key in statement}
        if not query:
            return None
        return {"SelectStmt": query | clause} if "withClause" not in query else {"SelectStmt": query}
    if kind not in CHANGING:
        return {kind: statement} if kind == "SelectStmt" else None
    sources = (*statement.get("fromClause", ()), *statement.get("usingClause", ()))
    select = {
        "targetList": [{"ResTarget": {"val": item["ResTarget"]["val"]}} for item in statement.get("targetList", ())],
        "fromClause": [{"RangeVar": statement["relation"]}, *sources],
    }
    return {"SelectStmt": select | {key: statement[key] for key in ("whereClause", "withClause") if key in statement}}


def width_of_query(query: Node | None) -> int:
    """Return the number of columns of an INSERT's query, 0 where a star hides it."""
    body = query["SelectStmt"] if query is not None else {}
    if "valuesLists" in body:
        return len(body["valuesLists"][0]["List"].get("items", ()))
    return 0 if any(True for _ in find(body.get("targetList"), "A_Star")) else len(body.get("targetList", ()))
