"""`pubcheck explain` for people: in plain text, or laid out by rich on a terminal.

Both write the same blocks; `_blocks` says what stands in them and in which words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Literal

from msgspec import Struct

from pubcheck.explain.document import (
    Answer,
    Explanation,
    InitialCopy,
    Note,
    Publication,
    Refused,
    Row,
    Subscription,
    Together,
    UnitExplained,
)
from pubcheck.report import count
from pubcheck.report.text import escape, len_display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Console

NAMED = 3
"""Tables that a group names before it counts the rest."""
WIDTH = 100
"""Columns of plain text."""

Style = Literal["", "good", "bad", "warn", "quiet", "code", "name"]


class Heading(Struct, frozen=True):
    """Begins a unit (level 0), a publication or subscription (1), or a group of tables (2)."""

    level: int
    text: str
    remark: str = ""


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


def render(explanation: Explanation) -> Iterator[str]:
    """Plain text in pieces."""
    begun = False
    for block in _blocks(explanation):
        if isinstance(block, Heading) and begun:
            yield "\n"
        yield from _plain(block)
        begun = True


def render_rich(explanation: Explanation, width: int | None = None) -> Iterator[str]:
    """Text with the colours and rules of a terminal, ``width`` columns wide: as wide as the terminal is."""
    from io import StringIO

    from rich.console import Console

    console = Console(
        file=StringIO(), force_terminal=True, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )
    for block in _blocks(explanation):
        with console.capture() as capture:
            _rich(console, block)
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


def summary(explanation: Explanation) -> str:
    """One sentence: of what all this was read."""
    among = f"{count(explanation.statements, 'statement')} of {count(explanation.files, 'file')}"
    publications = sum(len(unit.publications) for unit in explanation.units)
    if not publications:
        return f"No publication found in {among} (PostgreSQL {explanation.postgres})."
    tables = sum(len(published(unit)) for unit in explanation.units)
    return (
        f"{count(publications, 'publication')} of {count(tables, 'table')}, from {among}"
        f" (PostgreSQL {explanation.postgres})."
    )


def published(unit: UnitExplained) -> set[str]:
    """The tables that some publication sends."""
    return {name for publication in unit.publications for answer in publication.answers for name in answer.tables}


def _unit(unit: UnitExplained) -> Iterator[Block]:
    columns = {table.name: table.columns for table in unit.tables}
    for publication in unit.publications:
        yield from _publication(publication, columns)
    for subscription in unit.subscriptions:
        yield from _subscription(subscription)
    told = [finding for finding in unit.findings if finding.severity != "note"]
    if told:
        yield Heading(1, "Not in this explanation", "statements refused or not read; `pubcheck lint` says more")
        for finding in told[:10]:
            assumed = " (assumed)" if finding.certainty == "assumed" else ""
            place = f"{finding.path}:{finding.line}"
            yield Field(f"{finding.severity}{assumed}", f"{place}: {finding.message} [{finding.rule}]", "bad")
        if len(told) > 10:
            yield Paragraph(f"and {len(told) - 10} more", "quiet")


def what_it_names(publication: Publication) -> str:
    """The members of a publication in words."""
    if publication.kind == "all tables":
        return "all tables of the database, those of the future too"
    if publication.kind == "empty":
        return "nothing: it has no member"
    parts = []
    if publication.schemas:
        parts.append(f"all tables of schema {', '.join(publication.schemas)}, those of the future too")
    if "tables" in publication.kind.split():
        parts.append("tables by name")
    return " and ".join(parts)


def options(publication: Publication) -> str:
    """The publish option in words, and the others where they are not as by default."""
    upper = [operation.upper() for operation in publication.operations]
    missing = [name for name in ("INSERT", "UPDATE", "DELETE", "TRUNCATE") if name not in upper]
    text = ", ".join(upper) if upper else "nothing at all"
    if missing and upper:
        text += f" (not {', '.join(missing)})"
    return text


def _publication(given: Publication, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Block]:
    remark = what_it_names(given)
    if given.certainty == "assumed":
        remark += "; assumed: not all of it stands in the files read"
    yield Heading(1, f"Publication {given.name}", remark)
    yield Field("sends", options(given), "" if given.operations else "warn")
    if given.via_root:
        yield Field("partitions", "their changes arrive under the name of the partitioned table (via root)")
    if given.generated_columns == "stored":
        yield Field("generated", "stored generated columns are sent")
    if not given.answers:
        yield Field("tables", "none: a subscriber sees nothing", "warn")
    yield from _notes(given.notes)
    for lost in given.not_sent:
        yield Field("never sent", f"{tables_of(lost.tables)}: {REASONS.get(lost.reason, lost.reason)}", "warn")
    for answer in given.answers:
        yield from _answer(answer, given, columns)


NO_PARTITION = "none whose rows are sent: of this table only TRUNCATE is"

REASONS = {
    "unlogged": "unlogged, so nothing of it is in the log",
    "temporary": "temporary",
    "foreign": "foreign, its rows are elsewhere",
    "materialized view": "a materialized view",
    "sequence": "a sequence",
    "information_schema": "made by initdb",
}


def tables_of(names: Sequence[str], most: int = NAMED) -> str:
    """Names, and how many more."""
    shown = ", ".join(names[:most])
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def shortened(sql: str, most: int = 400) -> str:
    """SQL for reading: a long list of values is cut."""
    return sql if len(sql) <= most else f"{sql[:most]}… ({len(sql):,} characters)"


def rows_seen(answer: Answer) -> str:
    """Which rows a subscriber sees."""
    if answer.filter is None:
        return "all rows"
    return f"only rows for which this is true: {shortened(answer.filter.sql)}"


def columns_seen(answer: Answer, columns: Mapping[str, tuple[str, ...]]) -> str:
    """Which columns a subscriber sees; ``columns`` are each table's own."""
    if answer.columns is None:
        all_but = f"all but the generated {', '.join(answer.left_out)}" if answer.left_out else "all"
        if len(answer.tables) > 1:
            return all_but
        return f"{all_but}: {', '.join(name for name in columns[answer.tables[0]] if name not in answer.left_out)}"
    text = ", ".join(answer.columns)
    return f"{text} (not {', '.join(answer.left_out)})" if answer.left_out else text


