"""String literals in the text of a program: where they are, how they escape, and what is filled in at run time.

One table a language; one scanner for all, whose time is linear in the text's length, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_HOLE_LENGTH = 400
"""Characters that an expression inside a string may have; longer ones are taken for text."""
_MOST_FAILURES = 64
"""Openings without an end that are looked for before the scanner takes all further ones for text."""


class Literal(Struct, frozen=True):
    """A literal: ``start`` to ``end`` with its delimiters, ``body`` to ``close`` without. ``escapes`` names how it
    escapes, a key of ``escapes.ESCAPES``; ``holes`` are the spans of expressions in it; ``heredoc`` says that it ends
    with a line of its own."""

    start: int
    body: int
    close: int
    end: int
    escapes: str
    holes: tuple[tuple[int, int], ...] = ()
    heredoc: bool = False


class Form(Struct, frozen=True):
    """One kind of literal: the pattern that ``opens`` it, the text that ``closes`` it (empty: the group "tag" of the
    opening pattern, on a line of its own), how it ``escapes``, its ``holes``, and whether it may continue on the
    next ``lines``."""

    opens: str
    closes: str
    escapes: str = "c"
    holes: str = ""
    lines: bool = True


class Language(Struct, frozen=True):
    """The literals of a language: the pattern of ``skipped`` comments and character constants, and the ``forms`` of
    literals in the order in which they are tried.

    ``joins`` is the concatenation operator and ``adjacent`` matches the text between two constants that form one
    (patterns). ``slashes``: a slash may begin a regular expression.
    """

    skipped: str
    forms: tuple[Form, ...]
    joins: str
    adjacent: str
    slashes: bool = False


_C_COMMENTS = r"//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?+"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_PHP_OUTSIDE = r"\?>(?:[^<]++|<(?!\?))*+|\A(?:[^<]++|<(?!\?))++"
_RUST_NESTED = r"/\*(?:[^*/]++|\*(?!/)|/(?!\*))*+(?:\*/)?+"

_PYTHON_PREFIXES = (
    (r"(?ai:(?<!\w)(?:rf|fr|rt|tr))", "none", "brace"),
    (r"(?ai:(?<!\w)[ft])", "python", "brace"),
    (r"(?ai:(?<!\w)(?:r|rb|br))", "none", ""),
    ("", "python", ""),
)
"""The prefixes of Python's literals, with how these escape, and their holes."""
PYTHON = Language(
    r"\#[^\n]*+",
    tuple(
        Form(prefix + quotes, quotes, escapes, holes, lines=len(quotes) > 1)
        for both in (('"""', "'''"), ('"', "'"))
        for prefix, escapes, holes in _PYTHON_PREFIXES
        for quotes in both
    ),
    r"\+",
    r"\s*+(?:\\\n\s*+)?(?:\+\s*+)?(?:\\\n\s*+)?",
)
RUBY = Language(
    r"\#[^\n]*+|(?<![^\n])=begin(?:[^\n]*+\n(?!=end))*+[^\n]*+|(?<![\w?])\?[\"'](?!\w)",
    (
        Form(r"<<[~\-]?'(?P<tag>[A-Z]\w*)'", "", "none"),
        Form(r'<<[~\-]?(?P<quoted>"?)(?P<tag>[A-Z]\w*)(?P=quoted)', "", "c", "ruby"),
        Form(r"%q\(", ")", "single"),
        Form(r"%q\{", "}", "single"),
        Form(r"%q\[", "]", "single"),
        Form(r"%q\|", "|", "single"),
        Form(r"%Q?\((?!\))", ")", "c", "ruby"),
        Form(r"%Q?\{", "}", "c", "ruby"),
        Form(r"%Q\[", "]", "c", "ruby"),
        Form(r"%Q?\|", "|", "c", "ruby"),
        Form('"', '"', "c", "ruby"),
        Form("'", "'", "single"),
    ),
    r"(?:\+|<<)",
    r"[ \t]*+(?:(?:\+|<<)\s*+|\\\r?\n\s*+)?",
    slashes=True,
)
JAVASCRIPT = Language(
    _C_COMMENTS,
    (Form("`", "`", "c", "js"), Form('"', '"', "c", lines=False), Form("'", "'", "c", lines=False)),
    r"\+",
    r"\s*+\+\s*+",
    slashes=True,
)
GO = Language(
    rf"{_C_COMMENTS}|{_CHARACTER}", (Form("`", "`", "none"), Form('"', '"', "c", lines=False)), r"\+", r"\s*+\+\s*+"
)
ELIXIR = Language(
    r"\#[^\n]*+|(?<!\w)\?\\?[\"'](?!\w)",
    (
        Form(r'~S"""', '"""', "none"),
        Form(r'(?:~s)?"""', '"""', "c", "ruby"),
        Form(r"(?:~s|~c)?'''", "'''", "c", "ruby"),
        Form(r"~S\(", ")", "none"),
        Form(r"~S\|", "|", "none"),
        Form(r"~S\[", "]", "none"),
        Form(r"~S\{", "}", "none"),
        Form(r"~s\(", ")", "c", "ruby"),
        Form(r"~s\|", "|", "c", "ruby"),
        Form(r"~s\[", "]", "c", "ruby"),
        Form(r"~s\{", "}", "c", "ruby"),
        Form(r'~S"', '"', "none"),
        Form('"', '"', "c", "ruby"),
        Form("'", "'", "c", "ruby"),
    ),
    "<>",
    r"\s*+<>\s*+",
)
JAVA = Language(
    rf"{_C_COMMENTS}|{_CHARACTER}",
    (Form('"""', '"""', "java"), Form('"', '"', "java", lines=False)),
    r"\+",
    r"\s*+\+\s*+",
)
CSHARP = Language(
    rf"{_C_COMMENTS}|{_CHARACTER}",
    (
        Form(r'\$+"""', '"""', "none", "brace"),
        Form('"""', '"""', "none"),
        Form(r'(?:\$@|@\$)"', '"', "doubled", "brace"),
        Form(r'@"', '"', "doubled"),
        Form(r'\$"', '"', "c", "brace", lines=False),
        Form('"', '"', "c", lines=False),
    ),
    r"\+",
    r"\s*+\+\s*+",
)
PHP = Language(
    rf"{_C_COMMENTS}|\#(?!\[)[^\n]*+|{_PHP_OUTSIDE}",
    (
        Form(r"<<<[ \t]*'(?P<tag>\w+)'", "", "none"),
        Form(r'<<<[ \t]*(?P<quoted>"?)(?P<tag>\w+)(?P=quoted)', "", "c", "dollar"),
        Form('"', '"', "c", "dollar"),
        Form("'", "'", "single"),
    ),
    r"\.",
    r"\s*+\.\s*+",
)
RUST = Language(
    rf"//[^\n]*+|{_RUST_NESTED}|{_CHARACTER}",
    (
        Form(r'(?<!\w)b?r\#\#"', '"##', "none", "format"),
        Form(r'(?<!\w)b?r\#"', '"#', "none", "format"),
        Form(r'(?<!\w)b?r"', '"', "none", "format"),
        Form('"', '"', "rust", "format"),
    ),
    r"\+",
    r"\s*+\+\s*+&?",
)

