"""UPDATE and DELETE ... FOR PORTION OF (parser/analyze.c: transformForPortionOfClause; nodeModifyTable.c:
ExecForPortionOfLeftovers).

The statement is run as one that only takes rows whose range overlaps the portion; an UPDATE also sets the range to what
both have in common. What is left of the range is inserted as rows of their own.
"""

from __future__ import annotations

from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.identifiers import in_quotes
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.tokens import folded
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, compile_expression
from pubcheck.simulate.executor.row_operations import insert_row
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.executor.trigger_firing import triggers_on
from pubcheck.simulate.executor.views import Target
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

_BELOW = (
    "CASE WHEN {value} OPERATOR(pg_catalog.&>) {portion} THEN NULL"
    " ELSE {type}(pg_catalog.lower({value}), pg_catalog.lower({portion}),"
    " CASE WHEN pg_catalog.lower_inc({value}) THEN '[' ELSE '(' END"
    " || CASE WHEN pg_catalog.lower_inc({portion}) THEN ')' ELSE ']' END) END"
)
_ABOVE = (
    "CASE WHEN {value} OPERATOR(pg_catalog.&<) {portion} THEN NULL"
    " ELSE {type}(pg_catalog.upper({portion}), pg_catalog.upper({value}),"
    " CASE WHEN pg_catalog.upper_inc({portion}) THEN '(' ELSE '[' END"
    " || CASE WHEN pg_catalog.upper_inc({value}) THEN ']' ELSE ')' END) END"
)


class Portion:
    """The clause of a statement that changes ``target``."""

    def __init__(self, session: Backend, outer: Scope, target: Target, node: Node) -> None:
        clause = node["forPortionOf"]
        relation = target.relation
        name = folded(clause["column"].encode())
        column = relation.column(name)
        if column is None:
            raise ServerError("42703", f'column "{name}" of relation "{relation.name}" does not exist')
        kind: Type = outer.cache.type(column.type)
        if target.is_view or relation.kind != "r" or kind.kind != "r":
            raise NotFollowed("FOR PORTION OF a view, a partitioned table, or a column that is not a range")
        if relation.parents or len(session.database.catalog.descendants(relation.oid)) > 1:
            raise NotFollowed("FOR PORTION OF a table with inheritance")
        if any(item["ResTarget"]["name"] == name for item in node.get("targetList", ())):
            raise NotFollowed("FOR PORTION OF a column that is set")
        self.session, self.relation, self.column = session, relation, column
        texts = self._texts(kind, node["relation"], name, clause["texts"])
        parsed = parse("SELECT " + ", ".join(texts))
        assert parsed is not None
        common, overlap, *self._rest = (item["ResTarget"]["val"] for item in parsed[1]["targetList"])
        self.statement = {**node, "whereClause": _both(node.get("whereClause"), overlap)}
        if "targetList" in node:
            self.statement["targetList"] = [*node["targetList"], {"ResTarget": {"name": name, "val": common}}]

    def _texts(self, kind: Type, rv: Node, name: str, texts: list[str]) -> list[str]:
        """What both have in common, whether they overlap, and what is left below and above."""
        catalog = self.session.database.catalog
        schema = catalog.namespaces[kind.namespace].name if kind.namespace in catalog.namespaces else "pg_catalog"
        range_type = f"{in_quotes(schema)}.{in_quotes(kind.name)}"
        words = {
            "type": range_type,
            "value": f"{in_quotes(rv.get('alias', {}).get('aliasname', rv['relname']))}.{in_quotes(name)}",
            "portion": f"{range_type}({', '.join(texts)})" if len(texts) > 1 else f"({texts[0]})::{range_type}",
        }
        operators = ("{value} OPERATOR(pg_catalog.*) ({portion})", "{value} OPERATOR(pg_catalog.&&) ({portion})")
        return [text.format(**words) for text in (*operators, _BELOW, _ABOVE)]

    def leftovers(self, scope: Scope) -> list[Step]:
        """Return the steps that give what is left of the range of a row, or None."""
        steps = []
        for tree in self._rest:
            expr = scope.transform(tree)
            assign_collations(scope, expr)
            steps.append(compile_expression(self.session, scope, expr))
        return steps

    def insert(self, table: Table, version: Version, pieces: list[object]) -> None:
        """Insert rows for what is left of the range of a row that was changed."""
        if any(triggers_on(self.session, table.oid)):
            raise NotFollowed("FOR PORTION OF a table with triggers")
        for piece in pieces:
            if piece is not None:
                insert_row(self.session, self.relation, {**version, self.column.number: piece})


def _both(where: Node | None, overlap: Node) -> Node:
    return overlap if where is None else {"BoolExpr": {"boolop": "AND_EXPR", "args": [where, overlap]}}
