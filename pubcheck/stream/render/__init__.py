"""Decoded messages as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from pubcheck.stream.render import debezium, jsonl, text
from pubcheck.stream.render.events import Event, Events

Renderer: TypeAlias = Callable[[Event, Events], Iterator[str]]

RENDERERS: Mapping[str, Renderer] = {
    "text": text.render,
    "jsonl": jsonl.render,
    "debezium": debezium.render,
    "hex": text.render_hex,
    "fields": text.render_fields,
}
"""The formats of `pubcheck decode`."""
