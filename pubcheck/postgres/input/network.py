"""Input of inet, cidr, macaddr and macaddr8 (network.c, inet_net_pton.c, inet_cidr_ntop.c, mac.c, mac8.c)."""

from __future__ import annotations

import re

from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import SPACE, InputContext, input_error, invalid

_CIDR_4 = re.compile(r"([0-9]+(?:\.[0-9]+){0,3})(?:/([0-9]+))?")
_INET_4 = re.compile(r"([0-9]+(?:\.[0-9]+){0,3})\.?(?:/([0-9]+))?")
_HEX_CIDR = re.compile(r"0[xX]([0-9a-fA-F]+)(?:/([0-9]+))?")


def _address_4(text: str, cidr: bool) -> tuple[bytes, int] | None:
    """inet_net_pton_ipv4 and inet_cidr_pton_ipv4: the address and its prefix length."""
    if cidr:
        match = _HEX_CIDR.fullmatch(text)
        if match:
            digits = match[1]
            octets = bytes.fromhex(digits + "0" * (len(digits) % 2))
            return _completed(octets, match[2]) if len(octets) <= 4 else None
    match = (_CIDR_4 if cidr else _INET_4).fullmatch(text)
    if match is None:
        return None
    numbers = [int(part) if len(part) < 400 else 256 for part in match[1].split(".")]
    if max(numbers) > 255:
        return None
    if cidr:
        return _completed(bytes(numbers), match[2])
    prefix = _prefix_4(match[2]) if match[2] else 32
    if prefix > 32 or (len(numbers) < 4 and match[2] is None):
        return None
    # Fewer octets than the prefix fills are refused: 10.1/24.
    if prefix // 8 > len(numbers):
        return None
    return bytes(numbers).ljust(4, b"\0"), prefix


def _prefix_4(stated: str) -> int:
    """A prefix length. Raises Unknowable for one beyond a C int, which the server counts up without looking."""
    digits = stated.lstrip("0")
    if len(digits) > 10 or int(digits or 0) >= 1 << 31:
        raise Unknowable("how the server counts such a prefix length")
    return int(digits or 0)


