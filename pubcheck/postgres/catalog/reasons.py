"""The reasons for which something in the catalog is only assumed, recorded where the doubt begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pubcheck.diagnostics import Span

    At = tuple[int, int] | Span
    """The source and the number of a statement, or the place of something else."""


class Reason(Struct, frozen=True, gc=False):
    """An unknown that a finding depends on. ``at`` is the place of its origin, if there is a single one."""

    text: str
    place: At | None = None


class Reasons:
    """The first reason for each doubt. A doubt that is undone keeps its reason; nothing reads it then."""

    def __init__(self) -> None:
        self.at: At | None = None
        """The current statement."""
        self.text = ""
        """A description of the statement, if more is known than that its effect is unknown."""
        self.rows: dict[int, Reason] = {}
        """The reasons of rows that exist by assumption, though the files create or name them, by OID."""
        self.flags: dict[str, Reason] = {}
        """The reasons of a session's flags (``session.statement_context.Uncertainty``), by flag."""

    def current(self, text: str) -> Reason:
        """A reason that the current statement gives; ``text`` describes it where nothing better is known."""
        return Reason(self.text or text, self.at)

    def assume_row(self, oid: int, text: str) -> None:
        self.rows.setdefault(oid, self.current(text))


NOT_FOLLOWED = "the effect of this statement, which is unknown"
VARIABLE = "the value of a psql variable in this statement"
MAY_NOT_RUN = "whether this statement takes effect"
"""The start of a text about a statement; its place follows."""
