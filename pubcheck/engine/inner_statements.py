"""Statements inside others, with their places in the source."""

from __future__ import annotations

import itertools

from pubcheck.postgres.plpgsql.host import Inner
from pubcheck.postgres.source_text import Text
from pubcheck.statement_index import StatementText


def embedded(outer: StatementText, inner: Inner) -> StatementText:
    """Return a statement inside another one, with its exact place in the source."""
    text, number = inner.text, (*outer.embedded, *inner.number)
    if not text.sites:
        start = text.start
        edits: tuple[tuple[int, int, str], ...] = ((0, max(0, text.end - start), text.text),)
        return StatementText(outer.source, outer.index, start, text.text, edits, number)
    start = text.sites[0][1]
    edits_of_pieces: list[tuple[int, int, str]] = []
    for (inside, outside), (after, next_outside) in itertools.pairwise(text.sites):
        # The text between two pieces: source text without a counterpart, or inserted text.
        end = outside + after - inside
        edits_of_pieces.append((min(end, next_outside) - start, next_outside - start, "?" * max(0, end - next_outside)))
    return StatementText(outer.source, outer.index, start, text.text, tuple(edits_of_pieces), number)


def with_sites(statement: StatementText) -> Text:
    """Return the text of a top-level statement, with its offsets in the source."""
    text = statement.text
    sites = [(0, statement.start)]
    for start, end, sent in statement.edits:
        shift = sites[-1][0] + statement.start - sites[-1][1] if len(sites) > 1 else 0
        inside = start + shift + len(sent)
        extra = len(sent) - (end - start)
        sites += [(inside - extra + position, statement.start + end) for position in range(extra)]
        sites.append((inside, statement.start + end))
    return Text(text, tuple(sites), statement.start, statement.place(len(text), end=True))
