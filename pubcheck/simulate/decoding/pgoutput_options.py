"""The options of pgoutput and the errors that each major raises for them (pgoutput.c: parse_output_parameters)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.tokens import split_identifiers
from pubcheck.postgres.versions import Major

_UINT32: Final = 2**32 - 1
_NUMBER = lazy_compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+", re.ASCII)
_BINARY, _STREAM, _TWO_PHASE, _PARALLEL = 1, 2, 3, 4
"""The protocol versions from which on these are supported."""

StreamingOption = Literal["off", "on", "parallel"]


class PgoutputOptions(Struct):
    """The values of the options, with their defaults."""

    protocol_version: int = 0
    publication_names: tuple[str, ...] = ()
    binary: bool = False
    messages: bool = False
    streaming: StreamingOption = "off"
    two_phase: bool = False
    publish_no_origin: bool = False


def newest_version(major: Major) -> int:
    """Return the newest version of the protocol that a major has (LOGICALREP_PROTO_MAX_VERSION_NUM)."""
    return _PARALLEL if major.parallel_streaming else _TWO_PHASE


def asks_for_two_phase(options: Mapping[str, str]) -> bool:
    """Return whether a subscription with these options creates its slot with two_phase. pgoutput refuses other values
    than on and off."""
    return options.get("two_phase", "off").lower() in ("on", "true")


def parse_options(options: Sequence[tuple[str, str | None]], major: Major) -> PgoutputOptions:
    """Return the options' values. Raises ServerError for the first that pgoutput of that major refuses."""
    parsed = PgoutputOptions()
    seen: set[str] = set()
    for name, value in options:
        if name not in _PARSERS or (name == "origin" and not major.origin_filter):
            raise ServerError("XX000", f"unrecognized pgoutput option: {name}")
        if name in seen:
            raise ServerError("42601", "conflicting or redundant options")
        seen.add(name)
        _PARSERS[name](parsed, name, value, major)
    if major.requires_plugin_options:
        for name in ("proto_version", "publication_names"):
            if name not in seen:
                raise ServerError("22023", f'option "{name}" missing')
    _check(parsed, major)
    return parsed


def _check(parsed: PgoutputOptions, major: Major) -> None:
    """pgoutput_startup."""
    newest = newest_version(major)
    subject = "server only supports" if major.protocol_refused_by_server else "we only support"
    version = parsed.protocol_version
    if version > newest:
        raise ServerError("0A000", f"client sent proto_version={version} but {subject} protocol {newest} or lower")
    if version < 1:
        raise ServerError("0A000", f"client sent proto_version={version} but {subject} protocol 1 or higher")
    if not major.requires_plugin_options and not parsed.publication_names:
        raise ServerError("22023", "publication_names parameter missing")
    for wanted, feature, since in (
        (parsed.streaming == "on", "streaming", _STREAM),
        (parsed.streaming == "parallel", "parallel streaming", _PARALLEL),
        (parsed.two_phase, "two-phase commit", _TWO_PHASE),
    ):
        if wanted and version < since:
            raise ServerError(
                "22023", f"requested proto_version={version} does not support {feature}, need {since} or higher"
            )


def _version(parsed: PgoutputOptions, name: str, value: str | None, major: Major) -> None:
    """strtoul: leading spaces and no digits at all are accepted."""
    text = value or ""
    match = _NUMBER.match(text)
    if (match.end() if match else 0) != len(text):
        raise ServerError("22023", "invalid proto_version")
    number = int(text) if text else 0
    if not 0 <= number <= _UINT32:
        raise ServerError("22023", f'proto_version "{text}" out of range')
    parsed.protocol_version = number


def _publications(parsed: PgoutputOptions, name: str, value: str | None, major: Major) -> None:
    names = split_identifiers(value or "")
    if names is None:
        raise ServerError("42602", "invalid publication_names syntax")
    parsed.publication_names = tuple(names)


def boolean(name: str, value: str | None, choices: str = "a Boolean value") -> bool:
    """Return a string option's value as defGetBoolean reads it. Raises ServerError 42601."""
    if value is None:
        return True
    folded = value.lower()
    if folded in ("true", "on"):
        return True
    if folded in ("false", "off"):
        return False
    raise ServerError("42601", f"{name} requires {choices}")


def _streaming(parsed: PgoutputOptions, name: str, value: str | None, major: Major) -> None:
    if major.parallel_streaming and value is not None and value.lower() == "parallel":
        parsed.streaming = "parallel"
        return
    choices = 'a Boolean value or "parallel"' if major.parallel_streaming else "a Boolean value"
    parsed.streaming = "on" if boolean(name, value, choices) else "off"


def _origin(parsed: PgoutputOptions, name: str, value: str | None, major: Major) -> None:
    folded = (value or "").lower()
    if folded not in ("none", "any"):
        raise ServerError("22023", f'unrecognized origin value: "{value or ""}"')
    parsed.publish_no_origin = folded == "none"


def _flag(attribute: str) -> Any:
    def parse(parsed: PgoutputOptions, name: str, value: str | None, major: Major) -> None:
        setattr(parsed, attribute, boolean(name, value))

    return parse


_PARSERS: Final = {
    "proto_version": _version,
    "publication_names": _publications,
    "binary": _flag("binary"),
    "messages": _flag("messages"),
    "streaming": _streaming,
    "two_phase": _flag("two_phase"),
    "origin": _origin,
}
