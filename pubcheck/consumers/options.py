"""Which consumer reads which publication, as the configuration, the command line or a comment says it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.consumers import NAMES


class ConsumerUse(Struct, frozen=True):
    """A consumer that reads publications.

    ``publications`` are names, or patterns with `*`; empty means all of them, or only the one with its fixed name.
    ``tables`` are the tables that it is configured to read, as patterns; empty if this is unknown.
    """

    consumer: str
    modes: tuple[str, ...] = ()
    publications: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


class UnknownName(ValueError):
    """A consumer, mode or key that does not exist. ``hint`` follows the message: the names that may be meant."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def hint_for(name: str) -> str:
    """Return the hint after the name of an unknown consumer."""
    from difflib import get_close_matches

    word = name.lower().replace("_", "-").replace(" ", "-")
    shown = {key: NAMES[key].lower().replace(" ", "-") for key in NAMES}
    near = [key for key in NAMES if len(word) > 2 and (word in key or key in word or word in shown[key])]
    near = near or get_close_matches(word, NAMES, 3) or [key for key in NAMES if get_close_matches(word, [shown[key]])]
    if not near:
        return "; `pubcheck consumers` lists all"
    *others, last = near[:4]
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


class WrongValue(ValueError):
    """A value of another type; the message says what is expected."""


def use_of(text: str, folder: str | None = None) -> ConsumerUse:
    """Read `NAME`, `NAME:MODE`, or `PUBLICATION=NAME:MODE`. A name can be the path of a `.toml` file, which is relative
    to a folder; not without a folder. Raises UnknownName or WrongValue."""
    before, equals, reader = text.rpartition("=")
    publication = before.strip()
    if equals and not publication:
        raise WrongValue(f"{text!r} names no publication: write {reader.strip() or 'NAME'}, or PUBLICATION=NAME")
    if not reader.strip():
        raise WrongValue(f"{text!r} names no consumer: write PUBLICATION=NAME")
    # A path may have colons of its own.
    path, is_path, rest = reader.strip().partition(".toml")
    name, *modes = [path + is_path, *rest.split(":")[1:]] if is_path else path.split(":")
    return _checked(ConsumerUse(name, tuple(modes), (publication,) if publication else ()), folder)


def uses_of(value: object, folder: str = "") -> tuple[ConsumerUse, ...]:
    """Read the option `consumer` of a configuration.

    It is one text as ``use_of`` reads it, a list of texts, a table of publications with their consumers, or an array
    of tables with `name`, `modes`, `publications` and `tables`. Raises UnknownName or WrongValue.
    """
    if isinstance(value, str):
        return (use_of(value, folder),)
    if isinstance(value, Mapping):
        return tuple(_by_publication(value, folder))
    if isinstance(value, list | tuple):
        items = (item if isinstance(item, Mapping) else _text(item) for item in value)
        return tuple(use_of(item, folder) if isinstance(item, str) else _of_table(item, folder) for item in items)
    raise WrongValue(_EXPECTED)


_EXPECTED = "must be the name of a consumer, a list of names, or a table of publications and their consumers"
_KEYS = ("name", "modes", "publications", "tables")


def _by_publication(table: Mapping[str, object], folder: str) -> Iterator[ConsumerUse]:
    for publication, names in table.items():
        for name in names if isinstance(names, list) else [names]:
            yield use_of(f"{publication}={_text(name)}", folder)


def _of_table(table: Mapping[str, object], folder: str) -> ConsumerUse:
    for key in table:
        if key not in _KEYS:
            raise UnknownName(f"there is no option {key!r}", f"; there are {', '.join(_KEYS)}")
    use = use_of(_text(table.get("name")), folder)
    modes, publications, tables = (tuple(map(_text, _list(table.get(key, [])))) for key in _KEYS[1:])
    return _checked(ConsumerUse(use.consumer, use.modes + modes, use.publications + publications, tables), folder)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValue(_EXPECTED)
    return value


def _checked(use: ConsumerUse, folder: str | None) -> ConsumerUse:
    is_path = use.consumer.endswith(".toml")
    if is_path and folder is None:
        raise WrongValue(f"{use.consumer!r} is a file: name it in the configuration, or with --consumer")
    if is_path:
        use = replace(use, consumer=os.path.abspath(os.path.join(folder or "", use.consumer)))
    elif use.consumer not in NAMES:
        raise UnknownName(f"there is no consumer {use.consumer!r}", hint_for(use.consumer))
    if use.modes or is_path:
        from pubcheck.consumers.profiles import id_of, load

        try:
            load(use.consumer)
        except ValueError as error:
            raise WrongValue(str(error)) from None
        modes = [mode.id for mode in load(use.consumer).modes]
        for mode in use.modes:
            if mode not in modes:
                known = f"; its modes are {', '.join(modes)}" if modes else ""
                raise UnknownName(f"{id_of(use.consumer)} has no mode {mode!r}", known)
    return use
