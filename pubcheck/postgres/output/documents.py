"""Output of jsonb and jsonpath (utils/adt/jsonb.c, jsonpath.c)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pubcheck.postgres.datum import JSON_NULL
from pubcheck.postgres.input.jsonpath_items import escaped
from pubcheck.postgres.output.dispatch import OutputContext, Sender, Writer
from pubcheck.postgres.output.encodings import encoder
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


def jsonb_out(context: OutputContext, type_oid: int) -> Writer:
    return jsonb_text


def jsonb_send(context: OutputContext, type_oid: int) -> Sender:
    encode = encoder(context)
    return lambda value: b"\1" + encode(jsonb_text(value))


def jsonpath_out(context: OutputContext, type_oid: int) -> Writer:
    return str


def jsonpath_send(context: OutputContext, type_oid: int) -> Sender:
    encode = encoder(context)
    return lambda value: b"\1" + encode(value)
