"""PostgreSQL's own grammar, through libpg_query: text of one statement in, parse tree out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.machinery import PathFinder
from itertools import islice
from types import ModuleType
from typing import Any

from msgspec.json import Decoder

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.lazy_dispatch import lazy_module

Node = dict[str, Any]
_NO_NAMES: Mapping[str, str] = {}


def _load_parser() -> ModuleType:
    """The extension module ``pglast.parser`` without the rest of pglast.

    The package defines every node class and enumeration in Python, about 30 ms that this program never uses: it takes
    the tree as JSON. What the parser imports of the package is ``Error``, and ``ast`` and ``enums`` for who asks it
    for Python nodes; these two are loaded when that happens.
    """
    if "pglast" in sys.modules:
        return import_module("pglast.parser")
    spec = PathFinder.find_spec("pglast")
    if spec is None:
        raise ModuleNotFoundError("pubcheck needs pglast, which is not installed")
    bare: Any = ModuleType("pglast")
    bare.__spec__ = spec
    bare.__path__ = list(spec.submodule_search_locations or ())
    bare.ast, bare.enums = lazy_module("pglast.ast"), lazy_module("pglast.enums")
    sys.modules["pglast"] = bare
    try:
        from pglast.error import Error

        bare.Error = Error
        return import_module("pglast.parser")
    finally:
        # Whoever imports pglast later gets all of it.
        del sys.modules["pglast"]


_parser = _load_parser()
_parse_json = _parser.parse_sql_json
ParseError: type[Exception] = _parser.ParseError
_BEYOND_ASCII = lazy_compile(r"[^\x00-\x7f]")
_decode = Decoder().decode


def split_statements(text: str) -> list[str]:
    """The statements of a text. Raises ParseError."""
    try:
        return list(_parser.split(text))
    except ParseError:
        # A newer grammar may accept what this one refuses.
        return list(_parser.split(text, with_parser=False))


def plpgsql_json(text: str) -> str:
    """The PL/pgSQL functions and DO blocks of a text as JSON. Raises ParseError."""
    result: str = _parser.parse_plpgsql_json(text)
    return result


_SQLSTATES = (
    (lazy_compile(r"invalid byte sequence for encoding"), "22021"),
    (lazy_compile(r"precision for type float must be|unrecognized JSON encoding"), "22023"),
    (lazy_compile(r"invalid Unicode escape$"), "22025"),
    (lazy_compile(r"frame (start|end|starting) "), "42P20"),
    (lazy_compile(r'role name "(public|none)" is reserved|\w+ cannot be used as a role name here'), "42939"),
    (lazy_compile(r"CREATE SCHEMA IF NOT EXISTS cannot include schema elements"), "0A000"),
    (lazy_compile(r".* not yet implemented$|aggregates cannot have output arguments"), "0A000"),
)
"""Refusals of the grammar and the scanner with an SQLSTATE other than 42601 (parser/gram.y, scan.l)."""


class SyntaxRefused(Exception):
    """The grammar refuses the text. ``location`` is a 0-based character offset, None at the end of the input.

    libpg_query gives neither ``detail`` nor ``hint``. The hint is that of the one message of the scanner that may have
    two; the detail is that of ``newer_grammar``.
    """

    def __init__(self, message: str, location: int | None, text: str = "", *, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.detail = detail
        self.sqlstate = next((state for pattern, state in _SQLSTATES if pattern.match(message)), "42601")
        self.hint: str | None = None
        if self.sqlstate == "22025":
            if location is not None and text[location : location + 2].lower() == r"\u":
                self.hint = r"Unicode escapes must be \uXXXX or \UXXXXXXXX."
            else:
                # That of U&'...', which only the parser looks into.
                self.sqlstate, self.hint = "42601", r"Unicode escapes must be \XXXX or \+XXXXXX."


class TooDeep(Exception):
    """The statement is nested too deeply for the grammar, or for a walk over its tree."""


class TooLarge(TooDeep):
    """The statement is too large to be read."""


LARGEST = 32 << 20
"""The default limit of a statement's size, in bytes."""
_PART = 32
"""Bytes that each token counts at the least: the grammar takes some 500 for one, and next to none for a long text."""
_TOKENS = lazy_compile(
    r"""(?s:\s++|--[^\n\r]*+|/\*.*?\*/|(?P<quote>\$(?:[^\W\d]\w*)?\$).*?(?P=quote))|('[^']*+'|"[^"]*+"|\w++|[^\s\w])"""
)


