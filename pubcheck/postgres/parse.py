"""PostgreSQL's own grammar, through libpg_query: text of one statement in, parse tree out."""

from __future__ import annotations

import re
import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

from msgspec import DecodeError
from msgspec.json import Decoder

Node = dict[str, Any]


def _load_parser() -> ModuleType:
    """The extension module ``pglast.parser`` without the rest of pglast.

    The package's ``__init__`` defines every node class and enumeration in Python, about 30 ms that this program never
    uses: it takes the tree as JSON. The parser itself needs nothing of the package but its ``Error``.
    """
    if "pglast" in sys.modules:
        import pglast.parser

        return pglast.parser
    spec = PathFinder.find_spec("pglast")
    if spec is None:
        raise ModuleNotFoundError("pubcheck needs pglast, which is not installed")
    bare = ModuleType("pglast")
    bare.__spec__ = spec
    bare.__path__ = list(spec.submodule_search_locations or ())
    sys.modules["pglast"] = bare
    try:
        from pglast.error import Error

        bare.Error = Error  # type: ignore[attr-defined]
        import pglast.parser as parser

        return parser
    finally:
        # Whoever imports pglast later gets all of it.
        del sys.modules["pglast"]


_parser = _load_parser()
_parse_json = _parser.parse_sql_json
_ParseError: type[Exception] = _parser.ParseError
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_decode = Decoder().decode


class SyntaxRefused(Exception):
    """The grammar refuses the text. ``location`` is a 0-based character offset, None at the end of the input."""

    def __init__(self, message: str, location: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location


class TooDeep(Exception):
    """The tree is nested too deeply to be decoded (from some hundreds of chained operators on)."""


def _exact_location(sql: str, otherwise: int | None) -> int | None:
    """Where the grammar refuses a text that is not ASCII.

    libpg_query gives characters, and pglast takes them for bytes. With a letter in the place of each character beyond
    ASCII, which to the scanner are letters too, both are the same.
    """
    try:
        _parse_json(_BEYOND_ASCII.sub("x", sql))
    except _ParseError as refusal:
        return refusal.args[1] if len(refusal.args) > 1 else None
    return otherwise


def parse(sql: str) -> tuple[str, Node] | None:
    """One statement's node name and node (locations are UTF-8 byte offsets), or None if there is no statement.

    Raises SyntaxRefused with the server's message, or TooDeep.
    """
    try:
        tree: str = _parse_json(sql)
    except _ParseError as refusal:
        message, location = refusal.args[0], refusal.args[1] if len(refusal.args) > 1 else None
        if "stack depth limit" in message or "memory exhausted" in message:
            raise TooDeep from None
        raise SyntaxRefused(message, location if sql.isascii() else _exact_location(sql, location)) from None
    except UnicodeEncodeError as error:
        raise SyntaxRefused("invalid byte sequence for encoding \"UTF8\"", error.start) from None
    try:
        statements = _decode(tree)["stmts"]
    except RecursionError:
        raise TooDeep from None
    except KeyError:
        return None
    except DecodeError as error:
        raise TooDeep from error
    if not statements:
        return None
    (name, node), *_ = statements[0]["stmt"].items()
    return name, node
