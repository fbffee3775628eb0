"""The statements of a script, with the sessions that run them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import PsqlCommand, Statement
from pubcheck.lexing.lexical import is_copy_stdin
from pubcheck.lexing.psql import assign, is_true, words
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.parse import split_statements
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.source import LineIndex, Source

FIRST_SESSION = "a"

_SESSION = lazy_compile(r"(?m)^[ \t]*--[ \t]*session:[ \t]*(\S+)[ \t]*$")
_COPY_END = lazy_compile(r"(?m)^\\\.[ \t]*\r?$")
_RUNS_SOMETHING = frozenset(
    ("c", "connect", "copy", "gdesc", "gexec", "gset", "i", "include", "include_relative", "ir", "if", "elif", "else")
)
"""Commands of psql without which a script would do something else."""


class Step(Struct, frozen=True):
    """A statement of a script, from its line on. ``data`` is that of COPY ... FROM STDIN. ``stops``: the script ends
    here if the server refuses the statement (ON_ERROR_STOP). ``label`` is that of the script's source."""

    sql: str
    session: str
    line: int
    data: str | None = None
    stops: bool = False
    label: str = ""


def statements(script: str | Sequence[str]) -> Iterator[str]:
    """Yield the statements of a text, without those that are empty; of a list, its items."""
    for text in split_statements(script) if isinstance(script, str) else script:
        if text.strip():
            yield text


def steps(source: Source) -> Iterator[Step]:
    """Yield the statements of a script as psql reads it. A comment `-- session: b` on a line of its own, or the command
    `\\session b`, says that the statements after it are those of session "b"; the first session is "a".

    Raises NotFollowed for a psql command that cannot be left out.
    """
    text, session, end = source.text, FIRST_SESSION, 0
    lines = LineIndex(text)
    variables: dict[str, str] = {}
    for item in Splitter(source):
        for match in _SESSION.finditer(text, end, max(end, item.start)):
            session = match[1]
        line = lines.locate(item.start)[0]
        if isinstance(item, Statement):
            data, end = _copy_data(text, item)
            yield Step(item.sent(), session, line, data, _stops(variables), source.label)
        else:
            end = max(end, item.end)
            assign(item, variables, "", runs=True)
            session = _command(item, session, f"{source.label}:{line}")


def _stops(variables: Mapping[str, str]) -> bool:
    value = variables.get("ON_ERROR_STOP")
    return value is not None and (value == "" or is_true(value))


def _command(command: PsqlCommand, session: str, place: str) -> str:
    name, rest = words(command)
    if name == "session":
        return rest.strip() or FIRST_SESSION
    if name in _RUNS_SOMETHING:
        raise NotFollowed(f"{place}: the psql command \\{name} is not supported")
    return session


def _copy_data(text: str, statement: Statement) -> tuple[str | None, int]:
    """Return the lines below COPY ... FROM STDIN, up to a line with \\. alone, and where they end."""
    if statement.keyword != "copy" or not is_copy_stdin(statement.sql):
        return None, statement.end
    start = text.find("\n", statement.end) + 1
    if not start:
        return "", statement.end
    match = _COPY_END.search(text, start)
    if match is None:
        return text[start:], len(text)
    return text[start : match.start()], match.end()
