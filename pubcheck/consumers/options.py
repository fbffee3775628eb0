"""Which consumer reads which publication, as the configuration, the command line or a comment says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

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


def use_of(text: str) -> ConsumerUse:
    """Read `NAME`, `NAME:MODE`, or `PUBLICATION=NAME:MODE`. Raises UnknownName or WrongValue."""
    before, equals, reader = text.rpartition("=")
    publication = before.strip()
    if equals and not publication:
        raise WrongValue(f"{text!r} names no publication: write {reader.strip() or 'NAME'}, or PUBLICATION=NAME")
    if not reader.strip():
        raise WrongValue(f"{text!r} names no consumer: write PUBLICATION=NAME")
    name, *modes = reader.strip().split(":")
    return _checked(ConsumerUse(name, tuple(modes), (publication,) if publication else ()))


def uses_of(value: object) -> tuple[ConsumerUse, ...]:
    """Read the option `consumer` of a configuration.

    It is one text as ``use_of`` reads it, a list of texts, a table of publications with their consumers, or an array
    of tables with `name`, `modes`, `publications` and `tables`. Raises UnknownName or WrongValue.
    """
    if isinstance(value, str):
        return (use_of(value),)
    if isinstance(value, Mapping):
        return tuple(_by_publication(value))
    if isinstance(value, list | tuple):
        return tuple(_of_table(item) if isinstance(item, Mapping) else use_of(_text(item)) for item in value)
    raise WrongValue(_EXPECTED)


_EXPECTED = "must be the name of a consumer, a list of names, or a table of publications and their consumers"
_KEYS = ("name", "modes", "publications", "tables")


def _by_publication(table: Mapping[str, object]) -> Iterator[ConsumerUse]:
    for publication, names in table.items():
        for name in names if isinstance(names, list) else [names]:
            yield use_of(f"{publication}={_text(name)}")


def _of_table(table: Mapping[str, object]) -> ConsumerUse:
    for key in table:
        if key not in _KEYS:
            raise UnknownName(f"there is no option {key!r}", f"; there are {', '.join(_KEYS)}")
    use = use_of(_text(table.get("name")))
    modes, publications, tables = (tuple(map(_text, _list(table.get(key, [])))) for key in _KEYS[1:])
    return _checked(ConsumerUse(use.consumer, use.modes + modes, use.publications + publications, tables))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValue(_EXPECTED)
    return value


def _checked(use: ConsumerUse) -> ConsumerUse:
    if use.consumer not in NAMES:
        raise UnknownName(f"there is no consumer {use.consumer!r}", hint_for(use.consumer))
    if use.modes:
        # Loaded only for a consumer with modes.
        from pubcheck.consumers.profiles import load

        modes = [mode.id for mode in load(use.consumer).modes]
        for mode in use.modes:
            if mode not in modes:
                known = f"; its modes are {', '.join(modes)}" if modes else ""
                raise UnknownName(f"{use.consumer} has no mode {mode!r}", known)
    return use
