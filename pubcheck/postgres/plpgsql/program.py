"""A PL/pgSQL body through libpg_query's parser: its statements, its variables, and where its SQL stands in it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from pubcheck.postgres import parse as grammar
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.scan import tokens

_decode = Decoder().decode


class Site(Struct, frozen=True):
    """Where a statement's SQL stands in the body (characters), and its number among those that have some."""

    number: int
    start: int
    end: int


class Program(Struct, frozen=True):
    """A parsed body. ``sites`` are by the identity of a statement's node; so are ``floors``: of a block, the line on
    which the last statement before it begins, for its own variables are declared after that."""

    body: list[Node]
    label: str
    lineno: int
    exceptions: Node | None
    variables: list[tuple[str, Node]]
    sites: dict[int, Site]
    floors: dict[int, int]


class NotParsed(Exception):
    """PL/pgSQL's parser refuses the body. ``refusal`` says which SQL statement of it is at fault, ``offset`` where
    that begins in the body (in characters), and ``statement`` its text, where that is known."""

    def __init__(
        self, message: str, refusal: SyntaxRefused | None = None, offset: int = 0, statement: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.refusal = refusal
        self.offset = offset
        self.statement = statement


@lru_cache(maxsize=64)
def program(header: str, body: str) -> Program:
    """The program of a body; ``header`` is what comes before ``AS``: ``DO`` or a CREATE FUNCTION. Raises NotParsed."""
    tag = "$b$"
    while tag in body:
        tag = f"$b{len(tag)}{tag[1:]}"
    text = f"{header} {tag}{body}{tag}"
    try:
        functions = _decode(grammar.plpgsql_json(text))
    except grammar.ParseError as refusal:
        message = str(refusal.args[0])
        raise NotParsed(message, *_culprit(body, message)) from None
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
    places = _Places(body, block)
    places.find(block)
    return Program(
        block.get("body", []),
        block.get("label", ""),
        block.get("lineno", 1),
        block.get("exceptions"),
        variables,
        places.sites,
        places.floors,
    )


_COMPILE_ERRORS = (
    (
        r"syntax error at or near .*|syntax error at end of input|mismatched parentheses.*|missing .* at end of SQL .*",
        "42601",
    ),
    (r"unterminated .*|duplicate declaration at or near .*|missing expression at or near .*", "42601"),
    (r'"\w+" is not a (?:known|scalar) variable', "42601"),
    (r"too (?:few|many) parameters specified for RAISE", "42601"),
    (
        r"(?:EXIT|CONTINUE) cannot be used outside a loop.*|there is no label .* attached to any block or loop .*",
        "42601",
    ),
    (r"RETURN cannot have a parameter in function returning void", "42804"),
    (r"cannot use RETURN (?:NEXT|QUERY) in a non-SETOF function", "42804"),
    (r"unrecognized exception condition .*", "42704"),
    (r'variable "\w+" does not exist', "42704"),
    (r'variable "\w+" is declared CONSTANT', "22005"),
    (r'variable "\w+" must have a default value, since it\'s declared NOT NULL', "22004"),
    (r"record variable cannot be part of multiple-item INTO list", "42601"),
    (r'cursor "\w+" has no arguments', "42601"),
    (r"loop variable of .* must be a .*variable or list of .*variables", "42601"),
)
"""What the server's compiler of PL/pgSQL says in these words as well, with its SQLSTATE (pl_gram.y, asked of servers).

The parser here knows no tables, so that it says of a row's field, too, that it is no variable.
"""


def compile_error(message: str) -> str | None:
    """The SQLSTATE of what the parser says of a body, None where the server perhaps does not say it."""
    return next((state for pattern, state in _COMPILE_ERRORS if re.fullmatch(pattern, message, re.DOTALL)), None)


_RETURN: Node = {"PLpgSQL_stmt_return": {}}


def _culprit(body: str, message: str | None) -> tuple[SyntaxRefused | None, int, str]:
    """Which statement about publications of a body the grammar refuses in these words (None: in any), and where that
    begins."""
    data = body.encode(errors="surrogatepass")
    words = [(token.lower(), offset, token) for kind, token, offset in tokens(data)]
    for at, (word, offset, _) in enumerate(words[:-1]):
        if word not in (b"create", b"alter", b"drop") or words[at + 1][0] not in (b"publication", b"or"):
            continue
        end = next((where for other, where, _ in words[at:] if other == b";"), len(data))
        text = data[offset:end].decode(errors="surrogatepass").rstrip()
        try:
            parse(text)
        except SyntaxRefused as refusal:
            start = len(data[:offset].decode(errors="surrogatepass"))
            if message is None or refusal.message == message:
                return refusal, start, text
            if "end of input" in refusal.message and message.startswith("syntax error at or near"):
                return refusal, start, text
        except TooDeep:
            continue
    return None, 0, ""


def check_sql(body: str) -> None:
    """Raises NotParsed for a function's body in SQL in which a statement about publications is refused."""
    refusal, offset, statement = _culprit(body, None)
    if refusal is not None:
        raise NotParsed(refusal.message, refusal, offset, statement)


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


class _Places:
    """Finds statements in the body that the parser gives the line and the text of, in the order of the text."""

    def __init__(self, body: str, block: Node) -> None:
        self._body = body
        self._lines = [0, *(match.end() for match in re.finditer("\n", body))]
        self._cursor = 0
        self.sites: dict[int, Site] = {}
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
                fields = SQL_FIELDS.get(key)
                if fields is not None:
                    self._enter(value, next((value[field] for field in fields if field in value), None))
                if isinstance(value, dict | list):
                    # A loop's body stands behind its query, the handlers behind their block.
                    below.append(value)
            stack.extend(reversed(below))

    def _enter(self, node: Node, expression: Node | None) -> None:
        if expression is None:
            return
        query: str = expression["PLpgSQL_expr"]["query"]
        line = min(node.get("lineno", 1), len(self._lines)) - 1
        start = max(self._lines[line], self._cursor)
        number = len(self.sites)
        found = self._find(query, start)
        if found is None:
            self.sites[id(node)] = Site(number, start, start)
            return
        self._cursor = found[0] + 1
        self.sites[id(node)] = Site(number, *found)

    def _find(self, query: str, start: int) -> tuple[int, int] | None:
        at = self._body.find(query, start)
        if at >= 0:
            return at, at + len(query)
        # INTO and its target are blanked; PERFORM is written SELECT.
        if query.startswith("SELECT "):
            match = re.compile(r"(?ai:perform)(?=\W)").search(self._body, start)
            if match is not None and self._body.startswith(query[6:], match.end()):
                return match.start(), match.end() + len(query) - 6
        pieces = re.split(r"( {5,})", query)
        pattern = "".join(f"(?s:.{{{len(piece)}}})" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
        found = re.compile(pattern).search(self._body, start)
        return (found.start(), found.end()) if found is not None and len(pieces) > 1 else None
