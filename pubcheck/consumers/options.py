"""Which consumer reads which publication, as the configuration, the command line or a comment says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

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
    """A consumer, mode or key that does not exist. ``kind`` says what it is, ``choices`` are the known ones."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        super().__init__(f"there is no {kind} {name!r}")
        self.name, self.choices = name, tuple(choices)


class WrongValue(ValueError):
    """A value of another type; the message says what is expected."""


def use_of(text: str) -> ConsumerUse:
    """Read `NAME`, `NAME:MODE`, or `PUBLICATION=NAME:MODE`. Raises UnknownName."""
    publication, _, reader = text.rpartition("=")
    name, *modes = reader.strip().split(":")
    return _checked(ConsumerUse(name, tuple(modes), (publication.strip(),) if publication else ()))


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
            raise UnknownName("option", key, _KEYS)
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
        raise UnknownName("consumer", use.consumer, NAMES)
    if use.modes:
        # Loaded only for a consumer with modes.
        from pubcheck.consumers.profiles import load

        modes = [mode.id for mode in load(use.consumer).modes]
        for mode in use.modes:
            if mode not in modes:
                raise UnknownName(f"mode of {use.consumer}", mode, modes)
    return use
