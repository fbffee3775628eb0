"""What the server raises."""

from __future__ import annotations


class ServerError(Exception):
    """An ERROR as the server would raise it; the statement that meets it changes nothing.

    ``rule`` is the specification's rule it stands for; None means that the refusal is followed, not judged (a second
    CREATE TABLE of one name): the statement is left out and nobody is told. ``location`` is a byte offset into the
    statement's text as the parser counts them, or None where the server gives no position. ``relation`` and
    ``publication`` name what it is about, for reports; ``span`` the byte offset of the culprit where that is not
    ``location``.
    """

    def __init__(
        self,
        sqlstate: str,
        message: str,
        *,
        rule: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        location: int | None = None,
        culprit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.message = message
        self.rule = rule
        self.detail = detail
        self.hint = hint
        self.location = location
        self.culprit = culprit if culprit is not None else location
        self.relation: str | None = None
        self.publication: str | None = None
        self.missing: tuple[str, int, str] | tuple[()] = ()
        """Of a name that is not visible: its kind, its namespace and it."""
        self.missing_schema: str | None = None
        """The schema that the statement writes before that name."""
        self.evidence: object | None = None
        """Of a refused row filter: an ``expressions.filters.Evidence``, for who explains the refusal."""


class Unknowable(Exception):
    """What the server would say rests on something that is not visible (a type that an extension made elsewhere).

    ``reason`` is a noun phrase for the reader, ``location`` a byte offset into the statement or None.
    """

    def __init__(self, reason: str, location: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location