def identity_of(answer: Answer) -> str:
    """The replica identity in words."""
    identity = answer.identity
    columns = f" ({', '.join(identity.columns)})" if identity.columns else ""
    return {
        "primary key": f"the primary key{columns}",
        "index": f"an index that was chosen{columns}",
        "full": "FULL: every column of the old row is logged",
        "nothing": "NOTHING: old rows cannot be told",
        "none": "none: the table has no key",
        "not visible": "not visible in the files read",
    }.get(identity.kind, identity.kind)


def arrives(answer: Answer) -> str:
    """The name that changes bear at the subscriber."""
    if answer.arrives_as is not None:
        return answer.arrives_as
    return "its own name" if len(answer.tables) == 1 else "their own names"


def handled(answer: Answer) -> Iterator[tuple[str, str]]:
    """Each operation, and what becomes of it; a filtered UPDATE that the publisher accepts has a table of its own."""
    filtered = answer.filter is not None
    refused = {each.operation for each in answer.refused if each.certainty == "certain"}
    doubted = {each.operation for each in answer.refused} - refused
    if "insert" in answer.operations:
        yield "INSERT", "sent if the new row matches" if filtered else "sent"
    if "update" in answer.operations and "update" in refused:
        yield "UPDATE", _NEVER_SENT
    elif "update" in answer.operations and not filtered:
        yield "UPDATE", f"sent{_UNLESS_REFUSED if 'update' in doubted else ''}"
    if "delete" in answer.operations and "delete" in refused:
        yield "DELETE", _NEVER_SENT
    elif "delete" in answer.operations:
        sent = "sent if the old row matches" if filtered else "sent"
        yield "DELETE", f"{sent}{_UNLESS_REFUSED if 'delete' in doubted else ''}"
    if "truncate" in answer.operations:
        if answer.truncate:
            yield "TRUNCATE", "always sent: no filter holds it back" if filtered else "sent"
        else:
            yield "TRUNCATE", f"sent if {answer.arrives_as} is truncated, not for the partition alone"


_NEVER_SENT = "refused by the publisher, so that none is sent"
_UNLESS_REFUSED = ", unless the publisher refuses it"


def copied(copy: InitialCopy | None, filter_: str | None) -> str:
    """Which rows the initial copy takes; ``filter_`` is the one that was told already."""
    if copy is None:
        return "nothing: no table of that name is asked for"
    if copy.filter is None:
        text = "all rows"
    elif copy.filter == filter_:
        text = "the rows that match"
    else:
        text = f"rows for which this is true: {shortened(copy.filter)}"
    if copy.table is not None:
        text += f", as those of {copy.table}"
    return text


def refusals(answer: Answer, publication: str) -> Iterator[tuple[str, str]]:
    """What the publisher refuses, and its detail or hint; UPDATE and DELETE that one cause has refused together."""
    found: dict[object, list[Refused]] = {}
    for refused in answer.refused:
        key = (refused.rule, refused.publications, refused.certainty)
        found.setdefault(key, []).append(refused)
    for causes in found.values():
        first = causes[0]
        verbs = " and ".join(refused.operation.upper() for refused in causes)
        assumed = " (assumed)" if first.certainty == "assumed" else ""
        others = "" if first.publications == (publication,) else f", because of {tables_of(first.publications)}"
        why = first.detail or first.hint or ""
        yield f"{verbs}, by the publisher{others}{assumed}", f"ERROR {first.sqlstate}: {why}"


