"""A script as psql reads it, for one or several sessions.

`-- session: b` on a line of its own, or `\\session b`, says in which session the following statements run.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import PsqlCommand, Statement
from pubcheck.lexing.lexical import is_copy_stdin
from pubcheck.lexing.psql import words
from pubcheck.lexing.splitter import Splitter
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.source import LineIndex, Source

FIRST_SESSION = "a"

_SESSION_COMMENT = lazy_compile(r"(?m)^[ \t]*--[ \t]*session:[ \t]*(\S+)[ \t]*$")
_END_OF_DATA = lazy_compile(r"(?m)^\\\.\r?$")
_HARMLESS = frozenset(
    ("set", "unset", "echo", "qecho", "warn", "pset", "timing", "encoding", "x", "a", "t", "q", "!", ".", "restrict")
    + ("unrestrict", "prompt", "o", "r", "p", "g", "gx", "conninfo", "dt", "d", "l", "du", "dn", "dRp", "dRp+", "d+")
)
"""Commands of psql that change nothing on the server."""


class ScriptStep(Struct, frozen=True):
    """A statement with its session and line, and the data of COPY ... FROM STDIN."""

    session: str
    sql: str
    line: int
    data: str | None = None


def script_steps(text: str, label: str) -> Iterator[ScriptStep]:
    """Yield the statements of a script. Raises NotFollowed for a psql command that cannot be left out."""
    lines = LineIndex(text)
    session, read_to = FIRST_SESSION, 0
    for item in Splitter(Source(label, text)):
        for match in _SESSION_COMMENT.finditer(text, read_to, max(read_to, item.start)):
            session = match[1]
        line = lines.locate(item.start)[0]
        if isinstance(item, PsqlCommand):
            read_to = max(read_to, item.end)
            session = _command(item, session, f"{label}:{line}")
        else:
            data, read_to = _data(text, item)
            yield ScriptStep(session, item.sent(), line, data)


def _command(command: PsqlCommand, session: str, place: str) -> str:
    name, rest = words(command)
    if name == "session":
        return rest.strip() or FIRST_SESSION
    if name not in _HARMLESS:
        raise NotFollowed(f"{place}: the psql command \\{name} is not supported")
    return session


def _data(text: str, statement: Statement) -> tuple[str | None, int]:
    """The data after COPY ... FROM STDIN, and where they end."""
    if statement.keyword != "copy" or not is_copy_stdin(statement.sql):
        return None, statement.end
    start = text.find("\n", statement.end) + 1
    if not start:
        return "", len(text)
    end = _END_OF_DATA.search(text, start)
    if end is None:
        return text[start:], len(text)
    return text[start : end.start()], end.end()
