"""Output of the types of contrib's extensions: hstore (hstore_io.c), ltree and lquery (ltree_io.c), citext."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.output.dispatch import OutputContext, Sender, TypeOutput
from pubcheck.postgres.output.documents import key_order
from pubcheck.postgres.output.encodings import encoder, text_sender

Pairs = dict[str, str | None]


def _hstore(value: Pairs) -> str:
    return ", ".join(f"{_quoted(key)}=>{_quoted(value[key])}" for key in sorted(value, key=key_order))


def _quoted(text: str | None) -> str:
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _hstore_sender(context: OutputContext, row: Type) -> Sender:
    encode = encoder(context)

    def parts(value: Pairs) -> Iterator[bytes]:
        yield struct.pack(">i", len(value))
        for key in sorted(value, key=key_order):
            for text in (key, value[key]):
                data = b"" if text is None else encode(text)
                yield struct.pack(">i", -1 if text is None else len(data)) + data

    return lambda value: b"".join(parts(value))


_TYPES = {
    "citext": TypeOutput(lambda context, row: str, text_sender()),
    "hstore": TypeOutput(lambda context, row: _hstore, _hstore_sender),
    "ltree": TypeOutput(lambda context, row: str, text_sender(str, b"\1")),
}


def output_of(row: Type) -> TypeOutput:
    """Return the output of a type of an extension. Raises Unknowable for types that are not followed."""
    output = _TYPES.get(row.name)
    if output is None:
        raise Unknowable(f"values of type {row.name} as text")
    return output
