"""What earlier majors read otherwise than the grammar of 17, with which everything is parsed: words that are ordinary
names to them and keywords to it, and expressions that they refuse and it accepts.

Works on the tokens of a statement: the parser of the earlier major stops at the first token that its grammar does not
allow. A construct that an earlier major reads as an ordinary call is not an error; it is analysed as a call.
"""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.lexical import LATER
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import LARGEST, Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.tokens import tokens
from pubcheck.postgres.versions import Major

MAY_DIFFER = lazy_compile(r"(?ai:\b(?:system_user|merge_action|json_\w+)\b|\bjson\s*\()")
"""Text without any of this is the same to all majors. JSON is the name of a type to all of them."""
_INITIALS = "qzjxwkvy"


def has_fewer_keywords(major: Major) -> bool:
    """Return whether a major has not all of the keywords of the grammar."""
    return not major.includes(max(LATER))


def parse_with_names(sql: str, major: Major, most: int = LARGEST) -> tuple[str, Node] | None:
    """Return the tree of a statement for a major to which keywords of later ones are names.

    None if none of them is in it, or if they cannot be names there: then it is for this major what it is for the
    others, or refused.
    """
    data = sql.encode(errors="surrogatepass")
    words = {word for since, group in LATER.items() if not major.includes(since) for word in group.split()}
    replacements: dict[str, str] = {}
    sent = bytearray(data)
    for kind, token, offset in tokens(data):
        word = token.lower().decode(errors="replace")
        if kind == "name" and word in words:
            # A name of the same length keeps all locations.
            name = replacements.setdefault(word, _unused_name(word, sql))
            sent[offset : offset + len(token)] = name.encode()
    if not replacements:
        return None
    try:
        return parse(sent.decode(errors="surrogatepass"), most, {name: word for word, name in replacements.items()})
    except (SyntaxRefused, TooDeep):
        return None


def _unused_name(word: str, sql: str) -> str:
    """Return a name as long as a word that a text does not have."""
    lowered = sql.lower()
    return next((name for initial in _INITIALS if (name := initial + word[1:]) not in lowered), "\0" + word[1:])


_SUSPECT = lazy_compile(rb"json|\blocal\b|\bindent\b|\d[a-zA-Z_]", re.IGNORECASE)
"""Text without any of this is the same to all majors."""
_FUNCTIONS_17 = frozenset(
    (
        b"json",
        b"json_exists",
        b"json_query",
        b"json_scalar",
        b"json_serialize",
        b"json_table",
        b"json_value",
        b"merge_action",
    )
)
_FUNCTIONS_16 = _FUNCTIONS_17 | {b"json_array", b"json_arrayagg", b"json_object", b"json_objectagg"}
_CLAUSES = frozenset(
    (
        b"absent",
        b"conditional",
        b"default",
        b"empty",
        b"error",
        b"false",
        b"format",
        b"keep",
        b"null",
        b"omit",
        b"passing",
        b"returning",
        b"true",
        b"unconditional",
        b"unknown",
        b"value",
        b"with",
        b"without",
    )
)
"""Words that begin a clause of an SQL/JSON function when they follow an operand."""
_OPENING = frozenset((b"returning", b"select", b"values", b"with"))
"""Words that no argument of a call begins with."""
_NO_OPERANDS = frozenset(
    (
        b"all",
        b"and",
        b"any",
        b"array",
        b"as",
        b"asc",
        b"asymmetric",
        b"between",
        b"by",
        b"case",
        b"collate",
        b"desc",
        b"distinct",
        b"else",
        b"escape",
        b"from",
        b"ilike",
        b"in",
        b"is",
        b"like",
        b"not",
        b"nulls",
        b"operator",
        b"or",
        b"order",
        b"row",
        b"similar",
        b"some",
        b"symmetric",
        b"then",
        b"to",
        b"using",
        b"variadic",
        b"when",
    )
)
"""Words that are followed by an operand."""
_UNRESERVED = frozenset((b"by", b"escape", b"nulls", b"operator"))
"""Those of them that a column may be called without quotes."""
_JUNK = lazy_compile(rb"(?>\d+\.\d*|\d+)(?:[eE][+-]?\d+)?+[A-Za-z_\x80-\xff][A-Za-z0-9_$\x80-\xff]*")