def _answer(given: Answer, publication: Publication, columns: Mapping[str, tuple[str, ...]]) -> Iterator[Block]:
    number = f"{len(given.tables):,} tables" if len(given.tables) > 1 else ""
    assumed = "assumed" if given.certainty == "assumed" else ""
    yield Heading(2, tables_of(given.tables), ", ".join(filter(None, (number, assumed))))
    if given.operations != publication.operations:
        yield Field("partitions", NO_PARTITION, "warn")
    yield Field("rows", rows_seen(given), "code" if given.filter else "")
    if given.filter is not None:
        yield from _filter(given)
    for unused in given.unused_filters:
        yield Field("unused", f"the filter of {unused.of} does not count here: {shortened(unused.sql)}", "warn")
    yield Field("columns", columns_seen(given, columns))
    if given.arrives_as is not None:
        yield Field("arrives as", given.arrives_as, "name")
    if given.named is not None and given.named != given.arrives_as:
        yield Field("through", f"{given.named}, which the publication names", "quiet")
    yield Field("identity", identity_of(given), "bad" if given.refused else "")
    for what, why in refusals(given, publication.name):
        yield Field("refused", what, "bad")
        yield Field("", why, "quiet")
    for text in dict.fromkeys(refused.help for refused in given.refused if refused.help):
        yield Field("way out", text)
    for name, what in handled(given):
        yield Field(name, what)
    if given.changes:
        yield Grid(
            ("UPDATE of a row like", "to one like", "sends the subscriber"),
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
                for change in given.changes
            ),
        )
    yield from _copy(given.initial_copy, given.filter.sql if given.filter is not None else None)
    yield from _notes(given.notes)


def _copy(given: InitialCopy | None, filter_: str | None) -> Iterator[Block]:
    yield Field("initial copy", copied(given, filter_))
    for difference in given.differences if given is not None else ():
        yield Field("", difference.text, "warn")


_SENT: dict[str, Style] = {"nothing": "quiet", "INSERT": "good", "UPDATE": "name", "DELETE": "bad"}


def sent_as(outcome: str) -> str:
    return {"nothing": "nothing", "INSERT": "an INSERT", "UPDATE": "an UPDATE", "DELETE": "a DELETE"}[outcome]


def row_text(row: Row) -> str:
    """An example row: ``a = 6, c = 'NSW'``; a long value is cut."""
    return ", ".join(f"{value.column} = {_value(value.sql)}" for value in row)


def _value(sql: str, most: int = 42) -> str:
    return sql if len(sql) <= most else f"{sql[: most - 2]}…{sql[-1]}"


def _row(row: Row | None, matches: bool) -> str:
    kind = "match" if matches else "no match"
    return f"{kind}: {row_text(row)}" if row is not None else f"{kind} (none found)"


def _filter(given: Answer) -> Iterator[Block]:
    condition = given.filter
    assert condition is not None
    if condition.of not in given.tables:
        yield Field("filter of", condition.of)
    if condition.canonical is not None and condition.canonical != condition.sql:
        yield Field("that is", shortened(condition.canonical), "code")
    for example in given.examples:
        if example.result == "null":
            yield Field("NULL", f"not sent where the filter is NULL, as for {row_text(example.row)}", "warn")
        elif example.result == "error":
            yield Field("fails", f"decoding stops with {example.error} at a row like {row_text(example.row)}", "bad")
    for text in same(given):
        yield Field("the same", text)
    for text in widened(given):
        yield Field("widened by", text, "warn")
    if given.not_compared:
        yield Field("", f"{count(given.not_compared, 'more publication')} of it not compared", "quiet")


def same(given: Answer) -> Iterator[str]:
    """Publications with the same filter, and those whose filter means the same."""
    for identical, what in ((True, "the same filter"), (False, "a filter that means the same")):
        names = [one.publication for one in given.same_filter if one.identical == identical]
        if names:
            noun = "publication" if len(names) == 1 else "publications"
            yield f"{noun} {tables_of(names)} {'has' if len(names) == 1 else 'have'} {what}"


def widened(given: Answer) -> Iterator[str]:
    """Other publications that let more rows through, those without a filter together, and of the rest the first."""
    open_ = [one.publication for one in given.widened_by if one.filter is None]
    if open_:
        have = "has" if len(open_) == 1 else "have"
        yield f"{tables_of(open_)}, which {have} no filter: subscribed together, all rows are sent"
    filtered = [one for one in given.widened_by if one.filter is not None]
    for one in filtered[:NAMED]:
        yield f"{one.publication}: subscribed together, rows for which {shortened(one.filter or '')} are sent too"
    rest = [one.publication for one in filtered[NAMED:]]
    if rest:
        yield f"{tables_of(rest)}, which {'has a filter of its' if len(rest) == 1 else 'have filters of their'} own"


