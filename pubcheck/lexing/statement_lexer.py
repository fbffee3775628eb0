"""Read one statement of a text, or one command of psql, token by token.

Quotes, dollar quotes and comments have an end also if they are not closed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.lexing.items import PsqlCommand, blank
from pubcheck.lexing.lexical import (
    ATOMIC,
    B_OR_X_PREFIX,
    BLANKS,
    COMMAND_NAME,
    COMMAND_REST,
    COMMENT_MARK,
    CONDITIONS,
    DOLLAR_QUOTE,
    DOLLAR_QUOTES,
    E_PREFIX,
    ESCAPE,
    ESCAPED,
    ESCAPED_CONTINUED,
    LINE_REST,
    NAME_REST,
    NAME_START,
    PREPARING,
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
)
from pubcheck.lexing.session_settings import Conforming
from pubcheck.source import Source

if TYPE_CHECKING:
    from pubcheck.lexing.psql import Branches


class TokenEnds:
    """The ends of a text's tokens. Searches that failed are remembered, so that all of them take linear time."""

    def __init__(self, text: str, strings: Conforming) -> None:
        """``strings`` says whether a backslash escapes in an ordinary literal."""
        self._text, self._strings = text, strings
        # No "*/" from this offset on; no end for this comment; the last place of each tag.
        self._no_comment_end = self._endless_comment = len(text)
        self._last_dollar_quote: dict[str, int] | None = None

    def literal(self, pos: int, limit: int, edits: list[tuple[int, str]]) -> int:
        """Return the end of the literal whose quote is at ``pos``, all its parts if an E'' goes on in a later line."""
        text = self._text
        if pos and E_PREFIX.match(text, pos - 1):
            match = ESCAPED_CONTINUED.match(text, pos, limit)
        elif (
            self._strings.value
            or (pos and B_OR_X_PREFIX.match(text, pos - 1))
            or (pos > 1 and U_PREFIX.match(text, pos - 2))
        ):
            match = UNESCAPED.match(text, pos, limit)
        else:
            match = ESCAPED.match(text, pos, limit)
            if match is not None:
                escapes = ESCAPE.finditer(text, pos, match.end())
                edits.extend((escape.start(), "''") for escape in escapes if escape[0] == "\\'")
        return match.end() if match is not None else limit

    def dollar(self, pos: int, limit: int) -> int:
        """Return the end of what the dollar sign at ``pos`` begins: a quote, the rest of a name, or itself."""
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
            # One scan of the text finds the last quote of every tag.
            self._last_dollar_quote = {"$" + quote[1]: quote.start() for quote in DOLLAR_QUOTES.finditer(text)}
        return limit

    def comment(self, pos: int) -> int:
        """Return the end of the comment that begins at ``pos``, comments in it counted; -1 if it has none."""
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
        # Everything from here on is refused. The author thought that comments do not nest: recovery assumes
        # this for the comments that follow, and need not search as far as this for the end of each.
        self._endless_comment = pos
        return -1


class Lexed(Struct, gc=False):
    """A statement as it was read: ``end`` of its last token, ``resume`` after its terminator, offsets in the source.

    ``cut`` is whether a restart point ended it, ``dropped`` whether psql's \\r threw it away, ``perhaps`` whether it
    is unknown if and when it runs, ``conditional`` whether an \\if chooses parts of it. ``joined``: the next statement
    belongs to the same query. ``sending``: a command sends it. ``edits`` are the (offset, replacement) that make its
    text what the server gets.
    """

    end: int
    resume: int = -1
    cut: bool = False
    dropped: bool = False
    perhaps: bool = False
    conditional: bool = False
    joined: bool = False
    sending: bool = False
    variables: list[tuple[int, int]] = []
    edits: list[tuple[int, str]] = []
    commands: list[PsqlCommand] = []


