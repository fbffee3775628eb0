"""Input of json and jsonb (common/jsonapi.c, utils/adt/json.c, jsonb.c), and of xml (utils/adt/xml.c): with xmloption
content, as a server has it by default, or document.

The server parses XML with libxml2, this with expat: both follow XML 1.0, so that they agree on what is well-formed;
the server's DETAIL is libxml2's own and is not given. Texts that the two are known to treat differently are unknown.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from pubcheck.postgres.datum import JSON_NULL, whole_scale
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, input_error
from pubcheck.postgres.input.numbers import parse_numeric
from pubcheck.postgres.versions import Major

_BLANK = re.compile(r"[ \t\n\r]*")
_ALNUM = re.compile(r"[^\x00-/:-@\[-^`{-\x7f]*")
"""Letters, digits, the underscore and whatever is not ASCII (JSON_ALPHANUMERIC_CHAR)."""
_NUMBER_START = re.compile(r"-?(?:0|[1-9][0-9]*)?")
_FRACTION = re.compile(r"\.[0-9]*")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX_4 = re.compile(r"[0-9a-fA-F]{4}")
_DEEP = 500
"""A nesting that no server refuses for lack of stack (check_stack_depth); the real limit differs between servers."""

_END, _STRING, _SCALAR, _COMMA, _COLON = "end", "string", "scalar", ",", ":"


class _Json:
    """The lexer and, without recursion, the parser. ``unescape``: strings are decoded, as jsonb must."""

    def __init__(self, text: str, major: Major, unescape: bool) -> None:
        self.text = text
        self.major = major
        self.unescape = unescape
        self.at = self.start = 0
        self.kind = _END

    def wrong(self, detail: str) -> ServerError:
        return input_error("22P02", "invalid input syntax for type json", detail)

    def invalid_token(self, end: int) -> ServerError:
        return self.wrong(f'Token "{self.text[self.start : end]}" is invalid.')

    def unexpected(self, expected: str) -> ServerError:
        """report_parse_error."""
        if self.kind == _END:
            return self.wrong("The input string ended unexpectedly.")
        return self.wrong(f'Expected {expected}, but found "{self.text[self.start : self.at]}".')

    def lex(self) -> None:
        """json_lex."""
        text = self.text
        blank = _BLANK.match(text, self.at)
        assert blank is not None
        self.start = self.at = blank.end()
        if self.at == len(text):
            self.kind = _END
            return
        character = text[self.at]
        if character in "{}[],:":
            self.kind = character
            self.at += 1
        elif character == '"':
            self.kind = _STRING
            self._string()
        elif character == "-" or "0" <= character <= "9":
            self.kind = _SCALAR
            self._number()
        else:
            word = _ALNUM.match(text, self.at)
            assert word is not None
            if not word[0]:
                raise self.invalid_token(self.at + 1)
            if word[0] not in ("true", "false", "null"):
                raise self.invalid_token(word.end())
            self.kind = _SCALAR
            self.at = word.end()

    def _number(self) -> None:
        """json_lex_number; an invalid number is reported up to the end of its letters and digits."""
        text = self.text
        match = _NUMBER_START.match(text, self.at)
        assert match is not None
        end = match.end()
        error = match[0] in ("", "-")
        if text[end : end + 1] == ".":
            part = _FRACTION.match(text, end)
            assert part is not None
            error, end = error or len(part[0]) == 1, part.end()
        if text[end : end + 1] in ("e", "E"):
            part = _EXPONENT.match(text, end)
            assert part is not None
            error, end = error or not "0" <= part[0][-1] <= "9", part.end()
        behind = _ALNUM.match(text, end)
        assert behind is not None
        if error or behind[0]:
            raise self.invalid_token(behind.end())
        self.at = end

    def _string(self) -> None:
        """json_lex_string."""
        text, pos, high = self.text, self.at + 1, 0
        needs_low = "Unicode low surrogate must follow a high surrogate."
        while True:
            plain = _PLAIN.match(text, pos)
            assert plain is not None
            if high and plain.end() > pos:
                raise self.wrong(needs_low)
            pos = plain.end()
            character = text[pos : pos + 1]
            if not character:
                raise self.invalid_token(pos)
            if character == '"':
                if high:
                    raise self.wrong(needs_low)
                self.at = pos + 1
                return
            if character != "\\":
                if high and self.major.json_lone_surrogates_refused:
                    raise self.wrong(needs_low)
                raise self.wrong(f"Character with value 0x{ord(character):02x} must be escaped.")
            escape = text[pos + 1 : pos + 2]
            if not escape:
                raise self.invalid_token(pos + 1)
            if escape == "u":
                digits = _HEX_4.match(text, pos + 2)
                if digits is None:
                    if re.compile(r"[0-9a-fA-F]{0,3}\Z").match(text, pos + 2):
                        raise self.invalid_token(len(text))
                    raise self.wrong('"\\u" must be followed by four hexadecimal digits.')
                pos += 6
                if self.unescape:
                    high = self._code_point(int(digits[0], 16), high)
                continue
            if high and self.unescape:
                raise self.wrong(needs_low)
            if escape not in '"\\/bfnrt':
                raise self.wrong(f'Escape sequence "\\{escape}" is invalid.')
            pos += 2

    def _code_point(self, code: int, high: int) -> int:
        """The high surrogate that waits for a low one, 0 if none does."""
        if 0xD800 <= code <= 0xDBFF:
            if high:
                raise self.wrong("Unicode high surrogate must not follow a high surrogate.")
            return code
        if 0xDC00 <= code <= 0xDFFF:
            if not high:
                raise self.wrong("Unicode low surrogate must follow a high surrogate.")
            return 0
        if high:
            raise self.wrong("Unicode low surrogate must follow a high surrogate.")
        if code == 0:
            raise input_error("22P05", "unsupported Unicode escape sequence", "\\u0000 cannot be converted to text.")
        return 0

    def scalar(self) -> None:
        """parse_scalar; jsonb converts a number to a numeric after the next token is read."""
        if self.kind not in (_STRING, _SCALAR):
            raise self.unexpected("JSON value")
        number = self.kind == _SCALAR and self.text[self.start] in "-0123456789"
        start, end = self.start, self.at
        self.lex()
        if number and self.unescape:
            parse_numeric(self.major, self.text[start:end])

    def parse(self) -> None:
        """pg_parse_json."""
        self.lex()
        stack: list[str] = []
        value = True
        while True:
            if value:
                if self.kind in "{[":
                    opening = self.kind
                    stack.append(opening)
                    if len(stack) > _DEEP:
                        raise Unknowable("whether the server has the stack for JSON nested so deeply")
                    self.lex()
                    if opening == "[" and self.kind != "]":
                        continue
                    if opening == "{" and self.kind == _STRING:
                        self.field()
                        continue
                    if opening == "{" and self.kind != "}":
                        raise self.unexpected('string or "}"')
                else:
                    self.scalar()
            # Behind a value, or where an empty container ends.
            value = False
            if not stack:
                if self.kind != _END:
                    raise self.unexpected("end of input")
                return
            if self.kind == _COMMA:
                self.lex()
                if stack[-1] == "{":
                    if self.kind != _STRING:
                        raise self.unexpected("string")
                    self.field()
                value = True
            elif stack[-1] == "[":
                if self.kind != "]":
                    raise self.unexpected('"," or "]"')
                stack.pop()
                self.lex()
            else:
                if self.kind != "}":
                    raise self.unexpected('"," or "}"')
                stack.pop()
                self.lex()

    def field(self) -> None:
        """Read the name at the current token and its colon (parse_object_field)."""
        self.lex()
        if self.kind != _COLON:
            raise self.unexpected('":"')
        self.lex()


def read_json(context: InputContext, text: str, typmod: int = -1) -> str:
    _Json(text, context.major, unescape=False).parse()
    return text


def read_jsonb(context: InputContext, text: str, typmod: int = -1) -> Any:
    _Json(text, context.major, unescape=True).parse()
    return _tree(json.loads(text, parse_int=Decimal, parse_float=lambda number: whole_scale(Decimal(number))))


def _tree(value: Any) -> Any:
    """A decoded document with its nulls distinguished from NULL."""
    if value is None:
        return JSON_NULL
    if isinstance(value, dict):
        return {key: _tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tree(item) for item in value]
    return value


_XML_BLANK = "[ \t\r\n]"
_DECLARATION = re.compile(
    rf"<\?xml{_XML_BLANK}+version{_XML_BLANK}*={_XML_BLANK}*(?:\"1\.0\"|'1\.0')"
    rf"(?P<encoding>{_XML_BLANK}+encoding{_XML_BLANK}*={_XML_BLANK}*(?:\"[A-Za-z][\w.-]*\"|'[A-Za-z][\w.-]*'))?"
    rf"(?:{_XML_BLANK}+standalone{_XML_BLANK}*={_XML_BLANK}*(?:\"(?:yes|no)\"|'(?:yes|no)'))?{_XML_BLANK}*\?>"
)
_DECLARED = re.compile(rf"<\?xml{_XML_BLANK}")
_NO_DECLARATION = re.compile(r"<\?xml(?![\w.:-])")
_DOUBTFUL = re.compile(r"<!DOCTYPE|<!ENTITY|\]\]>|[\ufffe\uffff\ud800-\udfff]")
_TAG = re.compile(r"<[^>]*+>")
_DOUBTFUL_IN_TAG = re.compile(r"<[/]?:|:[\s/>=]|\w:[\w.-]+:")
_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)
_REFERENCE = re.compile(r"<!\[CDATA\[.*?\]\]>|<!--.*?-->|<\?.*?\?>|&([A-Za-z_][\w.-]*);", re.DOTALL)
"""A reference of an entity, or text in which there is none."""
_ENTITIES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_SHOWN_OF_A_LINE = 78
"""Characters of a line that libxml2 shows whole."""
_DEEP_XML = 200
"""Elements within elements that every libxml2 takes (it stops at 256)."""


def read_xml(context: InputContext, text: str, typmod: int = -1) -> str:
    """xml_in. The value is the text."""
    kind = str(context.setting("xmloption") or "content").lower()
    sqlstate = "2200N" if kind == "content" else "2200M"
    body = text
    if _DECLARED.match(text):
        declaration = _DECLARATION.match(text)
        # libxml2 decides whether it knows the encoding of a document; of content the server drops the declaration.
        if declaration is None or (declaration["encoding"] and kind != "content"):
            raise Unknowable("whether the server takes an XML declaration")
        body = text[declaration.end() :]
    elif kind == "content" and _NO_DECLARATION.match(text):
        raise input_error("2200N", "invalid XML content: invalid XML declaration", "Space required.")
    outside = _CDATA.sub("", body)
    if _DOUBTFUL.search(outside) or any(_DOUBTFUL_IN_TAG.search(tag) for tag in _TAG.findall(outside)):
        raise Unknowable("how libxml2 takes an XML text")
    if not _well_formed(body, kind == "document"):
        raise input_error(sqlstate, f"invalid XML {kind}", _undefined_entities(text, body, kind == "document"))
    return text


def _undefined_entities(text: str, body: str, document: bool) -> str | None:
    """The server's detail of a text in which nothing is wrong but references of entities that are not defined.

    libxml2 shows each with its line up to there (xmlParserPrintFileContext); other errors have no detail here.
    """
    parsed = text if document else body
    references = [found for found in _REFERENCE.finditer(parsed) if (name := found[1]) and name not in _ENTITIES]
    without = _REFERENCE.sub(lambda found: "" if (name := found[1]) and name not in _ENTITIES else found[0], body)
    lines = parsed.split("\n")
    if not (references and parsed.isascii() and "\r" not in parsed and max(map(len, lines)) <= _SHOWN_OF_A_LINE):
        return None
    if not _well_formed(without, document):
        return None
    shown = []
    for found in references:
        line = parsed.count("\n", 0, found.end()) + 1
        before = parsed[parsed.rfind("\n", 0, found.end()) + 1 : found.end()]
        blank = re.sub(r"[^\t]", " ", before)
        shown.append(f"line {line}: Entity '{found[1]}' not defined\n{lines[line - 1]}\n{blank}^")
    return "\n".join(shown)


def _well_formed(content: str, document: bool) -> bool:
    from xml.parsers import expat

    root = "content"
    while root in content:
        root += "_"
    parser = expat.ParserCreate("utf-8")
    depth = deepest = 0

    def start(name: str, attributes: object) -> None:
        nonlocal depth, deepest
        depth += 1
        deepest = max(deepest, depth)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse((content if document else f"<{root}>{content}</{root}>").encode(), True)
    except expat.ExpatError:
        well_formed = False
    else:
        well_formed = True
    if deepest > _DEEP_XML:
        raise Unknowable("how deeply libxml2 lets elements nest")
    return well_formed
