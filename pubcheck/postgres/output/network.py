"""Output of inet, cidr, macaddr and macaddr8 (network.c, inet_net_ntop.c, mac.c, mac8.c)."""

from __future__ import annotations

from ipaddress import IPv6Address

from pubcheck.postgres.output.dispatch import fixed

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
