"""String constants of a statement that meets standard_conforming_strings = off (parser/scan.l)."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.session import Session

_TOKEN = re.compile(
    rb"""--[^\n\r]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/
       | (?P<unicode>[uU]&'(?:[^']++|'')*+')
       | [eE]'(?:[^'\\]++|\\.|'')*+'|[bBxX]'[^']*'|"[^"]*"
       | (?P<text>'(?:[^'\\]++|\\.|'')*+'(?:\s*[\n\r]\s*'(?:[^'\\]++|\\.|'')*+')*)
       | (?P<quote>\$(?:[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)?\$).*?(?P=quote)
       | [A-Za-z_\x80-\xff](?:[A-Za-z0-9_$\x80-\xff]+|(?!'))|.""",
    re.VERBOSE | re.DOTALL,
)


def read_escapes(session: Session, statement: Node) -> None:
    """Give the constants of a statement the values that their backslashes make.

    Raises ServerError 0A000 for U&'', 22021, 22025 and 42601 for escapes that the scanner refuses.
    """
    values = dict(_values(session))
    if not values:
        return
    _read_options(statement.get("options", ()), values)
    stack: list[Any] = [statement]
    while stack:
        item = stack.pop()
        if type(item) is list:
            stack.extend(item)
        elif type(item) is dict:
            constant = item.get("A_Const")
            if constant is not None and "sval" in constant and constant.get("location", 0) in values:
                constant["sval"] = {"sval": values[constant.get("location", 0)]}
            stack.extend(value for value in item.values() if type(value) in (dict, list))


def _read_options(options: Sequence[Node], values: dict[int, str]) -> None:
    """The same for the strings of WITH (...) and SET (...), whose nodes know where their names are but not the values.

    An option has at most one constant: the only one between its name and that of the next option.
    """
    definitions = [option["DefElem"] for option in options]
    starts = [definition["location"] for definition in definitions]
    for definition, (start, end) in zip(definitions, pairwise([*starts, sys.maxsize]), strict=True):
        value = next((value for offset, value in values.items() if start < offset < end), None)
        if value is not None:
            definition["arg"] = {"String": {"sval": value}}


def _values(session: Session) -> list[tuple[int, str]]:
    """(byte offset, value) of the constants with a backslash."""
    values, text = [], session.text
    for token in _TOKEN.finditer(text):
        if token["unicode"] is not None:
            name = "standard_conforming_strings"
            raise ServerError(
                "0A000",
                "unsafe use of string constant with Unicode escapes",
                key="syntax-error",
                detail=f"String constants with Unicode escapes cannot be used when {_quoted(session, name)} is off.",
                location=token.start(),
            )
        if token["text"] is None or b"\\" not in token["text"]:
            continue
        constant = token["text"].decode()
        try:
            parsed = parse(f"{_BEFORE}{constant}")
        except SyntaxRefused as refusal:
            location = None
            if refusal.location is not None:
                location = token.start() + len(constant[: refusal.location - len(_BEFORE)].encode())
            raise ServerError(
                refusal.sqlstate, refusal.message, key="syntax-error", hint=refusal.hint, location=location
            ) from None
        assert parsed is not None
        value = parsed[1]["targetList"][0]["ResTarget"]["val"]["A_Const"]["sval"].get("sval", "")
        values.append((token.start(), value))
    return values


_BEFORE = "SELECT E"


def _quoted(session: Session, name: str) -> str:
    """Return the name of a setting as messages write it."""
    return f'"{name}"' if session.catalog.major.quoted_settings else name
