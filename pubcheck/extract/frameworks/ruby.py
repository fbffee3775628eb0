"""Migrations in Ruby: commands with their arguments and blocks, as far as they are written out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.extract.concatenation import pieces
from pubcheck.extract.frameworks.operations import Place
from pubcheck.extract.frameworks.tokens import Token, Value, matching, split
from pubcheck.extract.program_migrations import code_of
from pubcheck.extract.string_literals import LANGUAGES, Literal, literals


class Command(Struct):
    """A command: the ``name`` of the method behind its ``receiver``, with arguments and a block. ``opens``: the word
    that begins the block, as "do" or "if"; ``perhaps``: it is followed by a condition."""

    name: str
    place: Place
    receiver: str = ""
    opens: str = ""
    arguments: list[Value] = []
    options: dict[str, Value] = {}
    body: list[Command] = []
    variable: str = ""
    perhaps: bool = False
    odd: bool = False
    """Whether it is not a plain call."""


_TOKEN = re.compile(
    r"(?P<line>\n|;)|%[wi](?P<open>[\[({<])(?P<list>[^\])}>]*)[\])}>]"
    r"|(?P<symbol>(?<![:\w]):[A-Za-z_]\w*[?!]?)|(?P<label>[A-Za-z_]\w*[?!]?:(?!:))"
    r"|(?P<word>@{0,2}\$?[A-Za-z_]\w*[?!]?)|(?P<number>\d[\d_]*(?:\.\d+)?)|(?P<mark>=>|->|::|&\.|&&|\|\||[^\s\w])"
)
_OPENERS = frozenset(["begin", "case", "class", "def", "for", "if", "module", "unless", "until", "while"])
_MIDDLE = frozenset(["else", "elsif", "ensure", "in", "rescue", "when"])
_CONDITIONS = frozenset(["if", "rescue", "unless", "until", "while"])
_NO_ARGUMENT = frozenset(["=", "+", "[", "<", "|", "||", "&&"])
_BEFORE_BLOCK = frozenset(["word", ")", "name"])
_DEEPEST = 60


def commands(text: str) -> list[Command]:
    """Return the commands of a program."""
    strings = list(literals(text, LANGUAGES["ruby"]))
    reader = _Reader(_tokens(text, strings))
    return reader.commands(0)


def _tokens(text: str, strings: Sequence[Literal]) -> list[Token]:
    code = code_of(text, "ruby", strings, ())
    tokens = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        value = (
            match[kind].lstrip(":") if kind == "symbol" else match[kind].rstrip(":") if kind == "label" else match[kind]
        )
        kind = {"symbol": "name", "mark": value}.get(kind, kind)
        tokens.append(Token(kind, value, *match.span()))
    for literal in strings:
        if literal.heredoc:
            continue  # its mark in the line is not a string
        content = "".join(
            part.value for part in pieces(text, literal.body, literal.close, literal.escapes, literal.holes)
        )
        # A symbol in quotes has a colon before them.
        symbol = (
            text[max(0, literal.start - 2) : literal.start].endswith(":") and text[max(0, literal.start - 2)] != ":"
        )
        tokens.append(Token("unknown" if literal.holes else "name", content, literal.start - symbol, literal.end))
    tokens.sort(key=lambda token: (token.start, -token.end))
    quoted = {token.start for token in tokens if token.kind in ("name", "unknown")}
    return [token for token in tokens if token.kind != ":" or token.start not in quoted]


class _Reader:
    """Reads tokens into commands."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def commands(self, depth: int, closing: str = "end") -> list[Command]:
        """Return the commands up to what closes a block, or up to the end."""
        strings: list[Command] = []
        if depth > _DEEPEST:
            raise RecursionError
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "line" or token.value in _MIDDLE:
                self.at += 1
                if token.value in _MIDDLE:
                    self._header()
                continue
            if token.value == closing and token.kind in ("word", "}"):
                self.at += 1
                break
            strings.append(self._command(depth))
        return strings

    def _command(self, depth: int) -> Command:
        first = self.tokens[self.at]
        if first.kind == "word" and first.value in _OPENERS:
            self.at += 1
            header = self._header()
            command = Command(header[0].value if header else "", (first.start, first.end), opens=first.value)
            if first.value == "def" and len(header) > 2 and header[0].value == "self":
                command.name = header[2].value
            if not any(token.value == "=" for token in header[1:2]):
                command.body = self.commands(depth + 1)
            return command
        header = self._header()
        if not header:
            self.at += 1
            return Command("", (first.start, first.end), odd=True)
        command = call(header)
        following = self.tokens[self.at] if self.at < len(self.tokens) else None
        if following is not None and following.value in ("do", "{"):
            command.opens = following.value
            self.at += 1
            command.variable = self._variable()
            command.body = self.commands(depth + 1, "end" if following.value == "do" else "}")
            rest = self._header()
            if any(token.value in _CONDITIONS for token in rest):
                command.perhaps = True
            end = self.tokens[min(self.at, len(self.tokens)) - 1].end
            command.place = command.place[0], end
        return command

    def _variable(self) -> str:
        """Return the name that a block gives to what it is handed."""
        if self.at + 2 < len(self.tokens) and self.tokens[self.at].value == "|":
            name = self.tokens[self.at + 1].value
            while self.at < len(self.tokens) and self.tokens[self.at].kind != "line":
                self.at += 1
                if self.tokens[self.at - 1].value == "|" and self.tokens[self.at - 2].value == name:
                    break
            return name
        return ""

    def _header(self) -> list[Token]:
        """Return the tokens up to the end of a line that is complete, or to a block."""
        header: list[Token] = []
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "line":
                follower = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
                goes_on = header and (
                    header[-1].value in (",", "=>", "|", "||", "&&", "\\", "=") and header[-1].kind != "name"
                )
                if depth == 0 and not goes_on and not (follower is not None and follower.kind in (".", "&.")):
                    return header
            elif depth == 0 and token.kind == "word" and token.value in ("do", "end", "then"):
                self.at += token.value == "then"
                return header
            elif depth == 0 and (
                token.kind == "}" or (token.kind == "{" and header and header[-1].kind in _BEFORE_BLOCK)
            ):
                return header
            else:
                depth += token.nesting
                header.append(token)
            self.at += 1
        return header


