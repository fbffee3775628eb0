"""Input of tsvector and tsquery (utils/adt/tsvector_parser.c, tsvector.c, tsquery.c)."""

from __future__ import annotations

import re
from typing import NamedTuple

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import SPACE, InputContext, after_blanks, input_error

_GREATEST_WORD = 2046
_GREATEST_POSITION = 16384
_GREATEST_TEXT = 1 << 20
_VALUES = {"a": 3, "b": 2, "c": 1, "d": 0, "*": 3}
_BITS = {"a": 8, "b": 4, "c": 2, "d": 1, "*": 0}
_OPERATORS = "!&|()<"
_MOST_POSITIONS = 256
Positions = tuple[tuple[int, int], ...]
"""Places in a document and their weights, from 0 (D) to 3 (A)."""
Lexemes = tuple[tuple[str, Positions], ...]


class Operand(NamedTuple):
    """A lexeme of a query; ``weights`` are bits, 1 (D) to 8 (A)."""

    text: str
    weights: int
    prefix: bool


class Operator(NamedTuple):
    """``mark``: ! & | or <, which has a distance; ! has no left operand."""

    mark: str
    distance: int
    left: Query | None
    right: Query


Query = Operand | Operator
_OTHER_SPACE = re.compile(r"(?![ \t\n\v\f\r])\s")


def _check(text: str) -> None:
    if len(text) > _GREATEST_TEXT // 4:
        raise Unknowable("whether so long a text search literal fits")
    if not text.isascii() and _OTHER_SPACE.search(text):
        raise Unknowable("whether the locale takes a character for a space")


class _Words:
    """The tsvector parser. ``query``: operators end a word, and positions are not read."""

    def __init__(self, text: str, query: bool) -> None:
        self.text = text
        self.query = query
        self.at = 0

    def syntax_error(self) -> ServerError:
        return input_error("42601", f'syntax error in {"tsquery" if self.query else "tsvector"}: "{self.text}"')

    def next(self) -> str | None:
        """gettoken_tsvector: the next word, None at the end. ``places`` are its positions."""
        text = self.text
        self.places: list[tuple[int, int]] = []
        self.at = after_blanks(text, self.at)
        if self.at == len(text):
            return None
        if text[self.at] == "'":
            return self._quoted()
        word: list[str] = []
        while True:
            character = text[self.at : self.at + 1]
            if character == "\\":
                word.append(self._escaped())
                continue
            if not character or character in SPACE or (self.query and character in _OPERATORS):
                if not word:
                    raise self.syntax_error()
                return "".join(word)
            if character == ":" and word:
                if not self.query:
                    self.at += 1
                    self._positions()
                return "".join(word)
            word.append(character)
            self.at += 1

    def _escaped(self) -> str:
        if self.at + 1 >= len(self.text):
            raise input_error("42601", f'there is no escaped character: "{self.text}"')
        self.at += 2
        return self.text[self.at - 1]

    def _quoted(self) -> str:
        text = self.text
        word: list[str] = []
        self.at += 1
        while True:
            character = text[self.at : self.at + 1]
            if not character:
                raise self.syntax_error()
            if character == "\\":
                word.append(self._escaped())
                continue
            self.at += 1
            if character == "'":
                if text[self.at : self.at + 1] != "'":
                    break
                self.at += 1
            word.append(character)
        if not word:
            raise self.syntax_error()
        if not self.query and text[self.at : self.at + 1] == ":":
            self.at += 1
            self._positions()
        return "".join(word)

    def _positions(self) -> None:
        """Positions with weights, by commas: 1A,2,3B."""
        text = self.text
        while True:
            digits = re.compile("[0-9]+").match(text, self.at)
            if digits is None:
                raise self.syntax_error()
            # atoi is strtol cut to 32 bits; of the result, 14 are kept.
            position = min(int(digits[0][:400]), (1 << 63) - 1)
            position = (position + (1 << 31)) % (1 << 32) - (1 << 31)
            if min(position, _GREATEST_POSITION - 1) % _GREATEST_POSITION == 0:
                raise input_error("42601", f'wrong position info in tsvector: "{text}"')
            self.at = digits.end()
            place, weight = min(position, _GREATEST_POSITION - 1) % _GREATEST_POSITION, 0
            while True:
                character = text[self.at : self.at + 1]
                if not character or character in SPACE:
                    self.places.append((place, weight))
                    return
                self.at += 1
                if character == ",":
                    self.places.append((place, weight))
                    break
                if character.lower() in _VALUES and character.isascii():
                    if weight:
                        raise self.syntax_error()
                    weight = _VALUES[character.lower()]
                elif not "0" <= character <= "9":
                    raise self.syntax_error()


def read_tsvector(context: InputContext, text: str, typmod: int = -1) -> Lexemes:
    """tsvectorin: the lexemes in the order of their bytes."""
    _check(text)
    words, places, count = _Words(text, query=False), dict[str, list[list[tuple[int, int]]]](), 0
    while (word := words.next()) is not None:
        size = len(word.encode(errors="surrogatepass"))
        if size > _GREATEST_WORD:
            raise input_error("54000", f"word is too long ({size} bytes, max {_GREATEST_WORD} bytes)")
        places.setdefault(word, []).append(words.places)
        count += 1
    order = sorted(places, key=lambda lexeme: lexeme.encode(errors="surrogatepass"))
    return tuple((lexeme, _distinct(places[lexeme], count)) for lexeme in order)


