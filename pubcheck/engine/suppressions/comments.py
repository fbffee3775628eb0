"""Comments for pubcheck: `-- pubcheck: ignore[PUB301] why`, and `-- pubcheck: consumer[powersync]`; and the statements
that they apply to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck import rulebook
from pubcheck.config import near_word
from pubcheck.engine.suppressions import may_hold_comments
from pubcheck.source import Source

if TYPE_CHECKING:
    from pubcheck.consumers.profiles import ConsumerUse
    from pubcheck.statement_index import Statements


_IN_SQL = r"--+|/\*+"
_ELSEWHERE = rf"{_IN_SQL}|\#+|//+|<!--+|%+"
_COMMENT = r"(?P<sign>{signs})[ \t]*+pubcheck:[ \t]*+(?P<rest>[^\n\r]*+)"
_VERB = re.compile(r"(?P<verb>[\w-]*)(?:[ \t]*\[(?P<codes>[^\]]*)(?P<closed>\]?))?(?P<reason>.*)", re.DOTALL)
_CODE = re.compile(r"[^\s,]+")
_LIKE_A_CODE = re.compile(r"[\s:=(]*PUB\d", re.IGNORECASE)
_ENDS = {"/*": "*/", "<!--": "-->"}


class Code(Struct, frozen=True):
    """A code in a comment, or the beginning of one, and its place."""

    text: str
    start: int
    end: int


class Comment(Struct, frozen=True):
    """An ignore comment, from its sign (`--`) to its end.

    ``codes`` is None for all rules; ``inner`` is the span of the codes between the brackets. ``file``: it applies to
    the whole file.
    """

    start: int
    end: int
    file: bool
    codes: tuple[Code, ...] | None
    inner: tuple[int, int] = (0, 0)


class ConsumerComment(Struct, frozen=True):
    """A comment on a statement about a publication that names the consumers of the publication."""

    start: int
    end: int
    uses: tuple[ConsumerUse, ...]


class Unclear(Struct, frozen=True):
    """A comment, or a code in one, that is not understood, and why."""

    start: int
    end: int
    message: str
    help: str


def comments(source: Source) -> Iterator[Comment | ConsumerComment | Unclear]:
    """Yield the comments for pubcheck of a source in the order of the text, and the parts that are not understood."""
    if not may_hold_comments(source):
        return
    text = source.shown
    signs = _IN_SQL if source.original is None else _ELSEWHERE
    pattern, end = re.compile(_COMMENT.format(signs=signs), re.IGNORECASE), 0
    while (comment := pattern.search(text, end)) is not None:
        rest, begin = comment["rest"], comment.start("rest")
        sign = comment["sign"]
        closing = _ENDS.get(sign[:2]) or _ENDS.get(sign[:4])
        if closing is not None and closing in rest:
            rest = rest[: rest.index(closing)]
            end = begin + len(rest) + len(closing)
        else:
            end = begin + len(rest.rstrip())
        yield from _read(comment.start(), end, rest, begin)


def _read(start: int, end: int, rest: str, begin: int) -> Iterator[Comment | ConsumerComment | Unclear]:
    """Read one comment. ``rest`` is its text after the mark, from the offset ``begin``."""
    words = _VERB.match(rest)
    assert words is not None  # all of it is optional
    verb, written = words["verb"].lower(), words["codes"]
    if verb == "consumer" and written is not None and words["closed"]:
        yield from _consumers(start, end, written, begin + words.start("codes"))
        return
    usage = "write `pubcheck: ignore[PUB301] why`, or `ignore-file[PUB301]` for the whole file"
    if verb not in ("ignore", "ignore-file"):
        hint = near_word(verb, ("ignore", "ignore-file", "consumer")) if verb and verb != "consumer" else ""
        usage = "write `pubcheck: consumer[powersync]`" if verb == "consumer" else usage
        yield Unclear(start, end, f"this comment is not understood{hint}", usage)
    elif written is None and _LIKE_A_CODE.match(words["reason"]):
        code = words["reason"].strip(" \t:=(").split()[0].rstrip(",)")
        yield Unclear(start, end, "this comment names a rule outside of brackets", f"write `{verb}[{code}]`")
    elif written is None:
        yield Comment(start, end, verb == "ignore-file", None)
    elif not words["closed"]:
        yield Unclear(start, end, "the list of codes in this comment is not closed", usage)
    elif not written.strip(", \t"):
        yield Unclear(start, end, "this comment names no rule", f"{usage}; `{verb}` alone ignores every rule")
    else:
        offset = begin + words.start("codes")
        known = []
        for match in _CODE.finditer(written):
            code = Code(match[0].upper(), offset + match.start(), offset + match.end())
            if rulebook.is_selector(code.text):
                known.append(code)
                continue
            rule = rulebook.find(match[0])
            if rule is not None:
                known.append(Code(rule.code, code.start, code.end))
                continue
            near = near_word(code.text, rulebook.RULES)
            yield Unclear(
                code.start, code.end, f"no rule has the code {match[0]}{near}", "`pubcheck rules` lists all rules"
            )
        if known:
            inner = (offset, offset + len(written))
            yield Comment(start, end, verb == "ignore-file", tuple(known), inner)


def _consumers(start: int, end: int, written: str, offset: int) -> Iterator[ConsumerComment | Unclear]:
    """Read the consumers that a comment names."""
    from pubcheck.consumers.profiles import UnknownName, WrongValue, use_of

    uses = []
    for match in _CODE.finditer(written):
        try:
            uses.append(use_of(match[0]))
        except UnknownName as error:
            place = offset + match.start(), offset + match.end()
            yield Unclear(*place, f"{error}{error.hint}", "`pubcheck consumers` lists all consumers")
        except WrongValue as error:
            place = offset + match.start(), offset + match.end()
            yield Unclear(*place, str(error), "write `pubcheck: consumer[powersync]`")
    if uses:
        yield ConsumerComment(start, end, tuple(uses))
    elif not written.strip(", \t"):
        yield Unclear(start, end, "this comment names no consumer", "write `pubcheck: consumer[powersync]`")


# The statements that the comments of a source apply to.

_CLOSING = re.compile(r"[\s\"'`)\]},;.]*")


class CommentTargets:
    """Finds the statements of a source that a comment applies to. ``bounds`` are where its statements are."""

    def __init__(self, source: Source, bounds: tuple[Sequence[int], Sequence[int]]) -> None:
        self.source = source
        self.starts, self.ends = bounds

    def of(self, comment: Comment | ConsumerComment) -> Iterator[int]:
        """Yield the index of the statement that a comment applies to.

        That is the statement around it, else one that begins after it on its line, else one that ends before it on its
        line, else the next one.
        """
        text = self.source.shown
        before = bisect_right(self.starts, comment.start) - 1
        if before >= 0:
            end = self.ends[before]
            followed = before + 1 < len(self.starts) and not has_line_end(text[comment.end : self.starts[before + 1]])
            if comment.start < end or not (followed or self._is_on_another_line(end, comment.start)):
                yield before
                return
        if before + 1 < len(self.starts):
            yield before + 1

    def _is_on_another_line(self, end: int, start: int) -> bool:
        """Return whether a comment is not on the line on which the statement before it ends. In a program the quotes
        and parentheses around the statement may close on a later line."""
        between = self.source.shown[end:start]
        if not has_line_end(between):
            return False
        last = re.split(r"[\n\r]", between)[-1]
        return self.source.original is None or not last.strip() or _CLOSING.fullmatch(between) is None


def has_line_end(text: str) -> bool:
    """Return whether a text has more than one line."""
    return "\n" in text or "\r" in text


def consumer_comments(statements: Statements) -> dict[tuple[int, int], tuple[ConsumerUse, ...]]:
    """Return the consumers that comments name, by source and statement."""
    uses: dict[tuple[int, int], tuple[ConsumerUse, ...]] = {}
    for number, source in enumerate(statements.sources):
        if not may_hold_comments(source):
            continue
        targets = CommentTargets(source, statements.bounds(number))
        for comment in comments(source):
            if isinstance(comment, ConsumerComment):
                for index in targets.of(comment):
                    uses[number, index] = uses.get((number, index), ()) + comment.uses
    return uses