class StatementLexer:
    """The state of reading a source, and the limit of a statement that begins there."""

    def __init__(self, source: Source, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.branches: Branches | None = None
        """psql's conditions, if they are followed: the commands within statements here, all others by the reader."""
        self._text = source.text
        self._size = len(source.text)
        self._pos = 1 if source.text.startswith("\ufeff") else 0  # psql skips the mark too
        # Up to _stretch statements also end at a restart point; _restart is the next one, if it is beyond where we are.
        self._stretch = 0
        self._restart = 0
        self._ends = [] if source.view is None else [end for _, end in source.view.sent]
        # COPY data that begin at the end of this line although the line goes on: (end of line, end of data).
        self._hole: tuple[int, int] | None = None
        self._strings = Conforming()
        self._ends_of = TokenEnds(source.text, self._strings)

    def _lex(self, start: int, *, is_dead: bool = False) -> Lexed:
        """Read one statement, token by token where that matters, from its first token on. ``is_dead``: it does not
        run, and also ends before a command."""
        text, ends = self._text, self._ends_of
        limit = self._limit(start)
        routine = ROUTINE.match(text, start, limit) is not None
        plain = run(self._strings.value, routine).match
        lexed = Lexed(start)
        depth = bodies = 0  # open parentheses, and BEGIN or CASE without their END
        pos = start
        while True:
            stop = plain(text, pos, limit).end()  # type: ignore[union-attr]
            if stop > pos:
                solid = stop if text[stop - 1] not in BLANKS else pos + len(text[pos:stop].rstrip(BLANKS))
                lexed.end = solid if solid > pos else lexed.end
                pos = stop
            if pos >= limit:
                if lexed.end >= limit:  # something is not terminated, and took the blanks with it
                    lexed.end = start + len(text[start:limit].rstrip(BLANKS))
                lexed.resume, lexed.cut = limit, limit < self._size
                return lexed
            char = text[pos]
            if char in "()":
                depth = depth + 1 if char == "(" else max(0, depth - 1)
                pos += 1
            elif char == ";":
                pos += 1
                if depth == 0 and bodies == 0:
                    break
            elif char == "\\" and is_dead:
                lexed.resume = pos
                return lexed
            elif char == "\\":
                pos = self._backslash(lexed, pos, limit, inside=depth > 0 or bodies > 0)
                if pos == lexed.resume:
                    return lexed
                if pos > limit:
                    limit = self._limit(pos)
                continue
            elif char == "-":
                pos = LINE_REST.match(text, pos, limit).end()  # type: ignore[union-attr]
                continue
            elif char == "/":
                pos = ends.comment(pos)
                if pos > limit:
                    limit = self._limit(pos)
                if pos >= 0:
                    continue
                pos = limit
            elif char == "'":
                pos = ends.literal(pos, limit, lexed.edits)
            elif char == "$":
                pos = ends.dollar(pos, limit)
                if pos > limit:
                    limit = self._limit(pos)
            elif char == ":":
                pos = _variable(lexed, text, pos, limit)
            elif char == '"':
                pos = limit
            else:  # a word of a routine: BEGIN, CASE or END
                word = NAME_REST.match(text, pos)[0].lower()  # type: ignore[index]
                if depth == 0 and text[pos - 1] != ".":  # "x.end" is a column
                    bodies = _bodies_after(word, bodies, text, pos, limit)
                pos += len(word)
            lexed.end = pos
        lexed.resume = pos
        return lexed

    def _backslash(self, lexed: Lexed, pos: int, limit: int, *, inside: bool) -> int:
        """Read a command of psql at ``pos`` within a statement, or an escaped semicolon or colon; ``inside``: in
        parentheses or a body. Return the offset after it, which is ``lexed.resume`` where it ends the statement."""
        text = self._text
        following = text[pos + 1 : min(pos + 2, limit)]
        if following == ";" and not inside:
            lexed.resume, lexed.joined = pos + 2, True
            return lexed.resume
        if following and following in ";:":
            lexed.edits.append((pos, " "))
            lexed.end = pos + 2
            return lexed.end
        name = COMMAND_NAME.match(text, pos)[1]  # type: ignore[index]
        is_condition = name in CONDITIONS and self.branches is not None
        if name in SENDING or name in RESETTING or name in PREPARING or (is_condition and self._is_dead()):
            lexed.dropped = name in RESETTING or is_condition
            lexed.sending = name in SENDING
            lexed.perhaps = lexed.perhaps or name in PREPARING
            lexed.resume = pos
            return pos
        if is_condition:
            return self._condition(lexed, pos)
        command, after = self._command_within(pos)
        lexed.commands.append(command)
        lexed.edits.append((pos, " " * (after - pos)))
        return after

    def _command_within(self, pos: int) -> tuple[PsqlCommand, int]:
        """Return the command at ``pos`` within a statement, and the offset after it."""
        before = self._pos
        command = self._command(pos)
        after, self._pos = self._pos, before
        return command, after

    def _is_dead(self) -> bool:
        """Return whether the text here is in a part of an \\if that does not run."""
        return self.branches is not None and self.branches.runs is False

    def _condition(self, lexed: Lexed, start: int) -> int:
        """Follow the condition at ``start`` within a statement that may run, and leave out the text in parts that do
        not. Return the offset of the text after them.

        Of parts of which any may run the first one is kept.
        """
        branches, text, pos = self.branches, self._text, start
        assert branches is not None
        lexed.conditional = True
        is_skipped = False
        while pos < self._size:
            name = COMMAND_NAME.match(text, pos)
            if name is not None and text[pos + 1 : pos + 2] in (";", ":"):
                pos += 2
            elif name is not None:
                command, pos = self._command_within(pos)
                if name[1] in CONDITIONS:
                    lexed.perhaps = lexed.perhaps or branches.runs is None
                    branches.follow(command, self._variables)
                    is_skipped = branches.runs is False or (branches.runs is None and name[1] in ("elif", "else"))
            if not is_skipped:
                break
            pos = self._lex(pos, is_dead=True).resume
        lexed.perhaps = lexed.perhaps or branches.runs is None
        lexed.edits.append((start, blank(text[start:pos])))
        return pos

    def _limit(self, start: int) -> int:
        """Return where a statement from ``start`` must end: at a restart point in a stretch that is split again, at
        the end of a string to which nothing is added, else at the text's end."""
        limit = self._size
        if self._ends:
            following = bisect_left(self._ends, start + 1)
            limit = self._ends[following] if following < len(self._ends) else limit
        if start < self._stretch:
            if self._restart <= start:
                restart = RESTART.search(self._text, start, self._stretch)
                if restart is None:
                    self._stretch = start
                else:
                    self._restart = restart.start(1)
            if start < self._stretch:
                limit = min(limit, self._restart)
        return limit if self._hole is None or start >= self._hole[0] else min(limit, self._hole[0])

    def _command(self, pos: int) -> PsqlCommand:
        """Return the psql command at ``pos`` and go on to the next line, or to the text after ``\\\\``."""
        text = self._text
        named = COMMAND_NAME.match(text, pos)
        assert named is not None
        # The one command that psql takes in any case (command.c: exec_command).
        name = "copy" if named[1].lower() == "copy" else named[1]
        if not name and text.startswith("\\\\", pos):
            # Only behind a command does it mean that SQL follows; psql leaves out the line of a command without a name.
            self._pos = LINE_REST.match(text, pos).end()  # type: ignore[union-attr]
            return PsqlCommand(pos, self._pos, text[pos : self._pos].rstrip(BLANKS))
        rest = LINE_REST if name in WHOLE_LINE or name.startswith("!") else COMMAND_REST
        end = rest.match(text, named.end()).end()  # type: ignore[union-attr]
        self._pos = end + 2 if text.startswith("\\\\", end) else end
        written = text[pos:end].rstrip(BLANKS)
        if name == "copy" and is_copy_stdin(written[1:]) and not self._is_dead():
            self._skip_data(self._pos)
        return PsqlCommand(pos, pos + len(written), written)

    def _skip_data(self, pos: int) -> None:
        """Put COPY's data, from the line after ``pos`` to the line ``\\.`` or else the text's end, behind us."""
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


def _variable(lexed: Lexed, text: str, pos: int, limit: int) -> int:
    """Read a variable of psql, or a colon that begins none; return the offset after it."""
    site = VARIABLE.match(text, pos, limit)
    if site is None:
        return pos + 1
    lexed.variables.append(site.span())
    return site.end()


def _bodies_after(word: str, bodies: int, text: str, pos: int, limit: int) -> int:
    """Return how many BEGIN or CASE are open after the word at ``pos`` in a routine, with ``bodies`` before it."""
    if word == "begin":
        return bodies + (ATOMIC.match(text, pos + 5, limit) is not None)
    if word == "case":
        return bodies + (bodies > 0)
    return bodies - 1 if bodies else bodies
