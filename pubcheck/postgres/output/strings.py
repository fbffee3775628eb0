"""Output of texts, boolean, bytea, bit strings, uuid, xml and short system types (bool.c, varlena.c, char.c, varbit.c,
uuid.c, xml.c, pg_lsn.c, tid.c, xid8funcs.c), of network addresses (network.c, inet_net_ntop.c, mac.c, mac8.c), of
jsonb and jsonpath (jsonb.c, jsonpath.c), tsvector and tsquery (tsvector.c, tsquery.c), and of the types of contrib's
extensions: hstore (hstore_io.c), ltree and lquery (ltree_io.c), citext.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from decimal import Decimal
from ipaddress import IPv6Address
from typing import Any

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.datum import JSON_NULL
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.jsonpath_items import escaped
from pubcheck.postgres.input.textsearch import Lexemes, Operand, Query
from pubcheck.postgres.output import (
    OutputContext,
    Sender,
    TypeOutput,
    Writer,
    client_encoding,
    encoder,
    fixed,
    packed,
    text_sender,
)
from pubcheck.postgres.output.numbers import numeric_text

TEXT = TypeOutput(lambda context, type_oid: str, text_sender())
VARCHAR = BPCHAR = NAME = UNKNOWN = CSTRING = REFCURSOR = JSON = TEXT
BOOL = fixed(lambda value: "t" if value else "f", lambda value: b"\1" if value else b"\0")
VOID = fixed(lambda value: "", lambda value: b"")
PG_LSN = packed(lambda value: f"{value >> 32:X}/{value & 0xFFFFFFFF:X}", ">Q")
TID = fixed(lambda value: f"({value[0]},{value[1]})", lambda value: struct.pack(">IH", *value))


def char_text(value: bytes) -> str:
    """charout: bytes beyond ASCII are written in octal."""
    if value == b"\0":
        return ""
    return chr(value[0]) if value[0] < 128 else f"\\{value[0]:03o}"


CHAR = fixed(char_text, bytes)


_ESCAPED = re.compile(rb"[^ -~]|\\")


def _escape(value: bytes) -> str:
    def octal(match: re.Match[bytes]) -> bytes:
        return b"\\\\" if match[0] == b"\\" else b"\\%03o" % match[0][0]

    return _ESCAPED.sub(octal, value).decode()


def _bytea(context: OutputContext, type_oid: int) -> Writer:
    if context.setting("bytea_output") == "escape":
        return _escape
    return lambda value: "\\x" + value.hex()


BYTEA = TypeOutput(_bytea, lambda context, type_oid: bytes)


def _bits(value: str) -> bytes:
    size = -(-len(value) // 8)
    number = int(value.ljust(size * 8, "0") or "0", 2)
    return struct.pack(">i", len(value)) + number.to_bytes(size, "big")


BIT = VARBIT = fixed(str, _bits)


def _uuid(value: bytes) -> str:
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


UUID = fixed(_uuid, bytes)


def _snapshot(value: tuple[int, ...]) -> str:
    """pg_snapshot_out: xmin:xmax:xip,xip..."""
    return f"{value[0]}:{value[1]}:{','.join(map(str, value[2:]))}"


PG_SNAPSHOT = fixed(_snapshot, lambda value: struct.pack(f">i{len(value)}Q", len(value) - 2, *value))
TXID_SNAPSHOT = PG_SNAPSHOT


_DECLARATION = re.compile(r"<\?xml[ \t\r\n][^?]*\?>|")
_STANDALONE = re.compile(r"standalone[ \t\r\n]*=[ \t\r\n]*[\"'](yes|no)")


def _xml(value: str, encoding: str = "") -> str:
    """xml_out_internal: of a declaration only what is not the default is kept; an encoding is stated."""
    declaration = _DECLARATION.match(value)
    assert declaration is not None
    standalone = _STANDALONE.search(declaration[0])
    body = value[declaration.end() :]
    if not encoding and not standalone:
        return body.removeprefix("\n")
    stated = f' encoding="{encoding}"' if encoding else ""
    return f'<?xml version="1.0"{stated}' + (f' standalone="{standalone[1]}"' if standalone else "") + f"?>{body}"


def _xml_sender(context: OutputContext, type_oid: int) -> Sender:
    encode, name = encoder(context), client_encoding(context)
    encoding = "" if name in ("UTF8", "SQL_ASCII") else name
    return lambda value: encode(_xml(value, encoding))


XML = TypeOutput(lambda context, type_oid: _xml, _xml_sender)


Address = tuple[int, bytes, int, bytes]
"""Family, network, prefix length, address."""
_MAPPED = bytes(10) + b"\xff\xff"


def host(value: Address) -> str:
    """The address alone (inet_net_ntop)."""
    address = value[3]
    if value[0] == 4:
        return ".".join(map(str, address))
    if address.startswith(_MAPPED) or (address.startswith(bytes(12)) and any(address[12:14])):
        dotted = ".".join(map(str, address[12:]))
        return f"::{'ffff:' if address[10] else ''}{dotted}"
    return str(IPv6Address(address))


def _inet(value: Address) -> str:
    text = host(value)
    return text if value[2] == len(value[3]) * 8 else f"{text}/{value[2]}"


_FAMILIES = {4: 2, 6: 3}
"""PGSQL_AF_INET, PGSQL_AF_INET6."""


def _send(value: Address, is_cidr: int) -> bytes:
    return bytes((_FAMILIES[value[0]], value[2], is_cidr, len(value[3]))) + value[3]


INET = fixed(_inet, lambda value: _send(value, 0))
CIDR = fixed(lambda value: f"{host(value)}/{value[2]}", lambda value: _send(value, 1))
MACADDR = MACADDR8 = fixed(lambda value: value.hex(":"), bytes)


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


_WEIGHTS = ("", "C", "B", "A")


def _quoted_lexeme(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _tsvector(value: Lexemes) -> str:
    words = []
    for lexeme, positions in value:
        places = ",".join(f"{position}{_WEIGHTS[weight]}" for position, weight in positions)
        words.append(f"{_quoted_lexeme(lexeme)}:{places}" if places else _quoted_lexeme(lexeme))
    return " ".join(words)


def _tsvector_sender(context: OutputContext, type_oid: int) -> Sender:
    encode = encoder(context)

    def parts(value: Lexemes) -> Iterator[bytes]:
        yield struct.pack(">i", len(value))
        for lexeme, positions in value:
            yield encode(lexeme) + struct.pack(">xH", len(positions))
            yield b"".join(struct.pack(">H", weight << 14 | position) for position, weight in positions)

    return lambda value: b"".join(parts(value))


_PRIORITIES = {"|": 1, "&": 2, "<": 3, "!": 4}


def _operand(operand: Operand) -> str:
    marks = ("*" if operand.prefix else "") + "".join(
        letter for bit, letter in ((8, "A"), (4, "B"), (2, "C"), (1, "D")) if operand.weights & bit
    )
    return _quoted_lexeme(operand.text) + (f":{marks}" if marks else "")


def _infix(query: Query, parent: int, right_of_phrase: bool) -> str:
    """infix."""
    if isinstance(query, Operand):
        return _operand(query)
    priority = _PRIORITIES[query.mark]
    if query.left is None:
        text = "!" + _infix(query.right, priority, False)
        return f"( {text} )" if priority < parent else text
    mark = query.mark
    if mark == "<":
        mark = "<->" if query.distance == 1 else f"<{query.distance}>"
    text = f"{_infix(query.left, priority, False)} {mark} {_infix(query.right, priority, query.mark == '<')}"
    return f"( {text} )" if priority < parent or (query.mark == "<" and right_of_phrase) else text


_CODES = {"!": 1, "&": 2, "|": 3, "<": 4}


def _tsquery_sender(context: OutputContext, type_oid: int) -> Sender:
    encode = encoder(context)

    def items(query: Query) -> Iterator[bytes]:
        """The operator, its right operand, then the left one."""
        if isinstance(query, Operand):
            yield struct.pack(">BBB", 1, query.weights, query.prefix) + encode(query.text) + b"\0"
            return
        distance = struct.pack(">H", query.distance) if query.mark == "<" else b""
        yield bytes((2, _CODES[query.mark])) + distance
        yield from items(query.right)
        if query.left is not None:
            yield from items(query.left)

    def send(query: Query | tuple[()]) -> bytes:
        written = list(items(query)) if query else []
        return struct.pack(">i", len(written)) + b"".join(written)

    return send


TSVECTOR = TypeOutput(lambda context, type_oid: _tsvector, _tsvector_sender)
TSQUERY = TypeOutput(lambda context, type_oid: lambda value: _infix(value, -1, False) if value else "", _tsquery_sender)


Pairs = dict[str, str | None]


def _hstore(value: Pairs) -> str:
    return ", ".join(f"{_quoted_part(key)}=>{_quoted_part(value[key])}" for key in sorted(value, key=key_order))


def _quoted_part(text: str | None) -> str:
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
