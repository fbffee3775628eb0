"""`pubcheck explain` for people: in plain text, or laid out by rich on a terminal.

Both write the same blocks; `_blocks` says what is in them and in which words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from pubcheck.explain.document import (
    Answer,
    Explanation,
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
    columns_seen,
    copied,
    filters_together,
    handled,
    identity_of,
    joined,
    options,
    refusals,
    row_text,
    rows_seen,
    same,
    sent_as,
    shortened,
    summary,
    tables_of,
    what_it_names,
    widened,
)
from pubcheck.explain.text_layout import Block, Field, Grid, Heading, Paragraph, Style, plain_lines, print_rich
from pubcheck.report import count


def render(explanation: Explanation) -> Iterator[str]:
    """Plain text in pieces."""
    begun = False
    for block in _blocks(explanation):
        if isinstance(block, Heading) and begun:
            yield "\n"
        yield from plain_lines(block)
        begun = True


def render_rich(explanation: Explanation, width: int | None = None) -> Iterator[str]:
    """Text with the colours and rules of a terminal, ``width`` columns wide: as wide as the terminal is."""
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


# --- Plain --------------------------------------------------------------------------------------------------------


# --- On a terminal ------------------------------------------------------------------------------------------------