def call(header: list[Token]) -> Command:
    """Return the call that a line says."""
    start, end = header[0].start, header[-1].end
    perhaps = False
    depth = 0
    for number, token in enumerate(header):
        depth += token.nesting
        if depth == 0 and number and token.kind == "word" and token.value in _CONDITIONS:
            header, perhaps = header[:number], True
            break
    index = 0
    while index + 2 < len(header) and header[index].kind == "word" and header[index + 1].kind in (".", "&.", "::"):
        index += 2
    name = header[index]
    receiver = "".join(token.value for token in header[: max(0, index - 1)])
    command = Command(name.value, (start, end), receiver, perhaps=perhaps)
    rest = header[index + 1 :]
    # An array is an argument only where a blank is before it.
    listed = bool(rest) and rest[0].kind == "[" and rest[0].start > name.end
    if name.kind != "word" or (rest and rest[0].kind in _NO_ARGUMENT and not listed):
        command.odd = True
        return command
    if rest and rest[0].kind == "(" and rest[0].start == name.end:
        if matching(rest, 0) != len(rest) - 1:
            command.odd = True
        rest = rest[1 : matching(rest, 0)]
    for part in split(rest):
        key, tokens = _key(part)
        value = _value(tokens)
        if key:
            command.options = {**command.options, key: value}
        else:
            command.arguments = [*command.arguments, value]
    return command


def _key(part: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Return the name of an argument that has one, and what it is given."""
    if part and part[0].kind == "label":
        return part[0].value, part[1:]
    if len(part) > 2 and part[0].kind == "name" and part[1].kind == "=>":
        return part[0].value, part[2:]
    if len(part) > 2 and part[0].kind == "name" and part[1].kind == ":" and part[1].start == part[0].end:
        return part[0].value, part[2:]
    return "", part


_WORDS = {"true": True, "false": False, "nil": None}


def _value(tokens: Sequence[Token]) -> Value:
    if not tokens:
        return Value((0, 0))
    place = tokens[0].start, tokens[-1].end
    first = tokens[0]
    if len(tokens) == 1:
        if first.kind == "name":
            return Value(place, first.value)
        if first.kind == "number":
            return Value(place, int(first.value.replace("_", "")) if "." not in first.value else ...)
        if first.kind == "word" and first.value in _WORDS:
            return Value(place, _WORDS[first.value])
        if first.kind == "list":
            return Value(place, [Value(place, word) for word in first.value.split()])
    if first.kind == "[" and matching(tokens, 0) == len(tokens) - 1:
        return Value(place, [_value(part) for part in split(tokens[1:-1])])
    if first.kind == "{" and matching(tokens, 0) == len(tokens) - 1:
        pairs = [_key(part) for part in split(tokens[1:-1])]
        return Value(place, {key: _value(part) for key, part in pairs if key})
    return Value(place)
