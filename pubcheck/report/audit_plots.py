"""The plots of an audit's report: matplotlib draws them, as SVG that is in the page and takes its colours from it.

Each is a string of SVG without ids of elements, scripts or fonts; what it shows is in a table next to it as well.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from math import log1p
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from msgspec import Struct

from pubcheck.source import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

COLORS: Mapping[str, str] = {
    name: f"#{number:02x}{number:02x}{number:02x}"
    for number, name in enumerate(("ink", "soft", "line", "card", "error", "warning", "note", "fine", "blue"), 1)
}
"""The page's colour that replaces each of these grey tones of a drawing."""

_WIDTH, _RIGHT = 10.4, 1.15
"""Inches, of 72 units of the drawing: of all, and of the room for numbers at the right."""
_BAR, _EDGE = 0.27, 0.06
"""Inches that a bar takes, and the room above and below."""
_LABEL, _LETTER = 46, 0.078
"""Characters of a label, and the inches that one takes."""

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: to be read aloud, searched and set in the page's font
    "svg.hashsalt": "pubcheck",
    "text.parse_math": False,  # a repository may be called $x$
    "text.color": COLORS["ink"],
    "axes.labelcolor": COLORS["soft"],
    "axes.edgecolor": COLORS["line"],
    "xtick.labelcolor": COLORS["soft"],
    "ytick.labelcolor": COLORS["ink"],
    "grid.color": COLORS["line"],
    "font.size": 9.5,
    "font.family": "DejaVu Sans",  # the one that comes with matplotlib; wider than most
}


class Part(Struct, frozen=True):
    """A part of every bar: its name and the colour that it has, and how dense."""

    name: str
    color: str
    alpha: float = 1.0


class Bar(Struct, frozen=True):
    """A bar: its label, how much of each part it has, and the place in the page that it leads to."""

    label: str
    counts: tuple[int, ...]
    href: str | None = None


def bars(title: str, parts: Sequence[Part], rows: Sequence[Bar], *, whole: int | None = None) -> str:
    """Bars from the top to the bottom, their parts side by side; with ``whole`` as shares of that."""
    with _drawing(title, _BAR * len(rows), [row.label for row in rows]) as drawing:
        axes = drawing.axes
        most = max((sum(row.counts) for row in rows), default=0) or 1
        for place, row in enumerate(rows):
            left = 0
            if whole is not None:
                drawing.rectangle(axes, 0, place, whole, "line", "", 0.45)
            for part, count in zip(parts, row.counts, strict=True):
                if count:
                    tooltip = f"{row.label}: {count:,} {part.name}"
                    drawing.rectangle(axes, left, place, count, part.color, tooltip, part.alpha, row.href)
                left += count
            total = f"{left:,}" if whole is None else f"{left:,}  ({_percent(left, whole)})"
            axes.text((left if whole is None else whole) + (whole or most) * 0.012, place, total, va="center")
        axes.set_xlim(0, (whole or most) * (1.02 if whole is None else 1.0))
        axes.xaxis.set_visible(False)
    return drawing.text


def shares(title: str, parts: Sequence[Part], rows: Sequence[Bar]) -> str:
    """Bars of equal length, their parts as shares of each."""
    with _drawing(title, _BAR * len(rows), [row.label for row in rows]) as drawing:
        for place, row in enumerate(rows):
            total, left = sum(row.counts) or 1, 0.0
            for part, count in zip(parts, row.counts, strict=True):
                if count:
                    tooltip = f"{row.label}: {count:,} {part.name}, {_percent(count, total)}"
                    drawing.rectangle(drawing.axes, left, place, count / total, part.color, tooltip, part.alpha)
                left += count / total
            drawing.axes.text(1.012, place, f"{sum(row.counts):,}", va="center")
        drawing.axes.set_xlim(0, 1)
        drawing.axes.xaxis.set_visible(False)
    return drawing.text


