"""The input of the rewriters: the refused filter, the text of its nodes, and the types of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_filter import Refusal
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import UNKNOWN
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.tokens import tokens
from pubcheck.words import word_set

_BEFORE, _AFTER = b"SELECT (", b")"
_MAX_ATTEMPTS = 80
"""The number of attempts to find the end of one node."""


class Site(Struct, frozen=True):
    """A node of the parse tree with what is around it; ``first`` and ``last`` are the outermost places in it."""

    node: Node
    parent: Site | None
    first: int
    last: int

    @property
    def kind(self) -> str:
        return next(iter(self.node))

    @property
    def body(self) -> Node:
        body: Node = next(iter(self.node.values()))
        return body

    @property
    def location(self) -> int:
        location: int = self.body.get("location", -1)
        return location


class Text:
    """A filter's text, parsed alone; offsets are in bytes. Raises ValueError for any other text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        tree = _expression(text)
        if tree is None:
            raise ValueError("not an expression")
        self.tree = tree
        self.sites = list(_sites(tree))
        self._tokens = [(offset, offset + len(token), token) for _, token, offset in tokens(text)]
        self._extents: dict[int, tuple[int, int] | None] = {}

    def around(self, place: int) -> list[Site]:
        """The nodes that a place lies in, the innermost first."""
        enclosing = [site for site in self.sites if site.first <= place <= site.last]
        return sorted(enclosing, key=lambda site: site.last - site.first)

    def site(self, node: Node) -> Site:
        """Raises ValueError for a node that the grammar adds, which has no place in the text."""
        for site in self.sites:
            if site.node is node:
                return site
        raise ValueError("a node without a place")

    def source(self, node: Node) -> str:
        """The text of a node. Raises ValueError where its end is not found."""
        start, end = self.extent(node)
        return self.text[start:end].decode()

    def extent(self, node: Node) -> tuple[int, int]:
        """Return the extent of a node's text without the parentheses around it. Raises ValueError."""
        key = id(node)
        if key not in self._extents:
            self._extents[key] = self._find(self.site(node))
        extent = self._extents[key]
        if extent is None:
            raise ValueError("a node whose end is not found")
        return extent

    def enclosed(self, node: Node) -> bool:
        """Return whether parentheses stand around a node."""
        start, end = self.extent(node)
        before = next((token for _, stop, token in reversed(self._tokens) if stop <= start), b"(")
        after = next((token for begin, _, token in self._tokens if begin >= end), b")")
        return before == b"(" and after == b")"

    def replaced(self, node: Node, *changes: tuple[Node, str]) -> str:
        """The text of a node with others in it replaced."""
        start, end = self.extent(node)
        out, copied_to = b"", start
        for inner, text in sorted(changes, key=lambda change: self.extent(change[0])):
            begin, stop = self.extent(inner)
            out += self.text[copied_to:begin] + text.encode()
            copied_to = stop
        return (out + self.text[copied_to:end]).decode()

    def _find(self, site: Site) -> tuple[int, int] | None:
        """The shortest stretch of whole tokens that the parser reads as the very node."""
        bare = _bare(site.node)
        attempts = 0
        first = next((number for number, token in enumerate(self._tokens) if token[0] >= site.first), None)
        while first is not None and first >= 0:
            start, depth = self._tokens[first][0], 0
            for begin, end, token in self._tokens[first:]:
                depth += (token in (b"(", b"[")) - (token in (b")", b"]"))
                if depth < 0:
                    break
                if depth or begin < site.last:
                    continue
                attempts += 1
                if attempts > _MAX_ATTEMPTS:
                    return None
                expression = _expression(self.text[start:end])
                if expression is not None and _bare(expression) == bare:
                    return start, end
            # Parentheses are not in the tree: what is left of an operator may begin with some.
            first -= 1
            if first < 0 or self._tokens[first][2] != b"(":
                return None
        return None


