"""Input of boolean, texts, bytea, bit strings, uuid and of short system types (bool.c, varlena.c, varchar.c, char.c,
varbit.c, uuid.c, pg_lsn.c, tid.c, xid8funcs.c).
"""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.budget import room
from pubcheck.postgres.input import SPACE, InputContext, input_error, invalid

_BOOLEANS = {
    word[:length]: value
    for word, value, least in (
        ("true", True, 1), ("false", False, 1), ("yes", True, 1), ("no", False, 1), ("on", True, 2), ("off", False, 2),
        ("1", True, 1), ("0", False, 1),
    )
    for length in range(least, len(word) + 1)
}  # fmt: skip


def read_bool(context: InputContext, text: str, typmod: int = -1) -> bool:
    value = _BOOLEANS.get(text)
    if value is None:
        body = text.strip(SPACE)
        value = _BOOLEANS.get(body.lower()) if body.isascii() else None
        if value is None:
            raise invalid("boolean", text)
    return value


def read_text(context: InputContext, text: str, typmod: int = -1) -> str:
    return text


read_unknown = read_cstring = read_refcursor = read_text


def _limited(text: str, limit: int, type_name: str) -> str:
    if text[limit:].strip(" "):
        raise input_error("22001", f"value too long for type {type_name}({limit})")
    return text[:limit]


def read_varchar(context: InputContext, text: str, typmod: int = -1) -> str:
    """varchar_input: only blanks may exceed the length."""
    return text if typmod < 4 or len(text) <= typmod - 4 else _limited(text, typmod - 4, "character varying")


def read_bpchar(context: InputContext, text: str, typmod: int = -1) -> str:
    """bpchar_input."""
    if typmod < 4:
        return text
    if len(text) > typmod - 4:
        return _limited(text, typmod - 4, "character")
    room(typmod - 4)
    return text.ljust(typmod - 4)


def read_name(context: InputContext, text: str, typmod: int = -1) -> str:
    """namein cuts to NAMEDATALEN - 1 bytes, at a character."""
    return text.encode(errors="surrogatepass")[:63].decode(errors="ignore")


_OCTAL = lazy_compile(r"\\[0-7]{3}")


def read_char(context: InputContext, text: str, typmod: int = -1) -> bytes:
    r"""charin of "char": the first byte, or one written \ooo."""
    if len(text) == 4 and _OCTAL.fullmatch(text):
        return bytes((int(text[1:], 8) & 0xFF,))
    return text.encode(errors="surrogatepass")[:1] or b"\0"


_ESCAPED = lazy_compile(r"(?:[^\\]|\\\\|\\[0-3][0-7][0-7])*")
_HEX_PAIRS = lazy_compile(r"(?:[ \n\t\r]|[0-9a-fA-F]{2})*")
_HEX = frozenset("0123456789abcdefABCDEF")


def read_bytea(context: InputContext, text: str, typmod: int = -1) -> bytes:
    """byteain; hex_decode_safe (encode.c) for the hex format."""
    if text.startswith("\\x"):
        match = _HEX_PAIRS.match(text, 2)
        assert match is not None
        pos = match.end()
        if pos == len(text):
            return bytes.fromhex(text[2:])
        if text[pos] in _HEX:
            pos += 1
            if pos == len(text):
                raise input_error("22023", "invalid hexadecimal data: odd number of digits")
        raise input_error("22023", f'invalid hexadecimal digit: "{text[pos]}"')
    if not _ESCAPED.fullmatch(text):
        raise input_error("22P02", "invalid input syntax for type bytea")
    return re.sub(
        rb"\\(\\|[0-7]{3})",
        lambda match: b"\\" if match[1] == b"\\" else bytes((int(match[1], 8),)),
        text.encode(errors="surrogatepass"),
    )


_NO_BINARY = lazy_compile("[^01]")
_NO_HEX = lazy_compile("[^0-9a-fA-F]")


def _bits(text: str) -> str:
    hexadecimal = text[:1] in ("x", "X")
    digits = text[1:] if hexadecimal or text[:1] in ("b", "B") else text
    wrong = (_NO_HEX if hexadecimal else _NO_BINARY).search(digits)
    if wrong:
        raise input_error("22P02", f'"{wrong[0]}" is not a valid {"hexadecimal" if hexadecimal else "binary"} digit')
    return "".join(f"{int(digit, 16):04b}" for digit in digits) if hexadecimal else digits