LANGUAGES = {
    "python": PYTHON,
    "ruby": RUBY,
    "javascript": JAVASCRIPT,
    "go": GO,
    "elixir": ELIXIR,
    "java": JAVA,
    "csharp": CSHARP,
    "php": PHP,
    "rust": RUST,
}
"""The languages by the name of a view."""

_REGEX_BODY = re.compile(r"/(?![/*])(?:[^/\\\n\[]++|\\[^\n]|\[(?:[^\]\\\n]++|\\[^\n])*+\])++/?+")
_REGEX_BODY_WITHOUT_CLASS = re.compile(r"/(?![/*])(?:[^/\\\n\[]++|\\[^\n])++/?+")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};~+-*%<>\n")
_BEFORE_REGEX_WORD = re.compile(r"\b(?:return|typeof|case|in|of|if|unless|when|and|or|not|while|match)\s*$")

_HOLES = {
    "": None,
    "js": re.compile(r"\$\{"),
    "ruby": re.compile(r"#\{"),
    "dollar": re.compile(r"\{(?=\$)|\$\{|\$(?=[A-Za-z_])"),
    "brace": re.compile(r"\{\{|\}\}|\{"),
    "format": None,  # a macro may format it or not: braces are looked at with the SQL around them
}
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_PHP_NAME = re.compile(r"\$[A-Za-z_]\w*+(?:\[[^\]\n\"]{0,40}\]|->[A-Za-z_]\w*+)?+")
_HOLE_PART = re.compile(r"""[^{}"'`\n]++|"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+'|`[^`]{0,200}`|["'`\n]""")