def _completed(octets: bytes, stated: str | None) -> tuple[bytes, int] | None:
    """An address of cidr that may be short; without a prefix length its class says it."""
    if stated is not None:
        prefix = _prefix_4(stated)
        if prefix > 32:
            return None
    else:
        first = octets[0]
        prefix = 32 if first >= 240 else 8 if first >= 224 else 24 if first >= 192 else 16 if first >= 128 else 8
        prefix = max(prefix, len(octets) * 8)
        # A class D address of one octet means all of class D.
        if prefix == 8 and first == 224:
            prefix = 4
    size = max(len(octets), (prefix + 7) // 8)
    return octets.ljust(max(size, 4), b"\0"), prefix


_GROUP = re.compile(r"[0-9a-fA-F]{1,4}")


def _address_6(text: str) -> tuple[bytes, int] | None:
    """inet_cidr_pton_ipv6."""
    body, slash, stated = text.partition("/")
    prefix = 128
    if slash:
        if not re.fullmatch("[0-9]{1,3}", stated) or (stated.startswith("0") and stated != "0") or int(stated) > 128:
            return None
        prefix = int(stated)
        if body.endswith(":") and not body.endswith("::"):
            # A missing colon is an error only if the text ends there.
            body = body[:-1]
    head, gap, tail = body.partition("::")
    if gap and ("::" in tail or tail.startswith(":")):
        return None
    left, right = _groups(head, not gap, bool(slash)), _groups(tail, True, bool(slash))
    if left is None or right is None:
        return None
    if gap:
        if len(left) + len(right) > 14:
            return None
        return left + bytes(16 - len(left) - len(right)) + right, prefix
    return (left, prefix) if len(left) == 16 else None


def _groups(text: str, last: bool, prefixed: bool) -> bytes | None:
    if not text:
        return b""
    address = bytearray()
    parts = text.split(":")
    for index, part in enumerate(parts):
        if last and index == len(parts) - 1 and "." in part:
            octets = part.split(".")
            if len(octets) > 4 or not all(re.fullmatch("(?:0|[1-9][0-9]{0,2})?", octet) for octet in octets):
                return None
            values = [int(octet or 0) for octet in octets]
            if max(values) > 255 or not (octets[-1] or prefixed):
                return None
            # getv4 does not count octets: missing ones are zero.
            address += bytes(values).ljust(4, b"\0")
        elif _GROUP.fullmatch(part):
            address += int(part, 16).to_bytes(2, "big")
        else:
            return None
    return bytes(address)


def _network(text: str, cidr: bool) -> tuple[int, bytes, int, bytes]:
    """network_in. The value compares as network_cmp does: family, network bits, prefix length, address."""
    version_6 = ":" in text
    result = _address_6(text) if version_6 else _address_4(text, cidr)
    if result is None:
        raise invalid("cidr" if cidr else "inet", text)
    address, prefix = result
    size = len(address)
    number = int.from_bytes(address, "big")
    host = number & ((1 << (size * 8 - prefix)) - 1)
    if cidr and host:
        raise input_error("22P02", f'invalid cidr value: "{text}"', "Value has bits set to right of mask.")
    return (6 if version_6 else 4), (number - host).to_bytes(size, "big"), prefix, address


def read_inet(context: InputContext, text: str, typmod: int = -1) -> tuple[int, bytes, int, bytes]:
    return _network(text, cidr=False)


def read_cidr(context: InputContext, text: str, typmod: int = -1) -> tuple[int, bytes, int, bytes]:
    return _network(text, cidr=True)


# sscanf does not go back on what it has read; of a 0x with no digit behind it, it makes a zero.
_N = r"[ \t\n\v\f\r]*((?>[+-]?(?:0[xX][0-9a-fA-F]*|[0-9a-fA-F]+)))"
_H = r"[ \t\n\v\f\r]*((?>[+-][0-9a-fA-F]|0[xX]|[0-9a-fA-F]{1,2}))"
_END = r"[ \t\n\v\f\r]*"
_MAC = [
    re.compile(pattern + _END)
    for pattern in (
        ":".join([_N] * 6),
        "-".join([_N] * 6),
        f"{_H}{_H}{_H}:{_H}{_H}{_H}",
        f"{_H}{_H}{_H}-{_H}{_H}{_H}",
        rf"{_H}{_H}\.{_H}{_H}\.{_H}{_H}",
        f"{_H}{_H}-{_H}{_H}-{_H}{_H}",
        f"{_H}{_H}{_H}{_H}{_H}{_H}",
    )
]


def read_macaddr(context: InputContext, text: str, typmod: int = -1) -> bytes:
    """macaddr_in: a text that sscanf reads with one of seven patterns."""
    match = next((match for pattern in _MAC if (match := pattern.fullmatch(text))), None)
    if match is None:
        raise invalid("macaddr", text)
    octets = [int(part.lower().replace("0x", "0"), 16) for part in match.groups()]
    if min(octets) < 0 or max(octets) > 255:
        raise input_error("22003", f'invalid octet value in "macaddr" value: "{text}"')
    return bytes(octets)


_PAIR = re.compile(r"([0-9a-fA-F]{2})([:.-]?)")


def read_macaddr8(context: InputContext, text: str, typmod: int = -1) -> bytes:
    """macaddr8_in: pairs of digits, apart by always the same mark or by none, six or eight of them.

    A single character at the end is never looked at, for the server goes on while there are two.
    """
    pos, octets, marks, length = len(text) - len(text.lstrip(SPACE)), bytearray(), set[str](), len(text)
    while pos + 1 < length:
        match = _PAIR.match(text, pos)
        if match is None or len(octets) == 8:
            raise invalid("macaddr8", text)
        octets.append(int(match[1], 16))
        if match[2]:
            marks.add(match[2])
        pos = match.end()
        if len(octets) in (6, 8) and text[pos : pos + 1] in SPACE:
            if text[pos:].strip(SPACE):
                break
            pos = length
    if len(octets) == 6:
        octets[3:3] = b"\xff\xfe"
    if len(octets) != 8 or len(marks) > 1 or text[pos + 1 :]:
        raise invalid("macaddr8", text)
    return bytes(octets)
