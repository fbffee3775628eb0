"""The form of the texts for one kind of error."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class MessageTemplate(Struct, frozen=True):
    """What to report about one kind of error.

    ``headline`` and ``help`` are filled with the arguments of the error and the fields of `refusals.explain`;
    ``{name:sql}`` writes a name as SQL needs it. ``where``: the template is only for errors whose arguments have one
    of these values.
    """

    headline: str
    help: str | None = None
    where: Mapping[str, tuple[str, ...]] = {}


Messages = Mapping[str, Mapping[str, MessageTemplate | tuple[MessageTemplate, ...]]]
"""By the code of a rule and the key of an error, its template, or several of which the first that fits is used."""

UNEXPLAINED = MessageTemplate("PostgreSQL refuses this statement: {message}")
"""For errors whose message is plain enough."""
