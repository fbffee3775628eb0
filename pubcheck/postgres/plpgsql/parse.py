"""A PL/pgSQL body through libpg_query's parser: its statements, its variables, and the places of its SQL."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.json import Decoder

from pubcheck.postgres import parse as grammar
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.plpgsql.compile_errors import NotParsed, about_publication, not_parsed
from pubcheck.postgres.tokens import tokens

if TYPE_CHECKING:
    from pubcheck.postgres.newer_grammar.statements import Body

_decode = Decoder().decode


class StatementSite(Struct, frozen=True):
    """The place of a statement's SQL in the body (characters), and its number among the statements with SQL."""

    number: int
    start: int
    end: int


class Program(Struct, frozen=True):
    """A parsed body.

    ``sites`` are by the identity of a statement's node. So are ``floors``: for a block, the line on which the last
    statement before it begins, because its own variables are declared after that.
    """

    body: list[Node]
    label: str
    lineno: int
    exceptions: Node | None
    variables: list[tuple[str, Node]]
    sites: dict[int, StatementSite]
    floors: dict[int, int]


_SHORT = 1 << 16
"""Characters of a body that is kept with what it was read as."""


def program(header: str, body: str, *, newer: bool = False) -> Program:
    """Return the program of a body; ``header`` is the text before ``AS``: ``DO`` or a CREATE FUNCTION.

    ``newer``: also with the grammar of 19. Raises NotParsed.
    """
    return (_program if len(body) <= _SHORT else _program.__wrapped__)(header, body, newer)


@lru_cache(maxsize=64)
def _program(header: str, body: str, newer: bool) -> Program:
    tag = "$b$"
    while tag in body:
        tag = f"$b{len(tag)}{tag[1:]}"

    def parsed(text: str) -> str:
        return grammar.plpgsql_json(f"{header} {tag}{text}{tag}")

    def said_of(text: str) -> str | None:
        try:
            parsed(text)
        except grammar.ParseError as refusal:
            return str(refusal.args[0])
        return None

    written, replaced = body, None
    try:
        try:
            functions = _decode(parsed(body))
        except grammar.ParseError:
            replaced = _without_newer(body) if newer else None
            if replaced is None:
                raise
            body = replaced.text
            functions = _decode(parsed(body))
    except grammar.ParseError as refusal:
        message = str(refusal.args[0])
        if newer and _may_be_accepted(body, message):
            raise NotParsed(message) from None
        raise not_parsed(body, message, said_of) from None
    except (RecursionError, UnicodeEncodeError):
        raise TooDeep from None
    if not functions:
        raise NotParsed("no body")
    function = functions[0]["PLpgSQL_function"]
    variables: list[tuple[str, Node]] = []
    for datum in function.get("datums", ()):
        ((kind, node),) = datum.items()
        variables.append((kind, node))
    block = function["action"]["PLpgSQL_stmt_block"]
    while "exceptions" not in block and "label" not in block:
        # The parser wraps a block with handlers in one without, and ends it with a RETURN.
        inner = [item for item in block.get("body", ()) if item != _RETURN]
        if "lineno" in block or len(inner) != 1 or "PLpgSQL_stmt_block" not in inner[0]:
            break
        block = inner[0]["PLpgSQL_stmt_block"]
    places = _StatementFinder(body, block)
    places.find(block)
    if replaced is not None:
        places.put_back(written, replaced)
    _name_what_is_returned(body, places.returns, False)
    _name_what_is_returned(body, places.nexts, True)
    return Program(
        block.get("body", []),
        block.get("label", ""),
        block.get("lineno", 1),
        block.get("exceptions"),
        variables,
        places.sites,
        places.floors,
    )


def typname(node: Node) -> str:
    """Return the type that a variable (PLpgSQL_var) is declared with, as it is written; "" without one."""
    written: str = node.get("datatype", {}).get("PLpgSQL_type", {}).get("typname", "")
    return written


_RETURN: Node = {"PLpgSQL_stmt_return": {}}


def _without_newer(body: str) -> Body | None:
    """Return a refused body without what only 19 accepts, if it has any. Raises NotParsed."""
    # Loaded only where a body is refused.
    from pubcheck.postgres.newer_grammar.statements import RefusedInBody, readable

    try:
        return readable(body)
    except RefusedInBody as refused:
        refusal, end = refused.refusal, refused.start + len(refused.statement)
        location = end if refusal.location is None else refused.start + refusal.location
        raise NotParsed(
            refusal.message, refusal.sqlstate, location, refused.statement, refusal.hint, detail=refusal.detail
        ) from None


def _may_be_accepted(body: str, message: str) -> bool:
    # Loaded only where a body is refused.
    from pubcheck.postgres.newer_grammar.statements import may_be_accepted

    return may_be_accepted(body, message)


def check_sql(body: str, *, newer: bool = False) -> None:
    """Raise NotParsed for a function's body in SQL that the grammar refuses; ``newer``: that of 19."""
    try:
        parse(body)
    except SyntaxRefused as refusal:
        replaced = _without_newer(body) if newer else None
        if replaced is not None:
            check_sql(replaced.text)
            return
        raise NotParsed(
            refusal.message,
            refusal.sqlstate,
            len(body) if refusal.location is None else refusal.location,
            about_publication(body, refusal.location),
            refusal.hint,
        ) from None


