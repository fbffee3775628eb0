"""The statements that the comments of a source apply to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pubcheck.engine.suppressions import may_hold_comments
from pubcheck.engine.suppressions.comments import Comment, ConsumerComment, comments
from pubcheck.source import Source

if TYPE_CHECKING:
    from pubcheck.consumers.options import ConsumerUse
    from pubcheck.statement_index import Statements

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
