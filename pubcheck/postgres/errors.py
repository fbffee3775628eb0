"""Errors of the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

# Templates of messages that several places raise.

NO_COLUMN, NO_QUALIFIED_COLUMN = 'column "{column}" does not exist', "column {column} does not exist"
NO_SCHEMA = 'schema "{schema}" does not exist'
NO_ROLE = 'role "{role}" does not exist'
NO_SET_ROLE = 'must be able to SET ROLE "{role}"'
NO_CREATE_IN_DATABASE = "permission denied for database {database}"
NOT_PUBLICATION_OWNER = "must be owner of publication {publication}"
NOT_RELATION_OWNER = "must be owner of {kind} {relation}"
PUBLICATION_EXISTS = 'publication "{publication}" already exists'
TYPES_UNMATCHED = "{what} types {one} and {other} cannot be matched"
NO_CAST = "cannot cast type {source} to {target}"
OUT_OF_PLACE = "{what} are not allowed in {clause}"


class ServerError(Exception):
    """An ERROR as the server would raise it; the statement that meets it changes nothing.

    ``key`` is the kind of error, by which it is explained and checked; without a key, the statement is skipped and
    nothing is reported (a second CREATE TABLE of the same name). ``arguments`` are the names and values that the error
    is about; if there are any, ``message`` is a template that they fill. ``location`` is a byte offset into the
    statement's text as the parser counts them, or None where the server gives no position; ``culprit`` is the byte
    offset of the culprit if that is not ``location``. ``relation`` and ``publication`` name the objects that the
    statement is about, for reports.
    """

    def __init__(
        self,
        sqlstate: str,
        message: str,
        *,
        key: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        location: int | None = None,
        culprit: int | None = None,
        **arguments: str,
    ) -> None:
        self.message = message.format_map(arguments) if arguments else message
        super().__init__(self.message)
        self.sqlstate = sqlstate
        self.key = key
        self.arguments: Mapping[str, str] = arguments
        self.detail = detail
        self.hint = hint
        self.location = location
        self.culprit = culprit if culprit is not None else location
        self.relation: str | None = None
        self.publication: str | None = None
        self.missing: tuple[str, int, str] | tuple[()] = ()
        """The kind, the namespace and the name of an unknown object."""
        self.missing_schema: str | None = None
        """The schema that the statement writes before that name."""
        self.evidence: object | None = None
        """The ``analysis.row_filter.Evidence`` of a refused row filter, from which the refusal is explained."""

    def about(self, publication: str | None = None, relation: str | None = None) -> ServerError:
        """Name the objects that the statement is about, and return the error."""
        self.publication, self.relation = publication, relation
        return self


@contextmanager
def without_position() -> Iterator[None]:
    """Let errors have no position, where the server analyses an expression without the text of the statement."""
    try:
        yield
    except ServerError as error:
        error.location = None
        raise


class Unknowable(Exception):
    """The server's answer depends on something that is not in these files (a type that an extension made elsewhere).

    ``reason`` is a noun phrase for the reader, ``location`` a byte offset into the statement or None.
    """

    def __init__(self, reason: str, location: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location
