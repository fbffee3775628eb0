"""Migrations and tests in a programming language: what part of a migration undoes the rest, and the test cases."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.extract.masked_text import Canvas, ascending
from pubcheck.extract.string_literals import LANGUAGES, Literal
from pubcheck.lexing.items import blank


class _Convention(Struct, frozen=True):
    """How a library writes a migration and its rollback.

    - ``marks``: groups of texts; only a migration contains all texts of a group
    - ``undoing``: the line that begins the rollback
    - ``second``: what precedes two strings, of which the second is the rollback
    - ``named``: what precedes a string that is the rollback
    - ``listed``: what precedes a list of strings that is the rollback, or ends where the first of two lists begins
    """

    marks: tuple[tuple[str, ...], ...]
    undoing: str
    second: str = ""
    named: str = ""
    listed: str = ""


_FUNCTION = r"(?:async\s+)?(?:function\b|\(|\w+\s*=>)"
"""The beginning of a JavaScript function."""


def _entries(name: str) -> str:
    """Return a function of that name in an object or a class."""
    return rf"^[ \t]*(?:public\s+)?(?:(?:async\s+)?{name}\s*\(|{name}\s*:\s*{_FUNCTION})"


def _exports(name: str) -> str:
    """Return a function of that name, exported by itself."""
    return (
        rf"^[ \t]*(?:(?:module\.)?exports\.{name}\s*=\s*(?:{_FUNCTION}|false\b)"
        rf"|export\s+const\s+{name}\b[^=\n]*=\s*(?:{_FUNCTION}|false\b)|export\s+(?:async\s+)?function\s+{name}\b)"
    )


_CONVENTIONS = {
    "python": _Convention(
        (
            (r"^[ \t]*+(?:from|import)\s+alembic\b", r"^def\s+upgrade\s*\("),
            (r"^revision\b[^=\n]*=", r"^down_revision\b[^=\n]*=", r"^def\s+upgrade\s*\("),
            (r"^[ \t]*+from\s+django\.db\s+import\b.*\bmigrations\b", r"\bmigrations\.(?:\w+\(|Migration\b)"),
            (r"^[ \t]*+from\s+yoyo\s+import\b", r"(?<![\w.])step\("),
        ),
        r"^[ \t]*(?:async[ \t]+)?def[ \t]+(?:downgrade|reverse|backwards?|rollback|undo)\w*[ \t]*\(",
        r"(?:\bRunSQL|(?<![\w.])step)\(\s*$",
        r"\breverse_sql\s*=\s*[\[(]*\s*$",
        r"\breverse_sql\s*=\s*[\[(]|\b(?:RunSQL|step)\(\s*(?=[\[(])",
    ),
    "ruby": _Convention(
        (
            (r"<\s*ActiveRecord::Migration\b",),
            (r"^ActiveRecord::Schema\b",),
            (r"\bSequel\.migration\b",),
            (r"\bROM::SQL\.migration\b",),
        ),
        r"^[ \t]*(?:def[ \t]+(?:self\.)?down\b|(?:\w+\.)?down[ \t]+(?:do|\{))",
    ),
    "javascript": _Convention(
        (
            (_exports("up"), _exports("down")),
            # Without a way back, which Knex, node-pg-migrate and Kysely allow.
            (_exports("up"), r"\b(?:knex|pgm)\.\w|\bKysely\s*<"),
            (r"\bimplements\s+MigrationInterface\b|\bextends\s+(?:Migration|BaseSchema)\b", _entries("up")),
            (r"^[ \t]*+(?:module\.exports\s*=|export\s+default)\s*\{", _entries("up"), _entries("down")),
        ),
        r"^[ \t]*(?:(?:module\.)?exports\.down\s*=|export\s+(?:const|async\s+function|function)\s+down\b"
        r"|(?:public\s+)?(?:async\s+)?down\s*[(:=]|(?:async\s+)?function\s+down\b)",
    ),
    "go": _Convention(
        (
            (r"\bgoose\.Add(?:Named)?Migration",),
            (r"\bmigrations?\.(?:Register|MustRegister)",),
            (r"\bgormigrate\.Migration\b",),
        ),
        r"^[ \t]*(?:func\s+[dD]own\w*\s*\(|Rollback:\s*func|func\s+\([^)\n]*\)\s+Down\w*\s*\()",
    ),
    "elixir": _Convention(
        ((r"\buse\s+Ecto\.Migration\b",),), r"^[ \t]*def\s+down\b", r"\bexecute[ \t(]\s*$", r"(?<!\w)down:\s*$"
    ),
    "java": _Convention(
        (
            (r"\bextends\s+BaseJavaMigration\b|:\s*BaseJavaMigration\b", r"\bmigrate\s*\("),
            (r"\bimplements\b[^{]{0,200}?\b(?:JavaMigration|CustomSqlChange)\b",),
        ),
        r"^[ \t]*(?:public\s+)?\w+\s+(?:down|undo|rollback)\(",
    ),
    "csharp": _Convention(
        ((r":\s*Migration\b", r"\boverride\s+void\s+Up\s*\("),),
        r"^[ \t]*(?:public|protected)\s+override\s+void\s+Down\s*\(",
    ),
    "php": _Convention(
        ((r"\bextends\s+(?:\w*\\)*(?:Abstract)?Migration\b", r"\bfunction\s+(?:up|safeUp|change)\s*\("),),
        r"^[ \t]*(?:public\s+)?(?:static\s+)?function\s+(?:down|safeDown)\s*\(",
    ),
    "rust": _Convention(
        ((r"\bimpl\s+(?:\w+::)*MigrationTrait\s+for\b|\bimpl\s+(?:\w+::)*Migration\s+for\b",),),
        r"^[ \t]*(?:pub\s+)?(?:async\s+)?fn\s+(?:down|revert|rollback)\b",
    ),
}


def undone(text: str, language: str, strings: Sequence[Literal]) -> tuple[bool, list[tuple[int, int]]]:
    """Return whether a program is a migration, and the ascending spans of what undoes it."""
    convention = _CONVENTIONS[language]
    if not any(all(re.search(part, text, re.MULTILINE) for part in mark) for mark in convention.marks):
        return False, []
    spans: list[tuple[int, int]] = []
    starts = [string.start for string in strings]
    for header in re.finditer(convention.undoing, text, re.MULTILINE):
        if (not spans or header.start() >= spans[-1][1]) and not _within(header.start(), strings, starts):
            spans.append((header.start(), _block_end(text, header.start(), header.end(), strings, starts)))
    for number, literal in enumerate(strings):
        before = text[max(0, literal.start - 80) : literal.start]
        if convention.named and re.search(convention.named, before):
            spans.append((literal.start, literal.end))
        elif convention.second and number and re.fullmatch(r"\s*,\s*", text[strings[number - 1].end : literal.start]):
            first = strings[number - 1]
            if re.search(convention.second, text[max(0, first.start - 80) : first.start]):
                spans.append((literal.start, literal.end))
    if convention.listed:
        spans += _undoing_lists(text, convention.listed, strings)
    return True, ascending(spans)


def _undoing_lists(text: str, listed: str, strings: Sequence[Literal]) -> Iterator[tuple[int, int]]:
    """Return the spans of lists of strings that undo a migration."""
    starts = [string.start for string in strings]
    for opened in re.finditer(listed, text):
        if _within(opened.start(), strings, starts):
            continue
        second = opened[0][-1] not in "[(" or opened[0].rstrip().endswith(("RunSQL(", "step("))
        start = opened.end() if second else opened.end() - 1
        end = _bracket_end(text, start, strings, starts)
        if second:
            following = re.compile(r"\s*,\s*(?=[\[(])").match(text, end)
            if following is None:
                continue
            start, end = following.end(), _bracket_end(text, following.end(), strings, starts)
        yield start, end


def _bracket_end(text: str, start: int, strings: Sequence[Literal], starts: Sequence[int]) -> int:
    """Behind the bracket that closes the one at an offset."""
    depth = 0
    for bracket in re.compile(r"[\[\](){}]").finditer(text, start):
        if _within(bracket.start(), strings, starts):
            continue
        depth += 1 if bracket[0] in "[({" else -1
        if depth == 0:
            return bracket.end()
    return len(text)


# What makes it uncertain whether, when or how often a statement runs.
_CONDITION = re.compile(
    r"(?<![\w.:$@])(?:if|elif|elsif|unless|else|case|cond|switch|select|match|when|for|foreach|while|until|loop|try|rescue"
    r"|except|catch|ensure|defp|lambda|RunPython)\b|\.(?:each|forEach|map|times|then|catch)\b|&&|\|\||\s\?\s"
)
_NO_CONDITION = {
    # Go asks after each statement whether it failed.
    "go": r"\bif\s+(?:[\w\s,]{1,80}:?=[^{;]{0,4000};\s*)?err\s*!=\s*nil\b",
    "rust": r"\bimpl\b[^{;]{0,200}",
}
_FUNCTION_NAME = re.compile(
    r"\b(?:def|func|fn|function)\s+(?:\([^)\n]*\)\s*)?(?:self\.)?(?P<one>\w+)"
    r"|^[ \t]*+(?:(?:public|private|protected|internal|static|override|async|final|void)[ \t]+)+"
    r"(?:[\w<>\[\],.?]+[ \t]+)?(?P<two>\w+)[ \t]*\("
    r"|\b(?:const|let|var)\s+(?P<three>\w+)\b[^=\n]*=\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)",
    re.MULTILINE,
)
_MIGRATION_METHODS = re.compile(
    r"(?i:up|down)\w*|upgrade|downgrade|change|safe(?:Up|Down)|migrate|init|execute|(?:get|is)[A-Z_]\w*|name"
)


# What gives a string a name, under which it may be run anywhere: of Python's arguments an equals sign is not apart.
_NAMED_STRING = {
    "python": r"(?:^\w+\s*=|^[ \t]*\w[\w.]*(?:[ \t]*:[^=\n]{1,40})?[ \t]+=|[\"']\s*:)[\s(\[]*\Z",
    "javascript": r"(?:\w[^=\n]{0,80}=|[\w\"']\s*:)[\s(\[]*\Z",
}
_NAMED_STRING_ELSEWHERE = r"\w[^=\n]{0,80}=[\s(\[]*\Z"
_BEFORE = 200


def doubtful(text: str, language: str, code: str, statements: Sequence[Literal]) -> tuple[tuple[int, int], ...] | None:
    """Return the spans of a migration that may not run; None if any part may not run, or if the parts do not all run
    once, from the first line to the last. ``code`` is its text without strings;
    ``statements`` are the strings with SQL."""
    named = re.compile(_NAMED_STRING.get(language, _NAMED_STRING_ELSEWHERE), re.MULTILINE)
    for statement in statements:
        line = text.rfind("\n", 0, max(0, text.rfind("\n", 0, statement.start))) + 1
        if named.search(text[max(line, statement.start - _BEFORE) : statement.start]):
            return None
    if language in _NO_CONDITION:
        code = re.sub(_NO_CONDITION[language], lambda match: blank(match[0]), code)
    if not all(_MIGRATION_METHODS.fullmatch(match[match.lastgroup or 0]) for match in _FUNCTION_NAME.finditer(code)):
        return None
    spans: list[tuple[int, int]] = []
    for condition in _CONDITION.finditer(code):
        if spans and condition.start() < spans[-1][1]:
            continue
        line = code.rfind("\n", 0, condition.start()) + 1
        if _BLOCK.match(code, line) is not None:
            end = _block_end(code, line, condition.end(), (), ())
        elif language == "ruby" and condition[0] in ("if", "unless"):
            end = code.find("\n", condition.end()) + 1 or len(code)
        else:
            return None
        if _LEAVES.search(code, line, end) is not None:
            end = len(code)
        spans.append((line, end))
    return tuple(spans)


_BLOCK = re.compile(
    r"[ \t]*(?:\}[ \t]*)?(?:if|elif|elsif|unless|else|for|foreach|while|until|try|except|catch|rescue)\b"
)
"""A line that begins a block that perhaps runs."""
_LEAVES = re.compile(r"\b(?:return|raise|throw|exit|next|break|continue|panic|abort)\b")


def code_of(text: str, language: str, strings: Sequence[Literal], down: Sequence[tuple[int, int]]) -> str:
    """Return a program's text with blanks for strings, comments and what undoes the rest."""
    sheet = Canvas(text)
    position = 0
    for start, end in sorted([*down, *((string.start, string.end) for string in strings)]):
        sheet.keep(position, start)
        position = max(position, end)
    sheet.keep(position, len(text))
    return re.sub(LANGUAGES[language].skipped, lambda comment: " " * len(comment[0]), sheet.text())


