"""Render `pubcheck explain --format html`: one self-contained page with a drawing and the text report.

Its sentences are those of the text report; `html/templates/explain.html` is the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup
from msgspec import Struct

from pubcheck.explain import drawing, phrases, picture
from pubcheck.explain.document import Explanation, Publication
from pubcheck.explain.render_text import NO_PARTITION, REASONS
from pubcheck.findings import url_of
from pubcheck.html import page
from pubcheck.html.page import rule_pages
from pubcheck.report import count
from pubcheck.rulebook import RULES

OPEN = 12
"""Up to this number of publications, all sections are open at first."""
LONG = 400
"""Up to this length, SQL is shown whole."""
SHOWN = 6
"""The number of tables that a group shows; the others are folded."""


def render(explanation: Explanation, docs_url: str = "") -> Iterator[str]:
    """Return the page in pieces. Rules link to their pages at ``docs_url``; without one, the page contains them."""
    pages = [] if docs_url else list(rule_pages(_rules(explanation)))
    return page.render(
        "explain.html",
        explanation=explanation,
        paths=phrases.tables_of([path for unit in explanation.units for path in unit.paths], 2) or "nothing",
        phrases=phrases,
        drawings=[Markup(drawing.draw(unit, number)) for number, unit in enumerate(explanation.units)],
        tables=[{table.name: table for table in unit.tables} for unit in explanation.units],
        anchor=picture.anchor,
        hue=drawing.hue,
        lists=_Lists(),
        pages=pages,
        rule_address=_address(docs_url),
        count=count,
        flags=_flags,
        no_partition=NO_PARTITION,
        reasons=REASONS,
        open_up_to=OPEN,
        long=LONG,
    )


def _rules(explanation: Explanation) -> Iterator[str]:
    """Yield the codes of the rules that a page names."""
    for unit in explanation.units:
        yield from (finding.rule for finding in unit.findings)
        for publication in unit.publications:
            yield from (note.rule for note in publication.notes)
            for answer in publication.answers:
                yield from (note.rule for note in answer.notes)
                yield from (refused.rule for refused in answer.refused)


def _address(docs_url: str) -> Callable[[str], str | None]:
    """Return a function from the code of a rule to the address of its page."""

    def address(code: str) -> str | None:
        if code not in RULES:
            return None
        return url_of(docs_url, code, RULES[code].name) if docs_url else f"#{code}"

    return address


class _Rest(Struct, frozen=True):
    """The folded names of a list. ``repeated``: an earlier list, ``anchor``, has the same names."""

    names: tuple[str, ...]
    anchor: str
    repeated: bool


class _Lists:
    """The lists of tables on the page. They can be long, so a repeated list is only linked."""

    def __init__(self) -> None:
        self._anchors: dict[tuple[int, tuple[str, ...]], str] = {}

    def fold(self, names: Sequence[str], unit: int) -> tuple[Sequence[str], _Rest | None]:
        """Return the names to show, and the rest."""
        rest = tuple(names[SHOWN:])
        if not rest:
            return names, None
        known = self._anchors.get((unit, rest))
        anchor = known or f"u{unit}-list{len(self._anchors)}"
        self._anchors[unit, rest] = anchor
        return names[:SHOWN], _Rest(rest, anchor, known is not None)


def _flags(publication: Publication) -> tuple[int, int, int]:
    """Count what a closed section contains: filters, refused tables, warnings."""
    filters = sum(answer.filter is not None for answer in publication.answers)
    refused = sum(len(answer.tables) for answer in publication.answers if answer.refused)
    warnings = sum(note.severity != "note" for answer in publication.answers for note in answer.notes)
    return filters, refused, warnings + sum(note.severity != "note" for note in publication.notes)
