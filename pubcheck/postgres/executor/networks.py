"""inet and cidr (network.c): (family, network, prefix length, address) as the input functions give them."""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.executor.functions import Function, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.output.strings import Address, host

FUNCTIONS: dict[str, Function] = {}


def inet_value(family: int, prefix: int, address: bytes) -> Address:
    size = len(address) * 8
    mask = (1 << size) - (1 << (size - prefix))
    network = (int.from_bytes(address, "big") & mask).to_bytes(len(address), "big")
    return family, network, prefix, address


def _shares(left: Address, right: Address, bits: int) -> bool:
    """Return whether the first bits of two addresses are the same."""
    if left[0] != right[0]:
        return False
    shift = len(left[3]) * 8 - bits
    return int.from_bytes(left[3], "big") >> shift == int.from_bytes(right[3], "big") >> shift


def _within(strict: bool) -> Callable[[Address, Address], bool]:
    def test(left: Address, right: Address) -> bool:
        narrower = left[2] > right[2] if strict else left[2] >= right[2]
        return left[0] == right[0] and narrower and _shares(left, right, right[2])

    return test


def _moved(value: Address, by: int) -> Address:
    size = len(value[3]) * 8
    number = int.from_bytes(value[3], "big") + by
    if not 0 <= number < 1 << size:
        raise evaluation_error("22003", "result is out of range")
    return inet_value(value[0], value[2], number.to_bytes(size // 8, "big"))


def _distance(left: Address, right: Address) -> int:
    if left[0] != right[0]:
        raise evaluation_error("22023", "cannot subtract inet values of different sizes")
    difference = int.from_bytes(left[3], "big") - int.from_bytes(right[3], "big")
    if left[0] == 6:
        # Its 128 bits wrap.
        difference = (difference + (1 << 127)) % (1 << 128) - (1 << 127)
    if not -(1 << 63) <= difference < 1 << 63:
        raise evaluation_error("22003", "result is out of range")
    return difference


def _bitwise(operation: Callable[[int, int], int], word: str) -> Function:
    def apply(left: Address, right: Address) -> Address:
        if left[0] != right[0]:
            raise evaluation_error("22023", f"cannot {word} inet values of different sizes")
        number = operation(int.from_bytes(left[3], "big"), int.from_bytes(right[3], "big"))
        return inet_value(left[0], max(left[2], right[2]), number.to_bytes(len(left[3]), "big"))

    return apply


def _inverted(value: Address) -> Address:
    return inet_value(value[0], value[2], bytes(255 - byte for byte in value[3]))


def _host_bits(value: Address) -> int:
    return (1 << (len(value[3]) * 8 - value[2])) - 1


def _masked(value: Address, number: int, prefix: int) -> Address:
    return inet_value(value[0], prefix, number.to_bytes(len(value[3]), "big"))


def _broadcast(value: Address) -> Address:
    return _masked(value, int.from_bytes(value[3], "big") | _host_bits(value), value[2])


def _netmask(value: Address) -> Address:
    size = len(value[3]) * 8
    return _masked(value, (1 << size) - 1 - _host_bits(value), size)


def _hostmask(value: Address) -> Address:
    return _masked(value, _host_bits(value), len(value[3]) * 8)


def _set_length(cidr: bool) -> Function:
    def apply(value: Address, bits: int) -> Address:
        size = len(value[3]) * 8
        bits = size if bits == -1 else bits
        if not 0 <= bits <= size:
            raise evaluation_error("22023", f"invalid mask length: {bits}")
        resized = inet_value(value[0], bits, value[3])
        return inet_value(value[0], bits, resized[1]) if cidr else resized

    return apply


for _name, _test in COMPARISONS.items():
    FUNCTIONS[f"network_{_name}"] = _test
FUNCTIONS |= {
    "network_larger": max,
    "network_smaller": min,
    "network_sub": _within(True),
    "network_subeq": _within(False),
    "network_sup": lambda left, right: _within(True)(right, left),
    "network_supeq": lambda left, right: _within(False)(right, left),
    "network_overlap": lambda left, right: _shares(left, right, min(left[2], right[2])),
    "inetpl": _moved,
    "int8pl_inet": lambda by, value: _moved(value, by),
    "inetmi_int8": lambda value, by: _moved(value, -by if by != -(1 << 63) else by),
    "inetmi": _distance,
    "inetand": _bitwise(int.__and__, "AND"),
    "inetor": _bitwise(int.__or__, "OR"),
    "inetnot": _inverted,
    "family": lambda value: value[0],
    "masklen": lambda value: value[2],
    "network": lambda value: inet_value(value[0], value[2], value[1]),
    "cidr(inet)": lambda value: inet_value(value[0], value[2], value[1]),
    "broadcast": _broadcast,
    "netmask": _netmask,
    "hostmask": _hostmask,
    "host": host,
    "text(inet)": lambda value: f"{host(value)}/{value[2]}",
    "set_masklen(inet,int4)": _set_length(False),
    "set_masklen(cidr,int4)": _set_length(True),
    "inet_same_family": lambda left, right: left[0] == right[0],
}
