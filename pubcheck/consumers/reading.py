"""The file of a consumer, read and checked: every error names the file, the line and the key."""

from __future__ import annotations

import re
import tomllib
from typing import get_args

import msgspec

from pubcheck.consumers.demands import Demand
from pubcheck.consumers.profiles import Consumer, Evidence, Strength, id_of


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
            at = _line(text, f"{where}.id")
            raise ProfileError(f"{path}:{at}: {where}.id: {claim.id} does not begin with {key}-, the name of the file")
        if claim.id in ids:
            raise ProfileError(f"{path}:{_line(text, f'{where}.id')}: {where}.id: there are two claims {claim.id}")
        ids.add(claim.id)
        if not claim.sources:
            raise ProfileError(f"{path}:{_line(text, f'{where}.sources')}: {where}.sources: a claim needs a source")
        for mode in claim.modes:
            if mode not in modes:
                at = _line(text, f"{where}.modes")
                raise ProfileError(f"{path}:{at}: {where}.modes: {claim.id}: there is no mode {mode}")