def check(major: Major, text: bytes) -> None:
    """Raises ServerError 42601 where the major's own parser stops, at the offset of the token it stops at."""
    if major.sql_json_functions or _SUSPECT.search(text) is None:
        return
    error = _Reader(major, text).read()
    if error is not None:
        raise error


def _is_column(word: bytes, last: bytes, operand: bool) -> bool:
    """Return whether a word that an operand usually follows is itself one, after the word ``last``."""
    return last == b"." or (word in _UNRESERVED and not operand and last not in (b"order", b"asc", b"desc"))


class _Reader:
    def __init__(self, major: Major, text: bytes) -> None:
        self.text = text
        self.before_16 = not major.sql_json_constructors
        self.functions = _FUNCTIONS_16 if self.before_16 else _FUNCTIONS_17

    def read(self) -> ServerError | None:
        calls: list[bytes] = []
        """The owner of each open parenthesis: the function's name, or nothing."""
        before: list[bytes] = [b"", b""]
        operand = False
        end = 0
        for kind, token, offset in tokens(self.text):
            word = token.lower() if kind == "name" else token
            if offset < end:
                continue  # the rest of a number
            if kind == "number" and self.before_16:
                junk = _JUNK.match(self.text, offset)
                if junk is not None:
                    shown = junk.group().decode(errors="replace")
                    return self._error(f'trailing junk after numeric literal at or near "{shown}"', offset)
            stop = self._stops(word, before, calls, operand, offset)
            if stop is not None:
                return stop
            if token == b"[":
                calls.append(b"")  # the colon of a slice separates bounds
            elif token == b"(":
                calls.append(before[-1] if before[-1] in self.functions or before[-1] == b"xmlserialize" else b"")
            elif token in (b")", b"]") and calls:
                calls.pop()
            named = kind == "name" and (word not in _NO_OPERANDS or _is_column(word, before[-1], operand))
            operand = token in (b")", b"]") or kind in ("text", "number") or named
            before = [before[-1], word]
            end = offset + len(token)
        return None

    def _stops(
        self, word: bytes, before: list[bytes], calls: list[bytes], operand: bool, offset: int
    ) -> ServerError | None:
        """The syntax error at a token, given the two tokens before it and the calls that are open."""
        last = before[-1]
        if word == b"local" and last == b"at":
            return self._near(word, offset)
        if self.before_16 and word == b"json" and (last == b"is" or before == [b"is", b"not"]):
            return self._near(word, offset)
        call = calls[-1] if calls else b""
        if not call:
            return None
        if call == b"xmlserialize":
            if self.before_16 and operand and (word == b"indent" or (word == b"no" and self._indents(offset))):
                return self._near(word, offset)
            return None
        if last == b"(":
            return self._near(word, offset) if word in _OPENING else None
        if not operand:
            return None
        if word == b":" and self.text[offset + 1 : offset + 2] != b":":
            return self._near(word, offset)
        if word == b"columns" and call == b"json_table":
            return self._near(word, offset)
        if word in _CLAUSES and not (word in (b"with", b"without") and self._time_zone(offset + len(word))):
            return self._near(word, offset)
        return None

    def _indents(self, offset: int) -> bool:
        return re.match(rb"no\s+indent\b", self.text[offset:], re.IGNORECASE) is not None

    def _time_zone(self, offset: int) -> bool:
        return re.match(rb"\s+time\s+zone\b", self.text[offset:], re.IGNORECASE) is not None

    def _near(self, word: bytes, offset: int) -> ServerError:
        shown = self.text[offset : offset + len(word)].decode(errors="replace")
        return self._error(f'syntax error at or near "{shown}"', offset)

    @staticmethod
    def _error(message: str, offset: int) -> ServerError:
        return ServerError("42601", message, key="syntax-error", location=offset)
