"""Output of texts, boolean, bytea, bit strings, uuid, xml and short system types (bool.c, varlena.c, char.c, varbit.c,
uuid.c, xml.c, pg_lsn.c, tid.c, xid8funcs.c).
"""

from __future__ import annotations

import re
import struct

from pubcheck.postgres.output.dispatch import OutputContext, Sender, Writer
from pubcheck.postgres.output.encodings import client_encoding, encoder


def text_out(context: OutputContext, type_oid: int) -> Writer:
    return str


def text_send(context: OutputContext, type_oid: int) -> Sender:
    return encoder(context)


def bool_out(context: OutputContext, type_oid: int) -> Writer:
    return lambda value: "t" if value else "f"


def bool_send(context: OutputContext, type_oid: int) -> Sender:
    return lambda value: b"\1" if value else b"\0"


def char_text(value: bytes) -> str:
    """charout: bytes beyond ASCII are written in octal."""
    if value == b"\0":
        return ""
    return chr(value[0]) if value[0] < 128 else f"\\{value[0]:03o}"


def char_out(context: OutputContext, type_oid: int) -> Writer:
    return char_text


def char_send(context: OutputContext, type_oid: int) -> Sender:
    return bytes


_ESCAPED = re.compile(rb"[^ -~]|\\")


def _escape(value: bytes) -> str:
    def octal(match: re.Match[bytes]) -> bytes:
        return b"\\\\" if match[0] == b"\\" else b"\\%03o" % match[0][0]

    return _ESCAPED.sub(octal, value).decode()


def bytea_out(context: OutputContext, type_oid: int) -> Writer:
    if context.setting("bytea_output") == "escape":
        return _escape
    return lambda value: "\\x" + value.hex()


def bytea_send(context: OutputContext, type_oid: int) -> Sender:
    return bytes


def bit_out(context: OutputContext, type_oid: int) -> Writer:
    return str


def _bits(value: str) -> bytes:
    size = -(-len(value) // 8)
    number = int(value.ljust(size * 8, "0") or "0", 2)
    return struct.pack(">i", len(value)) + number.to_bytes(size, "big")


def bit_send(context: OutputContext, type_oid: int) -> Sender:
    return _bits


def _uuid(value: bytes) -> str:
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def uuid_out(context: OutputContext, type_oid: int) -> Writer:
    return _uuid


def uuid_send(context: OutputContext, type_oid: int) -> Sender:
    return bytes


def pg_lsn_out(context: OutputContext, type_oid: int) -> Writer:
    return lambda value: f"{value >> 32:X}/{value & 0xFFFFFFFF:X}"


def pg_lsn_send(context: OutputContext, type_oid: int) -> Sender:
    return struct.Struct(">Q").pack


def tid_out(context: OutputContext, type_oid: int) -> Writer:
    return lambda value: f"({value[0]},{value[1]})"


def tid_send(context: OutputContext, type_oid: int) -> Sender:
    return lambda value: struct.pack(">IH", *value)


def pg_snapshot_out(context: OutputContext, type_oid: int) -> Writer:
    """pg_snapshot_out: xmin:xmax:xip,xip..."""
    return lambda value: f"{value[0]}:{value[1]}:{','.join(map(str, value[2:]))}"


def pg_snapshot_send(context: OutputContext, type_oid: int) -> Sender:
    return lambda value: struct.pack(f">i{len(value)}Q", len(value) - 2, *value)


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


def xml_out(context: OutputContext, type_oid: int) -> Writer:
    return _xml


def xml_send(context: OutputContext, type_oid: int) -> Sender:
    encode, name = encoder(context), client_encoding(context)
    encoding = "" if name in ("UTF8", "SQL_ASCII") else name
    return lambda value: encode(_xml(value, encoding))


def void_out(context: OutputContext, type_oid: int) -> Writer:
    return lambda value: ""


def void_send(context: OutputContext, type_oid: int) -> Sender:
    return lambda value: b""