def _bit_length(text: str) -> int:
    """Return the length that is assumed before the digits are read; in bytes, like strlen."""
    length = len(text.encode(errors="surrogatepass"))
    if text[:1] in ("x", "X"):
        return (length - 1) * 4
    return length - 1 if text[:1] in ("b", "B") else length


def read_bit(context: InputContext, text: str, typmod: int = -1) -> str:
    if typmod > 0 and _bit_length(text) != typmod:
        raise input_error("22026", f"bit string length {_bit_length(text)} does not match type bit({typmod})")
    return _bits(text)


def read_varbit(context: InputContext, text: str, typmod: int = -1) -> str:
    if typmod > 0 and _bit_length(text) > typmod:
        raise input_error("22001", f"bit string too long for type bit varying({typmod})")
    return _bits(text)


_UUID = lazy_compile(r"(?:(?:[0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}|\{(?:[0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}\})")


def read_uuid(context: InputContext, text: str, typmod: int = -1) -> bytes:
    if not _UUID.fullmatch(text):
        raise invalid("uuid", text)
    return bytes.fromhex(text.strip("{}").replace("-", ""))


_LSN = lazy_compile(r"([0-9a-fA-F]{1,8})/([0-9a-fA-F]{1,8})")


def read_pg_lsn(context: InputContext, text: str, typmod: int = -1) -> int:
    match = _LSN.fullmatch(text)
    if match is None:
        raise invalid("pg_lsn", text)
    return int(match[1], 16) << 32 | int(match[2], 16)


_TID_NUMBER = lazy_compile(r"(?:[ \t\n\v\f\r]*([+-]?[0-9]{1,400}))?")


def read_tid(context: InputContext, text: str, typmod: int = -1) -> tuple[int, int]:
    """tidin: text before the opening parenthesis and after the closing one is ignored."""
    starts: list[int] = []
    for pos, character in enumerate(text):
        if len(starts) == 2 or character == ")":
            break
        if character == "," or (character == "(" and not starts):
            starts.append(pos + 1)
    if len(starts) == 2:
        block, offset = (_TID_NUMBER.match(text, start) for start in starts)
        assert block is not None
        assert offset is not None
        if text[block.end() : block.end() + 1] == "," and text[offset.end() : offset.end() + 1] == ")":
            page, line = int(block[1] or 0), int(offset[1] or 0)
            # strtoul: a negative number is one of 64 bits; a block may be written as a signed 32-bit number.
            if -(1 << 64) < page < 1 << 64:
                page %= 1 << 64
                if (page < 1 << 32 or page >= (1 << 64) - (1 << 31)) and -(1 << 64) < line < 1 << 64:
                    line %= 1 << 64
                    if line <= 0xFFFF:
                        return page % (1 << 32), line
    raise invalid("tid", text)


_STR2U64 = lazy_compile(r"[ \t\n\v\f\r]*[+-]?[0-9]*")


def _snapshot_number(text: str, pos: int) -> tuple[int, int]:
    """strtou64 with base 10: the number and where it ends; with no digits 0, ending where it began."""
    match = _STR2U64.match(text, pos)
    assert match is not None
    digits = match[0].lstrip(SPACE)
    if not digits.lstrip("+-"):
        return 0, pos
    value = int(digits) if len(digits) < 400 else 1 << 64
    return min(value, (1 << 64) - 1) if value >= 0 else max(value, -(1 << 64) + 1) % (1 << 64), match.end()


def read_pg_snapshot(context: InputContext, text: str, typmod: int = -1) -> tuple[int, ...]:
    """parse_snapshot: xmin:xmax:xip,xip..."""
    xmin, pos = _snapshot_number(text, 0)
    if text[pos : pos + 1] == ":":
        xmax, pos = _snapshot_number(text, pos + 1)
        # FullTransactionIdIsValid looks at the lower half of the number only.
        if text[pos : pos + 1] == ":" and xmin <= xmax and xmin % (1 << 32) and xmax % (1 << 32):
            pos += 1
            last, values = 0, [xmin, xmax]
            while pos < len(text):
                value, pos = _snapshot_number(text, pos)
                if not max(xmin, last) <= value < xmax:
                    break
                values.append(value)
                last = value
                if text[pos : pos + 1] == ",":
                    pos += 1
                elif pos < len(text):
                    break
            else:
                return tuple(values)
    raise invalid("pg_snapshot", text)


read_txid_snapshot = read_pg_snapshot