def _notes(notes: Sequence[Note]) -> Iterator[Block]:
    """What rules have to say; of many from one rule the first ones."""
    said: dict[str, int] = {}
    for note in notes:
        said[note.rule] = said.get(note.rule, 0) + 1
        if said[note.rule] <= NAMED:
            yield _note(note)
    for rule, number in said.items():
        if number > NAMED:
            yield Field("", f"and {number - NAMED} more of {rule}", "quiet")


def _note(note: Note) -> Field:
    assumed = " (assumed)" if note.certainty == "assumed" else ""
    style: Style = {"error": "bad", "warning": "warn", "note": ""}[note.severity]  # type: ignore[assignment]
    return Field(f"{note.severity}{assumed}", f"{note.message} [{note.rule}]", style)


def _subscription(given: Subscription) -> Iterator[Block]:
    yield Heading(1, f"One subscription to {', '.join(given.publications)}", "filters are ORed, operation by operation")
    for name in given.missing:
        yield Field("missing", f"publication {name} is not made here", "warn")
    for answer in given.answers:
        yield from _together(answer)


def filters_together(given: Together) -> dict[str, list[str]]:
    """What is sent, and for which operations."""
    found: dict[str, list[str]] = {}
    for sending in given.operations:
        if sending.operation != "truncate":
            text = (
                " OR ".join(f"({shortened(part.sql)})" for part in sending.filters) if sending.filters else "all rows"
            )
            found.setdefault(text, []).append(sending.operation.upper())
    return found


def _together(given: Together) -> Iterator[Block]:
    number = f"{len(given.tables):,} tables" if len(given.tables) > 1 else ""
    yield Heading(2, tables_of(given.tables), number)
    yield Field("from", ", ".join(given.publications))
    for text, operations in filters_together(given).items():
        yield Field("rows", f"{text} ({', '.join(operations)})", "" if text == "all rows" else "code")
    if given.columns is not None:
        yield Field("columns", ", ".join(given.columns))
    if given.arrives_as is not None:
        yield Field("arrives as", given.arrives_as, "name")
    if given.widened_by:
        yield Field("widened by", f"{', '.join(given.widened_by)}: without it some rows would be held back", "warn")
    if given.overruled:
        text = f"filters and lists of {', '.join(given.overruled)}: another publication publishes an ancestor"
        yield Field("overruled", text, "warn")
    if given.conflict is not None:
        yield Field("fails", given.conflict, "bad")
    else:
        yield from _copy(given.initial_copy, joined(given))


def joined(given: Together) -> str | None:
    """The filters as one condition, written as that of the initial copy is, where all operations have the same."""
    if len(filters_together(given)) != 1:
        return None
    parts = next((sending.filters for sending in given.operations if sending.filters), ())
    return parts[0].sql if len(parts) == 1 else " OR ".join(f"({part.sql})" for part in parts) or None


# --- Plain --------------------------------------------------------------------------------------------------------

_LABEL = 16


def _plain(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        text = escape(block.text)
        remark = f" ({escape(block.remark)})" if block.remark else ""
        if block.level == 2:
            yield f"  {text}{remark}\n"
        else:
            yield f"{text}{remark}\n"
            if block.level == 0:
                yield "=" * min(WIDTH, len_display(text)) + "\n"
    elif isinstance(block, Field):
        indent = " " * (4 + _LABEL)
        width = WIDTH - len(indent)
        lines = [part for line in block.text.split("\n") for part in _wrapped(escape(line), width)] or [""]
        yield f"    {block.label:<{_LABEL}}{lines[0]}\n"
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
    widths = [max(len_display(row[at]) for row in rows) for at in range(len(grid.header))]
    for row in rows:
        cells = [cell + " " * (width - len_display(cell)) for cell, width in zip(row, widths, strict=True)]
        yield f"      {'   '.join(cells)}".rstrip() + "\n"


# --- On a terminal ------------------------------------------------------------------------------------------------

_STYLES: dict[str, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "quiet": "dim",
    "code": "cyan",
    "name": "bold",
}


def _rich(console: Console, block: Block) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if isinstance(block, Heading):
        text = Text(escape(block.text), "bold" if block.level == 2 else "bold magenta")
        if block.remark:
            text.append(f"  {escape(block.remark)}", "dim not bold")
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
            *others, last = (escape(cell) for cell in cells)
            table.add_row(*(Text(cell) for cell in others), Text(last, _STYLES[style]))
        console.print(Padding(table, (0, 0, 0, 4)))
    else:
        console.print(Text(escape(block.text), _STYLES[block.style]))
