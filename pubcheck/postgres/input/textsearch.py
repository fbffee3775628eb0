"""Input of tsvector and tsquery (utils/adt/tsvector_parser.c, tsvector.c, tsquery.c)."""

from __future__ import annotations

import re

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input.common import SPACE, input_error
from pubcheck.postgres.input.dispatch import InputContext

_GREATEST_WORD = 2046
_GREATEST_POSITION = 16384
_GREATEST_TEXT = 1 << 20
_WEIGHTS = "abcd*"
_OPERATORS = "!&|()<"
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
        """gettoken_tsvector: the next word, None at the end."""
        text = self.text
        while self.at < len(text) and text[self.at] in SPACE:
            self.at += 1
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
            weight = False
            while True:
                character = text[self.at : self.at + 1]
                if not character or character in SPACE:
                    return
                self.at += 1
                if character == ",":
                    break
                if character.lower() in _WEIGHTS and character.isascii():
                    if weight:
                        raise self.syntax_error()
                    weight = character not in "dD"
                elif not "0" <= character <= "9":
                    raise self.syntax_error()


def read_tsvector(context: InputContext, text: str, typmod: int = -1) -> list[str]:
    """tsvectorin: the words in their order."""
    _check(text)
    words, result = _Words(text, query=False), []
    while (word := words.next()) is not None:
        size = len(word.encode(errors="surrogatepass"))
        if size > _GREATEST_WORD:
            raise input_error("54000", f"word is too long ({size} bytes, max {_GREATEST_WORD} bytes)")
        result.append(word)
    return result


_PHRASE = re.compile(r"<(?:(-)|([0-9]+))")
_PRIORITY = {"|": 1, "&": 2, "<": 3, "!": 4}
_STACK = 32


def read_tsquery(context: InputContext, text: str, typmod: int = -1) -> str:
    """tsqueryin (parse_tsquery, makepol, gettoken_query_standard). The value is the text."""
    _check(text)
    words = _Words(text, query=True)
    wrong = words.syntax_error()
    levels: list[list[str]] = [[]]
    operand = first = True
    while True:
        while words.at < len(text) and text[words.at] in SPACE:
            words.at += 1
        character = text[words.at : words.at + 1]
        if operand:
            if character == "!":
                words.at += 1
                first = False
                _push(levels[-1], "!")
            elif character == "(":
                words.at += 1
                first = False
                levels.append([])
            elif character == ":":
                raise wrong
            else:
                word = words.next()
                if word is None:
                    if first:
                        return text
                    raise input_error("42601", f'no operand in tsquery: "{text}"')
                first = operand = False
                if len(word.encode(errors="surrogatepass")) > _GREATEST_WORD:
                    raise input_error("54000", f'word is too long in tsquery: "{text}"')
                if text[words.at : words.at + 1] == ":":
                    words.at += 1
                    while text[words.at : words.at + 1] and text[words.at] in "abcdABCD*":
                        words.at += 1
        elif not character:
            if len(levels) > 1:
                raise wrong
            return text
        elif character in "&|":
            words.at += 1
            operand = True
            _push(levels[-1], character)
        elif character == "<" and _phrase(words):
            operand = True
            _push(levels[-1], "<")
        elif character == ")":
            words.at += 1
            levels.pop()
            if not levels:
                raise wrong
        else:
            raise wrong


def _phrase(words: _Words) -> bool:
    """parse_phrase_operator: <-> or <n>, followed by something."""
    match = _PHRASE.match(words.text, words.at)
    if match is None:
        return False
    if match[2] and int(match[2][:400]) > _GREATEST_POSITION:
        raise input_error(
            "22023",
            f"distance in phrase operator must be an integer value between zero and {_GREATEST_POSITION} inclusive",
        )
    end = match.end()
    if words.text[end : end + 1] != ">" or end + 1 == len(words.text):
        return False
    words.at = end + 1
    return True


def _push(stack: list[str], operator: str) -> None:
    """cleanOpStack and pushOpStack."""
    priority = _PRIORITY[operator]
    while stack and not (priority > _PRIORITY[stack[-1]] or (operator == "!" and priority >= _PRIORITY[stack[-1]])):
        stack.pop()
    if len(stack) == _STACK:
        raise input_error("XX000", "tsquery stack too small")
    stack.append(operator)