_INSERTION_SORT = 7
"""The server's sort keeps the order of equals if there are fewer (lib/sort_template.h)."""


def _distinct(uses: list[list[tuple[int, int]]], words: int) -> Positions:
    """uniquePos: of one position the greatest weight, and no more positions than a lexeme can have. It stops at the
    last possible position, with the weight that was sorted first.
    """
    places = [place for use in uses for place in use]
    in_order = sorted(places, key=lambda place: place[0])
    stable = (len(places) < _INSERTION_SORT or places == in_order) and (len(uses) == 1 or words < _INSERTION_SORT)
    kept: list[tuple[int, int]] = []
    for position, weight in in_order:
        if not kept or position != kept[-1][0]:
            if len(kept) == _MOST_POSITIONS:
                break
            kept.append((position, weight))
        elif position == _GREATEST_POSITION - 1 and len(kept) > 1:
            if not stable and weight != kept[-1][1]:
                raise Unknowable("the weight of a lexeme at the last position")
        elif weight > kept[-1][1]:
            kept[-1] = position, weight
    return tuple(kept)


_PHRASE = re.compile(r"<(?:(-)|([0-9]+))")
_PRIORITY = {"|": 1, "&": 2, "<": 3, "!": 4}
_STACK = 32


class _Level:
    """The operators and operands within one pair of parentheses (makepol, cleanOpStack)."""

    def __init__(self) -> None:
        self.operators: list[tuple[str, int]] = []
        self.operands: list[Query] = []

    def push(self, mark: str, distance: int = 0) -> None:
        priority, operators = _PRIORITY[mark], self.operators
        while operators:
            above = _PRIORITY[operators[-1][0]]
            # NOT alone is right-associative.
            if priority > above or (mark == "!" and priority >= above):
                break
            self.pop()
        if len(operators) == _STACK:
            raise input_error("XX000", "tsquery stack too small")
        operators.append((mark, distance))

    def pop(self) -> None:
        mark, distance = self.operators.pop()
        right = self.operands.pop()
        left = None if mark == "!" else self.operands.pop()
        self.operands.append(Operator(mark, distance, left, right))

    def whole(self) -> Query:
        while self.operators:
            self.pop()
        return self.operands[0]


def read_tsquery(context: InputContext, text: str, typmod: int = -1) -> Query | tuple[()]:
    """tsqueryin (parse_tsquery, makepol, gettoken_query_standard); () for an empty query."""
    _check(text)
    words = _Words(text, query=True)
    wrong = words.syntax_error()
    levels = [_Level()]
    wants_operand = first = True
    while True:
        words.at = after_blanks(text, words.at)
        character = text[words.at : words.at + 1]
        if wants_operand:
            if character == "!":
                words.at += 1
                first = False
                levels[-1].push("!")
            elif character == "(":
                words.at += 1
                first = False
                levels.append(_Level())
            elif character == ":":
                raise wrong
            else:
                operand = _operand(words)
                if operand is None:
                    if first:
                        return ()
                    raise input_error("42601", f'no operand in tsquery: "{text}"')
                first = wants_operand = False
                levels[-1].operands.append(operand)
        elif not character:
            if len(levels) > 1:
                raise wrong
            return levels[0].whole()
        elif character in "&|":
            words.at += 1
            wants_operand = True
            levels[-1].push(character)
        elif character == "<" and (distance := _phrase(words)) is not None:
            wants_operand = True
            levels[-1].push("<", distance)
        elif character == ")":
            words.at += 1
            inner = levels.pop().whole()
            if not levels:
                raise wrong
            levels[-1].operands.append(inner)
        else:
            raise wrong


def _operand(words: _Words) -> Operand | None:
    """A word, and the weights and the asterisk behind a colon (get_modifiers)."""
    text, word = words.text, words.next()
    if word is None:
        return None
    if len(word.encode(errors="surrogatepass")) > _GREATEST_WORD:
        raise input_error("54000", f'word is too long in tsquery: "{text}"')
    weights, prefix = 0, False
    if text[words.at : words.at + 1] == ":":
        words.at += 1
        while (mark := text[words.at : words.at + 1].lower()) and mark in _BITS:
            weights |= _BITS[mark]
            prefix = prefix or mark == "*"
            words.at += 1
    return Operand(word, weights, prefix)


def _phrase(words: _Words) -> int | None:
    """parse_phrase_operator: <-> or <n>, followed by something."""
    match = _PHRASE.match(words.text, words.at)
    if match is None:
        return None
    if match[2] and int(match[2][:400]) > _GREATEST_POSITION:
        raise input_error(
            "22023",
            f"distance in phrase operator must be an integer value between zero and {_GREATEST_POSITION} inclusive",
        )
    end = match.end()
    if words.text[end : end + 1] != ">" or end + 1 == len(words.text):
        return None
    words.at = end + 1
    return 1 if match[1] else int(match[2])
