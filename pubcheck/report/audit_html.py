"""The report of an audit: one page that needs nothing else, with plots and the same in tables.

The pages of the rules that spoke stand in it. `explain.css`, which is the house's style, `audit.css` and `audit.js` are
written into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as quoted

from markdown_it import MarkdownIt

from pubcheck import rulebook
from pubcheck.diagnostics import SEVERITIES
from pubcheck.html import page
from pubcheck.report import audit_plots as plots
from pubcheck.report import count
from pubcheck.report.audit_document import Audit, Change, Ends, Features, Repository, Rule
from pubcheck.report.audit_plots import Bar, Part
from pubcheck.report.text import escape

SHOWN = 20
"""Bars of a plot; the tables beside them go on."""
_ROWS, _COLUMNS = 15, 12
"""Of the matrix of repositories and rules."""

REASONS = {
    "unreadable": "the file could not be opened or read",
    "not-text": "the file holds what no SQL file holds, or is in an unknown encoding",
    "too-large": "over --max-file-size, or the unit over --max-unit-size",
    "duplicate": "the path stands twice in its repository; the first one counts",
    "not-postgresql": "most of its statements are for another database system",
    "time-out": "not done within --unit-timeout",
    "memory": "needed more than --unit-memory",
    "crashed": "the process that linted it died",
    "internal-error": "a bug in pubcheck, please report it; the trace stands in the table quarantine",
}

_ENDS = (Part("linted", "fine"), Part("nothing to lint", "line"), Part("quarantined", "warning"))
_SEVERITIES = tuple(Part(f"{severity}s", severity) for severity in reversed(SEVERITIES))
_CERTAINTY = {severity: (Part("certain", severity), Part("assumed", severity, 0.4)) for severity in SEVERITIES}
_VERDICTS = (
    Part("sent", "fine"),
    Part("filtered", "blue"),
    Part("refused", "error"),
    Part("unknown", "line"),
)


def render(audit: Audit) -> Iterator[str]:
    """The page in pieces."""
    yield from _head(audit)
    yield _cards(audit)
    yield from _ends(audit)
    yield from _findings(audit)
    if audit.change is not None:
        yield from _change(audit.change)
    if len(audit.history) > 2:
        yield from _history(audit)
    yield from _repositories(audit)
    yield from _features(audit.features)
    yield from _quarantine(audit)
    yield from _slowest(audit)
    yield from _pages(audit.rules)
    yield (
        f"</main>\n<footer><p>Made by pubcheck {_text(audit.pubcheck)} with Spark {_text(audit.spark)}"
        f" in {audit.seconds:,.1f} seconds.</p></footer>\n"
    )
    yield page.end("audit.js")


def _text(given: str) -> str:
    """Text of unknown origin: nothing in it is obeyed, by the page or by what reads it from left to right."""
    return quoted(escape(given))


def _head(audit: Audit) -> Iterator[str]:
    majors = f" · PostgreSQL {', '.join(map(str, audit.postgres))}" if audit.postgres else ""
    yield page.head(f"Audit of {_text(audit.input)}", "explain.css", "audit.css")
    yield (
        '<a class="skip" href="#main">Skip to the report</a>\n<header class="top"><div>'
        f"<h1>Audit of {_text(audit.input)}</h1>"
        f"<p>run {_text(audit.run)} · {_text(audit.started)} · pubcheck {_text(audit.pubcheck)}{majors}</p></div>"
        '<div class="tools" hidden><label for="find">Find</label>'
        '<input id="find" type="search" placeholder="a rule, a repository" autocomplete="off">'
        '<span id="found" role="status" aria-live="polite"></span>'
        '<button type="button" id="theme">Dark</button></div></header>\n<main id="main">\n'
    )


def _cards(audit: Audit) -> str:
    before = next((past for past in audit.history if audit.change and past.run == audit.change.run), None)
    publications = audit.features.publications
    made = [
        _card("Repositories", audit.repositories, ""),
        _card("Databases", audit.units.all, f"{audit.units.linted:,} linted"),
        _card("Statements", audit.statements, f"{count(audit.files.all, 'file')}, {_size(audit.bytes)}"),
        _card("Publications", publications, f"in {audit.features.repositories:,} repositories"),
    ]
    for severity in reversed(SEVERITIES):
        note = ""
        if before is not None:
            difference = audit.severities[severity] - int(getattr(before, f"{severity}s"))
            note = f"{difference:+,} since {_text(before.run)}".replace("-", "−", 1) if difference else "as before"
        made.append(_card(f"{severity.capitalize()}s", audit.severities[severity], note, severity))
    return f'<ul class="cards">{"".join(made)}</ul>\n'


def _card(what: str, count: int, note: str, style: str = "") -> str:
    return f'<li class="card {style}"><b>{count:,}</b><span>{what}</span><small>{note}</small></li>'


def _size(count: float) -> str:
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:,.0f} {units[0]}" if units[0] == "bytes" or count >= 100 else f"{count:,.1f} {units[0]}"


# --- Sections ---------------------------------------------------------------------------------------------------------


def _section(name: str, title: str, lead: str, *inside: str) -> Iterator[str]:
    yield f'<section class="part" id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{title}</h2>\n'
    if lead:
        yield f'<p class="lead">{lead}</p>\n'
    yield from inside
    yield "</section>\n"


def _figure(drawing: str, parts: Sequence[Part] = ()) -> str:
    legend = "".join(
        f'<span><i style="background: var(--{part.color}); opacity: {part.alpha}"></i>{part.name}</span>'
        for part in parts
    )
    return (
        f'<figure class="figure"><div class="scroll" tabindex="0">{drawing}</div>'
        f"{f'<figcaption>{legend}</figcaption>' if legend else ''}</figure>\n"
    )


def _table(name: str, caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; a head that begins with # is of numbers. Cells are HTML."""
    kinds = ["n" if head.startswith("#") else "" for head in heads]
    head = "".join(
        f'<th scope="col" class="{kind}">{title.removeprefix("#")}</th>'
        for title, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, kind, at) for at, (cell, kind) in enumerate(zip(row, kinds, strict=True)))}</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll wide" tabindex="0"><table class="data" id="{name}"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n"
    )