def differences(title: str, rows: Sequence[Bar]) -> str:
    """Draw the counts (gone, new): gone to the left of a line, new to the right."""
    with _drawing(title, _BAR * len(rows), [row.label for row in rows]) as drawing:
        axes = drawing.axes
        most = max(max(row.counts) for row in rows) or 1
        for place, row in enumerate(rows):
            gone, new = row.counts
            if gone:
                drawing.rectangle(axes, -gone, place, gone, "fine", f"{row.label}: {gone:,} gone", href=row.href)
                axes.text(-gone - most * 0.02, place, f"−{gone:,}", va="center", ha="right")
            if new:
                drawing.rectangle(axes, 0, place, new, "error", f"{row.label}: {new:,} new", href=row.href)
                axes.text(new + most * 0.02, place, f"+{new:,}", va="center")
        axes.axvline(0, color=COLORS["soft"], linewidth=1, clip_on=False)
        axes.set_xlim(-most * 1.15, most * 1.15)
        axes.xaxis.set_visible(False)
    return drawing.text


def matrix(title: str, columns: Sequence[tuple[str, str | None]], rows: Sequence[Bar]) -> str:
    """Return a square for each row and column, the darker the more; a column has a label and a link."""
    with _drawing(title, _BAR * len(rows), [row.label for row in rows], above=0.62) as drawing:
        axes = drawing.axes
        most = log1p(max(max(row.counts) for row in rows)) or 1.0
        for place, row in enumerate(rows):
            for number, (count, (label, href)) in enumerate(zip(row.counts, columns, strict=True)):
                if count:
                    tooltip = f"{row.label}: {count:,} {label}"
                    alpha = 0.16 + 0.5 * log1p(count) / most
                    drawing.rectangle(axes, number - 0.47, place, 0.94, "error", tooltip, alpha, href)
                    axes.text(number, place, f"{count:,}", ha="center", va="center", fontsize=8.5)
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_xticks(
            range(len(columns)), [label for label, _ in columns], rotation=45, ha="left", rotation_mode="anchor"
        )
        axes.xaxis.tick_top()
        axes.tick_params(top=False)
    return drawing.text