def _name_what_is_returned(body: str, returns: list[Node], of_sets: bool) -> None:
    """The parser keeps the number of a variable that is returned to itself: its name is taken from the text.

    ``of_sets``: by RETURN NEXT.
    """
    if all("expr" in node for node in returns):
        return
    words = [token.decode(errors="replace") for _, token, _ in tokens(body.encode(errors="surrogatepass"))]
    starts = (number + 1 for number, word in enumerate(words[:-1]) if word.lower() == "return")
    if of_sets:
        written = [words[position + 1 : position + 3] for position in starts if words[position].lower() == "next"]
    else:
        written = [
            words[position : position + 2] for position in starts if words[position].lower() not in ("next", "query")
        ]
    for node, expression in zip(returns, written, strict=False):
        if "expr" not in node and len(written) == len(returns) and expression[1:] == [";"]:
            node["expr"] = {"PLpgSQL_expr": {"query": expression[0]}}


# What of a statement is SQL that is run: the field that holds it.
SQL_FIELDS = {
    "PLpgSQL_stmt_execsql": ("sqlstmt",),
    "PLpgSQL_stmt_dynexecute": ("query",),
    "PLpgSQL_stmt_perform": ("expr",),
    "PLpgSQL_stmt_call": ("expr",),
    "PLpgSQL_stmt_dynfors": ("query",),
    "PLpgSQL_stmt_fors": ("query",),
    "PLpgSQL_stmt_return_query": ("query", "dynquery"),
}


_NEAR = 1000
"""Characters behind the beginning of a statement's line in which it is looked for first."""


class _StatementFinder:
    """Finds the statements in the order of the text, from the line and the text that the parser returns for each."""

    def __init__(self, body: str, block: Node) -> None:
        self._body = body
        self._lines = [0, *(match.end() for match in re.finditer("\n", body))]
        self._cursor = 0
        self.sites: dict[int, StatementSite] = {}
        self._expressions: dict[int, tuple[int, Node]] = {}
        """The SQL of the statements that start at an offset, with the identity of the statement."""
        self.returns: list[Node] = []
        self.nexts: list[Node] = []
        """The RETURN and RETURN NEXT statements that are written, in the order of the text."""
        self.floors: dict[int, int] = {}
        self._last = block.get("lineno", 0)

    def find(self, block: Node) -> None:
        stack: list[Any] = [block]
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                stack.extend(reversed(item))
                continue
            if not isinstance(item, dict):
                continue
            below: list[Any] = []
            for key, value in item.items():
                if key == "PLpgSQL_stmt_block":
                    self.floors[id(value)] = self._last
                if key.startswith("PLpgSQL_stmt_"):
                    self._last = max(self._last, value.get("lineno", 0))
                if key == "PLpgSQL_stmt_return" and "lineno" in value:
                    self.returns.append(value)
                if key == "PLpgSQL_stmt_return_next":
                    self.nexts.append(value)
                fields = SQL_FIELDS.get(key)
                if fields is not None:
                    self._enter(value, next((value[field] for field in fields if field in value), None))
                if isinstance(value, dict | list):
                    # A loop's body follows its query, and handlers follow their block.
                    below.append(value)
            stack.extend(reversed(below))

    def _enter(self, node: Node, expression: Node | None) -> None:
        if expression is None:
            return
        query: str = expression["PLpgSQL_expr"]["query"]
        line = min(node.get("lineno", 1), len(self._lines)) - 1
        start = max(self._lines[line], self._cursor)
        number = len(self.sites)
        place = self._find(query, start)
        if place is None:
            self.sites[id(node)] = StatementSite(number, start, start)
            return
        self._cursor = place[0] + 1
        self.sites[id(node)] = StatementSite(number, *place)
        self._expressions[place[0]] = id(node), expression

    def put_back(self, body: str, replaced: Body) -> None:
        """Give statements that were replaced, or have a clause that was, their text in the body as it is written."""
        for start, (statement, expression) in self._expressions.items():
            site, inner = self.sites[statement], expression["PLpgSQL_expr"]
            if start in replaced.ends:
                inner["query"] = body[start : replaced.ends[start]]
                self.sites[statement] = StatementSite(site.number, start, replaced.ends[start])
                continue
            for first, last in replaced.blanked:
                if site.start <= first and last <= site.end:
                    # PERFORM is one letter longer than the SELECT that it is.
                    query, shift = inner["query"], len(inner["query"]) - site.end
                    inner["query"] = query[: first + shift] + body[first:last] + query[last + shift :]

    def _find(self, query: str, start: int) -> tuple[int, int] | None:
        # It is mostly at the expected place, if not letter by letter: then the rest of the body is not searched.
        return self._between(query, start, start + len(query) + _NEAR) or self._between(query, start, len(self._body))

    def _between(self, query: str, start: int, end: int) -> tuple[int, int] | None:
        offset = self._body.find(query, start, end)
        if offset >= 0:
            return offset, offset + len(query)
        # INTO and its target are blanked; PERFORM is written SELECT.
        if query.startswith("SELECT "):
            match = re.compile(r"(?ai:perform)(?=\W)").search(self._body, start, end)
            if match is not None and self._body.startswith(query[6:], match.end()):
                return match.start(), match.end() + len(query) - 6
        pieces = re.split(r"( {5,})", query)
        if len(pieces) == 1:
            return None
        pattern = "".join(
            f"(?s:.{{{len(piece)}}})" if offset % 2 else re.escape(piece) for offset, piece in enumerate(pieces)
        )
        span = re.compile(pattern).search(self._body, start, end)
        return (span.start(), span.end()) if span is not None else None