def literals(text: str, language: Language) -> Iterator[Literal]:
    """Yield the literals of a program by where they are opened, except those in expressions of others."""
    return _Scanner(text, language).scan()


class _Scanner:
    def __init__(self, text: str, language: Language) -> None:
        self.text, self.language = text, language
        self.failures = 0
        self.dead: set[int] = set()
        self.unclosed = 0
        """Before this offset no class of a regular expression has an end: it is not looked for again."""
        pieces = [f"(?P<skipped>{language.skipped})"]
        if language.slashes:
            pieces.append("(?P<slash>/)")
        for number, form in enumerate(language.forms):
            opens = form.opens
            for group in ("tag", "quoted"):
                opens = opens.replace(f"<{group}>", f"<{group}{number}>").replace(f"={group})", f"={group}{number})")
            pieces.append(f"(?P<form{number}>{opens})")
        self.opening = re.compile("|".join(pieces))
        self.bodies = [_body(form) for form in language.forms]

    def scan(self) -> Iterator[Literal]:
        text, size = self.text, len(self.text)
        pos, line_end, resume = 0, -1, -1
        while True:
            # A here-document begins after the line that opens it, which may hold more.
            match = self.opening.search(text, pos, line_end if line_end >= 0 else size)
            if match is None:
                if line_end < 0:
                    return
                pos, line_end = resume, -1
                continue
            kind = match.lastgroup or ""
            if kind == "skipped":
                pos = match.end()
            elif kind == "slash":
                pos = self._slash(match.start())
            else:
                number = int(kind[4:])
                form = self.language.forms[number]
                if form.closes:
                    literal, pos = self._closed(number, match)
                else:
                    eol = text.find("\n", match.end()) if line_end < 0 else line_end
                    literal = self._heredoc(number, match, resume if line_end >= 0 else eol + 1) if eol >= 0 else None
                    pos = match.end()
                    if literal is not None:
                        line_end, resume = eol, literal.end
                if literal is not None:
                    yield literal
                if line_end >= 0 and pos > line_end:
                    pos, line_end = max(pos, resume), -1

    def _slash(self, start: int) -> int:
        text = self.text
        before = start
        while before and text[before - 1] in " \t":
            before -= 1
        if (
            before
            and text[before - 1] not in _BEFORE_REGEX
            and not _BEFORE_REGEX_WORD.search(text, max(0, before - 10), before)
        ):
            return start + 1
        body = _REGEX_BODY if start >= self.unclosed else _REGEX_BODY_WITHOUT_CLASS
        regex = body.match(text, start)
        if regex is not None and regex[0].endswith("/") and len(regex[0]) > 1:
            return regex.end()
        if start >= self.unclosed:
            eol = text.find("\n", start)
            eol = len(text) if eol < 0 else eol
            if text.find("]", start, eol) < 0:
                self.unclosed = eol
        return start + 1

    def _closed(self, number: int, opening: re.Match[str]) -> tuple[Literal | None, int]:
        """Return the literal that is opened there, None if it has no end, and where to go on."""
        text, form = self.text, self.language.forms[number]
        start, pos = opening.span()
        if number in self.dead:
            return None, pos
        body, hole = self.bodies[number], _HOLES[form.holes]
        offset = part = pos
        holes: list[tuple[int, int]] = []
        nested = 0
        while True:
            offset = body.match(text, offset).end()  # type: ignore[union-attr]
            if text.startswith(form.closes, offset):
                end = offset + len(form.closes)
                if form.closes in _BRACKETS:
                    nested += text.count(_BRACKETS[form.closes], part, offset) - 1
                    if nested >= 0:
                        offset = part = end
                        continue
                return Literal(start, pos, offset, end, form.escapes, tuple(holes)), end
            opened = hole.match(text, offset) if hole is not None else None
            if opened is None:
                if offset < len(text) and (form.lines or text[offset] != "\n"):
                    offset += 1
                    continue
                if form.lines:
                    self.dead.add(number)  # no other one of this form has an end either
                    return None, pos
                return None, offset
            end = self._hole_end(offset, opened)
            if end > opened.end() or opened[0] == "$":
                holes.append((offset, end))
            offset = max(end, opened.end())

    def _hole_end(self, offset: int, opened: re.Match[str]) -> int:
        """Return the end of the expression that is opened there; where it has none, that of what opens it."""
        text = self.text
        if opened[0] == "$":
            named = _PHP_NAME.match(text, offset)
            return named.end() if named is not None else opened.end()
        if opened[0] in ("{{", "}}") or self.failures >= _MOST_FAILURES:
            return opened.end()
        pos, limit, depth = opened.end(), min(len(text), offset + _HOLE_LENGTH), 1
        while pos < limit:
            char = text[pos]
            if char == "{":
                depth += 1
                pos += 1
            elif char == "}":
                depth -= 1
                pos += 1
                if depth == 0:
                    return pos
            else:
                part = _HOLE_PART.match(text, pos, limit)
                pos = part.end() if part is not None else pos + 1
        self.failures += 1
        return opened.end()

    def _heredoc(self, number: int, opening: re.Match[str], begin: int) -> Literal | None:
        form = self.language.forms[number]
        if self.failures >= _MOST_FAILURES:
            return None
        tag = opening[f"tag{number}"]
        closing = re.compile(rf"^[ \t]*{re.escape(tag)}(?!\w)", re.MULTILINE).search(self.text, begin)
        if closing is None:
            self.failures += 1
            return None
        holes: list[tuple[int, int]] = []
        hole = _HOLES[form.holes]
        offset = begin
        while hole is not None:
            opened = hole.search(self.text, offset, closing.start())
            if opened is None:
                break
            end = self._hole_end(opened.start(), opened)
            if end > opened.end() or opened[0] == "$":
                holes.append((opened.start(), min(end, closing.start())))
            offset = max(end, opened.end())
        return Literal(begin, begin, closing.start(), closing.end(), form.escapes, tuple(holes), heredoc=True)


