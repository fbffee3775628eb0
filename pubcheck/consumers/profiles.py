"""The profile of a consumer: what its file declares. Which consumer reads which publication, as the configuration, the
command line or a comment says it. And the pairs of consumers that contradict each other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.bundled_texts import read_text
from pubcheck.consumers import FOLDER, NAMES
from pubcheck.consumers.demands import Demand
from pubcheck.diagnostics import Severity

Evidence = Literal["enforced", "observed", "documented", "reported"]
"""``enforced``: a check in the consumer's code refuses or warns; ``observed``: what its code does; ``documented``: its
documentation says so; ``reported``: an issue says so."""
Strength = Literal["must", "should", "effect"]
"""``must``: the consumer fails or loses data otherwise; ``should``: it recommends this; ``effect``: what happens, which
is often what its user wants."""


ENDLESS = 999
"""More than any PostgreSQL major."""


class Source(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """Where a claim comes from: a file of a repository at a commit, or a page."""

    repo: str = ""
    path: str = ""
    commit: str = ""
    lines: str = ""
    url: str = ""

    @property
    def address(self) -> str:
        """The address of the page, or of the file at that commit."""
        if self.url:
            return self.url
        first = self.lines.replace(",", "-").split("-")[0].strip()
        line = f"#L{first}" if first.isdigit() else ""  # else it is the name of a function
        return f"https://github.com/{self.repo}/blob/{self.commit}/{self.path}{line}"


class Claim(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """One fact about a consumer.

    ``says`` is the fact, a sentence; ``breaks`` what happens otherwise, a clause. ``help``, an imperative, replaces the
    advice that all demands of its kind have. ``message`` is what the consumer prints then. ``inferred``: the fact is a
    conclusion drawn from the code. ``modes``: it holds only in these. ``since`` and ``until`` are the first and the
    last PostgreSQL major that it is about, 0 for any. ``demands`` are its checks, none if no file of SQL can answer it.
    """

    id: str
    says: str
    evidence: Evidence
    sources: tuple[Source, ...]
    breaks: str = ""
    help: str = ""
    message: str = ""
    inferred: bool = False
    strength: Strength = "must"
    modes: tuple[str, ...] = ()
    versions: str = ""
    since: int = 0
    until: int = 0
    demands: tuple[Demand, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity of a finding: by the evidence, and lower where the consumer only recommends."""
        if self.strength == "effect" or self.inferred or self.evidence == "reported":
            return "note"
        if self.strength == "should":
            return "warning" if self.evidence == "enforced" else "note"
        return "error" if self.evidence == "enforced" else "warning"

    def holds_in(self, modes: frozenset[str], major: int) -> bool:
        """Return whether the claim is about one of these modes, or about all, and about this major."""
        in_mode = not self.modes or not modes.isdisjoint(self.modes)
        return in_mode and major in range(self.since, (self.until or ENDLESS) + 1)


