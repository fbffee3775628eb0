"""Compares what ``read`` says with what servers answered."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.json import decode

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, read
from tests.postgres.input.fakes import Cache, oids
from tests.postgres.input.record import ANSWERS, PLACEHOLDER

Answer = tuple[str | None, ...] | None


class Case(Struct, frozen=True):
    """One text of one type on one major: what the server answered (None: accepted), and what we say.

    ``ours`` is None where it is accepted, a string where it cannot be known.
    """

    type: str
    text: str
    major: int
    server: Answer
    ours: Answer | str

    @property
    def unknown(self) -> bool:
        return isinstance(self.ours, str)

    @property
    def same_verdict(self) -> bool:
        """Accepted or refused alike, with one SQLSTATE."""
        if isinstance(self.ours, str):
            return False
        return (self.ours and self.ours[0]) == (self.server and self.server[0])


def answer(context: InputContext, oid: int, text: str, typmod: int = -1) -> Answer | str:
    try:
        read(context, oid, text, typmod)
    except ServerError as error:
        return (error.sqlstate, error.message, error.detail, error.hint)
    except Unknowable as unknown:
        return unknown.reason
    return None


def recorded() -> tuple[list[int], dict[str, list[tuple[str, list[Answer]]]]]:
    """The majors, and by type each text with the servers' answers."""
    document: dict[str, Any] = decode(gzip.decompress(ANSWERS.read_bytes()))
    answers = document["answers"]

    def restored(number: int, text: str) -> Answer:
        row = answers[number]
        return row and tuple(part and part.replace(PLACEHOLDER, text) for part in row)

    return document["majors"], {
        name: [(text, [restored(number, text) for number in numbers]) for text, *numbers in rows]
        for name, rows in document["cases"].items()
    }


def cases() -> Iterator[Case]:
    majors, recordings = recorded()
    for position, major in enumerate(majors):
        context, known = InputContext(major, Cache(major)), oids(major)
        for name, rows in recordings.items():
            oid = known[name.strip('"')]
            for text, answers in rows:
                yield Case(name, text, major, answers[position], answer(context, oid, text))
