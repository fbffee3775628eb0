"""The layout of `pubcheck explain`: blocks, as plain text or with rich on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Literal

from msgspec import Struct

from pubcheck.report.text import len_display
from pubcheck.source import escape

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from rich.console import Console


WIDTH = 100
"""The width of plain text in columns, unless another is asked for."""
_NARROWEST = 40
"""A narrower text is unreadable: labels take half of it."""

Style = Literal["", "good", "bad", "warn", "quiet", "code", "name"]


class Heading(Struct, frozen=True):
    """Begins a unit (level 0), a publication or subscription (1), or a group of tables (2)."""

    level: int
    text: str
    note: str = ""


class Field(Struct, frozen=True):
    """A labelled line."""

    label: str
    text: str
    style: Style = ""


class Grid(Struct, frozen=True):
    """A table; the style of each row is that of its last cell."""

    header: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], Style], ...]


class Paragraph(Struct, frozen=True):
    text: str
    style: Style = ""


Block = Heading | Field | Grid | Paragraph


def plain_lines(block: Block, width: int = WIDTH) -> Iterator[str]:
    """Yield a block as text of ``width`` columns."""
    width = max(width, _NARROWEST)
    if isinstance(block, Heading):
        text = escape(block.text)
        note = f" ({escape(block.note)})" if block.note else ""
        if block.level == 2:
            yield f"  {text}{note}\n"
        else:
            yield f"{text}{note}\n"
            if block.level == 0:
                yield "=" * min(width, len_display(text)) + "\n"
    elif isinstance(block, Field):
        indent = " " * (4 + _LABEL)
        room = width - len(indent)
        lines = [part for line in block.text.split("\n") for part in _wrapped(escape(line), room)] or [""]
        yield f"    {block.label:<{_LABEL - 1}} {lines[0]}\n"
        for line in lines[1:]:
            yield f"{indent}{line}\n"
    elif isinstance(block, Grid):
        yield from _plain_grid(block)
    else:
        yield escape(block.text) + "\n"


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _lines(text: str) -> str:
    return "\n".join(map(escape, text.split("\n")))


def _plain_grid(grid: Grid) -> Iterator[str]:
    rows = [grid.header, *(tuple(map(escape, cells)) for cells, _ in grid.rows)]
    widths = [max(len_display(row[column]) for row in rows) for column in range(len(grid.header))]
    for row in rows:
        cells = [cell + " " * (width - len_display(cell)) for cell, width in zip(row, widths, strict=True)]
        yield f"      {'   '.join(cells)}".rstrip() + "\n"


def print_rich(console: Console, block: Block) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if isinstance(block, Heading):
        text = Text(escape(block.text), "bold" if block.level == 2 else "bold magenta")
        if block.note:
            text.append(f"  {escape(block.note)}", "dim not bold")
        if block.level == 2:
            console.print(Padding(Text("▸ ", "magenta") + text, (1, 0, 0, 2)))
        else:
            console.print()
            console.rule(text, align="left", style="magenta")
    elif isinstance(block, Field):
        table = Table.grid(padding=(0, 1))
        table.add_column(width=_LABEL + 3, no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(Text(f"    {block.label}", "dim"), Text(_lines(block.text), _STYLES[block.style]))
        console.print(table)
    elif isinstance(block, Grid):
        table = Table(box=box.ROUNDED, border_style="dim", header_style="dim")
        for name in block.header:
            table.add_column(name, overflow="fold")
        for cells, style in block.rows:
            *first_cells, last = (escape(cell) for cell in cells)
            table.add_row(*(Text(cell) for cell in first_cells), Text(last, _STYLES[style]))
        console.print(Padding(table, (0, 0, 0, 4)))
    else:
        console.print(Text(escape(block.text), _STYLES[block.style]))


_LABEL = 16

_STYLES: dict[str, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "quiet": "dim",
    "code": "cyan",
    "name": "bold",
}
