"""The texts that output functions write for the usual values of types, recognised by one call, and read at once.

Any other text is left to the input functions, which take several times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple

from msgspec import MsgspecError, Raw
from msgspec.json import Decoder as Json

from pubcheck.postgres import oids
from pubcheck.postgres.datum import whole_scale
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import InputContext

Matches = Callable[[str], object]
"""Returns something true for texts that are certainly values of a type."""


MatchesAll = Callable[[Sequence[str]], object]
"""Returns something true if each of these texts is certainly a value of a type."""


class UsualTexts(NamedTuple):
    """Whether a text is certainly a value of a type, and whether all of some texts are, in less time."""

    one: Matches
    all: MatchesAll
    pattern: str | None = None
    """A pattern of such texts."""
    is_all: bool = False
    """Whether it matches all of them, and only ASCII."""


class UsualText(NamedTuple):
    """A form of texts that are valid values, and a function that reads them as the type's input function does."""

    matches: Matches
    read: Callable[[str], Any]


_DATE = (
    r"(?:[1-9]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"|[1-9]\d(?:0[48]|[2468][048]|[13579][26])-02-29)"
)
_SECONDS = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d"
_ZONE = r"[+-](?:0\d|1[0-4])(?::[0-5]\d)?"
_YEARS, _MONTHS, _DAYS = (rf"[+-]?\d{{1,{digits}}} {name}s?" for digits, name in ((6, "year"), (2, "mon"), (8, "day")))
_TIME = r"[+-]?\d\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?"
_FLOAT = r"-?\d{1,15}(?:\.\d{1,17})?"
_POINT = rf"\({_FLOAT},{_FLOAT}\)"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_LEXEME = r"'[^'\\\0]{1,200}'"
_PLACE = r"[1-9]\d{0,3}[ABC]?"
_PLACED = rf"{_LEXEME}(?::{_PLACE}(?:,{_PLACE})*)?"
_OPERAND = rf"!?{_LEXEME}(?::[*ABCD])?"
_KEY = r'"[^"\\\0-\x1f\x7f]++"'
_COUNT = r"(?:0|[1-9]\d{0,8})"
_STEP = rf"(?:\.{_KEY}|\[(?:\*|{_COUNT})\]|\.\*)"
_COMPARED = rf"@{_STEP}*+ (?:[=!<>]=|[<>]) (?:-?{_COUNT}(?:\.\d{{1,9}})?|{_KEY}|true|false|null)"


def _element(depth: int, in_names: str = r"\w") -> str:
    """A form of XML elements without namespaces, with at most two attributes, and so many levels of elements.
    ``in_names`` are letters in names, apart from the first one."""
    name, text = rf"(?!(?i:xml))[A-Za-z_][{in_names}.-]*+", r"[^<>&\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
    value = rf'"(?:(?!["\t\r\n]){text})*+"'
    element, attribute = f"element{depth}", f"attribute{depth}"
    attributes = rf"(?: (?P<{attribute}>{name})={value}(?: (?!(?P={attribute})=){name}={value})?)?"
    inside = f"{text}++|&(?:amp|lt|gt|quot|apos);" + (f"|{_element(depth - 1, in_names)}" if depth > 1 else "")
    return rf"<(?P<{element}>{name}){attributes}(?:/>|>(?:{inside})*+</(?P={element})>)"


