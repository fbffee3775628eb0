"""The input of the rewriters: the refused filter, its text, and the types of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from pubcheck.checks.remedies.filter_rewrites.filter_source import Site, Text
from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_filter import Refusal
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import UNKNOWN
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr


class StoredColumn(Struct, frozen=True):
    """A generated column that a filter can read in the place of what it may not hold."""

    statement: str
    row: Column


class Proposal(Struct, frozen=True):
    """``text`` for a node's own; ``parentheses`` says that it needs some next to operators.

    ``note`` tells people what else changes. ``safe``: the filter lets the very same rows through, whatever they hold.
    """

    text: str
    note: str = ""
    safe: bool = False
    parentheses: bool = False
    column: StoredColumn | None = None


class RewriteContext:
    """A filter's text and its analysis; asks of nodes are answered with 0 or None where nothing is known."""

    def __init__(self, state: ParseState, text: Text, refusal: Refusal) -> None:
        self.state = state
        self.text = text
        self.refusal = refusal
        self.source = text.source
        self.replaced = text.replaced

    def expr(self, node: Node) -> Expr | None:
        """A node analysed on its own."""
        try:
            expr = transform(self.state, node)
            assign_collations(self.state, expr)
            return expr
        except (ServerError, Unknowable):
            return None

    def type(self, node: Node) -> int:
        """The type of a node; 0 for a literal that has none yet."""
        expr = self.expr(node)
        return 0 if expr is None or expr.type == UNKNOWN else expr.type

    def operand(self, node: Node) -> str:
        """The text of a node as an operand: in parentheses unless it is one word or call."""
        source = self.source(node)
        return source if next(iter(node)) in _ATOMS else f"({source})"


_ATOMS = frozenset(("A_Const", "ColumnRef", "FuncCall", "CoalesceExpr", "MinMaxExpr", "A_ArrayExpr", "CaseExpr"))

Rewriter = Callable[[RewriteContext, Site], Iterator[Proposal]]
Rewriters = Mapping[str, tuple[Rewriter, ...]]
"""The rewriters by kind of parse node ("*": any). A rewriter that raises ValueError has no proposal."""


def name_of(body: Node, key: str = "name") -> str:
    """The last part of a name. Raises ValueError for a star."""
    last = body[key][-1]
    if "String" not in last:
        raise ValueError("not a name")
    name: str = last["String"]["sval"]
    return name


def string(node: Node) -> str | None:
    """The text of a literal in quotes, cast or not."""
    if "TypeCast" in node:
        node = node["TypeCast"]["arg"]
    constant = node.get("A_Const")
    if constant is None or "sval" not in constant:
        return None
    text: str = constant["sval"].get("sval", "")
    return text


def plain_string(node: Node) -> str | None:
    """The text of a literal in quotes that has no type yet."""
    return string(node) if "A_Const" in node else None


def items(node: Node) -> list[Node]:
    """The items of a list, or the node alone."""
    if "List" in node:
        listed: list[Node] = node["List"]["items"]
        return listed
    return [node]
