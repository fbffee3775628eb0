"""Turn fixes into edits of a source: rewrite a statement, append one at the end, or insert one before another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pubcheck.diagnostics import Applicability, Edit, Fix, Span, StatementRef
from pubcheck.source import Source, utf8

if TYPE_CHECKING:
    from pubcheck.checks.remedies.statement_fixes import StatementFix
    from pubcheck.statement_index import Statements, StatementText

_TERMINATOR = r"[ \t\r\n]*;[ \t]*(?:\r\n?|\n)?"


def as_fix(statement: StatementText, statement_fix: StatementFix, *, certain: bool) -> Fix:
    """Return the fix that rewrites a refused statement.

    It is shown but cannot be applied if the source does not contain the statement's text as PostgreSQL gets it.
    """
    applicability: Applicability = "safe" if statement_fix.safe and certain else "unsafe"
    text, source = utf8(statement.text).data, statement.source
    edits = []
    for start, end, new in statement_fix.changes:
        first = statement.offset(start)
        span = Span(source, first, max(first, statement.offset(end, end=True)))
        if source.text[span.start : span.end].encode(errors="surrogatepass") != text[start:end]:
            return Fix(statement_fix.title, "display")
        if statement_fix.whole:
            span = _with_terminator(span)
        edits.append(Edit(span, new))
    if statement.edits or (source.view is not None and source.view.quoted):
        return Fix(statement_fix.title, "display")
    if statement.ref().embedded and any(set(new) & {"'", ";"} for _, _, new in statement_fix.changes):
        return Fix(statement_fix.title, "display")  # it may be in a string
    return Fix(statement_fix.title, applicability, tuple(edits))


def _with_terminator(span: Span) -> Span:
    """Return the span with the statement's semicolon, and with the whole line if nothing else is on it."""
    text = span.source.text
    terminator = re.compile(_TERMINATOR).match(text, span.end)
    end = terminator.end() if terminator else span.end
    line = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
    whole_line = not text[line : span.start].strip(" \t") and text[end - 1 : end] in ("\n", "\r")
    if not whole_line:
        end -= len(text[span.end : end]) - len(text[span.end : end].rstrip("\r\n"))
    return Span(span.source, line if whole_line else span.start, end)


def appended(statements: Statements, new_statements: Sequence[str], *, whole: bool, reason: str = "") -> Fix | None:
    """Return the fix that appends statements to the last file of a unit; None if they cannot be written there.

    ``reason``: why it is not the best remedy.

    Files of Flyway that are run again whenever they change (`R__...`) are skipped.
    """
    sources: Sequence[Source] = statements.sources
    number = next((index for index in reversed(range(len(sources))) if "/R__" not in f"/{sources[index].label}"), None)
    if number is None:
        return None
    last = sources[number]
    ends = statements.bounds(number)[1]
    title = f"{{}} {'; '.join(new_statements)}{f', because {reason}' if reason else ''}"
    if last.listing is not None:
        return Fix(title.format("Run"), "display", whole=whole, statements=tuple(new_statements))
    if last.original is not None or not ends or "\\" in last.text[ends[-1] :]:
        return None  # a program; nothing that is SQL; psql goes on
    end, length = ends[-1], len(last.text)
    edits = []
    if not last.text[end:].lstrip().startswith(";"):
        edits.append(Edit(Span(last, end, end), ";"))
    if not last.text.endswith(("\n", "\r")):
        edits.append(Edit(Span(last, length, length), "\n"))
    text = "".join(f"{statement};\n" for statement in new_statements)
    return Fix(
        title.format("Append"),
        "unsafe",
        (*edits, Edit(Span(last, length, length), text)),
        whole=whole,
        statements=tuple(new_statements),
        appends=True,
    )


def insert_before(ref: StatementRef, new_statement: str) -> Fix | None:
    """Return the fix that inserts a statement before another one; None if that is not in a file of SQL."""
    source = ref.source
    if source.original is not None or ref.embedded or (source.view is not None and source.view.quoted):
        return None
    line = max(source.text.rfind("\n", 0, ref.start), source.text.rfind("\r", 0, ref.start)) + 1
    blank = source.text[line : ref.start]
    after = f"\n{blank}" if not blank.strip(" \t") else " "
    return Fix(
        f"Insert {new_statement}",
        "unsafe",
        (Edit(Span(source, ref.start, ref.start), f"{new_statement};{after}"),),
        whole=True,
        statements=(new_statement,),
    )