_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,62}(?:\.[A-Za-z_]\w{0,62})?")
_SYMBOL = re.compile(r"(?<![\w:]):([a-z_]\w{0,62})")
_TABLE_OF_SEA_ORM = re.compile(r"\b([A-Z]\w{0,62})::Table\b")
_INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def names_in_calls(
    text: str, language: str, code: str, strings: Sequence[Literal], sql: str
) -> tuple[tuple[int, str], ...]:
    """Return the names in strings and symbols that calls may create or change; ``sql`` has the statements."""
    matches = ((string.start, _IDENTIFIER.fullmatch(text, string.body, string.close)) for string in strings)
    named = [(start, name[0]) for start, name in matches if name is not None]
    if language in ("ruby", "elixir"):
        named += [(symbol.start(), symbol[1]) for symbol in _SYMBOL.finditer(code)]
    elif language == "rust":
        named += [
            (match.start(), _INNER_CAPITAL.sub("_", match[1]).lower()) for match in _TABLE_OF_SEA_ORM.finditer(code)
        ]
    elif language == "python" and "django" in text:
        # A model's table has the name of its application before its own.
        words = set(re.findall(r"\w+", sql))
        named += [
            (start, word) for start, model in tuple(named) for word in words if word.endswith(f"_{model.lower()}")
        ]
    return tuple(sorted(named))


