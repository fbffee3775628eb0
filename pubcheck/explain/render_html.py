"""`pubcheck explain --format html`: one page that needs nothing else, with a drawing and the same in words.

What it says is what the text report says, in the same words; `explain.css` and `explain.js` are written into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from pubcheck.explain import drawing
from pubcheck.explain.document import (
    Answer,
    Change,
    Condition,
    Explanation,
    InitialCopy,
    Note,
    Publication,
    Row,
    Subscription,
    Table,
    Together,
    UnitExplained,
)
from pubcheck.explain.phrases import (
    arrives,
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
    summary,
    tables_of,
    what_it_names,
    widened,
)
from pubcheck.explain.render_text import NO_PARTITION, REASONS
from pubcheck.html import page
from pubcheck.report import count

OPEN = 12
"""Publications up to which all sections begin open."""
LONG = 400
"""Characters of SQL up to which it is shown whole at once."""
SHOWN = 6
"""Tables that a group names before the rest is folded away."""


def render(explanation: Explanation) -> Iterator[str]:
    """The page in pieces."""
    yield from _head(explanation)
    for number, unit in enumerate(explanation.units):
        yield from _unit(unit, number, several=len(explanation.units) > 1)
    yield f"</main>\n<footer><p>{escape(summary(explanation))} Made by pubcheck {explanation.pubcheck}.</p></footer>\n"
    yield page.end("explain.js")


def _head(explanation: Explanation) -> Iterator[str]:
    paths = [path for unit in explanation.units for path in unit.paths]
    of = tables_of(paths, 2) or "nothing"
    yield page.head(f"What subscribers see: {escape(of)}", "explain.css")
    yield (
        '<a class="skip" href="#main">Skip to the explanation</a>\n<header class="top"><div>'
        f"<h1>What subscribers see</h1><p>{escape(of)} · PostgreSQL {explanation.postgres}</p></div>"
        '<div class="tools" hidden><label for="find">Find</label>'
        '<input id="find" type="search" placeholder="a table, publication or column" autocomplete="off">'
        '<span id="found" role="status" aria-live="polite"></span>'
        '<button type="button" id="open">Open all</button>'
        '<button type="button" id="theme">Dark</button></div></header>\n<main id="main">\n'
    )


def _unit(unit: UnitExplained, number: int, *, several: bool) -> Iterator[str]:
    yield f'<section class="unit" aria-label="{escape(tables_of(unit.paths, 1))}">\n'
    if several:
        yield f'<h2 class="path">{escape(tables_of(unit.paths, 2))}</h2>\n'
    if not unit.publications:
        yield '<p class="none">No publication is made here.</p>\n'
    picture = drawing.draw(unit, number)
    if picture:
        yield f'<figure class="scroll" tabindex="0" aria-label="Drawing">{picture}</figure>\n{_LEGEND}'
    if len(unit.publications) > OPEN:
        yield _contents(unit.publications, number)
    page = _Page({table.name: table for table in unit.tables}, number)
    for at, publication in enumerate(unit.publications):
        yield from page.publication(publication, at, opened=len(unit.publications) <= OPEN)
    for subscription in unit.subscriptions:
        yield from _subscription(subscription)
    told = [finding for finding in unit.findings if finding.severity != "note"]
    if told:
        yield '<section class="told"><h2>Not in this explanation</h2><ul>'
        for finding in told[:50]:
            place = f"{finding.path}:{finding.line}"
            yield (
                f'<li><span class="tag bad">{finding.severity}</span> <code>{escape(place)}</code> '
                f'{escape(finding.message)} <span class="rule">{finding.rule}</span></li>'
            )
        yield "</ul></section>\n"
    yield "</section>\n"


_LEGEND = (
    '<p class="legend"><span><i class="wide"></i> every row</span><span><i class="thin"></i> rows that match the filter'
    "</span><span><b>I</b><b>U</b><b>D</b><b>T</b> INSERT, UPDATE, DELETE, TRUNCATE</span>"
    "<span><em>✕</em> refused by the publisher</span>"
    "<span>A line begins at the name under which changes arrive.</span></p>\n"
)


def _contents(publications: Sequence[Publication], unit: int) -> str:
    items = "".join(
        f'<li><a href="#{drawing.anchor(unit, at)}">{escape(row.name)}</a></li>' for at, row in enumerate(publications)
    )
    return (
        f'<details class="contents"><summary>{len(publications):,} publications by name</summary>'
        f"<ul>{items}</ul></details>\n"
    )


class _Page:
    """The sections of a unit; remembers the lists of tables that it has written, for they can be long."""

    def __init__(self, tables: dict[str, Table], unit: int) -> None:
        self.tables, self.unit = tables, unit
        self.lists: dict[tuple[str, ...], str] = {}

    def publication(self, given: Publication, at: int, *, opened: bool) -> Iterator[str]:
        name = drawing.anchor(self.unit, at)
        hue = drawing.hue(at)
        yield (
            f'<details class="publication" id="{name}" style="--h:{hue}"{" open" if opened else ""}>'
            f"<summary><h2>{escape(given.name)}</h2>{_operations(given.operations)}"
            f'<span class="what">{escape(what_it_names(given))}</span>{_flags(given)}</summary>\n<div class="inside">'
        )
        lines = [f"Sends {escape(options(given))}."]
        if given.via_root:
            lines.append("Changes of partitions arrive under the name of the partitioned table.")
        if given.generated_columns == "stored":
            lines.append("Stored generated columns are sent.")
        if given.certainty == "assumed":
            lines.append("Assumed: not all that this rests on stands in the files read.")
        if given.path is not None:
            lines.append(f'<span class="place">{escape(given.path)}:{given.line}</span>')
        yield f'<p class="lead">{" ".join(lines)}</p>\n'
        if not given.answers:
            yield '<p class="warn box">It sends no table: a subscriber sees nothing.</p>\n'
        yield _notes(given.notes)
        for lost in given.not_sent:
            why = escape(REASONS.get(lost.reason, lost.reason))
            yield f'<p class="warn box">Never sent, {why}: {self._names(lost.tables)}</p>\n'
        for number, answer in enumerate(given.answers):
            yield from self._answer(answer, f"{name}-a{number}", given)
        yield "</div></details>\n"

    def _names(self, names: Sequence[str]) -> str:
        """All names, those after the first few folded away; a list that stands elsewhere is only linked."""
        shown = ", ".join(f"<code>{escape(name)}</code>" for name in names[:SHOWN])
        rest = tuple(names[SHOWN:])
        if not rest:
            return shown
        known = self.lists.get(rest)
        if known is not None:
            return f'{shown} and <a class="list" href="#{known}">{len(rest):,} more, listed before</a>'
        name = self.lists[rest] = f"u{self.unit}-list{len(self.lists)}"
        return (
            f'{shown} <details class="more" id="{name}"><summary>and {len(rest):,} more</summary>'
            f"<p>{escape(', '.join(rest))}</p></details>"
        )

    def _answer(self, given: Answer, name: str, publication: Publication) -> Iterator[str]:
        state = " refused" if given.refused else ""
        number = f' <span class="count">{len(given.tables):,} tables</span>' if len(given.tables) > 1 else ""
        assumed = ' <span class="tag warn">assumed</span>' if given.certainty == "assumed" else ""
        title = tables_of(given.tables, 1)
        yield (
            f'<article class="answer{state}" id="{name}" aria-labelledby="{name}h">'
            f'<h3 id="{name}h">{escape(title)}{number}{assumed}</h3>\n'
        )
        if len(given.tables) > 1:
            yield f'<p class="names">{self._names(given.tables)}</p>\n'
        yield "<dl>"
        for term, text in self._facts(given):
            yield f"<dt>{term}</dt><dd>{text}</dd>"
        yield "</dl>\n"
        for what, why in refusals(given, publication.name):
            yield (f'<div class="bad box"><p><strong>Refused: {escape(what)}.</strong></p><p>{escape(why)}</p></div>\n')
        for text in dict.fromkeys(refused.help for refused in given.refused if refused.help):
            yield f'<p class="help"><strong>Way out:</strong> {escape(text)}</p>\n'
        if given.changes:
            yield _matrix(given.changes)
        yield _notes(given.notes)
        yield "</article>\n"

    def _facts(self, given: Answer) -> Iterator[tuple[str, str]]:
        if self.tables[given.tables[0]].kind == "partitioned":
            yield "Partitions", NO_PARTITION
        if given.filter is None:
            yield "Rows", escape(rows_seen(given))
        else:
            yield from _filtered(given, given.filter)
        for unused in given.unused_filters:
            yield "Unused", f"the filter of <code>{escape(unused.of)}</code> does not count here: {_sql(unused.sql)}"
        yield "Columns", self._columns(given)
        if given.arrives_as is not None:
            yield "Arrives as", f'<code class="big">{escape(given.arrives_as)}</code>'
        elif len(given.tables) > 1:
            yield "Arrives as", escape(arrives(given))
        if given.named is not None and given.named != given.arrives_as:
            yield "Through", f"<code>{escape(given.named)}</code>, which the publication names"
        yield "Identity", escape(identity_of(given))
        items = "".join(f"<li><b>{name}</b> {escape(what)}</li>" for name, what in handled(given))
        yield "Changes", f'<ul class="plain">{items}</ul>' if items else "none"
        yield "Initial copy", _copy(given.initial_copy, given.filter.sql if given.filter is not None else None)

    def _columns(self, given: Answer) -> str:
        if len(given.tables) > 1 and given.columns is None:
            out = f", but the generated {', '.join(given.left_out)}" if given.left_out else ""
            return escape(f"all{out}")
        keys = set(given.identity.columns)
        made = []
        for name in self.tables[given.tables[0]].columns:
            if name in given.left_out:
                made.append(f'<s class="chip out" title="not sent">{escape(name)}</s>')
            elif name in keys:
                made.append(f'<span class="chip key" title="in the replica identity">{escape(name)}</span>')
            else:
                made.append(f'<span class="chip">{escape(name)}</span>')
        return f'<span class="chips">{"".join(made)}</span>'


def _operations(operations: Sequence[str]) -> str:
    made = []
    for name in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
        on = name.lower() in operations
        said = name if on else f"{name} is not published"
        made.append(f'<abbr class="op {"on" if on else "off"}" title="{said}" aria-label="{said}">{name[0]}</abbr>')
    return f'<span class="ops">{"".join(made)}</span>'


def _flags(given: Publication) -> str:
    """What a closed section has inside that one would want to open it for."""
    filters = sum(answer.filter is not None for answer in given.answers)
    refused = sum(len(answer.tables) for answer in given.answers if answer.refused)
    warnings = sum(note.severity != "note" for answer in given.answers for note in answer.notes)
    warnings += sum(note.severity != "note" for note in given.notes)
    flags = [f'<span class="count">{count(given.tables, "table")}</span>']
    if filters:
        flags.append(f'<span class="tag code">{filters} filtered</span>')
    if refused:
        flags.append(f'<span class="tag bad">{refused:,} refused</span>')
    if warnings:
        flags.append(f'<span class="tag warn">{count(warnings, "warning", "d")}</span>')
    return f'<span class="flags">{"".join(flags)}</span>'


def _sql(text: str) -> str:
    if len(text) > LONG:
        return (
            f'<details class="more"><summary><code class="sql">{escape(text[:LONG])}…</code></summary>'
            f"<p><code>{escape(text)}</code></p></details>"
        )
    return f'<code class="sql">{escape(text)}</code>'


def _filtered(given: Answer, condition: Condition) -> Iterator[tuple[str, str]]:
    of = "" if condition.of in given.tables else f' <span class="quiet">the filter of {escape(condition.of)}</span>'
    yield "Rows", f"only where {_sql(condition.sql)}{of}"
    if condition.canonical is not None and condition.canonical != condition.sql:
        yield "That is", _sql(condition.canonical)
    for example in given.examples:
        if example.result == "null":
            yield "NULL", f"not sent where the filter is NULL, as for {_row(example.row)}"
        elif example.result == "error":
            error = escape(example.error or "an error")
            yield "Fails", f'<span class="bad">decoding stops with {error}</span> at a row like {_row(example.row)}'
    for text in same(given):
        yield "The same", escape(text)
    for text in widened(given):
        yield "Widened by", escape(text)
    if given.not_compared:
        yield "And", f"{count(given.not_compared, 'more publication')} of it not compared"


def _row(row: Row) -> str:
    return f'<code class="row">{escape(row_text(row))}</code>'


def _copy(given: InitialCopy | None, filter_: str | None) -> str:
    made = escape(copied(given, filter_))
    if given is not None and given.differences:
        items = "".join(f'<li class="warned">{escape(difference.text)}</li>' for difference in given.differences)
        made += f'<ul class="plain">{items}</ul>'
    return made


_SIGNS = {"nothing": "∅", "INSERT": "+", "UPDATE": "~", "DELETE": "−"}


def _matrix(changes: Sequence[Change]) -> str:
    """The old/new-row table as a square: old rows from top to bottom, new ones from left to right."""
    cells = {(change.old_matches, change.new_matches): change for change in changes}
    rows = []
    for old in (False, True):
        label = "matches" if old else "does not match"
        made = "".join(_cell(cells[old, new]) for new in (False, True))
        rows.append(f'<tr><th scope="row"><span>old row</span> {label}</th>{made}</tr>')
    return (
        '<table class="matrix"><caption>What an UPDATE is sent as</caption><thead><tr><td></td>'
        '<th scope="col"><span>new row</span> does not match</th><th scope="col"><span>new row</span> matches</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>\n"
    )


def _cell(change: Change) -> str:
    if change.old is None or change.new is None:
        example = f'<span class="quiet">{escape(change.why or "no such row was found")}</span>'
    elif change.old == change.new and change.why:
        example = f'{_row(change.old)} <span class="quiet">({escape(change.why)})</span>'
    else:
        example = f'{_row(change.old)} <span class="to" aria-label="becomes">→</span> {_row(change.new)}'
    return (
        f'<td class="{change.sent.lower()}"><span class="sign" aria-hidden="true">{_SIGNS[change.sent]}</span>'
        f"<strong>{change.sent}</strong><div>{example}</div></td>"
    )


def _notes(notes: Sequence[Note]) -> str:
    """What loses or leaks data in sight, what could go wrong with any publication folded away."""
    loud = "".join(_note(note) for note in notes if note.severity != "note")
    quiet = [_note(note) for note in notes if note.severity == "note"]
    made = f'<ul class="notes">{loud}</ul>\n' if loud else ""
    if quiet:
        label = "1 note" if len(quiet) == 1 else f"{len(quiet)} notes"
        made += (
            f'<details class="notes"><summary>{label} on what happens without an error</summary>'
            f"<ul>{''.join(quiet)}</ul></details>\n"
        )
    return made


def _note(note: Note) -> str:
    style = {"error": "bad", "warning": "warn"}.get(note.severity, "quiet")
    assumed = " (assumed)" if note.certainty == "assumed" else ""
    help_text = f'<div class="help">{escape(note.help)}</div>' if note.help else ""
    return (
        f'<li><span class="tag {style}">{note.severity}{assumed}</span> {escape(note.message)} '
        f'<span class="rule">{note.rule}</span>{help_text}</li>'
    )


def _subscription(given: Subscription) -> Iterator[str]:
    yield (
        '<details class="publication together" open><summary><h2>Subscribed together: '
        f'{escape(", ".join(given.publications))}</h2></summary><div class="inside">'
        '<p class="lead">One subscription to all of these: their filters are ORed, operation by operation.</p>\n'
    )
    for name in given.missing:
        yield f'<p class="warn box">Publication {escape(name)} is not made here.</p>\n'
    for answer in given.answers:
        yield from _together(answer)
    yield "</div></details>\n"


def _together(given: Together) -> Iterator[str]:
    number = f' <span class="count">{len(given.tables):,} tables</span>' if len(given.tables) > 1 else ""
    yield f'<article class="answer"><h3>{escape(tables_of(given.tables, 1))}{number}</h3><dl>'
    yield f"<dt>From</dt><dd>{escape(', '.join(given.publications))}</dd>"
    for text, operations in filters_together(given).items():
        what = "all rows" if text == "all rows" else f"only where {_sql(text)}"
        yield f"<dt>{escape(', '.join(operations))}</dt><dd>{what}</dd>"
    if given.columns is not None:
        yield f"<dt>Columns</dt><dd>{escape(', '.join(given.columns))}</dd>"
    if given.arrives_as is not None:
        yield f'<dt>Arrives as</dt><dd><code class="big">{escape(given.arrives_as)}</code></dd>'
    if given.widened_by:
        text = f"{', '.join(given.widened_by)}: without it some rows would be held back"
        yield f"<dt>Widened by</dt><dd>{escape(text)}</dd>"
    if given.overruled:
        text = f"filters and lists of {', '.join(given.overruled)}: another publication publishes an ancestor"
        yield f"<dt>Overruled</dt><dd>{escape(text)}</dd>"
    if given.conflict is None:
        yield f"<dt>Initial copy</dt><dd>{_copy(given.initial_copy, joined(given))}</dd>"
    yield "</dl>"
    if given.conflict is not None:
        yield f'<p class="bad box"><strong>Decoding stops:</strong> ERROR: {escape(given.conflict)}</p>'
    yield "</article>\n"