def is_too_large(sql: str, most: int) -> bool:
    """Return whether a statement takes too much memory to be read."""
    if len(sql) > most:
        return True
    parts = most // _PART
    if len(sql) <= parts:
        return False
    delimiters = (1 for token in _TOKENS.finditer(sql) if token[2])
    return next(islice(delimiters, parts, None), None) is not None


def _exact_location(sql: str, otherwise: int | None) -> int | None:
    """Return the location of a syntax error in a text that is not ASCII.

    libpg_query counts characters, and pglast takes them for bytes. With a letter in the place of each character beyond
    ASCII, which to the scanner are letters too, both are the same.
    """
    try:
        _parse_json(_BEYOND_ASCII.sub("x", sql))
    except ParseError as refusal:
        return refusal.args[1] if len(refusal.args) > 1 else None
    return otherwise


_TOKEN = lazy_compile(r'[{}\[\]]|("(?:[^"\\]++|\\.)*+")(:)?|[^"{}\[\],:]++')


def _decode_deep(text: str) -> Node:
    """JSON of any depth, without recursion: a decoder gives up at some hundreds of chained operators.

    The text is libpg_query's and so well-formed.
    """
    root: list[Any] = []
    stack: list[Any] = [root]
    keys: list[str] = [""]
    for token in _TOKEN.finditer(text):
        symbol = token[0]
        if token[2]:
            keys[-1] = _decode(token[1])
            continue
        if symbol in "]}":
            stack.pop()
            keys.pop()
            continue
        value: Any = {} if symbol == "{" else [] if symbol == "[" else _decode(symbol)
        if type(stack[-1]) is dict:
            stack[-1][keys[-1]] = value
        else:
            stack[-1].append(value)
        if symbol in "{[":
            stack.append(value)
            keys.append("")
    tree: Node = root[0]
    return tree


def parse(sql: str, most: int = LARGEST, names: Mapping[str, str] = _NO_NAMES) -> tuple[str, Node] | None:
    """One statement's node name and node (locations are UTF-8 byte offsets), or None if there is no statement.

    ``most`` is how large it may be. In the tree each of ``names`` becomes its value. Raises SyntaxRefused with the
    server's message, TooDeep, TooLarge, or MemoryError.
    """
    if len(sql) > most // _PART and is_too_large(sql, most):
        raise TooLarge
    about = _ABOUT.match(sql) if len(sql) <= _LONGEST and not names else None
    if about is None:
        return _parse(sql, names)
    name = about[1]
    text = sql.replace(name, _HOLE)
    key = len(name), text
    template = _templates.get(key)
    if template is not None:
        return template.filled(name)
    statement = _parse(sql)
    if key not in _templates:
        if len(_templates) >= _MOST_KEPT:
            _templates.clear()
        # A template takes a second parse: it is made for a statement that was repeated.
        _templates[key] = None
    elif _TEMPLATE.fullmatch(text):
        _templates[key] = _template(text, len(name))
    return statement


