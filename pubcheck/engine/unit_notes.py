"""Notes about a unit that hold for all its majors, most of them once per file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pubcheck.diagnostics import Certainty, Diagnostic, Span
from pubcheck.rulebook import RULES, finder
from pubcheck.statement_index import StatementText

if TYPE_CHECKING:
    from typing import Unpack

    from pubcheck.diagnostics import Details


class Notes:
    """Collects the notes. ``majors`` are those of the unit."""

    def __init__(self, majors: tuple[int, ...]) -> None:
        self.majors = majors
        self.diagnostics: list[Diagnostic] = []
        self._not_seen: set[str] = set()
        """Labels of sources for which an unseen part was reported."""

    def add(
        self,
        code: str,
        certainty: Certainty,
        message: str,
        span: Span,
        *,
        majors: Sequence[int] = (),
        **details: Unpack[Details],
    ) -> None:
        """Add a finding of the rule with that code. ``majors`` are those for which it holds, all without any."""
        self.diagnostics.append(
            RULES[code].diagnostic(certainty, tuple(majors) or self.majors, message, span, **details)
        )

    @finder("PUB009")
    def report_unseen(self, span: Span, statement: StatementText | None, message: str, help_text: str) -> None:
        """Report, once per file, something that may change publications and cannot be seen completely."""
        if self.first_unseen(span.source.label):
            ref = statement.ref() if statement is not None else None
            self.add("PUB009", "assumed", message, span, help=help_text, statement=ref)

    def first_unseen(self, label: str) -> bool:
        """Record that part of a source is not seen, and return whether this is the first such part."""
        is_first = label not in self._not_seen
        self._not_seen.add(label)
        return is_first
