"""Input of the types of contrib's extensions: no filter may contain such a constant. If it is invalid, the server
reports the input function's error first.

hstore (contrib/hstore/hstore_io.c), ltree and lquery (contrib/ltree/ltree_io.c), keys of indexes, which have no input;
of cube, seg, isn and query_int only obviously invalid values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import SPACE, InputContext, after_blanks, input_error
from pubcheck.postgres.tokens import in_bytes

_KEYS_15 = {
    "ghstore": ("XX000", "Not implemented"),
    "gtrgm": ("XX000", "not implemented"),
    "intbig_gkey": ("0A000", "_intbig_in() not implemented"),
    "ltree_gist": ("0A000", "ltree_gist_in() not implemented"),
    **{f"gbtreekey{size}": ("0A000", "<datatype>key_in() not implemented") for size in (2, 4, 8, 16, 32, "_var")},
}
"""Types of the keys of index methods, with the message of 15."""


def read_contrib(context: InputContext, row: Type, text: str) -> Any:
    """Raises ServerError where the input function does, Unknowable for types whose input is not followed."""
    name = row.name
    if name in _KEYS_15:
        if not context.major.input_refused_by_name:
            raise input_error(*_KEYS_15[name])
        shown = context.cache.format_type(row.oid) if name.startswith("gbtreekey") else name
        raise input_error("0A000", f"cannot accept a value of type {shown}")
    reader = _READERS.get(name)
    if reader is None:
        raise Unknowable(f"the input function of type {name}")
    return reader(context, text)


# hstore.


class _Hstore:
    """parse_hstore and get_val. Positions in messages count bytes."""

    def __init__(self, context: InputContext, text: str) -> None:
        self.old = not context.major.hstore_words
        self.text, self.at = text, 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def end(self) -> ServerError:
        if self.old:
            return input_error("XX000", "Unexpected end of string")
        return input_error("42601", "syntax error in hstore: unexpected end of string")

    def unexpected(self) -> ServerError:
        place = in_bytes(self.text, self.at)
        if self.old:
            return input_error("XX000", f'Syntax error near "{self.peek()}" at position {place}')
        return input_error("42601", f'syntax error in hstore, near "{self.peek()}" at position {place}')

    def word(self, key: bool) -> tuple[str, bool] | None:
        """Read a key or a value: the text, and whether it is quoted; None at the end of the text."""
        first = self.skip()
        if not first:
            return None
        if first == "=" and key:
            raise self.unexpected()
        letters: list[str] = []
        if first == '"':
            self.at += 1
            while self.peek() != '"':
                self.at += self.peek() == "\\"
                if not self.peek():
                    raise self.end()
                letters.append(self.peek())
                self.at += 1
            self.at += 1
            return "".join(letters), True
        stop, begun = ("=" if key else ","), False
        while (letter := self.peek()) and letter not in SPACE and not (letter == stop and begun):
            if letter == "\\":
                self.at += 1
                if not self.peek():
                    raise self.end()
            letters.append(self.peek())
            self.at += 1
            begun = True
        if self.peek() and self.peek() in SPACE:
            self.at += 1
        return "".join(letters), False

    def skip(self) -> str:
        self.at = after_blanks(self.text, self.at)
        return self.peek()

    def read(self) -> dict[str, str | None]:
        pairs: dict[str, str | None] = {}
        while key := self.word(key=True):
            if self.skip() != "=":
                raise self.unexpected() if self.peek() else self.end()
            self.at += 1
            if self.peek() != ">":
                raise self.unexpected() if self.peek() else self.end()
            self.at += 1
            value = self.word(key=False)
            if value is None:
                raise self.end()
            pairs.setdefault(key[0], None if not value[1] and value[0].lower() == "null" else value[0])
            if not self.skip():
                break
            if self.peek() != ",":
                raise self.unexpected()
            self.at += 1
        return pairs


# ltree and lquery.


def _is_label(context: InputContext, letter: str) -> bool:
    if letter.isascii():
        return letter.isalnum() or letter == "_" or (letter == "-" and context.major.long_ltree_labels)
    raise Unknowable("which letters the database's locale has")


def _check_label(context: InputContext, name: str, label: str, place: int) -> None:
    """finish_nodeitem."""
    if not label:
        raise input_error("42601", f"{name} syntax error at character {place}", "Empty labels are not allowed.")
    most = 1000 if context.major.long_ltree_labels else 255
    if len(label) > most:
        detail = f"Label length is {len(label)}, must be at most {most}, at character {place}."
        raise input_error("42622", "label string is too long", detail)


def _read_ltree(context: InputContext, text: str) -> str:
    label = ""
    for place, letter in enumerate(text, 1):
        if letter == "." and label:
            _check_label(context, "ltree", label, place)
            label = ""
        elif _is_label(context, letter):
            label += letter
        else:
            raise input_error("42601", f"ltree syntax error at character {place}")
    if label:
        _check_label(context, "ltree", label, len(text) + 1)
    elif text:
        raise input_error("42601", "ltree syntax error", "Unexpected end of input.")
    return text


_MOST_LEVELS = 65535


class _Lquery:
    """parse_lquery."""

    def __init__(self, context: InputContext, text: str) -> None:
        self.context, self.text = context, text
        self.state, self.label, self.flags, self.low = "level", "", False, 0

    def read(self) -> str:
        for place, letter in enumerate(self.text, 1):
            if not getattr(self, f"at_{self.state}")(letter, place):
                raise input_error("42601", f"lquery syntax error at character {place}")
        if self.state == "delimiter":
            self.finish(len(self.text) + 1)
        elif self.state not in ("open", "end"):
            raise input_error("42601", "lquery syntax error", "Unexpected end of input.")
        return self.text

    def finish(self, place: int) -> None:
        _check_label(self.context, "lquery", self.label, place)

    def begin(self, letter: str) -> None:
        self.state, self.label, self.flags = "delimiter", letter, False

    def at_level(self, letter: str, place: int) -> bool:
        if letter == "!":
            self.begin("")
        elif letter == "*":
            self.state = "open"
        elif _is_label(self.context, letter):
            self.begin(letter)
        else:
            return False
        return True

    def at_variant(self, letter: str, place: int) -> bool:
        if not _is_label(self.context, letter):
            return False
        self.begin(letter)
        return True

    def at_delimiter(self, letter: str, place: int) -> bool:
        if letter in "@*%":
            self.flags = True
        elif letter in "|{.":
            self.finish(place)
            self.state = {"|": "variant", "{": "first", ".": "level"}[letter]
        elif self.flags or not _is_label(self.context, letter):
            return False
        else:
            self.label += letter
        return True

    def at_open(self, letter: str, place: int) -> bool:
        if letter not in "{.":
            return False
        self.state = "first" if letter == "{" else "level"
        return True

    def number(self, place: int) -> int:
        end = place - 1
        while end < len(self.text) and self.text[end].isascii() and self.text[end].isdigit():
            end += 1
        return int(self.text[place - 1 : end][:18])

    def at_first(self, letter: str, place: int) -> bool:
        if letter == ",":
            self.low, self.state = 0, "second"
        elif letter.isascii() and letter.isdigit():
            self.low, self.state = self.number(place), "digits"
            if self.low > _MOST_LEVELS:
                raise self.beyond("Low", self.low, place)
        else:
            return False
        return True

    def at_second(self, letter: str, place: int) -> bool:
        if letter == "}":
            self.state = "end"
        elif letter.isascii() and letter.isdigit():
            high, self.state = self.number(place), "close"
            if high > _MOST_LEVELS:
                raise self.beyond("High", high, place)
            if self.low > high:
                why = f"Low limit ({self.low}) is greater than high limit ({high}), at character {place}."
                raise input_error("42601", "lquery syntax error", why)
        else:
            return False
        return True

    def at_digits(self, letter: str, place: int) -> bool:
        if letter in "},":
            self.state = "end" if letter == "}" else "second"
            return True
        return letter.isascii() and letter.isdigit()

    def at_close(self, letter: str, place: int) -> bool:
        if letter == "}":
            self.state = "end"
            return True
        return letter.isascii() and letter.isdigit()

    def at_end(self, letter: str, place: int) -> bool:
        self.state = "level"
        return letter == "."

    def beyond(self, which: str, limit: int, place: int) -> ServerError:
        why = f"{which} limit ({limit}) exceeds the maximum allowed ({_MOST_LEVELS}), at character {place}."
        return input_error("54000", "lquery syntax error", why)


# What is plainly none.


def _grammar(sqlstate: str, message: str, shows: bool, *begins: str) -> Callable[[InputContext, str], None]:
    """Types with a grammar of their own; ``begins``: how a text may begin, other than with a number."""

    def read(context: InputContext, text: str) -> None:
        body = text.strip(SPACE).lower()
        if not body:
            raise input_error(sqlstate, message, "syntax error at end of input" if shows else None)
        if body[0].isascii() and body[0] not in "0123456789+-." and not body.startswith(begins):
            first = text.strip(SPACE)[0]
            raise input_error(sqlstate, message, f'syntax error at or near "{first}"' if shows else None)
        raise Unknowable("an input function of an extension")

    return read


_SHORTEST = 8


def _isn(kind: str) -> Callable[[InputContext, str], None]:
    def read(context: InputContext, text: str) -> None:
        strange = any(letter not in "0123456789xXmM -!" for letter in text)
        if strange or sum(letter.isalnum() for letter in text) < _SHORTEST:
            raise input_error("22P02", f'invalid input syntax for {kind} number: "{text}"')
        raise Unknowable("an input function of an extension")

    return read


def _read_ltxtquery(context: InputContext, text: str) -> None:
    if not text.strip(SPACE):
        raise input_error("42601", "operand syntax error")
    raise Unknowable("an input function of an extension")


def _any_text(context: InputContext, text: str) -> str:
    return text


_READERS: dict[str, Callable[[InputContext, str], Any]] = {
    "citext": _any_text,
    "cube": _grammar("22P02", "invalid input syntax for cube", True, "[", "(", "inf", "nan"),
    "hstore": lambda context, text: _Hstore(context, text).read(),
    "lquery": lambda context, text: _Lquery(context, text).read(),
    "ltree": _read_ltree,
    "ltxtquery": _read_ltxtquery,
    "query_int": _grammar("42601", "syntax error", False, "!", "("),
    "seg": _grammar("42601", "bad seg representation", True, "<", ">", "~", "'", "(+-)"),
    **{name: _isn(name.upper().removesuffix("13")) for name in ("isbn", "ismn", "issn", "isbn13", "ismn13", "issn13")},
    "ean13": _isn("EAN13"),
    "upc": _isn("UPC"),
}
