"""The unknowns that an answer of the server depends on, beyond the files."""

from __future__ import annotations

from pubcheck.postgres.catalog.reasons import Reason
from pubcheck.postgres.errors import ServerError


class Basis:
    """The unknowns that the server's answer to a statement, or to a question about it, depends on.

    An answer is certain if its basis is empty. A basis only grows: nothing removes a doubt from an answer. A separate
    question gets its own basis (``Session.apart``).
    """

    __slots__ = ("conditional", "reasons", "rows", "unseen")

    def __init__(self, reason: Reason | None = None, *, conditional: Reason | None = None) -> None:
        self.reasons = [] if reason is None else [reason]
        """The unknowns that the answer depends on, in words."""
        self.rows: dict[int, None] = {}
        """The OIDs of relations, publications, schemas and roles that are only assumed to be as they are."""
        self.unseen: list[ServerError] = []
        """The errors that the server raises if names that these files do not create are missing."""
        self.conditional = conditional
        """The reason for which it is unknown whether the statement runs, if it is."""

    @property
    def certain_if_run(self) -> bool:
        """Whether the answer is certain, provided that the statement runs."""
        return not (self.reasons or self.rows or self.unseen)

    @property
    def certain(self) -> bool:
        """Whether the answer is certain."""
        return self.conditional is None and self.certain_if_run
