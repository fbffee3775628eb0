"""Input of arrays (utils/adt/arrayfuncs.c): array_in as it is from 17 on, and as it was before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.input import SPACE, InputContext, after_blanks, input_error
from pubcheck.postgres.input.containers import malformed, read_element
from pubcheck.postgres.oids import BOX

_GREATEST_DIMENSION = 6
_GREATEST_ARRAY = 134217727


def _nulls(context: InputContext) -> bool:
    return str(context.setting("array_nulls")).lower() not in ("off", "false", "no", "0")


def _built(values: list[Any], lengths: Sequence[int], lowers: Sequence[int]) -> Array:
    """An empty array has no dimensions."""
    return Array(values, lengths, lowers) if values else Array(())


def read_array(context: InputContext, element: int, text: str, typmod: int = -1) -> Array:
    """array_in."""
    delimiter = ";" if element == BOX else ","
    reader = _StrictArray if context.major.strict_arrays else _LenientArray
    return reader(context, element, text, typmod, delimiter).read()


class _Array:
    """The common part of both versions of array_in. An element's own error is raised when the scan reaches it."""

    excess = ""
    """Return the words of the error about too many dimensions."""

    def __init__(self, context: InputContext, element: int, text: str, typmod: int, delimiter: str) -> None:
        self.context = context
        self.element = element
        self.text = text
        self.typmod = typmod
        self.delimiter = delimiter
        self.values: list[Any] = []

    def malformed(self, detail: str | None) -> NoReturn:
        raise malformed("array", self.text, detail)

    def add(self, text: str | None) -> None:
        self.values.append(read_element(self.context, self.element, text, self.typmod))

    def dimensions(self) -> tuple[int, list[int], list[int]]:
        """ReadArrayDimensions: where it stops, the lower bounds and the lengths."""
        text, pos, lowers, lengths = self.text, 0, list[int](), list[int]()
        while True:
            pos = after_blanks(self.text, pos)
            if text[pos : pos + 1] != "[":
                return pos, lowers, lengths
            pos += 1
            if len(lengths) >= _GREATEST_DIMENSION:
                raise self.too_deep()
            upper, end = self.bound(pos)
            if end == pos:
                self.malformed('"[" must introduce explicitly-specified array dimensions.')
            lower, pos = 1, end
            if text[pos : pos + 1] == ":":
                lower = upper
                upper, end = self.bound(pos + 1)
                if end == pos + 1:
                    self.malformed("Missing array dimension value.")
                pos = end
            if text[pos : pos + 1] != "]":
                self.malformed('Missing "]" after array dimensions.')
            pos += 1
            if upper < lower:
                raise input_error("2202E", "upper bound cannot be less than lower bound")
            lowers.append(lower)
            lengths.append(self.length(lower, upper))

    def bound(self, pos: int) -> tuple[int, int]:
        """The bound that is written at a place, and where it ends: there too where none is."""
        raise NotImplementedError

    def length(self, lower: int, upper: int) -> int:
        """Return the length of the dimension between these bounds."""
        raise NotImplementedError

    def too_deep(self) -> ServerError:
        return input_error(
            "54000", f"number of array dimensions{self.excess} exceeds the maximum allowed ({_GREATEST_DIMENSION})"
        )

    def contents(self, pos: int, dimensions: list[int]) -> int:
        """Return the position of the opening brace."""
        if not dimensions:
            if self.text[pos : pos + 1] != "{":
                self.malformed('Array value must start with "{" or dimension information.')
            return pos
        if self.text[pos : pos + 1] != "=":
            self.malformed('Missing "=" after array dimensions.')
        pos = after_blanks(self.text, pos + 1)
        if self.text[pos : pos + 1] != "{":
            self.malformed('Array contents must start with "{".')
        return pos


