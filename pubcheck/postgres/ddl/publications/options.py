"""WITH options of a publication (commands/publicationcmds.c: parse_publication_options; commands/define.c)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Publication
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.identifiers import ascii_lower, split_identifiers
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import truth, value_text
from pubcheck.postgres.session import Session

_ACTIONS = ("insert", "update", "delete", "truncate")


class PublicationOptions(Struct, frozen=True):
    """The options of a statement; None for each that it does not have."""

    actions: frozenset[str] | None = None
    via_root: bool | None = None
    generated: str | None = None
    via_root_location: int | None = None

    def apply_to(self, publication: Publication) -> Publication:
        """Return the publication with these options set; the others stay."""
        changes: dict[str, Any] = {}
        if self.actions is not None:
            changes.update((action, action in self.actions) for action in _ACTIONS)
        if self.via_root is not None:
            changes["via_root"] = self.via_root
        if self.generated is not None:
            changes["generated"] = self.generated
        return replace(publication, **changes) if changes else publication


def parse_options(session: Session, nodes: Iterable[Node], publication: str) -> PublicationOptions:
    """Return the options, read from left to right. Raises ServerError 42601 at the first that the server refuses."""
    actions: frozenset[str] | None = None
    via_root: bool | None = None
    generated: str | None = None
    via_root_location: int | None = None
    for item in nodes:
        element = item["DefElem"]
        name, location = element["defname"], element.get("location", 0)
        try:
            if name == "publish":
                if actions is not None:
                    raise _twice(location)
                actions = _publish(element)
            elif name == "publish_via_partition_root":
                if via_root is not None:
                    raise _twice(location)
                via_root, via_root_location = _boolean(element), location
            elif name == "publish_generated_columns" and session.catalog.major.publish_generated_columns:
                if generated is not None:
                    raise _twice(location)
                generated = _generated(element)
            else:
                message = 'unrecognized publication parameter: "{option}"'
                raise ServerError("42601", message, key="publication-option", option=name)
        except ServerError as error:
            error.publication = publication
            if error.culprit is None:
                error.culprit = location
            raise
    return PublicationOptions(actions, via_root, generated, via_root_location)


def _twice(location: int) -> ServerError:
    """errorConflictingDefElem; the only option error with a position."""
    return ServerError("42601", "conflicting or redundant options", key="publication-option-twice", location=location)


def _publish(element: Node) -> frozenset[str]:
    if "arg" not in element:
        raise ServerError("42601", "publish requires a parameter", key="publish-without-value")
    parts = split_identifiers(value_text(element["arg"]))
    if parts is None:
        raise ServerError("42601", 'invalid list syntax in parameter "publish"', key="publish-list")
    for part in parts:
        if part not in _ACTIONS:
            message = 'unrecognized value for publication option "publish": "{value}"'
            raise ServerError("42601", message, key="publish-value", value=part)
    return frozenset(parts)


def _boolean(element: Node) -> bool:
    value = truth(element.get("arg"))
    if value is None:
        message = "{option} requires a Boolean value"
        raise ServerError("42601", message, key="publication-option-not-boolean", option=element["defname"])
    return value


def _generated(element: Node) -> str:
    """defGetGeneratedColsOption."""
    value = value_text(element["arg"]) if "arg" in element else ""
    word = ascii_lower(value)
    if word in ("none", "stored"):
        return word[0]
    raise ServerError(
        "42601",
        'invalid value for publication parameter "publish_generated_columns": "{value}"',
        key="publish-generated-columns",
        detail='Valid values are "none" and "stored".',
        value=value,
    )
