"""Output of the types of contrib's extensions: hstore (hstore_io.c), ltree and lquery (ltree_io.c), citext."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.output.dispatch import OutputContext, Sender, Writer
from pubcheck.postgres.output.documents import key_order
from pubcheck.postgres.output.encodings import encoder

Pairs = dict[str, str | None]


def _hstore(value: Pairs) -> str:
    return ", ".join(f"{_quoted(key)}=>{_quoted(value[key])}" for key in sorted(value, key=key_order))


def _quoted(text: str | None) -> str:
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _hstore_send(context: OutputContext) -> Sender:
    encode = encoder(context)

    def parts(value: Pairs) -> Iterator[bytes]:
        yield struct.pack(">i", len(value))
        for key in sorted(value, key=key_order):
            for text in (key, value[key]):
                data = b"" if text is None else encode(text)
                yield struct.pack(">i", -1 if text is None else len(data)) + data

    return lambda value: b"".join(parts(value))


def _versioned(context: OutputContext) -> Sender:
    """ltree_send, lquery_send: the version before the text."""
    encode = encoder(context)
    return lambda value: b"\1" + encode(value)


_TYPES: dict[str, tuple[Writer, Callable[[OutputContext], Sender]]] = {
    "citext": (str, encoder),
    "hstore": (_hstore, _hstore_send),
    "ltree": (str, _versioned),
}


def _functions(row: Type) -> tuple[Writer, Callable[[OutputContext], Sender]]:
    functions = _TYPES.get(row.name)
    if functions is None:
        raise Unknowable(f"values of type {row.name} as text")
    return functions


def contrib_out(context: OutputContext, row: Type) -> Writer:
    return _functions(row)[0]


def contrib_send(context: OutputContext, row: Type) -> Sender:
    return _functions(row)[1](context)