def _within(offset: int, strings: Sequence[Literal], starts: Sequence[int]) -> bool:
    """Return whether an offset lies in a string; ``starts`` are where the strings begin."""
    number = bisect_right(starts, offset) - 1
    return number >= 0 and strings[number].start < offset + strings[number].heredoc and offset < strings[number].end


_LINE = re.compile(r"^([ \t]*)(\S)", re.MULTILINE)


def _block_end(text: str, start: int, end: int, strings: Sequence[Literal], starts: Sequence[int]) -> int:
    """Return the end of the block whose first line begins at ``start``: the next line that is not further in, a closing
    bracket of the first line's arguments and the lines of strings apart."""
    header = _LINE.match(text, text.rfind("\n", 0, start + 1) + 1)
    indent = len(header[1].expandtabs(8)) if header is not None else 0
    for line in _LINE.finditer(text, text.find("\n", end) + 1 or len(text)):
        if (
            len(line[1].expandtabs(8)) <= indent
            and line[2] not in ")]{"
            and not _within(line.start(2), strings, starts)
        ):
            return line.start(2)
    return len(text)


# Test cases in a program: each runs on a database of its own, after what is done outside of all of them.

_CALLED = r"^[ \t]*(?:(?:await|return)[ \t]+)?(?:Deno\.|bench\.|t\.)?(?:it|test|specify|example|scenario)"
_RUBY_TEST = rf"{_CALLED}(?:[ \t(]+[\"'][^\n]*\bdo\b|[ \t]+do\b|[ \t]*\{{)|^[ \t]*def[ \t]+test_\w+"
_JAVA_TEST = r"^[ \t]*@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest)\b[^\n]*(?:\n[ \t]*@[^\n]*)*\n?[^\n]*\("
_HEADERS = {
    "python": r"^[ \t]*(?:async[ \t]+)?def[ \t]+test\w*[ \t]*\(",
    "ruby": _RUBY_TEST,
    "javascript": rf"{_CALLED}(?:\.\w+)*(?:\([^()\n]*\)|`[^`]*`)?(?:<[^<>\n]*>)?"
    r"\([ \t]*(?:[\"'`]|async\b|\(|function\b|\n)",
    "go": r"^func[ \t]+(?:\([^()\n]*\)[ \t]*)?(?:Test|Benchmark|Example|Fuzz)\w*[ \t]*\(",
    "elixir": r"^[ \t]*(?:test|property)[ \t]+\"[^\n]*\bdo\b|^[ \t]*test[ \t]+\"[^\n]*",
    "java": _JAVA_TEST,
    "csharp": r"^[ \t]*\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b[^\n]*\]\s*"
    r"(?:\[[^\n]*\]\s*)*[^\n]*\(",
    "php": rf"^[ \t]*(?:public[ \t]+)?(?:static[ \t]+)?function[ \t]+test\w*[ \t]*\(|{_CALLED}\(",
    "rust": r"^[ \t]*\#\[(?:\w+::)*test\b[^\n]*\]\s*(?:\#\[[^\n]*\]\s*)*(?:pub[ \t]+)?(?:async[ \t]+)?fn\b",
}


def cases(text: str, language: str, strings: Sequence[Literal]) -> tuple[tuple[int, int], ...]:
    """Return the ascending spans of the test cases of a program, those within others left out."""
    spans: list[tuple[int, int]] = []
    starts = [string.start for string in strings]
    for header in re.finditer(_HEADERS[language], text, re.MULTILINE):
        start = header.start()
        if (not spans or start >= spans[-1][1]) and not _within(start, strings, starts):
            spans.append((start, _block_end(text, start, header.end() - 1, strings, starts)))
    return tuple(spans)