_FORMS: Mapping[int, str] = {
    oids.BOOL: "[tf]",
    21: r"-?(?:\d{1,4}|[12]\d{4}|3[01]\d{3})",
    oids.INT4: r"-?(?:\d{1,9}|1\d{9}|20\d{8})",
    20: r"-?(?:\d{1,18}|[1-8]\d{18})",
    26: r"\d{1,9}",
    28: r"\d{1,9}",
    5069: r"\d{1,18}",
    700: r"-?(?:\d{1,9}(?:\.\d{1,9})?|\d(?:\.\d{1,9})?e[+-][012]\d)",
    oids.FLOAT8: rf"{_FLOAT}|-?\d(?:\.\d{{1,17}})?e[+-][012]?\d\d",
    oids.NUMERIC: r"-?\d{1,18}(?:\.\d{1,18})?",
    oids.BYTEA: r"\\x(?:[0-9a-f]{2})*",
    oids.UUID: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    3220: "[0-9A-F]{1,8}/[0-9A-F]{1,8}",
    18: r"[ -\[\]-~]",
    oids.DATE: _DATE,
    1083: rf"{_SECONDS}(?:\.\d{{1,6}})?",
    1266: rf"{_SECONDS}(?:\.\d{{1,6}})?{_ZONE}",
    1186: "|".join(
        (
            rf"{_YEARS}(?: {_MONTHS})?(?: {_DAYS})?(?: {_TIME})?",
            rf"{_MONTHS}(?: {_DAYS})?(?: {_TIME})?",
            rf"{_DAYS}(?: {_TIME})?",
            _TIME,
        )
    ),
    869: rf"(?:{_BYTE}\.){{3}}{_BYTE}(?:/(?:3[0-2]|[12]?\d))?",
    650: rf"{_BYTE}\.(?:(?:{_BYTE}\.){{2}}(?:{_BYTE}/32|0/24)|{_BYTE}\.0\.0/16|0\.0\.0/8)",
    829: "(?:[0-9a-f]{2}:){5}[0-9a-f]{2}",
    774: "(?:[0-9a-f]{2}:){7}[0-9a-f]{2}",
    600: _POINT,
    601: rf"\[{_POINT},{_POINT}\]",
    602: rf"\({_POINT}(?:,{_POINT})*\)|\[{_POINT}(?:,{_POINT})*\]",
    603: rf"{_POINT},{_POINT}",
    604: rf"\({_POINT}(?:,{_POINT})*\)",
    628: rf"{{-?[1-9]\d{{0,14}}(?:\.\d{{1,17}})?,{_FLOAT},{_FLOAT}}}",
    718: rf"<{_POINT},\d{{1,15}}(?:\.\d{{1,17}})?>",
    3614: rf"{_PLACED}(?: {_PLACED})*",
    3615: rf"{_OPERAND}(?: (?:[&|]|<->) {_OPERAND})*",
    4072: rf"(?:strict )?\$(?:{_STEP}|\?\({_COMPARED}(?: (?:&&|\|\|) {_COMPARED})*+\))*+",
    142: _element(4),
}
"""What the output functions write for usual values, by type. The input function takes all of it."""
_ONE_DIGIT = {ord(digit): "1" for digit in "23456789"}
_SHAPES: Mapping[int, tuple[Mapping[int, str], str]] = {
    4072: (_ONE_DIGIT, _FORMS[4072]),
    142: (_ONE_DIGIT | {ord("0"): "1"}, _element(4, "A-Za-z_")),
}
"""Types with many values that differ in digits only: digits to replace, and a form of which no text becomes another one
by that. The name at the end of an XML element is that of its start, so there are no digits in it."""
_DIGITS = {21: 4, oids.INT4: 9, 20: 18, 26: 9, 28: 9, 5069: 18}
"""Integers, and the number of digits that fit any of them: they are recognised without a pattern."""
_ANY_CHARACTERS = frozenset((3614, 3615, 4072, 142))
"""Types whose usual texts have other characters than those of ASCII, too."""
_FRACTIONS = {oids.TIMESTAMP: "", oids.TIMESTAMPTZ: _ZONE}
_BITS = {1560: "[01]{%d}", 1562: "[01]{0,%d}"}
_BARE = frozenset((
    oids.BOOL, 21, oids.INT4, 20, 26, 28, 5069, 700, oids.FLOAT8, oids.NUMERIC, oids.UUID, 3220, oids.DATE, 1083, 1266,
    869, 650, 829, 774, 1560, 1562,
))  # fmt: skip
"""Types whose usual texts array_out never quotes."""
_JSON, _JSONB = 114, 3802
_FIRST_DAY = date(2000, 1, 1).toordinal()
_EPOCH, _EPOCH_UTC = datetime(2000, 1, 1), datetime(2000, 1, 1, tzinfo=UTC)


def _days(text: str) -> int:
    return date.fromisoformat(text).toordinal() - _FIRST_DAY


