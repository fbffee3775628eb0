"""The texts of findings, a module a subject. This is the form of those for errors of the server."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class MessageTemplate(Struct, frozen=True):
    """The text for one kind of error.

    ``headline`` and ``help`` are filled with the arguments of the error and the fields of `refusals.explain`;
    ``{name:sql}`` quotes a name where SQL needs it. ``where`` restricts the template to errors whose arguments have one
    of these values.
    """

    headline: str
    help: str | None = None
    where: Mapping[str, tuple[str, ...]] = {}


Messages = Mapping[str, Mapping[str, MessageTemplate | tuple[MessageTemplate, ...]]]
"""The template by the code of a rule and the key of an error; of several, the first that fits is used."""

MAKE_ROOT = "WITH (publish_via_partition_root = true)"
UNEXPLAINED = MessageTemplate("PostgreSQL refuses this statement: {message}")
"""The template for errors whose own message is plain enough."""