def _cell(text: str, kind: str, place: int) -> str:
    if place == 0:
        return f'<th scope="row">{text}</th>'
    return f'<td class="{kind}">{text}</td>'


def _number(count: int) -> str:
    return f"{count:,}" if count else '<span class="quiet">0</span>'


def _code(text: str) -> str:
    return f"<code><bdi>{_text(text)}</bdi></code>"


def _href(code: str) -> str | None:
    """The place of a rule's page, unless it is a rule of another version."""
    return f"#{code}" if code in rulebook.RULES else None


def _link(code: str) -> str:
    href = _href(code)
    return f'<a href="{href}">{_text(code)}</a>' if href is not None else _text(code)


def _ends(audit: Audit) -> Iterator[str]:
    carried = (
        f" {count(audit.carried, 'unit')} unchanged since the previous run, copied from it." if audit.carried else ""
    )

    def row(label: str, ends: Ends) -> Bar:
        return Bar(label, (ends.linted, ends.nothing_to_lint, ends.quarantined))

    rows = [row("units", audit.units), row("files", audit.files)]
    drawing = plots.shares("Results for units and files, in percent", _ENDS, rows)
    heads = ("", *(f"#{part.name}" for part in _ENDS), "#all")
    table = _table(
        "ends",
        "Every unit and every file ends as one of these",
        heads,
        [[bar.label, *map(_number, bar.counts), _number(sum(bar.counts))] for bar in rows],
    )
    lead = f"Repositories without a publication have nothing to lint; neither do files that belong to no unit.{carried}"
    yield from _section("coverage", "What was looked at", lead, _figure(drawing, _ENDS), table)


def _findings(audit: Audit) -> Iterator[str]:
    if not audit.rules:
        yield from _section("findings", "Findings", "Nothing was found.")
        return
    parts: list[str] = []
    for severity in reversed(SEVERITIES):
        rules = [rule for rule in audit.rules if rule.severity == severity]
        if rules:
            bars = [Bar(f"{each.code} {each.name}", (each.certain, each.assumed), _href(each.code)) for each in rules]
            title = f"{severity.capitalize()}s by rule"
            if len(rules) > SHOWN:
                title += f", the first {SHOWN} of {len(rules)}"
            drawing = plots.bars(title, _CERTAINTY[severity], bars[:SHOWN])
            parts.append(f"<h3>{title}</h3>" + _figure(drawing, _CERTAINTY[severity]))
    heads = ("Rule", "Name", "Severity", "Phase", "#Certain", "#Assumed", "#Repositories", "For example")
    rows = [
        [
            _link(rule.code),
            f'<span class="name">{_text(rule.name)}</span>',
            _tag(rule.severity),
            f'<span class="name">{_text(rule.phase)}</span>',
            _number(rule.certain),
            _number(rule.assumed),
            _number(rule.repositories),
            _example(rule),
        ]
        for rule in audit.rules
    ]
    total = sum(rule.count for rule in audit.rules)
    lead = (
        f"{count(total, 'finding')} of {count(len({rule.code for rule in audit.rules}), 'rule')}."
        " What rests on something that was not seen is assumed."
    )
    yield from _section("findings", "Findings", lead, *parts, _table("rules", "Findings by rule", heads, rows))