_ABOUT = lazy_compile(
    r"(?:ALTER TABLE (?:ONLY )?|ALTER SEQUENCE (?:\w+\.\w+ OWNED BY )?|CREATE SEQUENCE "
    r"|CREATE (?:UNIQUE )?INDEX \w+ ON )[a-z_][a-z0-9_]*\.([a-z_][a-z0-9_]{3,50})\b"
)
"""Statements of a dump that are repeated for another table; group 1 is its name."""
_HOLE = "\0"
"""The name in the text of a template: no text for the grammar has it."""
_TEMPLATE = lazy_compile(
    r"(?s:[^\0'\"\\$/-]|(?<![\w&])'[^'\\]*'|(?<=\.)\0(?:_[a-z0-9_]{1,12})?(?![\w$\0])"
    r"|(?<![\w$])\0_(?:[a-z0-9_]{1,7}_)?(?:key|pkey|fkey|idx|seq|check)(?![\w$\0]))*"
)
"""Texts whose tree does not depend on the name, except where it has the name itself.

The grammar is free of context. Any word may be the second part of a name, and no keyword ends as the names of keys,
indexes and sequences do. Names are not truncated: none is longer than 63 bytes."""
_LONGEST, _MOST_KEPT = 400, 1_000
_MARKER = "zq" * 32
"""The name that is parsed for a template; neither the grammar nor a node has it."""
_templates: dict[tuple[int, str], _Template | None] = {}
"""Templates by the length of the name, on which locations depend, and the text; None where the text came once, or has
no template."""


class _Template:
    """The tree of a text, with the name left open. A statement's tree has copies of the nodes on the way to the name,
    and shares all others.

    ``nodes`` are the copied ones, the root first. ``links`` are (parent, key, child) by their numbers, ``holes`` are
    (number, key, value).
    """

    def __init__(self, kind: str, root: Node, marker: str) -> None:
        self.kind = kind
        self.nodes: list[Any] = []
        self.links: list[tuple[int, Any, int]] = []
        self.holes: list[tuple[int, Any, str]] = []
        self._enter(root, marker)

    def _enter(self, node: Any, marker: str) -> int:
        """Enter a node and those below it that have the name. Return its number, or -1 if none has it."""
        number, holes, links = len(self.nodes), len(self.holes), len(self.links)
        self.nodes.append(node)
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, str) and marker in value:
                self.holes.append((number, key, value.replace(marker, _HOLE)))
            elif isinstance(value, dict | list) and (child := self._enter(value, marker)) >= 0:
                self.links.append((number, key, child))
        if len(self.holes) == holes and len(self.links) == links:
            self.nodes.pop()
            return -1
        return number

    def filled(self, name: str) -> tuple[str, Node]:
        """Return the statement about the relation of that name."""
        nodes = [node.copy() for node in self.nodes]
        for parent, key, child in self.links:
            nodes[parent][key] = nodes[child]
        for number, key, value in self.holes:
            nodes[number][key] = value.replace(_HOLE, name)
        return self.kind, nodes[0]


def _template(text: str, length: int) -> _Template | None:
    """Return the template of a text, if its tree has the name as often as the text."""
    marker = _MARKER[:length]
    statement = _parse(text.replace(_HOLE, marker)) if marker not in text else None
    if statement is None:
        return None
    template = _Template(*statement, marker)
    return template if sum(value.count(_HOLE) for *_, value in template.holes) == text.count(_HOLE) else None


def _parse(sql: str, names: Mapping[str, str] = _NO_NAMES) -> tuple[str, Node] | None:
    """Parse a statement with the grammar."""
    try:
        tree: str = _parse_json(sql)
        for name, replacement in names.items():
            tree = tree.replace(name, replacement)
    except ParseError as refusal:
        message, location = refusal.args[0], refusal.args[1] if len(refusal.args) > 1 else None
        if "stack depth limit" in message or "memory exhausted" in message:
            raise TooDeep from None
        if message == "out of memory":
            raise MemoryError from None
        raise SyntaxRefused(message, location if sql.isascii() else _exact_location(sql, location), sql) from None
    except UnicodeEncodeError as error:
        raise SyntaxRefused('invalid byte sequence for encoding "UTF8"', error.start) from None
    try:
        statements = _decode(tree).get("stmts")
    except RecursionError:
        statements = _decode_deep(tree).get("stmts")
    if not statements:
        return None
    statement: tuple[str, Node] = statements[0]["stmt"].popitem()
    return statement