class _StrictArray(_Array):
    """array_in as rewritten in 17: a single loop over the tokens."""

    def read(self) -> Array:
        pos, lowers, dimensions = self.dimensions()
        pos = self.contents(pos, dimensions)
        pos, lengths = self.braces(pos, dimensions)
        if self.text[pos:].strip(SPACE):
            self.malformed("Junk after closing right brace.")
        return _built(self.values, lengths, lowers or [1] * len(lengths))

    def bound(self, pos: int) -> tuple[int, int]:
        """ReadDimensionInt: strtol, but no blanks before it."""
        text, end = self.text, pos
        if text[pos : pos + 1] not in ("+", "-") and not "0" <= text[pos : pos + 1] <= "9":
            return 0, pos
        end += text[pos] in "+-"
        start = end
        while "0" <= text[end : end + 1] <= "9":
            end += 1
        if end == start:
            return 0, pos
        value = int(text[start:end][:400]) * (-1 if text[pos] == "-" else 1)
        if not -(1 << 31) <= value < 1 << 31:
            raise input_error("54000", "array bound is out of integer range")
        return value, end

    def length(self, lower: int, upper: int) -> int:
        if upper == (1 << 31) - 1:
            raise input_error("54000", f"array upper bound is too large: {upper}")
        if upper - lower + 1 >= 1 << 31:
            raise input_error("54000", f"array size exceeds the maximum allowed ({_GREATEST_ARRAY})")
        return upper - lower + 1

    def braces(self, pos: int, dimensions: list[int]) -> tuple[int, list[int]]:
        """ReadArrayStr: where the value ends, and the lengths."""
        stated = frozen = bool(dimensions)
        lengths = dimensions + [-1] * (_GREATEST_DIMENSION - len(dimensions))
        depth, level, counts, delimiter_next = len(dimensions), 0, [0] * _GREATEST_DIMENSION, False
        mismatch = (
            "Specified array dimensions do not match array contents."
            if stated
            else "Multidimensional arrays must have sub-arrays with matching dimensions."
        )
        while True:
            token, value, pos = self.token(pos)
            if token == "{":
                if delimiter_next:
                    self.malformed('Unexpected "{" character.')
                if level >= _GREATEST_DIMENSION:
                    raise self.too_deep()
                counts[level] = 0
                level += 1
                if level > depth:
                    if frozen:
                        self.malformed(mismatch)
                    depth = level
            elif token == "}":
                if counts[level - 1] > 0 and not delimiter_next:
                    self.malformed('Unexpected "}" character.')
                level -= 1
                if level > 0:
                    counts[level - 1] += 1
                if lengths[level] < 0:
                    lengths[level] = counts[level]
                elif counts[level] != lengths[level]:
                    self.malformed(mismatch)
                delimiter_next = True
                if level == 0:
                    return pos, lengths[:depth]
            elif token == "delimiter":
                if not delimiter_next:
                    self.malformed(f'Unexpected "{self.delimiter}" character.')
                delimiter_next = False
            else:
                if delimiter_next:
                    self.malformed("Unexpected array element.")
                self.add(value)
                frozen = True
                if level != depth:
                    self.malformed(mismatch)
                counts[level - 1] += 1
                delimiter_next = True

    def token(self, pos: int) -> tuple[str, str | None, int]:
        """ReadArrayToken: kind, an element's text (None: NULL), and where it ends."""
        text, delimiter = self.text, self.delimiter
        pos = after_blanks(self.text, pos)
        first = text[pos : pos + 1]
        if first in ("{", "}"):
            return first, None, pos + 1
        if first == delimiter:
            return "delimiter", None, pos + 1
        if first == '"':
            return self.quoted(pos + 1)
        characters: list[str] = []
        length, escapes = 0, False
        while True:
            character = text[pos : pos + 1]
            if character == "{":
                self.malformed('Unexpected "{" character.')
            if character == '"':
                self.malformed("Incorrectly quoted array element.")
            if character == "\\":
                pos += 1
                character = text[pos : pos + 1]
                escapes = True
                if character:
                    characters.append(character)
                    length = len(characters)
                    pos += 1
                    continue
            if not character:
                self.malformed("Unexpected end of input.")
            if character in (delimiter, "}"):
                value = "".join(characters[:length])
                if not escapes and value.lower() == "null" and _nulls(self.context):
                    return "element", None, pos
                return "element", value, pos
            characters.append(character)
            if character not in SPACE:
                length = len(characters)
            pos += 1

    def quoted(self, pos: int) -> tuple[str, str | None, int]:
        text, characters = self.text, list[str]()
        while True:
            character = text[pos : pos + 1]
            if character == '"':
                pos = after_blanks(self.text, pos + 1)
                behind = text[pos : pos + 1]
                if behind in (self.delimiter, "}", "{"):
                    return "element", "".join(characters), pos
                self.malformed("Incorrectly quoted array element." if behind else "Unexpected end of input.")
            if character == "\\":
                pos += 1
                character = text[pos : pos + 1]
            if not character:
                self.malformed("Unexpected end of input.")
            characters.append(character)
            pos += 1