def _microseconds(epoch: datetime) -> Callable[[str], int]:
    def read(text: str) -> int:
        since = datetime.fromisoformat(text) - epoch
        return (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds

    return read


_READERS: Mapping[int, Callable[[str], Any]] = {
    oids.BYTEA: lambda text: bytes.fromhex(text[2:]),
    oids.DATE: _days,
    oids.FLOAT8: float,
    oids.NUMERIC: lambda text: whole_scale(Decimal(text)),
    oids.TIMESTAMP: _microseconds(_EPOCH),
    oids.TIMESTAMPTZ: _microseconds(_EPOCH_UTC),
    oids.UUID: lambda text: bytes.fromhex(text.replace("-", "")),
}


def usual_text(oid: int, typmod: int) -> UsualText | None:
    """Return the form of the usual texts of a type; None for a type that has none here, or is not read here."""
    form, read = _form(oid, typmod), _READERS.get(oid)
    return None if form is None or read is None else UsualText(_fullmatch(form), read)


def usual_texts(inputs: InputContext, oid: int, typmod: int) -> UsualTexts | None:
    """Return the tests of usual texts of a type; None for a type that has none here."""
    if oid in _DIGITS:
        return _integer(_DIGITS[oid], _FORMS[oid])
    form = _form(oid, typmod)
    if form is not None:
        return UsualTexts(_fullmatch(form), _all_of(form, _SHAPES.get(oid)), form, oid not in _ANY_CHARACTERS)
    if oid in (_JSON, _JSONB):
        return UsualTexts(_is_json, _are_json) if oid == _JSON else UsualTexts(_is_jsonb, _are_jsonb)
    try:
        labels = frozenset(_labels(inputs, oid))
        element = inputs.cache.element_type(oid)
        if labels:
            return UsualTexts(labels.__contains__, labels.issuperset)
        return _array(inputs, element, typmod) if element else None
    except Unknowable:
        return None


def _integer(digits: int, form: str) -> UsualTexts:
    matches, match = _fullmatch(form), _all_of(form)

    def one(text: str) -> object:
        return (len(text) <= digits and text.isdigit() and text.isascii()) or matches(text)

    def every(texts: Sequence[str]) -> object:
        digits_of_all = "".join(texts)
        if digits_of_all.isdigit() and digits_of_all.isascii() and max(map(len, texts)) <= digits:
            return "" not in texts
        return match(texts)

    return UsualTexts(one, every, form, is_all=True)


def one_by_one(matches: Matches) -> UsualTexts:
    """Return tests that ask about each text."""
    return UsualTexts(matches, lambda texts: all(map(matches, texts)))


def _all_of(form: str, shapes: tuple[Mapping[int, str], str] | None = None) -> MatchesAll:
    """No form matches a zero byte, so that each text without one ends where a form does."""
    matches = _fullmatch(rf"(?:(?:{form})\0)*+")

    def match_ended(texts: Sequence[str]) -> object:
        joined = "\0".join(texts) + "\0"
        return joined.count("\0") == len(texts) and matches(joined)

    if shapes is None:
        return match_ended
    digits, form_of_shape = shapes
    match_shapes = _fullmatch(rf"(?:(?:{form_of_shape})\0)*+")

    def match(texts: Sequence[str]) -> object:
        joined = "\0".join(texts)
        if joined.isascii() and joined.count("\0") < len(texts):
            different = {*joined.translate(digits).split("\0")}
            if match_shapes("\0".join(different) + "\0"):
                return True
        return match_ended(texts)

    return match


def _fullmatch(form: str) -> Matches:
    return re.compile(form, re.ASCII).fullmatch


def _form(oid: int, typmod: int) -> str | None:
    if oid == oids.NUMERIC and typmod >= 0:
        return _numeric(typmod)
    if oid in _FRACTIONS:
        places = typmod if typmod >= 0 else 6
        return rf"{_DATE} {_SECONDS}" + (rf"(?:\.\d{{1,{places}}})?" if places else "") + _FRACTIONS[oid]
    if oid in _BITS:
        return _BITS[oid] % typmod if 0 < typmod < 1000 else "[01]+" if oid == 1562 and typmod < 0 else None
    return _FORMS.get(oid) if typmod < 0 or oid in (1083, 1266, 1186) else None


def _numeric(typmod: int) -> str | None:
    """A text that has as many digits after the point as its type is not rounded."""
    precision, scale = (typmod - 4) >> 16, (typmod - 4) & 0x7FF
    if not 0 <= scale < precision:
        return None
    return rf"-?\d{{1,{precision - scale}}}" + (rf"\.\d{{{scale}}}" if scale else "")


def _labels(inputs: InputContext, oid: int) -> list[str]:
    """Return the labels of an enum; none for another type, and none that the server may refuse."""
    row, session = inputs.cache.type(oid), inputs.cache.session
    return [label for label in row.labels if (oid, label) not in session.labels] if row.kind == "e" else []


# Arrays.

_QUOTED = r'"(?:[^"\\\0]|\\["\\])*"'
_TEXT_ELEMENT = rf'[^\0\t-\r {{}},"\\]+|{_QUOTED}'
_SIMPLE_LABEL = re.compile(r"(?!null$)\w+", re.ASCII | re.IGNORECASE).fullmatch
_has_only_escapes_of_arrays = re.compile(r'[^\\]*+(?:\\["\\][^\\]*+)*+').fullmatch
"""array_out escapes only the quote and the backslash."""
_lines_of_texts = Json(list[str]).decode_lines


def _array(inputs: InputContext, element: int, typmod: int) -> UsualTexts | None:
    form = _element_form(inputs, element, typmod)
    if form is not None:
        values = _flat_array(form)
        flat, nested = _fullmatch(rf"{values}|{{}}"), _fullmatch(rf"{{{values}(?:,{values})*+}}")
        all_flat, all_nested = _all_of(rf"{values}|{{}}"), _all_of(rf"{{{values}(?:,{values})*+}}")

        def one(text: str) -> object:
            return flat(text) or (_QUOTE not in text and nested(text) and _is_rectangular(text))

        def every(texts: Sequence[str]) -> object:
            if all_flat(texts):
                return True
            if _QUOTE not in "".join(texts) and all_nested(texts):
                return all(map(_is_rectangular, {*"\0".join(texts).translate(_WITHOUT_ELEMENTS).split("\0")}))
            return all(map(one, texts))

        return UsualTexts(one, every, rf"{values}|{{}}")
    usual = usual_texts(inputs, element, typmod)
    return None if usual is None else _array_of_quoted(usual.all)


_QUOTE = '"'


def _flat_array(form: str) -> str:
    """A form that matches NULL twice would let a pattern try both for each element."""
    element = form if form == _TEXT_ELEMENT else f"{form}|NULL"
    return rf"{{(?:{element})(?:,(?:{element}))*+}}"


def _element_form(inputs: InputContext, element: int, typmod: int) -> str | None:
    if element == oids.TEXT or (element == oids.VARCHAR and typmod < 0):
        return _TEXT_ELEMENT
    form = _form(element, typmod)
    if form is None:
        labels = _labels(inputs, element)
        return "|".join(labels) if labels and all(map(_SIMPLE_LABEL, labels)) else None
    return form if element in _BARE else f'"(?:{form})"' if element in _FRACTIONS else None


_WITHOUT_ELEMENTS = {code: None for code in range(1, 128) if chr(code) not in "{},"}
"""What is left of the text of an array without quotes is its shape. Those of a column are alike."""


def _is_rectangular(text: str) -> bool:
    return len({row.count(",") for row in text.split("},{")}) == 1


def _array_of_quoted(are_values: MatchesAll) -> UsualTexts:
    def matches_all(texts: Sequence[str]) -> bool:
        elements = _elements_of_all(texts)
        return elements is not None and (not elements or bool(are_values(elements)))

    return UsualTexts(lambda text: matches_all((text,)), matches_all)


def _elements_of_all(texts: Sequence[str]) -> Sequence[str] | None:
    """Return the elements of arrays of quoted texts; None if one of the arrays is written in another way. Such an array
    is a list of JSON in other brackets."""
    joined, borders = "\n".join(texts), len(texts) - 1
    if joined[:1] + joined[-1:] != "{}" or not _has_only_escapes_of_arrays(joined):
        return None
    if joined.count("\n") != borders or joined.count("}\n{") != borders:
        return None
    try:
        lists = _lines_of_texts(f"[{joined[1:-1]}]".replace("}\n{", "]\n["))
    except (MsgspecError, UnicodeEncodeError):
        return None
    # Two lists may be in one line. As a list does not go on in the next line, each of so many lines is one.
    return list(chain.from_iterable(lists)) if len(lists) == len(texts) else None


# JSON. What msgspec takes, the server takes as json; jsonb refuses some escapes and numbers.

_skim = Json(Raw).decode
_REFUSED_ESCAPE = "\\u0000"
_exponent = re.compile(r"e[+-]?\d{4}", re.ASCII).search
_number_with_exponent = re.compile(r"(?:^|[\[:,\s])-?\d+(?:\.\d+)?[eE][+-]?\d{4}", re.ASCII).search
_MOST_DIGITS = 1000


def _are_json(texts: Sequence[str]) -> bool:
    try:
        return bool(list(map(_skim, texts)))
    except (MsgspecError, UnicodeEncodeError, RecursionError):
        return False


def _is_json(text: str) -> bool:
    return _are_json((text,))


def _is_jsonb(text: str) -> bool:
    return _has_usual_numbers(text, len(text)) and _is_json(text)


def _has_usual_numbers(text: str, longest: int) -> bool:
    """``longest`` is the length of the longest value in ``text``."""
    if _REFUSED_ESCAPE in text or ((_exponent(text) or "E" in text) and _number_with_exponent(text)):
        return False
    return longest <= _MOST_DIGITS or not _many_digits(text)


def _are_jsonb(texts: Sequence[str]) -> bool:
    return _has_usual_numbers(",".join(texts), max(map(len, texts))) and _are_json(texts)


_many_digits = re.compile(rf"\d{{{_MOST_DIGITS}}}", re.ASCII).search
