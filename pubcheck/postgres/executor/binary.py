"""bytea, bit strings, uuid and MAC addresses (varlena.c, varbit.c, uuid.c, mac.c, encode.c, cryptohashfuncs.c); inet
and cidr (network.c): (family, network, prefix length, address) as the input functions give them.
"""

from __future__ import annotations

import hashlib
import operator
from base64 import b64encode
from collections.abc import Callable

from pubcheck.postgres.budget import room
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import bit_order
from pubcheck.postgres.executor.functions import (
    Call,
    Function,
    Maker,
    evaluation_error,
    out_of_range,
    overlay,
    substring,
)
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.executor.linear_matching import like
from pubcheck.postgres.output.strings import Address, host

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}

for _name, _test in COMPARISONS.items():
    for _prefix in ("bytea", "uuid_", "macaddr_", "macaddr8_"):
        FUNCTIONS[_prefix + _name] = _test


def _bit_test(test: Callable[[int, int], bool]) -> Function:
    return lambda left, right: test(bit_order(left, right), 0)


for _name, _test in COMPARISONS.items():
    FUNCTIONS[f"bit{_name}"] = FUNCTIONS[f"varbit{_name}"] = _bit_test(_test)


def _byte(value: bytes, index: int) -> int:
    _index_checked(index, len(value))
    return value[index]