_NO_LEVEL, _LEVEL_STARTED, _LEVEL_DONE, _LEVEL_DELIMITED, _ELEM_STARTED, _ELEM_DELIMITED, _QUOTED, _QUOTED_DONE = range(
    8
)
_TAKES_ELEMENT = (_LEVEL_STARTED, _ELEM_STARTED, _ELEM_DELIMITED)
_TAKES_ESCAPE = (*_TAKES_ELEMENT, _QUOTED)
_TAKES_QUOTE = (_LEVEL_STARTED, _QUOTED, _ELEM_DELIMITED)
_ENDS_ELEMENT = (_ELEM_STARTED, _QUOTED_DONE, _LEVEL_DONE)


class _LenientArray(_Array):
    """array_in of 15 and 16: ArrayCount works the dimensions out of the braces, then ReadArrayStr reads."""

    excess = f" ({_GREATEST_DIMENSION + 1})"

    def read(self) -> Array:
        pos, lowers, dimensions = self.dimensions()
        pos = self.contents(pos, dimensions)
        lengths = self.count(pos)
        if dimensions:
            if len(lengths) != len(dimensions) or lengths != dimensions:
                self.malformed("Specified array dimensions do not match array contents.")
        else:
            lowers = [1] * len(lengths)
        _check_size(lengths, lowers)
        if all(lengths) and lengths:
            self.elements(pos, lengths)
        return _built(self.values, lengths, lowers)

    def bound(self, pos: int) -> tuple[int, int]:
        """Digits and signs in any order, then atoi of them."""
        text, end = self.text, pos
        while text[end : end + 1] and text[end] in "0123456789+-":
            end += 1
        sign, start = 1, pos
        if text[pos : pos + 1] in ("+", "-"):
            sign, start = (-1 if text[pos] == "-" else 1), pos + 1
        stop = start
        while stop < end and text[stop] in "0123456789":
            stop += 1
        value = sign * int(text[start:stop][:400] or "0")
        # atoi is strtol cut to 32 bits.
        value = max(-(1 << 63), min(value, (1 << 63) - 1))
        return (value + (1 << 31)) % (1 << 32) - (1 << 31), end

    def length(self, lower: int, upper: int) -> int:
        return (upper - lower + 1 + (1 << 31)) % (1 << 32) - (1 << 31)

    def count(self, start: int) -> list[int]:
        """ArrayCount: the lengths, none for an empty array. Its messages hold the text from the brace on."""
        text, delimiter, pos = self.text, self.delimiter, start

        def wrong(detail: str) -> NoReturn:
            raise malformed("array", text[start:], detail)

        state, level, depth = _NO_LEVEL, 0, 1
        lengths, counts, last = [0] * 7, [1] * 7, [0] * 7
        in_quotes, empty = False, True
        while True:
            if state in (_ELEM_STARTED, _QUOTED):
                empty = False
            character = text[pos : pos + 1]
            if not character:
                wrong("Unexpected end of input.")
            if character == "\\":
                if state not in _TAKES_ESCAPE:
                    wrong('Unexpected "\\" character.')
                if state != _QUOTED:
                    state = _ELEM_STARTED
                pos += 1
                if pos == len(text):
                    wrong("Unexpected end of input.")
            elif character == '"':
                if state not in _TAKES_QUOTE:
                    wrong("Unexpected array element.")
                in_quotes = not in_quotes
                state = _QUOTED if in_quotes else _QUOTED_DONE
            elif in_quotes:
                pass
            elif character == "{":
                if state not in (_NO_LEVEL, _LEVEL_STARTED, _LEVEL_DELIMITED):
                    wrong('Unexpected "{" character.')
                state = _LEVEL_STARTED
                if level >= _GREATEST_DIMENSION:
                    raise self.too_deep()
                lengths[level] = 0
                level += 1
                depth = max(depth, level)
            elif character == "}":
                if state not in _ENDS_ELEMENT and not (level == 1 and state == _LEVEL_STARTED):
                    wrong('Unexpected "}" character.')
                state = _LEVEL_DONE
                level -= 1
                if last[level] not in (0, counts[level]):
                    wrong("Multidimensional arrays must have sub-arrays with matching dimensions.")
                last[level], counts[level] = counts[level], 1
                if level == 0:
                    lengths[depth - 1] += 1
                    break
                lengths[level - 1] += 1
            elif character == delimiter:
                if state not in _ENDS_ELEMENT:
                    wrong(f'Unexpected "{delimiter}" character.')
                state = _LEVEL_DELIMITED if state == _LEVEL_DONE else _ELEM_DELIMITED
                counts[level - 1] += 1
                lengths[depth - 1] += 1
            elif character not in SPACE:
                if state not in _TAKES_ELEMENT:
                    wrong("Unexpected array element.")
                state = _ELEM_STARTED
            pos += 1
        if text[pos + 1 :].strip(SPACE):
            wrong("Junk after closing right brace.")
        return [] if empty else lengths[:depth]

    def elements(self, pos: int, lengths: list[int]) -> None:
        """ReadArrayStr."""
        text, delimiter = self.text, self.delimiter
        depth, level, indexes = len(lengths), 0, [0] * len(lengths)
        products = [1] * depth
        for place in range(depth - 2, -1, -1):
            products[place] = products[place + 1] * lengths[place + 1]
        size = products[0] * lengths[0]
        in_quotes = ended = False
        while not ended:
            characters: list[str] = []
            offset, length, leading, quoting, finished = -1, 0, True, False, False
            while not finished:
                character = text[pos : pos + 1]
                pos += 1
                if character == "\\":
                    character = text[pos : pos + 1]
                    pos += 1
                    characters.append(character)
                    leading, length, quoting = False, len(characters), True
                elif character == '"':
                    in_quotes = not in_quotes
                    if in_quotes:
                        leading = False
                    else:
                        length = len(characters)
                    quoting = True
                elif not character:
                    self.malformed(None)
                elif in_quotes:
                    characters.append(character)
                elif character == "{":
                    if level >= depth:
                        self.malformed(None)
                    level += 1
                    indexes[level - 1] = 0
                elif character == "}":
                    if level == 0:
                        self.malformed(None)
                    if offset == -1:
                        offset = sum(index * product for index, product in zip(indexes, products, strict=True))
                    indexes[level - 1] = 0
                    level -= 1
                    if level == 0:
                        ended = finished = True
                    else:
                        indexes[level - 1] += 1
                elif character == delimiter:
                    if offset == -1:
                        offset = sum(index * product for index, product in zip(indexes, products, strict=True))
                    finished = True
                    indexes[depth - 1] += 1
                elif character in SPACE:
                    if not leading:
                        characters.append(character)
                else:
                    characters.append(character)
                    leading, length = False, len(characters)
            if not 0 <= offset < size:
                self.malformed(None)
            value = "".join(characters[:length])
            null = not quoting and value.lower() == "null" and _nulls(self.context)
            self.add(None if null else value)


def _check_size(lengths: list[int], lowers: list[int]) -> None:
    """ArrayGetNItems and ArrayCheckBounds (arrayutils.c)."""
    too_big = input_error("54000", f"array size exceeds the maximum allowed ({_GREATEST_ARRAY})")
    size = 1
    for length in lengths:
        if length < 0:
            raise too_big
        if length == 0:
            return
        size *= length
        if size >= 1 << 31:
            raise too_big
    if size > _GREATEST_ARRAY:
        raise too_big
    for length, lower in zip(lengths, lowers, strict=True):
        if lower + length >= 1 << 31:
            raise input_error("54000", f"array lower bound is too large: {lower}")
