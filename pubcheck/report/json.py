"""The JSON document of a run; `schema.json` next to this file describes it. The same as JSON Lines and as YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from pubcheck import __version__
from pubcheck.findings import SCHEMA_VERSION, Report, encode


class _Head(Struct, frozen=True):
    pubcheck: str
    schema_version: int
    postgres: tuple[int, ...]
    files: int
    statements: int


def render(report: Report) -> Iterator[str]:
    """Return the document in pieces, one diagnostic a line, so that a file of it can be read and compared by line."""
    head = encode(_Head(__version__, SCHEMA_VERSION, report.postgres, report.files, report.statements)).decode()
    yield head[:-1] + ',"diagnostics":['
    separator = "\n"
    for finding in report.findings:
        yield separator + encode(finding.entry).decode()
        separator = ",\n"
    yield "\n]}\n" if report.findings else "]}\n"


# The diagnostics of the JSON document, one a line and nothing else: for tools that read a stream.


def render_jsonl(report: Report) -> Iterator[str]:
    """Return the report in pieces, one diagnostic each."""
    for finding in report.findings:
        yield encode(finding.entry).decode() + "\n"


# The JSON document of a run as YAML in blocks. Every text is quoted as in JSON, which YAML reads too.

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that JSON has as they are and YAML only as escapes, or reads as the end of a line."""


def render_yaml(report: Report) -> Iterator[str]:
    """Return the document in pieces, one line each."""
    for line in _lines(json.loads("".join(render(report)))):
        yield f"{line}\n"


def _lines(value: Mapping[str, Any] | list[Any]) -> Iterator[str]:
    """Yield the lines of an object or a list that is not empty."""
    if isinstance(value, list):
        for item in value:
            first, *rest = _lines(item) if _is_block(item) else (_flow(item),)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
        return
    for key, item in value.items():
        if _is_block(item):
            yield f"{key}:"
            yield from (f"  {line}" for line in _lines(item))
        else:
            yield f"{key}: {_flow(item)}"


def _is_block(value: object) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def _flow(value: object) -> str:
    """Return a value on one line."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