def _tag(severity: str) -> str:
    return f'<span class="tag {quoted(severity)}">{_text(severity)}</span>'


def _example(rule: Rule) -> str:
    place = _code(f"{rule.path}:{rule.line}") if rule.path is not None else ""
    message = rule.message if len(rule.message) <= 200 else rule.message[:199] + "…"
    return f"<bdi>{_text(message)}</bdi><br>{place}"


def _change(change: Change) -> Iterator[str]:
    shown = [rule for rule in change.rules if rule.new or rule.gone]
    shown.sort(key=lambda rule: (-rule.new - rule.gone, rule.code))
    new, gone, same = (sum(getattr(rule, what) for rule in change.rules) for what in ("new", "gone", "same"))
    lead = (
        f"Held against run {_text(change.run)}, finished {_text(change.finished)}:"
        f' <b class="new">{new:,} new</b>, <b class="gone-from">{gone:,} gone</b>, {same:,} the same.'
        f" {count(change.repositories_new, 'repository').replace('repositorys', 'repositories')} came,"
        f" {change.repositories_gone:,} went."
    )
    if not change.alike:
        lead += (
            ' <span class="tag warn">not the same yardstick</span> pubcheck, its rules or the configuration changed'
            " between the runs."
        )
    if change.input is not None:
        lead += f' <span class="tag warn">not the same input</span> That run was of {_text(change.input)}.'
    parts = []
    if shown:
        bars = [Bar(f"{rule.code} {_name(rule.code)}", (rule.gone, rule.new), _href(rule.code)) for rule in shown]
        drawing = plots.differences("Findings gone and new, by rule", bars[:SHOWN])
        parts.append(_figure(drawing, (Part("gone", "fine"), Part("new", "error"))))
    heads = ("Rule", "Name", "#New", "#Gone", "#The same")
    rows = [
        [_link(rule.code), _text(_name(rule.code)), _number(rule.new), _number(rule.gone), _number(rule.same)]
        for rule in [*shown, *(rule for rule in change.rules if not rule.new and not rule.gone)]
    ]
    if rows:
        parts.append(_table("changes", "Findings by fingerprint: lines may have moved", heads, rows))
    yield from _section("change", "Since the run before", lead, *parts)


def _name(code: str) -> str:
    rule = rulebook.RULES.get(code)
    return rule.name if rule is not None else ""


def _history(audit: Audit) -> Iterator[str]:
    steps = [(past.run, (past.errors, past.warnings, past.notes)) for past in audit.history]
    drawing = plots.lines("Findings run by run", _SEVERITIES, steps)
    rows = [
        [_text(past.run), *map(_number, (past.units, past.errors, past.warnings, past.notes))]
        for past in reversed(audit.history)
    ]
    heads = ("Run", "#Databases", "#Errors", "#Warnings", "#Notes")
    table = _table("runs", "The last runs, the newest first", heads, rows)
    yield from _section("history", "Run by run", "", _figure(drawing, _SEVERITIES), table)


def _repositories(audit: Audit) -> Iterator[str]:
    if not audit.worst:
        return
    codes = [rule.code for rule in audit.rules if any(rule.code in each.rules for each in audit.worst[:_ROWS])]
    columns = [(code, _href(code)) for code in dict.fromkeys(codes)][:_COLUMNS]
    rows = [Bar(each.name, tuple(each.rules.get(code, 0) for code, _ in columns)) for each in audit.worst[:_ROWS]]
    drawing = plots.matrix("Findings of the worst repositories, by rule", columns, rows)
    spread = [Bar(name, (count,)) for name, count in audit.spread.items()]
    classes = plots.bars(
        "Repositories by how many errors and warnings they have",
        (Part("repositories", "blue"),),
        spread,
        whole=audit.repositories,
    )
    heads = ("Repository", "#Databases", "#Errors", "#Warnings", "#Notes", "Rules")
    table = _table("worst", f"The worst {len(audit.worst):,}", heads, [_row(each) for each in audit.worst])
    yield from _section(
        "repositories",
        "Repositories",
        "How many errors and warnings they have, and the worst of them by rule.",
        f"<h3>Errors and warnings in a repository</h3>{_figure(classes)}",
        f"<h3>The worst, by rule</h3>{_figure(drawing)}",
        table,
    )


