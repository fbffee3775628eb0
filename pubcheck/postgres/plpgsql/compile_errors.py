"""The errors of PL/pgSQL's compiler for a body that it refuses: with which SQLSTATE, and where.

libpg_query's parser is that compiler without tables and types, and returns only the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from pubcheck.lexing.placeholders import guessed
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.tokens import folded, in_bytes, in_characters, tokens


class NotParsed(Exception):
    """The parser refuses a body.

    ``sqlstate`` is None if the server may accept it. ``location`` is that of the error in the body, in characters; None
    if the server gives none. ``statement`` is the text of the refused statement about a publication, "" if it is
    another one.
    """

    def __init__(
        self,
        message: str,
        sqlstate: str | None = None,
        location: int | None = None,
        statement: str = "",
        hint: str | None = None,
        *,
        detail: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.sqlstate = sqlstate
        self.location = location
        self.statement = statement
        self.hint = hint
        self.detail = detail

    def error(self, location: int | None) -> ServerError:
        """Return the server's error with this location (bytes). ``sqlstate`` must not be None."""
        key = "syntax-error" if self.statement else None
        error = ServerError(
            self.sqlstate or _SYNTAX, self.message, key=key, detail=self.detail, hint=self.hint, location=location
        )
        error.evidence = self.statement or None
        return error


_SYNTAX = "42601"
_ERRORS: tuple[tuple[str, str, str], ...] = (
    (r"syntax error.* at end of input", _SYNTAX, "end"),
    (r".* at end of input", _SYNTAX, "all"),
    (r"missing .* at end of SQL (?:expression|statement)", _SYNTAX, "semicolon"),
    (r'INTO specified more than once at or near "(.+)"', _SYNTAX, "again"),
    (r'mismatched parentheses at or near "(.)"', _SYNTAX, "parenthesis"),
    (
        r"(?:syntax error.*|duplicate declaration|missing (?:expression|SQL statement|data type declaration)|untermin.*"
        r"|unexpected end of .*|incomplete data type declaration|invalid SQLSTATE code"
        r"|trailing junk after .*"
        r'|unrecognized (?:RAISE statement option|GET DIAGNOSTICS item)|expected FROM or IN) at or near "(.+)"',
        _SYNTAX,
        "named",
    ),
    (r'"(\w+)" is not a (?:known|scalar) variable', _SYNTAX, "named"),
    (r'variable "(\w+)" does not exist', "42704", "named"),
    (r'variable "(\w+)" is declared CONSTANT', "22005", "named"),
    (r'variable "\w+" must have a default value, since it\'s declared NOT NULL', "22004", "not"),
    (r'variable "(\w+)" must be of type cursor or refcursor', "42804", "named"),
    (r"collations are not supported by type .*", "42804", "collate"),
    (r"too (?:few|many) parameters specified for RAISE", _SYNTAX, ""),
    (r"unrecognized exception condition .*", "42704", ""),
    (r"diagnostics item \w+ is not allowed in GET \w+ DIAGNOSTICS", _SYNTAX, "get"),
    (r"EXIT cannot be used outside a loop, unless it has a label", _SYNTAX, "exit"),
    (r"CONTINUE cannot be used outside a loop", _SYNTAX, "continue"),
    (r"block label must be placed before DECLARE, not after", _SYNTAX, "<<"),
    (r'there is no label "(\w+)" attached to any block or loop enclosing this statement', _SYNTAX, "named"),
    (r'block label "(\w+)" cannot be used in CONTINUE', _SYNTAX, "named"),
    (r'end label "(\w+)" (?:specified for unlabeled block|differs from block\'s label .*)', _SYNTAX, "named"),
    (r"RETURN (?:NEXT )?cannot have a parameter in .*", "42804", "next"),
    (r"cannot use RETURN (?:NEXT|QUERY) in a non-SETOF function", "42804", "return"),
    (r"loop variable of .* must be a .*variable or list of .*variables", _SYNTAX, "loop"),
    (r"cannot specify REVERSE in query FOR loop", _SYNTAX, "reverse"),
    (r"record variable cannot be part of multiple-item INTO list", _SYNTAX, "last"),
    (r'cursor "\w+" has arguments', _SYNTAX, "next"),
    (r'cursor "\w+" has no arguments', _SYNTAX, "last"),
    (r'cursor "\w+" has no argument named "(\w+)"', _SYNTAX, "named"),
    (r'(?:too many|not enough) arguments for cursor "\w+"', _SYNTAX, "last"),
)
"""The compiler's fixed messages, with the SQLSTATE and the place of the error (pl_gram.y, asked of servers).

The place is the word that it names; the word with which it gives up, or the next one; a keyword; the next semicolon; a
missing parenthesis; the variable of a loop; the end of the SQL, or of the body; or none.
"""
_HINTS = {
    "RETURN cannot have a parameter in function returning set": "Use RETURN NEXT or RETURN QUERY.",
}
_STOPS = (b" => => ", b" := := ")
"""Texts that neither grammar accepts anywhere, and that both skip when they look for the end of a statement."""