def _body(form: Form) -> re.Pattern[str]:
    """The part of a body that needs no decision: up to its end, a hole, or text that looks like one of these."""
    if not form.closes:
        return re.compile("")
    first = re.escape(form.closes[0])
    line = "" if form.lines else r"\n"
    hole = {"": "", "format": "", "js": "$", "ruby": "#", "dollar": r"${", "brace": "{}"}[form.holes]
    stops = rf"{first}{hole}{line}"
    if form.escapes == "doubled":
        return re.compile(rf"(?:[^{stops}]++|{first}{first})*+")
    again = rf"|{first}(?!{re.escape(form.closes[1:])})" if len(form.closes) > 1 else ""
    if form.escapes == "none":
        # In Python a backslash keeps the quote after it from ending a raw string; elsewhere none is raw and escaped.
        return re.compile(rf"(?:[^{stops}]++{again})*+")
    return re.compile(rf"(?:[^{stops}\\]++|\\(?s:.){again})*+")


BEFORE = 120
"""Characters before a string that say what is done with it."""
_ASSIGNED = re.compile(r"(?<![\w.])(?P<name>[$@]{0,2}\w+)(?:\s*:\s*[\w<>]+)?\s*:?=\s*\(?\s*\Z")


def assigned_name(before: str) -> str | None:
    """Return the name to which a string is assigned, by the text before it."""
    assigned = _ASSIGNED.search(before)
    return assigned["name"] if assigned is not None else None
