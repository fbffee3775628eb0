"""The JSON document of `pubcheck explain`; `explain.schema.json` next to this file describes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.json import schema as schema_of

from pubcheck.explain.document import SCHEMA_VERSION, Explanation
from pubcheck.findings import encode


def schema() -> bytes:
    """Return `explain.schema.json`, generated from the document's types; `python -m` writes it."""
    import json

    generated = schema_of(Explanation)
    definitions = generated["$defs"]
    for definition in definitions.values():
        definition["description"] = re.sub(r"\s+", " ", definition.get("description", definition["title"]))
    definitions["Explanation"]["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pubcheck explanation",
        "description": "What `pubcheck explain --format json` prints. Fields are added, never renamed or removed, while"
        " schema_version stays 1: readers must accept fields that they do not know.",
    }
    return json.dumps({**head, **generated}, indent=2).encode() + b"\n"


class _Head(Struct, frozen=True, omit_defaults=True):
    pubcheck: str
    schema_version: int
    postgres: int
    files: int
    statements: int
    noun: str = "statement"
    container: str = "file"


def render(explanation: Explanation) -> Iterator[str]:
    """Yield the document in pieces, one publication or table per line, so that files can be compared by line."""
    head = _Head(
        explanation.pubcheck,
        explanation.schema_version,
        explanation.postgres,
        explanation.files,
        explanation.statements,
        explanation.noun,
        explanation.container,
    )
    yield _text(head)[:-1] + ',"units":['
    for number, unit in enumerate(explanation.units):
        yield (",\n" if number else "\n") + '{"paths":' + _text(unit.paths)
        yield ',"all_publications":' + _text(unit.all_publications)
        for name in ("tables", "publications", "subscriptions", "findings", "filters"):
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


if __name__ == "__main__":
    with open(f"{__file__.rpartition('render_json.py')[0]}explain.schema.json", "wb") as file:
        file.write(schema())