class _Word(Struct, frozen=True):
    text: bytes
    start: int
    end: int


class _RefusedBody(Struct, frozen=True):
    """A refused body as ``words``, with the number of the word that settles the refusal.

    Later words do not change it.
    """

    data: bytes
    words: list[_Word]
    settled: int
    settles: Callable[[_Word], bool]

    @property
    def last(self) -> _Word:
        """Return the word that settles the refusal."""
        end = len(self.data)
        return self.words[self.settled] if self.settled < len(self.words) else _Word(b"", end, end)

    def semicolon(self) -> int:
        """Return the end of the statement that is refused."""
        return next((word.start for word in self.words[self.settled :] if word.text == b";"), len(self.data))

    def next(self) -> int:
        return self.words[self.settled + 1].start if self.settled + 1 < len(self.words) else len(self.data)

    def end(self) -> int:
        """Return the end of the SQL, or of the whole body."""
        return self.words[self.settled - 1].end if 0 < self.settled < len(self.words) else len(self.data)

    def parenthesis(self, named: bytes) -> int:
        depth = 0
        for word in self.words[self.settled :]:
            depth += (word.text in (b"(", b"[")) - (word.text in (b")", b"]"))
            if word.text == named and (depth < 0 or named == b";"):
                return word.start
        return len(self.data)

    def loop(self) -> re.Match[bytes] | None:
        """The variables of the loop: FOR UPDATE is another one."""
        until = self.words[: self.settled + 1]
        loops = (word.end for word in reversed(until) if word.text.lower() in (b"for", b"foreach"))
        return next((match for end in loops if (match := _LOOP.match(self.data, end))), None)

    def place_of(self, named: bytes) -> int | None:
        """The place of a word: after the anchor if that belongs to the same statement, else before it."""
        place = self._word(lambda word: word.text == named)
        if place is None:
            place = self._word(lambda word: folded(word.text).encode() == named)
        if place is not None:
            return place
        # An operator, or something that is not closed.
        offset = self.data.find(named, self.last.start, self.semicolon())
        if offset < 0:
            end = len(self.data) if self.data.endswith(named) else self.last.end
            offset = self.data.rfind(named, 0, end)
        return offset if offset >= 0 else None

    def last_occurrence(self, named: bytes) -> int | None:
        """Return the last place of that name in the statement."""
        places = [word.start for word in self.words if word.start < self.semicolon() and word.text == named]
        return places[-1] if places else None

    def _word(self, alike: Callable[[_Word], bool]) -> int | None:
        stop = self.semicolon()
        after = (word for word in self.words[self.settled :] if word.start <= stop and alike(word))
        before = (word for word in reversed(self.words[: self.settled]) if alike(word))
        # A statement may be read before its words are looked at: behind some of them nothing is settled yet.
        settled = next((word for word in after if self.settles(word)), None) or next(before, None)
        return None if settled is None else settled.start


_LOOP = re.compile(rb"\s*([\w\"., ]+)\s(?:in|slice)\s+(execute\b)?", re.IGNORECASE)


def not_parsed(body: str, message: str, refusal_of: Callable[[str], str | None]) -> NotParsed:
    """Return the refusal of a body with this message; ``refusal_of`` returns the message for another body, if any."""
    for pattern, sqlstate, place in _ERRORS:
        match = re.fullmatch(pattern, message, re.DOTALL)
        if match is not None:
            return _not_parsed(body, message, sqlstate, place, match[match.lastindex or 0], refusal_of)
    return _of_statement(body, message, refusal_of)


def _of_statement(body: str, message: str, said_of: Callable[[str], str | None]) -> NotParsed:
    """Return the SQL grammar's error in a whole statement about a publication. Of other statements nothing is
    certain."""
    data = body.encode(errors="surrogatepass")
    words = _words(data)
    settled = _settled(words, _settles(data, message, said_of))
    location = in_characters(data, words[settled].start if settled < len(words) else None)
    statement = about_publication(body, location)
    try:
        parse(statement)
    except SyntaxRefused as refused:
        begun = body.rfind(statement, 0, location + len(statement))
        if statement and refused.message == message and refused.location is not None and begun >= 0:
            return NotParsed(message, refused.sqlstate, begun + refused.location, statement, refused.hint)
    except TooDeep:
        pass
    return NotParsed(message)