def _row(given: Repository) -> list[str]:
    often = sorted(given.rules.items(), key=lambda item: (-item[1], item[0]))
    rules = ", ".join(f"{_link(code)} {count:,}" for code, count in often[:5])
    more = f" and {len(often) - 5} more" if len(often) > 5 else ""
    numbers = map(_number, (given.units, given.errors, given.warnings, given.notes))
    return [_code(given.name), *numbers, f"{rules}{more}"]


def _features(features: Features) -> Iterator[str]:
    if not features.publications:
        yield from _section("publications", "Publications", "There is none.")
        return
    used = sorted(features.used.items(), key=lambda item: (-item[1].publications, item[0]))
    bars = [Bar(name, (share.publications,)) for name, share in used if share.publications]
    drawing = plots.bars(
        "Publications by what they use", (Part("publications", "blue"),), bars, whole=features.publications
    )
    verdicts = [
        Bar(operation.upper(), tuple(counts.get(part.name, 0) for part in _VERDICTS))
        for operation, counts in features.verdicts.items()
    ]
    fates = plots.shares("What becomes of each operation on a published table, in percent", _VERDICTS, verdicts)
    rows = [
        [
            _text(name),
            _number(share.publications),
            f"{share.publications / features.publications:.1%}",
            _number(share.repositories),
        ]
        for name, share in used
    ]
    heads = ("Feature", "#Publications", "#Share", "#Repositories")
    operations = _table(
        "operations",
        "Each publication, table and operation",
        ("Operation", *(f"#{part.name}" for part in _VERDICTS)),
        [[bar.label, *map(_number, bar.counts)] for bar in verdicts],
    )
    lead = (
        f"{count(features.publications, 'publication')} with {count(features.tables, 'table')}"
        f" in {features.repositories:,} repositories."
    )
    yield from _section(
        "publications",
        "Publications",
        lead,
        f"<h3>What they use</h3>{_figure(drawing)}",
        _table("features", "Features in use", heads, rows),
        f"<h3>What the publisher does</h3>{_figure(fates, _VERDICTS)}",
        operations,
    )


def _quarantine(audit: Audit) -> Iterator[str]:
    if not audit.quarantine:
        yield from _section("quarantine", "Quarantine", "Nothing was quarantined.")
        return
    rows = [
        [
            _text(each.reason),
            _text(REASONS.get(each.reason, "")),
            _number(each.units),
            _number(each.files),
            f"{_code(each.example)}<br><bdi>{_text(each.detail[:200])}</bdi>",
        ]
        for each in audit.quarantine
    ]
    heads = ("Reason", "Which means", "#Databases", "#Files", "For example")
    table = _table("reasons", "Databases, and files that alone are quarantined", heads, rows)
    parts = (Part("units", "warning"), Part("files", "line"))
    bars = [Bar(each.reason, (each.units, each.files)) for each in audit.quarantine]
    drawing = plots.bars("Quarantined, by reason", parts, bars)
    lead = "What is here was not judged, or not wholly; the rest is not touched by it."
    yield from _section("quarantine", "Quarantine", lead, _figure(drawing, parts), table)


def _slowest(audit: Audit) -> Iterator[str]:
    if not audit.slowest:
        return
    rows = [
        [_code(each.unit), f"{each.seconds:,.3f}", f"{each.statements:,}", _size(each.bytes)] for each in audit.slowest
    ]
    heads = ("Database", "#Seconds", "#Statements", "#Size")
    yield from _section("slowest", "What took longest", "", _table("slow", "Linted in this run", heads, rows))


def _pages(rules: Sequence[Rule]) -> Iterator[str]:
    codes = sorted({rule.code for rule in rules if rule.code in rulebook.RULES})
    if not codes:
        return
    yield '<section class="part" id="pages" aria-labelledby="pages-h"><h2 id="pages-h">The rules</h2>\n'
    yield '<p class="lead">The pages of the rules that spoke, as <code>pubcheck rule CODE</code> shows them.</p>\n'
    markdown = MarkdownIt("commonmark", {"html": False})
    for code in codes:
        rule = rulebook.RULES[code]
        _, _, page = rulebook.page(code).partition("\n---\n")
        _, _, body = page.strip().partition("\n")  # after the title
        text = str(markdown.render(body)).replace("<h3>", "<h4>").replace("</h3>", "</h4>")
        text = text.replace("<h2>", "<h3>").replace("</h2>", "</h3>").replace("<a href", '<a rel="noreferrer" href')
        yield (
            f'<details class="page" id="{code}"><summary><b>{code}</b> {quoted(rule.name)} {_tag(rule.severity)}'
            f"</summary>\n{text}</details>\n"
        )
    yield "</section>\n"
