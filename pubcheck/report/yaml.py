"""The JSON document of a run as YAML in blocks. Every text is quoted as in JSON, which YAML reads too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pubcheck.findings import Report
from pubcheck.report.json import render as render_json

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that JSON has as they are and YAML only as escapes, or reads as the end of a line."""


def render(report: Report) -> Iterator[str]:
    """Return the document in pieces, one line each."""
    for line in _lines(json.loads("".join(render_json(report)))):
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