def _bit_of_bytes(value: bytes, index: int) -> int:
    _index_checked(index, 8 * len(value))
    return value[index // 8] >> (index % 8) & 1


def _bit(value: str, index: int) -> int:
    if not 0 <= index < len(value):
        raise evaluation_error("2202E", f"bit index {index} out of valid range (0..{len(value) - 1})")
    return int(value[index])


def _bitwise(operation: Callable[[bool, bool], bool], word: str) -> Function:
    def apply(left: str, right: str) -> str:
        if len(left) != len(right):
            raise evaluation_error("22026", f"cannot {word} bit strings of different sizes")
        return "".join("1" if operation(a == "1", b == "1") else "0" for a, b in zip(left, right, strict=True))

    return apply


def _shift_left(value: str, by: int) -> str:
    if by < 0:
        return _shift_right(value, -by)
    return value[by:].ljust(len(value), "0") if by < len(value) else "0" * len(value)


def _shift_right(value: str, by: int) -> str:
    if by < 0:
        return _shift_left(value, -by)
    return value[: max(len(value) - by, 0)].rjust(len(value), "0")


_GREATEST_BITS = (1 << 31) - 8


def _to_bits(bits: int) -> Function:
    """bitfromint4, bitfromint8: the lowest bits, or the sign in front."""

    def cast(value: int, length: int) -> str:
        length = length if 0 < length <= _GREATEST_BITS else 1
        room(length)
        text = f"{value % (1 << bits):0{bits}b}"
        return text[-length:] if length <= bits else ("1" if value < 0 else "0") * (length - bits) + text

    return cast


def _from_bits(bits: int, name: str) -> Function:
    def cast(value: str) -> int:
        if len(value) > bits:
            raise evaluation_error("22003", f"{name} out of range")
        number = int(value or "0", 2)
        return number - (1 << bits) if len(value) == bits and value[0] == "1" else number

    return cast


def _bit_length_coercion(value: str, length: int, explicit: bool) -> str:
    if not 0 < length <= _GREATEST_BITS or len(value) == length:
        return value
    if not explicit:
        raise evaluation_error("22026", f"bit string length {len(value)} does not match type bit({length})")
    room(length)
    return value[:length].ljust(length, "0")


def _varbit_length_coercion(value: str, length: int, explicit: bool) -> str:
    if length <= 0 or len(value) <= length:
        return value
    if not explicit:
        raise evaluation_error("22001", f"bit string too long for type bit varying({length})")
    return value[:length]


def _encode(value: bytes, kind: str) -> str:
    word = kind.lower()
    if word == "hex":
        return value.hex()
    if word == "base64":
        text = b64encode(value).decode()
        return "\n".join(text[start : start + 76] for start in range(0, len(text), 76))
    if word == "escape":
        return "".join("\\\\" if byte == 92 else chr(byte) if 0 < byte < 128 else f"\\{byte:03o}" for byte in value)
    raise evaluation_error("22023", f'unrecognized encoding: "{kind}"')


def _index_checked(index: int, size: int) -> None:
    if not 0 <= index < size:
        raise evaluation_error("2202E", f"index {index} out of valid range, 0..{size - 1}")


def _with_byte(value: bytes, index: int, new: int) -> bytes:
    _index_checked(index, len(value))
    return value[:index] + bytes((new & 0xFF,)) + value[index + 1 :]


def _with_bit(value: bytes, index: int, new: int) -> bytes:
    _index_checked(index, 8 * len(value))
    if new not in (0, 1):
        raise evaluation_error("22023", "new bit must be 0 or 1")
    byte, bit = divmod(index, 8)
    return _with_byte(value, byte, value[byte] & ~(1 << bit) | new << bit)


def _utf8(name: str) -> None:
    if name.lower() not in ("utf8", "utf-8", "unicode"):
        raise Unknowable(f'texts in the encoding "{name}"')


def _converted_to(text: str, encoding: str) -> bytes:
    _utf8(encoding)
    return text.encode()


def _converted_from(value: bytes, encoding: str) -> str:
    _utf8(encoding)
    if b"\0" in value:
        raise Unknowable("a text of bytes that are no UTF-8")
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Unknowable("a text of bytes that are no UTF-8") from None


def _unhexed(text: str) -> bytes:
    """hex_decode: blanks may be between the bytes, not inside of one."""
    digits: list[str] = []
    for char in text:
        if len(digits) % 2 == 0 and char in " \n\t\r":
            continue
        if char not in "0123456789abcdefABCDEF":
            raise evaluation_error("22023", f'invalid hexadecimal digit: "{char}"')
        digits.append(char)
    if len(digits) % 2:
        raise evaluation_error("22023", "invalid hexadecimal data: odd number of digits")
    return bytes.fromhex("".join(digits))


def _decode(text: str, kind: str) -> bytes:
    if kind.lower() == "hex":
        return _unhexed(text)
    raise Unknowable(f"what decode() makes of {kind}")


def _like(negated: bool) -> Maker:
    def make(call: Call) -> Function:
        budget = call.context.budget
        return lambda value, pattern: like(value.decode("latin-1"), pattern.decode("latin-1"), budget) is not negated

    return make


def _hashed(name: str) -> Function:
    return lambda value: hashlib.new(name, value).digest()


def _md5(value: bytes) -> str:
    return hashlib.md5(value, usedforsecurity=False).hexdigest()


def _integer_of(size: int, name: str) -> Function:
    """bytea_int4 and the like: big-endian, with a sign where all bytes are there."""

    def cast(value: bytes) -> int:
        if len(value) > size:
            raise out_of_range(name)
        return int.from_bytes(value, "big", signed=len(value) == size)

    return cast


def _bytes_of(size: int) -> Function:
    return lambda value: value.to_bytes(size, "big", signed=True)


def _trim(strip: Callable[[bytes, bytes], bytes]) -> Function:
    return lambda value, characters: strip(value, characters) if characters else value


def _uuid_version(value: bytes) -> int | None:
    return value[6] >> 4 if value[8] & 0xC0 == 0x80 else None


for _name in ("length", "octet_length"):
    FUNCTIONS[f"{_name}(bytea)"] = len
for _size, _name in ((2, "smallint"), (4, "integer"), (8, "bigint")):
    FUNCTIONS[f"bytea(int{_size})"] = _bytes_of(_size)
    FUNCTIONS[f"int{_size}(bytea)"] = _integer_of(_size, _name)
FUNCTIONS["length(bit)"] = len
FUNCTIONS["bit_length(bit)"] = len
for _name in ("substr", "substring"):
    for _kind in ("bytea", "bit"):
        FUNCTIONS[f"{_name}({_kind},int4)"] = FUNCTIONS[f"{_name}({_kind},int4,int4)"] = substring
for _name, _strip in (("btrim", bytes.strip), ("ltrim", bytes.lstrip), ("rtrim", bytes.rstrip)):
    FUNCTIONS[f"{_name}(bytea,bytea)"] = _trim(_strip)
FUNCTIONS |= {
    "overlay(bytea,bytea,int4)": overlay,
    "overlay(bytea,bytea,int4,int4)": overlay,
    "set_byte": _with_byte,
    "set_bit(bytea,int8,int4)": _with_bit,
    "convert_to": _converted_to,
    "convert_from": _converted_from,
    "bytea_larger": max,
    "bytea_smaller": min,
    "byteacat": operator.add,
    "bitcat": operator.add,
    "bit_length(bytea)": lambda value: 8 * len(value),
    "octet_length(bit)": lambda value: -(-len(value) // 8),
    "position(bytea,bytea)": lambda value, part: value.find(part) + 1,
    "position(bit,bit)": lambda value, part: (value.find(part) + 1) if part or value else 0,
    "get_byte": _byte,
    "get_bit(bytea,int8)": _bit_of_bytes,
    "get_bit(bit,int4)": _bit,
    "bit_count(bytea)": lambda value: int.from_bytes(value, "big").bit_count(),
    "bit_count(bit)": lambda value: value.count("1"),
    "bitand": _bitwise(operator.and_, "AND"),
    "bitor": _bitwise(operator.or_, "OR"),
    "bitxor": _bitwise(operator.xor, "XOR"),
    "bitnot": lambda value: value.translate({48: 49, 49: 48}),
    "bitshiftleft": _shift_left,
    "bitshiftright": _shift_right,
    "bit(int4,int4)": _to_bits(32),
    "bit(int8,int4)": _to_bits(64),
    "int4(bit)": _from_bits(32, "integer"),
    "int8(bit)": _from_bits(64, "bigint"),
    "bit(bit,int4,bool)": _bit_length_coercion,
    "varbit(varbit,int4,bool)": _varbit_length_coercion,
    "encode": _encode,
    "decode": _decode,
    "md5(bytea)": _md5,
    "md5(text)": lambda text: _md5(text.encode(errors="surrogatepass")),
    "sha224": _hashed("sha224"),
    "sha256": _hashed("sha256"),
    "sha384": _hashed("sha384"),
    "sha512": _hashed("sha512"),
    "uuid_extract_version": _uuid_version,
    "reverse(bytea)": lambda value: value[::-1],
}
MAKERS |= {"bytealike": _like(False), "byteanlike": _like(True)}


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


def _bitwise_addresses(operation: Callable[[int, int], int], word: str) -> Function:
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
    "inetand": _bitwise_addresses(int.__and__, "AND"),
    "inetor": _bitwise_addresses(int.__or__, "OR"),
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
