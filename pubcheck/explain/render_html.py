"""Render `pubcheck explain --format html`: one self-contained page with a drawing and the text report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape as quoted

from markupsafe import Markup
from msgspec import Struct

from pubcheck.explain import phrases, picture
from pubcheck.explain.document import Explanation, Publication, UnitExplained
from pubcheck.explain.picture import (
    BOX_HEIGHT,
    BOX_LETTERS,
    BOX_WIDTH,
    BOX_X,
    CARD_WIDTH,
    CARD_X,
    HEAD,
    PILL_HEIGHT,
    PILL_LETTERS,
    PILL_WIDTH,
    PILL_X,
    Box,
    Card,
    Lane,
    Picture,
    shortened,
)
from pubcheck.explain.render_text import NO_PARTITION, REASONS
from pubcheck.findings import url_of
from pubcheck.html import page
from pubcheck.html.page import rule_pages
from pubcheck.report import count
from pubcheck.rulebook import RULES
from pubcheck.source import escape

_WIDTH = 1120
_WIDE, _NARROW = 9, 3
"""Widths of ribbons: of every row, and of those that match a filter."""


def _hue(number: int) -> int:
    """Return the hue of the ``number``-th publication. Neighbours differ much."""
    return (212 + number * 137) % 360


def draw(unit: UnitExplained, number: int) -> str:
    """Return the SVG of the ``number``-th unit of the page, "" if there is nothing to draw."""
    if not unit.publications:
        return ""
    return "\n".join(_svg(Picture(unit, number)))


def _svg(picture: Picture) -> Iterator[str]:
    bottoms = [card.y + card.height for card in picture.cards]
    bottoms += [box.y + BOX_HEIGHT for box in picture.boxes]
    bottoms += [lane.y + lane.height / 2 for lane in picture.lanes]
    height = max(bottoms) + 16
    number = picture.number
    yield (
        f'<svg class="drawing" viewBox="0 0 {_WIDTH} {height:.0f}" role="group" aria-labelledby="t{number} d{number}">'
    )
    yield f'<title id="t{number}">Tables, filters and publications</title>'
    yield (
        f'<desc id="d{number}">Tables on the left, publications on the right, joined by lines; a filter is on'
        " its line. The sections below say the same in words.</desc>"
    )
    pills = [lane for lane in picture.lanes if lane.sql is not None]
    captions = ((CARD_X, "Tables"), (PILL_X, "Row filters" if pills else ""), (BOX_X, "Publications"))
    for x, text in captions:
        if text:
            yield f'<text class="caption" x="{x}" y="24">{text}</text>'
    yield '<g class="ribbons" aria-hidden="true">'
    for index in range(len(picture.lanes)):
        yield _ribbon(picture, index)
    yield "</g>"
    for card in picture.cards:
        yield from _draw_card(card)
    for lane in pills:
        yield _draw_pill(lane)
    for place, box in enumerate(picture.boxes):
        yield from _draw_box(box, place)
    yield "</svg>"


def _ribbon(picture: Picture, index: int) -> str:
    """Return everything that runs in a lane, as one group: where its paths lie over each other it is not darker."""
    lane = picture.lanes[index]
    paths = [
        _path(_curve(CARD_X + CARD_WIDTH, edge.y, PILL_X, lane.y), _WIDE)
        for edge in picture.edges
        if edge.lane == index
    ]
    if index in picture.bars:
        paths += _bar(picture, picture.bars.index(index), lane)
    end = _curve(PILL_X + PILL_WIDTH, lane.y, BOX_X, lane.end)
    if lane.sql is None:
        end = end.replace("M", f"M{PILL_X} {lane.y:.1f}L")
    paths.append(_path(end, _WIDE if lane.sql is None else _NARROW))
    return f'<g class="ribbon" data-box="{lane.box}" style="--h:{_hue(lane.box)}">{"".join(paths)}</g>'


def _bar(picture: Picture, number: int, lane: Lane) -> list[str]:
    """Return a bar along all cards and the ribbon from it."""
    x = CARD_X + CARD_WIDTH + 8 + 9 * number
    top = picture.cards[0].y + 4
    bottom = picture.cards[-1].y + picture.cards[-1].height - 4
    start = bottom - 14 - 10 * number
    return [_path(f"M{x} {top:.1f}V{bottom:.1f}", 6), _path(_curve(x, start, PILL_X, lane.y), _WIDE)]


def _path(line: str, width: int) -> str:
    return f'<path d="{line}" stroke-width="{width}"/>'


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    bend = (x2 - x1) * 0.5
    return f"M{x1:.0f} {y1:.1f}C{x1 + bend:.0f} {y1:.1f} {x2 - bend:.0f} {y2:.1f} {x2:.0f} {y2:.1f}"


def _draw_card(card: Card) -> Iterator[str]:
    state = " refused" if card.refused else ""
    yield f'<g class="card{state}"><title>{_card_text(card)}</title>'
    yield f'<rect x="{CARD_X}" y="{card.y:.1f}" width="{CARD_WIDTH}" height="{card.height:.1f}" rx="7"/>'
    middle = card.y + HEAD / 2 + 4.5
    yield f'<text class="name" x="{CARD_X + 12}" y="{middle:.1f}">{_text(card.label)}</text>'
    right = f"✕ {card.refused}" if card.refused else card.note
    if right:
        style = "bad" if card.refused else "note"
        yield f'<text class="{style}" x="{CARD_X + CARD_WIDTH - 12}" y="{middle:.1f}">{_text(right)}</text>'
    if card.rows:
        x = CARD_X + 18
        yield f'<path class="stem" d="M{x} {card.y + HEAD - 5:.1f}V{card.rows[-1].y:.1f}"/>'
    for row in card.rows:
        lost = " lost" if row.state == "never published" else ""
        x = CARD_X + 18
        yield f'<path class="stem" d="M{x} {row.y:.1f}h10"/>'
        yield f'<text class="leaf{lost}" x="{x + 16}" y="{row.y + 4:.1f}">{_text(row.label)}</text>'
        if row.state:
            text = row.state if lost else f"✕ {row.state}"
            style = "note" if lost else "bad"
            yield f'<text class="{style}" x="{CARD_X + CARD_WIDTH - 12}" y="{row.y + 4:.1f}">{_text(text)}</text>'
    yield "</g>"


def _card_text(card: Card) -> str:
    text = card.title
    if card.refused:
        text += f": the publisher refuses {card.refused}"
    return _text(text)


def _draw_pill(lane: Lane) -> str:
    assert lane.sql is not None
    y = lane.y - PILL_HEIGHT / 2
    return (
        f'<g class="pill" data-box="{lane.box}" style="--h:{_hue(lane.box)}"><title>{_text(lane.sql)}</title>'
        f'<rect x="{PILL_X}" y="{y:.1f}" width="{PILL_WIDTH}" height="{PILL_HEIGHT}" rx="{PILL_HEIGHT / 2:.0f}"/>'
        f'<path class="funnel" d="M{PILL_X + 11} {lane.y - 5:.1f}h12l-4.6 5.6v5l-2.8-1.6v-3.4z"/>'
        f'<text x="{PILL_X + 30}" y="{lane.y + 4:.1f}">{_text(shortened(lane.sql, PILL_LETTERS))}</text></g>'
    )


def _draw_box(box: Box, number: int) -> Iterator[str]:
    y = box.y
    yield f'<a class="box" href="#{box.anchor}" data-box="{number}" style="--h:{_hue(number)}">'
    yield (
        f'<rect x="{BOX_X}" y="{y:.1f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="9">'
        f"<title>{_text(box.title)}</title></rect>"
    )
    yield f'<rect class="edge" x="{BOX_X}" y="{y + 10:.1f}" width="4" height="{BOX_HEIGHT - 20}" rx="2"/>'
    yield f'<text class="name" x="{BOX_X + 16}" y="{y + 24:.1f}">{_text(shortened(box.label, BOX_LETTERS))}</text>'
    yield f'<text class="sub" x="{BOX_X + 16}" y="{y + 44:.1f}">{_text(shortened(box.note, BOX_LETTERS - 4))}</text>'
    if box.operations is not None:
        for column, operation in enumerate(("insert", "update", "delete", "truncate")):
            on = "on" if operation in box.operations else "off"
            x = BOX_X + BOX_WIDTH - 84 + column * 19
            yield (
                f'<g class="op {on}"><title>{operation.upper()}{"" if on == "on" else " is not published"}</title>'
                f'<rect x="{x}" y="{y + 32:.1f}" width="16" height="16" rx="4"/>'
                f'<text x="{x + 8}" y="{y + 44:.1f}">{operation[0].upper()}</text></g>'
            )
    yield "</a>"


def _text(text: str) -> str:
    """Text of unknown origin, as a part of the page."""
    return quoted(escape(text))


# Render `pubcheck explain --format html`: one self-contained page with a drawing and the text report.

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
        drawings=[Markup(draw(unit, number)) for number, unit in enumerate(explanation.units)],
        tables=[{table.name: table for table in unit.tables} for unit in explanation.units],
        anchor=picture.anchor,
        hue=_hue,
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
