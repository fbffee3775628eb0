"""What the analysis of one expression works with (parser/parse_node.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError

if TYPE_CHECKING:
    from pubcheck.postgres.literals import InputContext
    from pubcheck.postgres.session import Session


class ParseState:
    """One relation in scope, and the session whose search path and settings count.

    ``inputs`` is what literals are read with; it remembers which of them were frozen.
    """

    def __init__(self, session: Session, relation: Relation, inputs: InputContext) -> None:
        self.session = session
        self.cache = inputs.cache
        self.relation = relation
        self.inputs = inputs
        self.major = session.catalog.major
        self.frozen: list[tuple[int, frozenset[str]]] = []
        """Where literals stand whose value was fixed when they were read, and by what."""

    def error(
        self,
        sqlstate: str,
        message: str,
        location: int | None = None,
        rule: str = "rf-name-resolution",
        *,
        hint: str | None = None,
        detail: str | None = None,
    ) -> ServerError:
        """The refusal, at a byte offset of the statement; a negative one is the server's "no position"."""
        place = location if location is not None and location >= 0 else None
        return ServerError(sqlstate, message, rule=rule, detail=detail, hint=hint, location=place)

    def missing(
        self, sqlstate: str, message: str, location: int, *, hint: str | None = None, detail: str | None = None
    ) -> ServerError:
        """The refusal of a name that nothing visible has; assumed where something invisible may have it."""
        if not self.cache.complete_names:
            self.session.assumed = True
        return self.error(sqlstate, message, location, hint=hint, detail=detail)

    def type_name(self, oid: int) -> str:
        """format_type_be."""
        return self.cache.format_type(oid)
