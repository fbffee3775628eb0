"""Remarks about a unit that hold for all its majors, most of them once a file."""

from __future__ import annotations

from typing import Unpack

from pubcheck.diagnostics import Certainty, Details, Diagnostic, Span
from pubcheck.rulebook import RULES
from pubcheck.statement_index import StatementText


class Notes:
    """Collects them. ``majors`` are those that the unit is judged for."""

    def __init__(self, majors: tuple[int, ...]) -> None:
        self.majors = majors
        self.diagnostics: list[Diagnostic] = []
        self._not_seen: set[str] = set()
        """Labels of sources of which it was said that part of them is not seen."""

    def add(self, code: str, certainty: Certainty, message: str, span: Span, **details: Unpack[Details]) -> None:
        """Add a finding of the rule with that code."""
        self.diagnostics.append(RULES[code].diagnostic(certainty, self.majors, message, span, **details))

    def report_unseen(self, span: Span, statement: StatementText | None, message: str, help_text: str) -> None:
        """Something that may change publications and is not seen, or only in part; said once a file."""
        if self.hide(span.source.label):
            ref = statement.ref() if statement is not None else None
            self.add("PUB009", "assumed", message, span, help=help_text, statement=ref)

    def hide(self, label: str) -> bool:
        """Part of a source is not seen; whether that is news."""
        news = label not in self._not_seen
        self._not_seen.add(label)
        return news