def lines(title: str, parts: Sequence[Part], steps: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return a line a part, from step to step."""
    with _drawing(title, 2.2, ["1,000,000"], below=0.75) as drawing:
        axes = drawing.axes
        places = range(len(steps))
        for number, part in enumerate(parts):
            counts = [step[1][number] for step in steps]
            color = COLORS[part.color]
            axes.plot(places, counts, color=color, linewidth=2, clip_on=False)
        most = max(max(counts) for _, counts in steps) * 1.08 or 1
        ends = zip(_apart(steps[-1][1], most / 11), steps[-1][1], parts, strict=True)
        for height, count, part in ends:
            axes.text((len(steps) - 1) * 1.012, height, f"{count:,} {part.name}", color=COLORS[part.color], va="center")
        axes.set_ylim(0, most)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.set_xlim(0, len(steps) - 1)
        axes.set_xticks(
            places, [_short(name, 17) for name, _ in steps], rotation=25, ha="right", rotation_mode="anchor"
        )
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_tick_params(labelcolor=COLORS["soft"])
        axes.grid(axis="y", linewidth=0.8)
        axes.set_axisbelow(True)
    return drawing.text


def _apart(heights: Sequence[float], least: float) -> list[float]:
    """Places for labels near these heights that are at least so far from each other."""
    placed = [0.0] * len(heights)
    floor = -least
    for number in sorted(range(len(heights)), key=lambda number: heights[number]):
        floor = placed[number] = max(heights[number], floor + least)
    return placed


def _percent(count: int, whole: int) -> str:
    share = count / whole if whole else 0.0
    return f"{share:.0%}" if not 0 < share < 0.01 else "<1%"


def _short(text: str, most: int = _LABEL) -> str:
    shown = escape(text)
    return shown if len(shown) <= most else f"{shown[: most // 2 - 1]}…{shown[-(most // 2) :]}"


class _Drawing:
    def __init__(self, figure: Figure, axes: Axes) -> None:
        self.figure, self.axes = figure, axes
        self.tooltips: dict[str, str] = {}
        self.text = ""

    def rectangle(
        self,
        axes: Axes,
        left: float,
        place: float,
        width: float,
        color: str,
        tooltip: str,
        alpha: float = 1.0,
        href: str | None = None,
    ) -> None:
        """Draw a bar in the middle of a row, with a tooltip."""
        shape = Rectangle((left, place - 0.34), width, 0.68, facecolor=COLORS[color], linewidth=0, alpha=alpha)
        shape.set_clip_on(False)
        name = f"tell{len(self.tooltips)}"
        self.tooltips[name] = escape(tooltip)
        shape.set_gid(name)
        if href is not None:
            shape.set_url(href)
        axes.add_patch(shape)


@contextmanager
def _drawing(
    title: str, height: float, labels: Sequence[str], *, above: float = 0.0, below: float = 0.0
) -> Iterator[_Drawing]:
    """Return a figure with bare axes of some inches of height, with labels at the left; it is SVG when the block ends.

    All are of one width, so that letters have one size in all of them.
    """
    above, below = above + _EDGE, below + _EDGE
    whole = height + above + below
    shown = [_short(label) for label in labels]
    left = 0.2 + _LETTER * max(map(_columns, shown), default=0)
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # Characters that its font lacks are shown in the browser's.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from font")
        figure = Figure(figsize=(_WIDTH, whole))
        axes = figure.add_axes((left / _WIDTH, below / whole, (_WIDTH - left - _RIGHT) / _WIDTH, height / whole))
        for side in axes.spines.values():
            side.set_visible(False)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_yticks(range(len(labels)), shown)
        axes.tick_params(left=False, bottom=False, top=False, pad=6)
        drawing = _Drawing(figure, axes)
        yield drawing
        written = io.BytesIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    drawing.text = _for_page(written.getvalue(), title, drawing.tooltips)


def _columns(text: str) -> int:
    """Columns of text in a font of equal widths: two for each wide character."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_COLOR = re.compile("|".join(COLORS.values()))
_NAMES = {color: f"var(--{name})" for name, color in COLORS.items()}


def _for_page(svg: bytes, title: str, tooltips: Mapping[str, str]) -> str:
    """SVG as a part of a page: with a title, without what is the same for all or could clash with another's."""
    root = ElementTree.fromstring(svg)
    role = "group" if root.find(f".//{_SVG}a") is not None else "img"  # an image has no links
    attributes = {"class": "plot", "viewBox": root.attrib["viewBox"], "role": role, "aria-label": title}
    element = ElementTree.Element("svg", attributes)
    element.extend(_plain(child, tooltips) for child in root if child.tag == f"{_SVG}g")
    return ElementTree.tostring(element, encoding="unicode")


def _plain(node: ElementTree.Element, tooltips: Mapping[str, str]) -> ElementTree.Element:
    element = ElementTree.Element(node.tag.removeprefix(_SVG))
    element.text = node.text if node.text and node.text.strip() else None
    for name, value in node.attrib.items():
        if name == "style":
            style = re.sub(r" *font-family:[^;]*;", "", value)
            element.set("style", _COLOR.sub(lambda match: _NAMES[match[0]], style))
        elif name == f"{_XLINK}href":
            element.set("href", value)
        elif name not in ("id", "clip-path", "target") and not value.startswith("rotate(-0 "):
            element.set(name, value)
    tip = tooltips.get(node.attrib.get("id", ""))
    if tip:
        element.set("class", "bar")
        ElementTree.SubElement(element, "title").text = tip
    for child in node:
        if child.tag == f"{_SVG}defs":
            continue
        inside = _plain(child, tooltips)
        if tip and inside.tag == "a":  # for the pointer: the table next to it has the same links
            inside.attrib.update({"tabindex": "-1", "aria-label": tip})
        element.append(inside)
    return element
