"""The JSON document of `pubcheck explain`; `explain.schema.json` beside this file describes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.explain.document import Explanation
from pubcheck.report.document import encode


class _Head(Struct, frozen=True):
    pubcheck: str
    schema_version: int
    postgres: int
    files: int
    statements: int


def render(explanation: Explanation) -> Iterator[str]:
    """The document in pieces, one publication or table a line, so that files of it can be compared by line."""
    head = _Head(
        explanation.pubcheck,
        explanation.schema_version,
        explanation.postgres,
        explanation.files,
        explanation.statements,
    )
    yield _text(head)[:-1] + ',"units":['
    for number, unit in enumerate(explanation.units):
        yield (",\n" if number else "\n") + '{"paths":' + _text(unit.paths)
        yield ',"all_publications":' + _text(unit.all_publications)
        for name in ("tables", "publications", "subscriptions", "findings"):
            yield from _member(name, getattr(unit, name))
        yield "}"
    yield "\n]}\n" if explanation.units else "]}\n"


def _member(name: str, values: Sequence[object]) -> Iterator[str]:
    yield f',\n"{name}":['
    for number, value in enumerate(values):
        yield (",\n" if number else "\n") + _text(value)
    yield "\n]" if values else "]"


def _text(value: object) -> str:
    return encode(value).decode()