def _not_parsed(
    body: str, message: str, sqlstate: str, place: str, named: str, said_of: Callable[[str], str | None]
) -> NotParsed:
    data = body.encode(errors="surrogatepass")
    words = _words(data)
    settles = _settles(data, message, said_of)
    settled = _settled(words, settles)
    if place == "named":
        settled = _before_into(words, settled, settles)
    refused = _RefusedBody(data, words, settled, settles)
    offset = _place(refused, place, named.encode(errors="surrogatepass"))
    if f'near "{named}"' in message and named.isidentifier():
        offset = _quoted(data, words, offset, message, named, said_of)
    if place == "loop" and (loop := refused.loop()) is not None and loop[2]:
        sqlstate = "42804"
    location = None if offset is None else in_characters(data, offset)
    read = SyntaxRefused(message, location, body)
    return NotParsed(
        message,
        read.sqlstate if sqlstate == _SYNTAX else sqlstate,
        location,
        "" if location is None else about_publication(body, location),
        read.hint or _HINTS.get(message),
    )


def _quoted(
    data: bytes, words: list[_Word], guess: int | None, message: str, named: str, said_of: Callable[[str], str | None]
) -> int | None:
    """The place of the word that the message quotes, spelled exactly as in the body."""
    written, swapped = named.encode(), named.swapcase().encode()
    places = [word.start for word in words if word.text == written]
    for offset in sorted(places, key=lambda place: place != guess)[:_MOST_PLACES]:
        message_of_swapped = said_of(
            (data[:offset] + swapped + data[offset + len(swapped) :]).decode(errors="surrogatepass")
        )
        if message_of_swapped == message.replace(f'near "{named}"', f'near "{named.swapcase()}"'):
            return offset
    return guess


_MOST_PLACES = 50


def _words(data: bytes) -> list[_Word]:
    return [_Word(token, start, start + len(token)) for _, token, start in tokens(data)]


def _settles(data: bytes, message: str, said_of: Callable[[str], str | None]) -> Callable[[_Word], bool]:
    """Return whether a word settles the refusal: what stops every parser is put behind it, and changes nothing."""
    stop = _STOPS["=>" in message]
    return lambda word: said_of((data[: word.end] + stop + data[word.end :]).decode(errors="surrogatepass")) == message


def _settled(words: list[_Word], settles: Callable[[_Word], bool]) -> int:
    """The number of the first word that settles the refusal."""
    first, last = 0, len(words)
    while first < last:
        middle = (first + last) // 2
        if settles(words[middle]):
            last = middle
        else:
            first = middle + 1
    return first


def _before_into(words: list[_Word], settled: int, settles: Callable[[_Word], bool]) -> int:
    """The first word of the statement that settles the refusal: behind INTO a variable is wanted, whatever is wrong
    with what precedes it."""
    begun = max((number for number in range(settled) if words[number].text == b";"), default=-1) + 1
    into = any(word.text.lower() == b"into" for word in words[begun : settled + 1])
    return next((number for number in range(begun, settled) if into and settles(words[number])), settled)


def _place(refused: _RefusedBody, place: str, named: bytes) -> int | None:
    """Return the location of the compiler's error in bytes; None if it has none."""
    match place:
        case "":
            return None
        case "all":
            return len(refused.data)
        case "last":
            return refused.last.start
        case "next":
            return refused.next()
        case "semicolon":
            return refused.semicolon()
        case "end":
            return refused.end()
        case "parenthesis":
            return refused.parenthesis(named)
        case "loop":
            loop = refused.loop()
            return None if loop is None else loop.start(1)
        case "again":
            return refused.last_occurrence(named)
        case "named":
            return refused.place_of(named)
    return refused.place_of(place.encode())


def is_template(body: str) -> bool:
    """Return whether a body may hold placeholders, so that another text is run."""
    data = body.encode(errors="surrogatepass")
    blank = bytearray(data)
    for kind, token, start in tokens(data):
        if kind == "text":
            blank[start : start + len(token)] = b" " * len(token)
    return bool(guessed(_LABEL.sub("", blank.decode(errors="surrogatepass"))))


_LABEL = re.compile(r"<<\s*\w+\s*>>")


def about_publication(body: str, location: int | None) -> str:
    """Return the publication statement at a place of a body (None: its end), "" for any other statement."""
    data = body.encode(errors="surrogatepass")
    offset = len(data) if location is None else in_bytes(body, location)
    words = [(token.lower(), start) for _, token, start in tokens(data)]
    end = next((start for word, start in words if word == b";" and start >= offset), len(data))
    within = [located_word for located_word in words if located_word[1] < min(offset + 1, end)]
    first = max((number for number, (word, _) in enumerate(within) if word == b";"), default=-1) + 1
    for number in range(first, len(within) - 1):
        word, start = words[number]
        following = [located_word for located_word, _ in words[number + 1 : number + 4]]
        about = following[0] == b"publication" or following == [b"or", b"replace", b"publication"]
        if about and word in (b"create", b"alter", b"drop") and start < offset:
            return data[start:end].decode(errors="surrogatepass").rstrip()
    return ""
