"""The shape of an answer's words."""

from __future__ import annotations

from msgspec import Struct


class MessageTemplate(Struct, frozen=True):
    """How one answer of the server is told.

    ``answer``: a pattern that the whole of message and DETAIL (after a line feed) matches. In ``headline`` and ``help``
    stand its groups by name, ``{name:sql}`` as an identifier in SQL, and the fields of `refusals.explain`.
    """

    answer: str
    headline: str
    help: str | None = None