def filter_extent(text: bytes, tree: Node) -> tuple[int, int] | None:
    """Return the extent of a filter's text between the parentheses of WHERE (...), or None if that is unclear."""
    first = min(_places(tree), default=-1)
    if first < 0:
        return None
    scanned = [(offset, token) for _, token, offset in tokens(text)]
    number = next((number for number, (offset, _) in enumerate(scanned) if offset >= first), len(scanned))
    if scanned[number : number + 1] and scanned[number][1] == b"(":
        number += 1
    while number and scanned[number - 1][1] == b"(":
        number -= 1
    if not number or scanned[number - 1][1].lower() != b"where":
        return None
    start, depth = scanned[number][0] + 1, 0
    for offset, token in scanned[number:]:
        depth += (token == b"(") - (token == b")")
        if depth == 0:
            expression = _expression(text[start:offset])
            return (start, offset) if expression is not None and _bare(expression) == _bare(tree) else None
    return None


def _expression(text: bytes) -> Node | None:
    """The tree of an expression, with places in its own text; None if it is none."""
    try:
        parsed = parse((_BEFORE + text + b"\n" + _AFTER).decode())
    except (SyntaxRefused, TooDeep, UnicodeDecodeError):
        return None
    if parsed is None or parsed[0] != "SelectStmt" or len(parsed[1].get("targetList", ())) != 1:
        return None
    target: Node = parsed[1]["targetList"][0]["ResTarget"]
    if "val" not in target or parsed[1].keys() - {"targetList", "limitOption", "op"}:
        return None
    tree: Node = target["val"]
    _move(tree, -len(_BEFORE))
    return tree


def _move(tree: Any, by: int) -> None:
    for item in _dictionaries(tree):
        for key in ("location", "rexpr_list_start", "rexpr_list_end", "list_start", "list_end"):
            if item.get(key, -1) > 0:
                item[key] += by


def _dictionaries(tree: Any) -> Iterator[Node]:
    stack = [tree]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            yield item
            stack.extend(item.values())
        elif type(item) is list:
            stack.extend(item)


def _places(tree: Any) -> Iterator[int]:
    for item in _dictionaries(tree):
        location = item.get("location", -1)
        if type(location) is int and location >= 0:
            yield location


_PLACES = frozenset(("location", "rexpr_list_start", "rexpr_list_end", "list_start", "list_end"))


def _bare(tree: Any) -> Any:
    """A tree without places, for comparing."""
    if type(tree) is dict:
        return {key: _bare(value) for key, value in tree.items() if key not in _PLACES}
    if type(tree) is list:
        return [_bare(value) for value in tree]
    return tree


_EXPRESSIONS = word_set("""
    A_ArrayExpr A_Const A_Expr A_Indirection BoolExpr BooleanTest CaseExpr CoalesceExpr CollateClause ColumnRef
    FuncCall JsonArrayConstructor JsonFuncExpr JsonIsPredicate JsonObjectConstructor JsonParseExpr JsonScalarExpr
    JsonSerializeExpr MinMaxExpr NamedArgExpr NullTest RowExpr SQLValueFunction SubLink TypeCast XmlExpr XmlSerialize
""")
_NAMES = frozenset(("typeName", "funcname", "name", "fields", "collname"))
_CONSTANTS = frozenset(("ival", "fval", "sval", "boolval", "bsval"))


def _sites(tree: Any, parent: Site | None = None) -> Iterator[Site]:
    """The expressions of a tree; names, types and sub-selects are none."""
    if type(tree) is list:
        for item in tree:
            yield from _sites(item, parent)
        return
    if type(tree) is not dict:
        return
    for key, value in tree.items():
        if key in _NAMES or key in _CONSTANTS or key == "SelectStmt":
            continue
        inside = parent
        if key in _EXPRESSIONS and type(value) is dict:
            places = list(_places(value))
            if places:
                inside = Site(tree, parent, min(places), max(places))
                yield inside
        yield from _sites(value, inside)


# The input of the rewriters: the refused filter, its text, and the types of its parts.


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