class Mode(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """A setting, version or destination of a consumer on which claims depend. ``default``: what it is without
    configuration."""

    id: str
    says: str
    default: bool = False


class Consumer(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """A reader of publications, as its file declares it.

    ``product`` is its full name; ``reads`` says which publication it reads. ``publication_names`` are names, or
    beginnings with `*`, that only this consumer uses.
    """

    name: str
    product: str
    category: str
    reads: str
    plugin: str
    claims: tuple[Claim, ...]
    publication_names: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()

    @property
    def default_modes(self) -> frozenset[str]:
        """The modes of a consumer that is configured without any."""
        return frozenset(mode.id for mode in self.modes if mode.default)


def load(consumer: str) -> Consumer:
    """Return a consumer by its id or the path of the user's file. Raises KeyError and ProfileError."""
    if not is_own(consumer):
        return _known(consumer)
    try:
        changed = os.stat(consumer).st_mtime_ns
    except OSError:
        changed = 0
    return _own(consumer, changed)


def _read_file(name: str) -> str:
    return read_text(name, os.path.join(FOLDER, f"{name}.toml"))


@cache
def _known(consumer: str) -> Consumer:
    if consumer not in NAMES:
        raise KeyError(consumer)
    return msgspec.toml.decode(_read_file(consumer), type=Consumer)


@cache
def _own(path: str, changed: int) -> Consumer:
    return read(path)


def is_own(consumer: str) -> bool:
    """Return whether a consumer is named by the path of a file of the user's own."""
    return consumer.endswith(".toml")


def id_of(consumer: str) -> str:
    """Return the id of a consumer, which is the name of its file."""
    return os.path.basename(consumer).removesuffix(".toml")


class ProfileError(ValueError):
    """A file of a consumer that cannot be read or is not valid; the message begins with its path."""


def read(path: str) -> Consumer:
    """Return the consumer that a file declares. Raises ProfileError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProfileError(f"{path}: is not valid UTF-8") from None
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).removesuffix(")").partition(" (at line ")
        line = place.partition(",")[0]
        raise ProfileError(f"{path}:{line}: {message}" if line else f"{path}: {message}") from None
    try:
        consumer = msgspec.convert(document, Consumer)
    except msgspec.ValidationError as error:
        raise ProfileError(_described(path, text, str(error))) from None
    _check_claims(path, text, consumer)
    return consumer


def _described(path: str, text: str, error: str) -> str:
    """Return an error of the decoder with the line that it is about, and the choices where a value has some."""
    message, _, place = error.partition(" - at `")
    key = place.removesuffix("`").removeprefix("$").removeprefix(".")
    unknown = re.search(r"unknown field `([^`]+)`", message)
    if unknown is not None:
        key = f"{key}.{unknown[1]}" if key else unknown[1]
    choices = _CHOICES.get(re.sub(r".*\.|\[.*?\]", "", key), ())
    known = f"; there are {', '.join(choices)}" if choices and "nvalid" in message else ""
    return f"{path}:{_line(text, key)}: {key}: {message}{known}" if key else f"{path}: {message}"


_CHOICES = {
    "kind": [str(demand.__struct_config__.tag) for demand in get_args(Demand)],
    "evidence": get_args(Evidence),
    "strength": get_args(Strength),
}


def _line(text: str, key: str) -> int:
    """Return the number of the line of a key such as ``claims[2].demands[0].kind``: that of its deepest part which has
    a line of its own."""
    lines = text.splitlines()
    first, last = 0, len(lines)
    best = 0
    for name, number in re.findall(r"([\w-]+)(?:\[(\d+)\])?", key):
        heads = [place for place, line in enumerate(lines) if re.match(rf"\s*\[+\s*{re.escape(name)}\s*\]+", line)]
        if number and int(number) < len(heads):
            first = best = heads[int(number)]
            later = (place for place in range(first + 1, len(lines)) if re.match(r"\s*\[", lines[place]))
            last = next(later, len(lines))
            continue
        written = (place for place in range(first, last) if re.match(rf"\s*{re.escape(name)}\s*=", lines[place]))
        best = next(written, heads[0] if heads else best)
        first, last = best, best + 1  # what is inside of it is inline
    return best + 1


def _check_claims(path: str, text: str, consumer: Consumer) -> None:
    """Raises ProfileError for ids and modes that the types allow and that are wrong."""
    key = id_of(path)
    ids: set[str] = set()
    modes = {mode.id for mode in consumer.modes}
    for number, claim in enumerate(consumer.claims):
        where = f"claims[{number}]"
        if not claim.id.startswith(f"{key}-"):
            line = _line(text, f"{where}.id")
            raise ProfileError(
                f"{path}:{line}: {where}.id: {claim.id} does not begin with {key}-, the name of the file"
            )
        if claim.id in ids:
            raise ProfileError(f"{path}:{_line(text, f'{where}.id')}: {where}.id: there are two claims {claim.id}")
        ids.add(claim.id)
        if not claim.sources:
            raise ProfileError(f"{path}:{_line(text, f'{where}.sources')}: {where}.sources: a claim needs a source")
        for mode in claim.modes:
            if mode not in modes:
                line = _line(text, f"{where}.modes")
                raise ProfileError(f"{path}:{line}: {where}.modes: {claim.id}: there is no mode {mode}")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a consumer's file."""
    generated = msgspec.json.schema(Consumer)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A consumer of publications",
        **generated,
    }


def schema_text() -> str:
    """Return the text of `schema.json`."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"


# Pairs of consumers that cannot both read one publication, or one table: the data of `_contradictions.toml`.

Condition = Literal[
    "always", "partitioned", "all tables", "row filter", "column list", "generated columns", "keyless", "root and leaf"
]
"""What the publication, or the table, must hold so that the two consumers contradict each other."""


class Side(Struct, frozen=True, forbid_unknown_fields=True):
    """What one of the two ``needs``, a clause without subject, and the claims that say so."""

    needs: str
    claims: tuple[str, ...]


class Contradiction(Struct, frozen=True, forbid_unknown_fields=True):
    """Two demands that cannot both be met.

    ``level`` says what the two cannot share. ``soft``: both work, and one of them loses something. ``against``: the
    second side is any publication with a column list, whoever reads it. ``solution`` is the shortest way to serve both;
    `{first}` and `{second}` in it are the names of the consumers.
    """

    id: str
    title: str
    level: Literal["publication", "table"]
    first: Side
    second: Side
    consequence: str
    solution: str
    when: Condition = "always"
    soft: bool = False
    against: Literal["consumers", "column lists"] = "consumers"


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    contradictions: tuple[Contradiction, ...]


@lru_cache(maxsize=1)
def contradictions() -> tuple[Contradiction, ...]:
    """Return all contradictions."""
    return msgspec.toml.decode(_read_file("_contradictions"), type=_File).contradictions


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
