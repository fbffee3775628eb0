"""Render `pubcheck explain` as plain text, or with rich on a terminal.

Both write the same blocks, which `_blocks` defines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from textwrap import wrap
from typing import Literal

from msgspec import Struct

from pubcheck.explain.document import (
    Answer,
    ConsumerView,
    Explanation,
    FiltersCompared,
    InitialCopy,
    Note,
    Publication,
    Row,
    Subscription,
    Together,
    UnitExplained,
)
from pubcheck.explain.phrases import (
    NAMED,
    by_origin,
    columns_seen,
    copied_rows,
    drawn_regions,
    empty_regions,
    estimated_rows,
    filter_pairs,
    filters_together,
    full_cost,
    identity_of,
    joined_filters,
    members,
    operation_results,
    options,
    refusals,
    region_text,
    row_text,
    rows_in_none,
    rows_seen,
    same_filters,
    sent_as,
    sequences,
    shortened,
    slot_texts,
    summary,
    tables_of,
    widening_publications,
)
from pubcheck.findings import Entry
from pubcheck.report import count
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


def render(explanation: Explanation, width: int = WIDTH) -> Iterator[str]:
    """Yield plain text in pieces, ``width`` columns wide."""
    begun = False
    for block in _blocks(explanation):
        if isinstance(block, Heading) and begun:
            yield "\n"
        yield from plain_lines(block, width)
        begun = True


def render_rich(explanation: Explanation, width: int | None = None) -> Iterator[str]:
    """Yield text with terminal colours, ``width`` columns wide (by default as wide as the terminal)."""
    from rich.console import Console

    console = Console(
        file=StringIO(), force_terminal=True, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )
    for block in _blocks(explanation):
        with console.capture() as capture:
            print_rich(console, block)
        yield capture.get()


# --- The words ----------------------------------------------------------------------------------------------------


def _blocks(explanation: Explanation) -> Iterator[Block]:
    for unit in explanation.units:
        if len(explanation.units) > 1:
            more = f" and {len(unit.paths) - 1} more" if len(unit.paths) > 1 else ""
            yield Heading(0, (unit.paths[0] if unit.paths else "") + more)
        yield from _unit(unit)
    yield Paragraph("")
    yield Paragraph(summary(explanation), "quiet")


def _unit(unit: UnitExplained) -> Iterator[Block]:
    columns = {table.name: table.columns for table in unit.tables}
    for publication in unit.publications:
        yield from _publication(publication, columns)
    for filters in unit.filters:
        yield from _filters_compared(filters)
    for subscription in unit.subscriptions:
        yield from _subscription(subscription)
    server, others = by_origin(unit.findings)
    if server:
        yield Heading(1, "The server", "settings, slots and subscriptions")
        for finding in server:
            yield _note(finding)
    findings = [finding for finding in others if finding.severity != "note"]
    if findings:
        yield Heading(1, "Not in this explanation", "statements that are refused or not parsed; see `pubcheck lint`")
        for finding in findings[:10]:
            assumed = " (assumed)" if finding.certainty == "assumed" else ""
            place = f"{finding.path}:{finding.line}"
            yield Field(f"{finding.severity}{assumed}", f"{place}: {finding.message} [{finding.rule}]", "bad")
        if len(findings) > 10:
            yield Paragraph(f"and {len(findings) - 10} more", "quiet")


def _publication(publication: Publication, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Block]:
    note = members(publication)
    if publication.certainty == "assumed":
        note += "; assumed: the files do not contain all of it"
    yield Heading(1, f"Publication {publication.name}", note)
    if publication.kind != "all sequences":
        yield Field("publishes", options(publication), "" if publication.operations else "warn")
    if publication.via_root:
        yield Field("partitions", "their changes arrive under the name of the partitioned table (via root)")
    if publication.generated_columns == "stored":
        yield Field("generated", "stored generated columns are published")
    if publication.excluded:
        yield Field("not published", f"{tables_of(publication.excluded, MOST_NAMES)} (EXCEPT)")
    if publication.sequences is not None:
        yield Field("sequences", sequences(publication))
    if not publication.answers and publication.kind != "all sequences":
        yield Field("tables", "none: a subscriber sees nothing", "warn")
    for consumer in publication.consumers:
        yield from _consumer(consumer)
    if publication.slots is not None:
        for position, text in enumerate(slot_texts(publication) if publication.slots else ["none reads it"]):
            yield Field("" if position else "slots", text, "" if publication.slots else "warn")
    yield from _notes(publication.notes)
    for lost in publication.not_sent:
        yield Field("never published", f"{tables_of(lost.tables)}: {REASONS.get(lost.reason, lost.reason)}", "warn")
    for answer in publication.answers:
        yield from _answer(answer, publication, columns)


MOST_NAMES = 12
"""The number of excluded tables that are named."""
NO_PARTITION = "none with published rows: only TRUNCATE of this table is published"

REASONS = {
    "unlogged": "unlogged, so its changes are not in the WAL",
    "temporary": "temporary",
    "foreign": "foreign, so its rows are on another server",
    "materialized view": "a materialized view",
    "sequence": "a sequence",
    "information_schema": "created by initdb",
}


def _consumer(consumer: ConsumerView) -> Iterator[Block]:
    """What a consumer sees: the demands that are not met, and what it does with the publication."""
    met = consumer.demands - len(consumer.unmet)
    assumed = " (assumed)" if consumer.certainty == "assumed" else ""
    modes = f" ({', '.join(consumer.modes)})" if consumer.modes else ""
    name = f"{consumer.name}{modes}{assumed}"
    yield Field(
        "read by", f"{name}: {met} of {count(consumer.demands, 'demand')} met", "warn" if consumer.unmet else ""
    )
    for unmet in consumer.unmet:
        about = f" {tables_of(unmet.tables, MOST_NAMES)}:" if unmet.tables else ""
        yield Field("", f"{unmet.severity}:{about} {unmet.says} [{unmet.claim}]", "quiet")
    for effect in consumer.effects:
        yield Field("", effect, "quiet")


def _answer(answer: Answer, publication: Publication, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Block]:
    number = f"{len(answer.tables):,} tables" if len(answer.tables) > 1 else ""
    assumed = "assumed" if answer.certainty == "assumed" else ""
    yield Heading(2, tables_of(answer.tables), ", ".join(filter(None, (number, assumed))))
    if answer.operations != publication.operations:
        yield Field("partitions", NO_PARTITION, "warn")
    yield Field("rows", rows_seen(answer), "code" if answer.filter else "")
    if answer.filter is not None:
        yield from _filter(answer)
    for unused in answer.unused_filters:
        yield Field("unused", f"the filter of {unused.of} does not count here: {shortened(unused.sql)}", "warn")
    yield Field("columns", columns_seen(answer, columns))
    if answer.arrives_as is not None:
        yield Field("arrives as", answer.arrives_as, "name")
    if answer.named is not None and answer.named != answer.arrives_as:
        yield Field("through", f"{answer.named}, which the publication names", "quiet")
    yield Field("identity", identity_of(answer), "bad" if answer.refused else "")
    if answer.full_cost is not None:
        yield Field("", full_cost(answer.full_cost), "quiet")
    for result, why, _ in refusals(answer, publication.name):
        yield Field("refused", result, "bad")
        yield Field("", why, "quiet")
    for text in dict.fromkeys(refused.help for refused in answer.refused if refused.help):
        yield Field("to fix", text)
    for name, result in operation_results(answer):
        yield Field(name, result)
    if answer.changes:
        yield Grid(
            ("UPDATE of a row like", "to one like", "is published as"),
            tuple(
                (
                    (
                        _row(change.old, change.old_matches),
                        _row(change.new, change.new_matches)
                        + (f" ({change.why})" if change.old == change.new is not None and change.why else ""),
                        sent_as(change.sent),
                    ),
                    _SENT[change.sent],
                )
                for change in answer.changes
            ),
        )
    for position, message in enumerate(answer.messages):
        yield Field("" if position else "messages", message, "code")
    yield from _copy(answer.initial_copy, answer.filter.sql if answer.filter is not None else None)
    yield from _notes(answer.notes)


def _copy(initial_copy: InitialCopy | None, filter_: str | None) -> Iterator[Block]:
    yield Field("initial copy", copied_rows(initial_copy, filter_))
    for difference in initial_copy.differences if initial_copy is not None else ():
        yield Field("", difference.text, "warn")


_SENT: dict[str, Style] = {"nothing": "quiet", "INSERT": "good", "UPDATE": "name", "DELETE": "bad"}


def _row(row: Row | None, matches: bool) -> str:
    kind = "match" if matches else "no match"
    return f"{kind}: {row_text(row)}" if row is not None else f"{kind} (none found)"


def _filter(answer: Answer) -> Iterator[Block]:
    condition = answer.filter
    assert condition is not None
    if condition.of not in answer.tables:
        yield Field("filter of", condition.of)
    if condition.canonical is not None and condition.canonical != condition.sql:
        yield Field("that is", shortened(condition.canonical), "code")
    if answer.estimate is not None:
        yield Field("estimate", estimated_rows(answer.estimate))
    for example in answer.examples:
        if example.result == "null":
            yield Field("NULL", f"not published where the filter is NULL, as for {row_text(example.row)}", "warn")
        elif example.result == "error":
            yield Field("fails", f"decoding stops with {example.error} at a row like {row_text(example.row)}", "bad")
    for text in same_filters(answer):
        yield Field("the same", text)
    for text in widening_publications(answer):
        yield Field("widened by", text, "warn")
    if answer.not_compared:
        yield Field("", f"{count(answer.not_compared, 'more publication')} of it not compared", "quiet")


def _notes(notes: Sequence[Note]) -> Iterator[Block]:
    """Yield the notes; of many notes of one rule only the first ones."""
    counts: dict[str, int] = {}
    for note in notes:
        counts[note.rule] = counts.get(note.rule, 0) + 1
        if counts[note.rule] <= NAMED:
            yield _note(note)
    for rule, number in counts.items():
        if number > NAMED:
            yield Field("", f"and {number - NAMED} more of {rule}", "quiet")


def _note(note: Note | Entry) -> Field:
    assumed = " (assumed)" if note.certainty == "assumed" else ""
    style: Style = {"error": "bad", "warning": "warn", "note": ""}[note.severity]  # type: ignore[assignment]
    return Field(f"{note.severity}{assumed}", f"{note.message} [{note.rule}]", style)


def _filters_compared(filters: FiltersCompared) -> Iterator[Block]:
    yield Heading(1, f"Filters of {filters.table}", ", ".join(filters.publications))
    for position, text in enumerate(filter_pairs(filters)):
        yield Field("" if position else "compared", text)
    if filters.nulls:
        yield Field("in none", rows_in_none(filters), "warn")
    if filters.regions:
        yield Grid(
            ("published by", "rows"),
            tuple(
                ((", ".join(region.publications) or "none of them", region_text(region)), _EXISTS[region.rows])
                for region in drawn_regions(filters)
            ),
        )
    for text in empty_regions(filters):
        yield Field("", text, "quiet")


_EXISTS: dict[str, Style] = {"some": "good", "unknown": "warn"}


def _subscription(subscription: Subscription) -> Iterator[Block]:
    yield Heading(
        1, f"One subscription to {', '.join(subscription.publications)}", "filters are ORed, operation by operation"
    )
    for name in subscription.missing:
        yield Field("missing", f"publication {name} is not created in these files", "warn")
    for answer in subscription.answers:
        yield from _together(answer)


def _together(together: Together) -> Iterator[Block]:
    number = f"{len(together.tables):,} tables" if len(together.tables) > 1 else ""
    yield Heading(2, tables_of(together.tables), number)
    yield Field("from", ", ".join(together.publications))
    for text, operations in filters_together(together).items():
        yield Field("rows", f"{text} ({', '.join(operations)})", "" if text == "all rows" else "code")
    if together.columns is not None:
        yield Field("columns", ", ".join(together.columns))
    if together.arrives_as is not None:
        yield Field("arrives as", together.arrives_as, "name")
    if together.widened_by:
        yield Field("widened by", f"{', '.join(together.widened_by)}: without it fewer rows would be published", "warn")
    if together.overruled:
        text = f"filters and lists of {', '.join(together.overruled)}: another publication publishes an ancestor"
        yield Field("overruled", text, "warn")
    if together.conflict is not None:
        yield Field("fails", together.conflict, "bad")
    else:
        yield from _copy(together.initial_copy, joined_filters(together))


# --- Plain --------------------------------------------------------------------------------------------------------


# --- On a terminal ------------------------------------------------------------------------------------------------
