"""Where SQL statements begin and end in a text that psql, or a driver, would send to PostgreSQL.

Offsets are code points of the source's text. Every input costs time linear in its length, unbalanced and unterminated
ones too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.lexing.items import PsqlCommand, Statement, edited, replaced
from pubcheck.lexing.lexical import (
    ATOMIC,
    B_OR_X_PREFIX,
    BLANKS,
    COMMAND_NAME,
    COMMAND_REST,
    COMMENT_MARK,
    DOLLAR_QUOTE,
    DOLLAR_QUOTES,
    E_PREFIX,
    ESCAPE,
    ESCAPED,
    ESCAPED_CONTINUED,
    FIRST_WORD,
    LINE_REST,
    NAME_REST,
    NAME_START,
    RESETTING,
    RESTART,
    ROUTINE,
    SENDING,
    SKIPPED,
    U_PREFIX,
    UNESCAPED,
    VARIABLE,
    WHOLE_LINE,
    is_copy_stdin,
    run,
    whole,
)
from pubcheck.lexing.standard_conforming_strings import SETTERS, Conforming
from pubcheck.source import Call, Source

_Span = TypeVar("_Span", tuple[int, int], tuple[int, int, str])


def _touching(spans: Sequence[_Span], start: int, end: int) -> Iterator[_Span]:
    """Those of ascending spans, apart from each other, that share a character with what stands between two offsets."""
    at = bisect_left(spans, start, key=itemgetter(1))
    while at < len(spans) and spans[at][0] < end:
        if spans[at][1] > start:
            yield spans[at]
        at += 1


class _Lexed(Struct, gc=False):
    """A statement as it was read: ``end`` of its last token, ``resume`` after its terminator, offsets in the source.

    ``cut`` is whether a restart point ended it, ``dropped`` whether psql's \\r threw it away. ``edits`` are the
    (offset, replacement) that make its text what the server gets.
    """

    end: int
    resume: int
    cut: bool
    dropped: bool
    variables: list[tuple[int, int]]
    edits: list[tuple[int, str]]
    commands: list[PsqlCommand]


_VALUES = 1 << 24
"""Characters of variables that are put into the statements of a file; what comes after them is not known."""


class Splitter:
    """Iterates once over a source's statements and psql commands, in order.

    Whoever parses the statements calls ``recover`` for one that the parser refused, before asking for the next.
    """

    def __init__(self, source: Source, variables: Mapping[str, str] | None = None) -> None:
        """``variables`` are psql's with their values; what changes in them holds for the statements not yet read."""
        self._variables: Mapping[str, str] = {} if variables is None else variables
        self._room = _VALUES
        self._view = source.view
        self._text = source.text
        self._size = len(source.text)
        self._pos = 1 if source.text.startswith("\ufeff") else 0  # psql skips the mark too
        self._index = 0
        self._queue: deque[Statement | PsqlCommand] = deque()
        # The statement handed out last, where the text goes on after it, and the hole as it was before it.
        self._last: Statement | None = None
        self._last_resume = 0
        self._last_hole: tuple[int, int] | None = None
        # Up to _stretch statements also end at a restart point; _restart is the next one, if it is beyond where we are.
        self._stretch = 0
        self._restart = 0
        # Up to here statements are what a refused one was split into: psql would have sent them as one.
        self._split = 0
        self._ends = [] if source.view is None else [end for _, end in source.view.sent]
        # COPY data that begin at the end of this line although the line goes on: (end of line, end of data).
        self._hole: tuple[int, int] | None = None
        # Where COPY's data must be looked for, once it is known that the statement is not split anew; else -1.
        self._data = -1
        self._strings = Conforming()
        self._whole = whole(True).match
        # Searches that failed: no "*/" from this offset on; no end for this comment; the last place of each tag.
        self._no_comment_end = self._size
        self._endless_comment = self._size
        self._last_dollar_quote: dict[str, int] | None = None
        self._calls = deque(source.view.calls if source.view is not None else ())

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
                end = self._comment_end(start)
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
        """Splits anew the statement that was handed out last, because the parser refused it.

        A stray quote or parenthesis makes one statement of many. If a line of it, after its first and outside of its
        comments and dollar quotes, begins with CREATE, ALTER, DROP or DO, then the iteration goes on at that line, now
        also ending statements at such lines, up to where the statement ended; what stands before the line is returned:
        it keeps the index and remains refused. Otherwise None, and nothing changes.
        """
        if statement is not self._last:
            raise ValueError("only the statement handed out last can be recovered from")
        resume = self._last_resume
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
        return self._made(statement.start, lexed)

    def _called(self, call: Call) -> Statement:
        """The statement that a framework sends for a call."""
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
        """The statement of one match of ``whole``, or None where it must be looked at more closely."""
        text = self._text
        start, end = matched.span(1)
        keyword = matched[2].lower()
        if text[end - 1] in BLANKS:
            end = start + len(text[start:end].rstrip(BLANKS))
        if text.find("--", text.rfind("\n", start, end) + 1 or start, end) >= 0:
            return None  # perhaps a comment is last
        body = text[start:end]
        if keyword == "create":
            if ROUTINE.match(body) and "atomic" in body.lower():
                return None
        elif keyword == "copy" and is_copy_stdin(body):
            return None
        statement = Statement(self._index, start, end, body, keyword, body, perhaps=start < self._split)
        if self._view is not None:
            statement = self._viewed(statement)
        self._index += 1
        self._last = statement
        self._last_resume = self._pos = matched.end()
        self._last_hole = self._hole
        if keyword in SETTERS:
            self._follow(statement)
        return statement

    def _long(self, start: int, lexed: _Lexed) -> Statement:
        """The statement that ``_lex`` read, and what follows from it for the text after it."""
        self._last_hole = self._hole
        self._pos = lexed.resume
        statement = self._made(start, lexed)
        if statement.keyword in SETTERS:
            self._follow(statement)
        elif statement.keyword == "copy" and not lexed.cut and is_copy_stdin(statement.sql):
            self._data = lexed.resume
        return statement

    def _made(self, start: int, lexed: _Lexed) -> Statement:
        body = self._text[start : lexed.end]
        sql = body
        if lexed.edits:
            # A command may stand between the last token and the terminator.
            sql = replaced(body, [(at - start, new) for at, new in lexed.edits if at < lexed.end])
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
        perhaps = start < self._split
        statement = Statement(self._index, start, lexed.end, body, keyword, sql, variables, edits, perhaps=perhaps)
        if self._view is not None:
            statement = self._viewed(statement)
        self._index += 1
        self._queue = deque(lexed.commands)
        self._last = statement
        self._last_resume = lexed.resume
        return statement

    def _several(self, start: int, body: str, variables: tuple[tuple[int, int], ...]) -> list[Statement]:
        """What a statement is where the value of a variable does more than stand there: one statement, or several."""
        from pubcheck.lexing.psql import pieces

        found: list[Statement] = []
        for piece in pieces(body, variables, self._variables, lambda sent: Splitter(Source("", sent))):
            text = body[piece.start : piece.end]
            sent = edited(text, piece.edits)
            self._room -= len(sent)
            first = FIRST_WORD.match(sent)
            keyword = first[1].lower() if first else ""
            at = start + piece.start
            found.append(Statement(self._index, at, start + piece.end, text, keyword, text, (), piece.edits))
            self._index += 1
            self._strings.follow(keyword, sent)
        self._whole = whole(self._strings.on).match
        return found

    def _value(self, site: str) -> str | None:
        """What psql puts in the place of a variable; None where its value is not known, or holds what begins or ends
        more than itself."""
        # Loaded only for scripts of psql that are given values.
        from pubcheck.lexing.psql import substituted

        value = substituted(site, self._variables)
        self._room -= len(value or "")
        return value if self._room >= 0 else None

    def _viewed(self, statement: Statement) -> Statement:
        """The statement with what the source's view says of its place."""
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

    def _lex(self, start: int) -> _Lexed:
        """Reads one statement, token by token where that matters, from its first token on."""
        text = self._text
        limit = self._limit(start)
        routine = ROUTINE.match(text, start, limit) is not None
        plain = run(self._strings.on, routine).match
        variables: list[tuple[int, int]] = []
        edits: list[tuple[int, str]] = []
        commands: list[PsqlCommand] = []
        depth = bodies = 0  # open parentheses, and BEGIN or CASE without their END
        pos = end = start
        dropped = False
        while True:
            at = plain(text, pos, limit).end()  # type: ignore[union-attr]
            if at > pos:
                if text[at - 1] not in BLANKS:
                    end = at
                else:
                    solid = len(text[pos:at].rstrip(BLANKS))
                    end = pos + solid if solid else end
                pos = at
            if pos >= limit:
                if end >= limit:  # something is not terminated, and took the blanks with it
                    end = start + len(text[start:limit].rstrip(BLANKS))
                return _Lexed(end, limit, limit < self._size, False, variables, edits, commands)
            char = text[pos]
            if char == "(":
                depth += 1
                pos = end = pos + 1
            elif char == ")":
                depth = max(0, depth - 1)
                pos = end = pos + 1
            elif char == ";":
                pos += 1
                if depth == 0 and bodies == 0:
                    break
                end = pos
            elif char == "'":
                pos = end = self._literal_end(pos, limit, edits)
            elif char == "$":
                pos = end = self._dollar_end(pos, limit)
                if pos > limit:
                    limit = self._limit(pos)
            elif char == "-":
                pos = LINE_REST.match(text, pos, limit).end()  # type: ignore[union-attr]
            elif char == "/":
                pos = self._comment_end(pos)
                if pos < 0:
                    pos = end = limit
                elif pos > limit:
                    limit = self._limit(pos)
            elif char == ":":
                site = VARIABLE.match(text, pos, limit)
                if site is None:
                    pos = end = pos + 1
                else:
                    variables.append(site.span())
                    pos = end = site.end()
            elif char == '"':
                pos = end = limit
            elif char == "\\":
                following = text[pos + 1 : min(pos + 2, limit)]
                if following == ";" and depth == 0 and bodies == 0:
                    pos += 2
                    break
                if following and following in ";:":
                    edits.append((pos, " "))
                    pos = end = pos + 2
                    continue
                name = COMMAND_NAME.match(text, pos)[1]  # type: ignore[index]
                if name in SENDING:
                    break
                if name in RESETTING:
                    dropped = True
                    break
                resume = self._pos
                commands.append(self._command(pos))
                edits.append((pos, " " * (self._pos - pos)))
                pos, self._pos = self._pos, resume
                if pos > limit:
                    limit = self._limit(pos)
            else:  # a word of a routine: BEGIN, CASE or END
                word = NAME_REST.match(text, pos)[0].lower()  # type: ignore[index]
                if depth == 0 and text[pos - 1] != ".":  # "x.end" is a column
                    if word == "begin":
                        bodies += ATOMIC.match(text, pos + 5, limit) is not None
                    elif word == "case":
                        bodies += bodies > 0
                    elif bodies:
                        bodies -= 1
                pos = end = pos + len(word)
        return _Lexed(end, pos, False, dropped, variables, edits, commands)

    def _limit(self, start: int) -> int:
        """Where reading from ``start`` must end: a restart point in a stretch that is split again, the end of a string
        to which nothing is added, else the text's end."""
        limit = self._size
        if self._ends:
            following = bisect_left(self._ends, start + 1)
            limit = self._ends[following] if following < len(self._ends) else limit
        if start < self._stretch:
            if self._restart <= start:
                found = RESTART.search(self._text, start, self._stretch)
                if found is None:
                    self._stretch = start
                else:
                    self._restart = found.start(1)
            if start < self._stretch:
                limit = min(limit, self._restart)
        return limit if self._hole is None or start >= self._hole[0] else min(limit, self._hole[0])

    def _literal_end(self, pos: int, limit: int, edits: list[tuple[int, str]]) -> int:
        """The end of the literal whose quote is at ``pos``, all its parts if an E'' goes on in a later line."""
        text = self._text
        if pos and E_PREFIX.match(text, pos - 1):
            found = ESCAPED_CONTINUED.match(text, pos, limit)
        elif (
            self._strings.on
            or (pos and B_OR_X_PREFIX.match(text, pos - 1))
            or (pos > 1 and U_PREFIX.match(text, pos - 2))
        ):
            found = UNESCAPED.match(text, pos, limit)
        else:
            found = ESCAPED.match(text, pos, limit)
            if found is not None:
                escapes = ESCAPE.finditer(text, pos, found.end())
                edits.extend((escape.start(), "''") for escape in escapes if escape[0] == "\\'")
        return found.end() if found is not None else limit

    def _dollar_end(self, pos: int, limit: int) -> int:
        """The end of what begins with the dollar sign at ``pos``: a quote, the rest of a name, or the sign alone."""
        text = self._text
        first = pos
        while first and text[first - 1] != "$" and NAME_REST.match(text, first - 1, first).end() == first:  # type: ignore[union-attr]
            first -= 1
        if first < pos and NAME_START.match(text, first):
            return NAME_REST.match(text, pos, limit).end()  # type: ignore[union-attr]
        opened = DOLLAR_QUOTE.match(text, pos)
        if opened is None:
            return pos + 1
        tag = opened[0]
        if self._last_dollar_quote is not None and self._last_dollar_quote.get(tag, -1) < opened.end():
            return limit
        closed = text.find(tag, opened.end())
        if closed >= 0:
            return closed + len(tag)
        if self._last_dollar_quote is None:
            # One pass over the text answers for all tags that it lacks from here on.
            self._last_dollar_quote = {"$" + quote[1]: quote.start() for quote in DOLLAR_QUOTES.finditer(text)}
        return limit

    def _comment_end(self, pos: int) -> int:
        """The end of the comment that begins at ``pos``, comments in it counted; -1 if it has none."""
        text = self._text
        if pos >= self._no_comment_end or pos == self._endless_comment:
            return -1
        end = text.find("*/", pos + 2)
        if end < 0:
            self._no_comment_end = pos
            return -1
        if pos > self._endless_comment or text.find("/*", pos + 2, end + 1) < 0:
            return end + 2
        depth = 1
        for mark in COMMENT_MARK.finditer(text, pos + 2):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end()
        # Everything from here on is refused. Whoever wrote this thought that comments do not nest: recovery takes the
        # same view of those that follow, and so need not look for each one's end as far as this.
        self._endless_comment = pos
        return -1

    def _command(self, pos: int) -> PsqlCommand:
        """The psql command at ``pos``, and on to what follows it: the next line, or what stands after ``\\\\``."""
        text = self._text
        named = COMMAND_NAME.match(text, pos)
        assert named is not None
        # The one command that psql takes in any case (command.c: exec_command).
        name = "copy" if named[1].lower() == "copy" else named[1]
        if not name and text.startswith("\\\\", pos):
            self._pos = pos + 2
            return PsqlCommand(pos, pos + 2, "\\\\")
        rest = LINE_REST if name in WHOLE_LINE or name.startswith("!") else COMMAND_REST
        end = rest.match(text, named.end()).end()  # type: ignore[union-attr]
        self._pos = end + 2 if text.startswith("\\\\", end) else end
        written = text[pos:end].rstrip(BLANKS)
        if name == "copy" and is_copy_stdin(written[1:]):
            self._skip_data(self._pos)
        return PsqlCommand(pos, pos + len(written), written)

    def _skip_data(self, pos: int) -> None:
        """Puts COPY's data, from the line after ``pos`` to the line ``\\.`` or else the text's end, behind us."""
        text = self._text
        begin = text.find("\n", pos) if self._hole is None else self._hole[1]
        if begin < 0:
            return
        end = text.find("\n\\.", begin)
        while end >= 0 and text[end + 3 : end + 4] not in ("", "\n", "\r"):
            end = text.find("\n\\.", end + 1)
        end = end + 3 if end >= 0 else self._size
        line = begin if self._hole is None else self._hole[0]
        if SKIPPED.match(text, pos, line).end() == line:  # type: ignore[union-attr]
            self._pos, self._hole = end, None
        else:
            self._hole = line, end

    def _follow(self, statement: Statement) -> None:
        """What the statement does to standard_conforming_strings."""
        before = self._strings.on
        self._strings.follow(statement.keyword, statement.sql)
        if self._strings.on != before:
            self._whole = whole(self._strings.on).match
