"""Output of jsonb and jsonpath (utils/adt/jsonb.c, jsonpath.c)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pubcheck.postgres.datum import JSON_NULL
from pubcheck.postgres.input.jsonpath_items import escaped
from pubcheck.postgres.output.dispatch import TypeOutput
from pubcheck.postgres.output.encodings import text_sender
from pubcheck.postgres.output.numbers import numeric_text


def jsonb_text(value: Any) -> str:
    """jsonb_out."""
    if value is JSON_NULL:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return numeric_text(value)
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(jsonb_text, value)) + "]"
    return "{" + ", ".join(f"{escaped(key)}: {jsonb_text(value[key])}" for key in sorted(value, key=key_order)) + "}"


def key_order(key: str) -> tuple[int, bytes]:
    """lengthCompareJsonbStringValue: shorter keys come first."""
    stored = key.encode(errors="surrogatepass")
    return len(stored), stored


JSONB = TypeOutput(lambda context, type_oid: jsonb_text, text_sender(jsonb_text, b"\1"))
JSONPATH = TypeOutput(lambda context, type_oid: str, text_sender(str, b"\1"))
