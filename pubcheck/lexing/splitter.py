"""Split a text into the statements that psql, or a driver, would send to PostgreSQL.

Offsets are code points of the source's text. Every input costs time linear in its length, unbalanced and unterminated
ones too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from pubcheck.lexing.items import PsqlCommand, Statement, edited, replaced
from pubcheck.lexing.lexical import (
    BLANKS,
    COMMAND_NAME,
    FIRST_WORD,
    GAP,
    REPEATING,
    RESTART,
    ROUTINE,
    SKIPPED,
    is_copy_stdin,
    whole,
)
from pubcheck.lexing.session_settings import SETTERS
from pubcheck.lexing.statement_lexer import Lexed, StatementLexer
from pubcheck.source import Call, Source

if TYPE_CHECKING:
    from pubcheck.lexing.session_settings import ClientEncoding

_Span = TypeVar("_Span", tuple[int, int], tuple[int, int, str])


def _touching(spans: Sequence[_Span], start: int, end: int) -> Iterator[_Span]:
    """Return the spans, of ascending disjoint ones, that overlap the text between two offsets."""
    index = bisect_left(spans, start, key=itemgetter(1))
    while index < len(spans) and spans[index][0] < end:
        if spans[index][1] > start:
            yield spans[index]
        index += 1


_LARGE = 1 << 15
_DEPTH, _DEPTH_OF_LARGE = 2, 4
"""How deep the parentheses of a statement may be nested that is found in one match, in a text of up to so many
characters and in a larger one. Deeper ones are read token by token."""

_SETS_ENCODING = r"(?i)encoding|\bset\s+names\b"
_NO_MORE = rf"{GAP}(?:\\;{GAP})*+(?:;|\\(?:{'|'.join(REPEATING)})\b|\Z)"
"""What ends a query of several statements without another one."""
_VALUES = 1 << 24
"""Characters of variables that are put into the statements of a file; what comes after them is not known."""


class Splitter(StatementLexer):
    """Iterates once over a source's statements and psql commands, in order.

    Whoever parses the statements calls ``recover`` for one that the parser refused, before asking for the next.
    """

    def __init__(self, source: Source, variables: Mapping[str, str] | None = None) -> None:
        """``variables`` are psql's with their values; what changes in them holds for the statements not yet read."""
        super().__init__(source, {} if variables is None else variables)
        self._room = _VALUES
        self._view = source.view
        self._index = 0
        self._queue: deque[Statement | PsqlCommand] = deque()
        # The statement handed out last, where the text goes on after it, and the hole as it was before it.
        self._last: Statement | None = None
        self._last_resume = 0
        self._last_hole: tuple[int, int] | None = None
        # Up to here statements are what a refused one was split into: psql would have sent them as one.
        self._split = 0
        # The last statement of which an \\if chooses parts: it cannot be split again.
        self._conditional = -1
        # Where COPY's data must be looked for, once it is known that the statement is not split again; else -1.
        self._data = -1
        depth = _DEPTH_OF_LARGE if self._size > _LARGE else _DEPTH
        self._form = "$" in source.text, "\r" in source.text, depth
        self._whole = whole(True, *self._form).match
        self._calls = deque(source.view.calls if source.view is not None else ())
        self.encoding: ClientEncoding | None = None
        """client_encoding, if the text depends on it."""
        self._written = source.encoding
        # Where the command begins that sends the last statement; else -1.
        self._sender = -1
        if not source.text.isascii() and source.view is None and re.search(_SETS_ENCODING, source.text):
            from pubcheck.lexing.session_settings import ClientEncoding

            self.encoding = ClientEncoding()

    def __iter__(self) -> Iterator[Statement | PsqlCommand]:
        return self

    def __next__(self) -> Statement | PsqlCommand:
        if self._queue:
            item = self._queue.popleft()
            if isinstance(item, Statement):
                self._last = item
            return item
        if self._data >= 0:
            self._skip_data(self._data)
            self._data = -1
        text = self._text
        if self._calls:
            self._pos = SKIPPED.match(text, self._pos).end()  # type: ignore[union-attr]
            if self._calls[0].start <= self._pos:
                return self._called(self._calls.popleft())
        while True:
            if self._hole is None and self._pos >= self._stretch and not self._ends:
                start, limit = self._pos, self._size
            else:
                start = SKIPPED.match(text, self._pos).end()  # type: ignore[union-attr]
                if self._hole is not None and start >= self._hole[0]:
                    self._pos, self._hole = max(start, self._hole[1]), None
                    continue
                limit = self._limit(start)
            matched = self._whole(text, start, limit)
            if matched is not None:
                statement = self._ordinary(matched)
                if statement is not None:
                    return statement
                start = matched.start(1)
            else:
                start = SKIPPED.match(text, start).end()  # type: ignore[union-attr]
            if start >= self._size:
                self._pos = self._size
                raise StopIteration
            if text[start] == "/" and text.startswith("/*", start):
                end = self._ends_of.comment(start)
                if end >= 0:
                    self._pos = end
                    continue
            elif text[start] == "\\":
                if text[start + 1 : start + 2] in (";", ":"):
                    self._pos = start + 2
                    continue
                return self._command(start)
            lexed = self._lex(start)
            if lexed.dropped:
                self._pos = lexed.resume
                if lexed.commands:
                    self._queue.extend(lexed.commands)
                    return self._queue.popleft()
                continue
            return self._long(start, lexed)

    def recover(self, statement: Statement) -> Statement | None:
        """Split the last statement again, because the parser refused it.

        A stray quote or parenthesis makes one statement of many. If a line of it, after its first and outside of its
        comments and dollar quotes, begins with CREATE, ALTER, DROP or DO, then the iteration goes on at that line, now
        also ending statements at such lines, up to where the statement ended; what precedes the line is returned:
        it keeps the index and remains refused. Otherwise None, and nothing changes.
        """
        if statement is not self._last:
            raise ValueError("only the last statement can be recovered")
        resume = self._last_resume
        if statement.index == self._conditional:
            return None
        if RESTART.search(self._text, statement.start, resume) is None:
            return None
        before = self._stretch, self._restart, self._hole
        self._stretch, self._restart, self._hole = max(self._stretch, resume), 0, self._last_hole
        lexed = self._lex(statement.start)
        if not lexed.cut or lexed.resume >= resume:
            self._stretch, self._restart, self._hole = before
            return None
        self._stretch = max(before[0], resume)
        self._split = max(self._split, resume)
        self._index = statement.index
        self._pos = lexed.resume
        self._data = -1
        return self._statement(statement.start, lexed)

    def _called(self, call: Call) -> Statement:
        """Return the statement that a framework sends for a call."""
        start = call.start
        edits = tuple((a - start, b - start, sent) for a, b, sent in call.edits)
        text = self._text[start : call.end]
        keyword = FIRST_WORD.match("".join(sent for *_, sent in edits))
        statement = Statement(
            self._index,
            start,
            call.end,
            text,
            keyword[1].lower() if keyword else "",
            text,
            (),
            edits,
            perhaps=call.perhaps,
        )
        self._index += 1
        self._last, self._last_resume, self._last_hole = statement, start, self._hole
        return statement

    def _ordinary(self, matched: re.Match[str]) -> Statement | None:
        """Return the statement of one match of ``whole``, or None where it must be looked at more closely."""
        text = self._text
        start, end = matched.span(1)
        keyword = matched[2].lower()
        if text[end - 1] in BLANKS:
            end = start + len(text[start:end].rstrip(BLANKS))
        if text.find("--", text.rfind("\n", start, end) + 1 or start, end) >= 0:
            return None  # perhaps a comment is last
        body = text[start:end]
        if keyword == "create":
            if "atomic" in body.lower() and ROUTINE.match(body):
                return None
        elif keyword == "copy" and is_copy_stdin(body):
            return None
        statement = Statement(self._index, start, end, body, keyword, body, perhaps=start < self._split)
        if self._view is not None:
            statement = self._viewed(statement)
        if self.encoding is not None:
            statement = self.encoding.received(statement, self._written)
        self._index += 1
        self._last = statement
        self._last_resume = self._pos = matched.end()
        self._last_hole = self._hole
        self._sender = -1
        if keyword in SETTERS:
            self._follow(statement)
        return statement

    def _long(self, start: int, lexed: Lexed) -> Statement:
        """Return the statement that ``_lex`` read, and what follows from it for the text after it."""
        self._last_hole = self._hole
        self._pos = lexed.resume
        statement = self._statement(start, lexed)
        if statement.keyword in SETTERS:
            self._follow(statement)
        elif statement.keyword == "copy" and not (lexed.cut or self._is_dead()) and is_copy_stdin(statement.sql):
            self._data = lexed.resume
        return statement

    def _statement(self, start: int, lexed: Lexed) -> Statement:
        body = self._text[start : lexed.end]
        sql = body
        if lexed.edits:
            # A command may be between the last token and the terminator.
            sql = replaced(body, [(offset - start, new) for offset, new in lexed.edits if offset < lexed.end])
        first = FIRST_WORD.match(body)
        variables = tuple((a - start, b - start) for a, b in lexed.variables)
        keyword = first[1].lower() if first else ""
        edits: tuple[tuple[int, int, str], ...] = ()
        if variables and self._variables:
            values = [(*site, self._value(body[site[0] : site[1]])) for site in variables]
            plain = not (lexed.edits or lexed.commands or self._view)
            if plain and self._room >= 0 and any(value is None for *_, value in values):
                several = self._several(start, body, variables)
                if several:
                    self._last_resume = start
                    self._queue = deque(several[1:])
                    self._last = several[0]
                    return several[0]
            edits = tuple((a, b, value) for a, b, value in values if value is not None)
            variables = tuple((a, b) for a, b, value in values if value is None)
        perhaps = start < self._split or lexed.perhaps
        joined = lexed.joined and re.compile(_NO_MORE).match(self._text, lexed.resume) is None
        if lexed.conditional:
            self._conditional = self._index
        statement = Statement(
            self._index, start, lexed.end, body, keyword, sql, variables, edits, perhaps=perhaps, joined=joined
        )
        if self._view is not None:
            statement = self._viewed(statement)
        if self.encoding is not None:
            statement = self.encoding.received(statement, self._written)
        self._sender = lexed.resume if lexed.sending else -1
        self._index += 1
        self._queue = deque(lexed.commands)
        self._last = statement
        self._last_resume = lexed.resume
        return statement

    def _several(self, start: int, body: str, variables: tuple[tuple[int, int], ...]) -> list[Statement]:
        """Return the statements that result if a variable's value holds terminators: one, or several."""
        from pubcheck.lexing.psql import pieces

        statements: list[Statement] = []
        for piece in pieces(body, variables, self._variables, lambda sent: Splitter(Source("", sent))):
            text = body[piece.start : piece.end]
            sent = edited(text, piece.edits)
            self._room -= len(sent)
            first = FIRST_WORD.match(sent)
            keyword = first[1].lower() if first else ""
            begin = start + piece.start
            statements.append(Statement(self._index, begin, start + piece.end, text, keyword, text, (), piece.edits))
            self._index += 1
            self._strings.follow(keyword, sent)
        self._whole = whole(self._strings.value, *self._form).match
        return statements

    def _value(self, site: str) -> str | None:
        """Return the value that psql inserts for a variable.

        None if it is unknown, or contains text that begins or ends more than itself.
        """
        from pubcheck.lexing.psql import substituted

        value = substituted(site, self._variables)
        self._room -= len(value or "")
        return value if self._room >= 0 else None

    def _viewed(self, statement: Statement) -> Statement:
        """Return the statement with the notes of the source's view on its place."""
        view, start, end = self._view, statement.start, statement.end
        assert view is not None
        edits = tuple(
            (a - start, b - start, sent) for a, b, sent in _touching(view.edits, start, end) if start <= a and b <= end
        )
        return replace(
            statement,
            edits=tuple(sorted((*statement.edits, *edits))),
            placeholders=tuple((max(a - start, 0), min(b, end) - start) for a, b in _touching(view.filled, start, end)),
            perhaps=statement.perhaps or any(True for _ in _touching(view.perhaps, start, end)),
        )

    def _follow(self, statement: Statement) -> None:
        """Note a change by the statement of settings on which it depends how the text is read."""
        if self._is_dead():
            return
        if self.encoding is not None:
            set_before = self.encoding.value
            self.encoding.follow(statement.keyword, statement.sql)
            if self.encoding.value != set_before and self.branches is not None and self.branches.runs is None:
                self.encoding.forget()
        before = self._strings.value
        self._strings.follow(statement.keyword, statement.sql)
        if self._strings.value != before:
            self._whole = whole(self._strings.value, *self._form).match

    def reconnect(self) -> None:
        """Note that another session begins."""
        self._strings.reset()
        if self.encoding is not None:
            self.encoding.reset()
        self._whole = whole(self._strings.value, *self._form).match

    def repeats(self, command: PsqlCommand) -> bool:
        """Return whether a command has psql send its last query again."""
        name = COMMAND_NAME.match(command.text)
        return name is not None and name[1] in REPEATING and command.start != self._sender
