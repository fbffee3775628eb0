"""Output of texts, boolean, bytea, bit strings, uuid, xml and short system types (bool.c, varlena.c, char.c, varbit.c,
uuid.c, xml.c, pg_lsn.c, tid.c, xid8funcs.c), and of network addresses (network.c, inet_net_ntop.c, mac.c, mac8.c).
"""

from __future__ import annotations

import re
import struct
from ipaddress import IPv6Address

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
