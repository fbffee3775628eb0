"""Hand-made findings that the reports are tested with; places are marked in the text instead of counted."""

from __future__ import annotations

from typing import Any

from pubcheck.diagnostics import Diagnostic, ServerAnswer, Span, StatementRef
from pubcheck.findings import Report, Resolver, report
from pubcheck.source import Source

ORDERS = Source(
    "db/schema.sql",
    "CREATE TABLE orders (\n"
    "    id bigint PRIMARY KEY,\n"
    "    region text NOT NULL\n"
    ");\n"
    "\n"
    "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');\n",
)

REFUSED = ServerAnswer(
    "42P10",
    'cannot update table "orders"',
    "Column used in the publication WHERE expression is not part of the replica identity.",
)


def span(source: Source, text: str, message: str = "", nth: int = 0) -> Span:
    """The ``nth`` place of ``text`` in a source."""
    start = -1
    for _ in range(nth + 1):
        start = source.text.index(text, start + 1)
    return Span(source, start, start + len(text), message)


def statement(source: Source, text: str, index: int = 0) -> StatementRef:
    return StatementRef(source, index, source.text.index(text))


def diagnostic(where: Span, **changes: Any) -> Diagnostic:
    """A diagnostic of PUB301 with some fields changed."""
    fields: dict[str, Any] = {
        "rule": "PUB301",
        "name": "filter-column-outside-replica-identity",
        "phase": "write",
        "severity": "error",
        "certainty": "certain",
        "postgres": (18,),
        "message": "every UPDATE of public.orders will be refused",
        "span": where,
    }
    return Diagnostic(**{**fields, **changes})


def famous() -> Diagnostic:
    """The error that most users come for."""
    return diagnostic(
        span(ORDERS, "region", "not part of the replica identity", nth=1),
        help="choose a replica identity that holds region",
        related=(span(ORDERS, "id", "the key is (id)"),),
        statement=statement(ORDERS, "CREATE PUBLICATION", 1),
        object="public.orders",
        publications=("eu",),
        operation="update",
        server=REFUSED,
    )


def reported(
    *diagnostics: Diagnostic, postgres: tuple[int, ...] = (18,), files: int = 1, statements: int = 2
) -> Report:
    return report(Resolver().findings(diagnostics), postgres, files, statements)
