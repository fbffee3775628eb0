"""The statements of a script, with the sessions that run them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.parse import split_statements
from pubcheck.source import Source

_SESSION = re.compile(r"^[ \t]*--[ \t]*session:[ \t]*(\w+)[ \t]*$", re.MULTILINE)
_COPY_END = re.compile(r"^\\\.[ \t]*\r?$", re.MULTILINE)


class Step(Struct, frozen=True):
    """A statement of a script, from its line on. ``data`` is that of COPY ... FROM STDIN."""

    sql: str
    session: str
    line: int
    data: str | None = None


def statements(script: str | Sequence[str]) -> Iterator[str]:
    """Yield the statements of a text, without those that are empty; of a list, its items."""
    for text in split_statements(script) if isinstance(script, str) else script:
        if text.strip():
            yield text


def steps(source: Source) -> Iterator[Step]:
    """Yield the statements of a script as psql reads it. A comment `-- session: b` on a line of its own says that the
    statements after it are those of session "b"; the first session is "a"."""
    text, session, end = source.text, "a", 0
    for item in Splitter(source):
        for match in _SESSION.finditer(text, end, item.start):
            session = match[1]
        end = max(end, item.end)
        if isinstance(item, Statement):
            data, end = _copy_data(text, item) if item.keyword == "copy" else (None, end)
            yield Step(item.sent(), session, text.count("\n", 0, item.start) + 1, data)


def _copy_data(text: str, statement: Statement) -> tuple[str | None, int]:
    """Return the lines below COPY ... FROM STDIN, up to a line with \\. alone, and where they end."""
    if re.search(r"\bfrom\s+stdin\b", statement.sql, re.IGNORECASE) is None:
        return None, statement.end
    begin = text.find("\n", statement.end) + 1
    match = _COPY_END.search(text, begin) if begin else None
    if match is None:
        return "", statement.end
    return text[begin : match.start()], match.end()
