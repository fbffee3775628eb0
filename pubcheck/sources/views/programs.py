"""Migrations written in a programming language: whether a program is one, and which part of it undoes the rest."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.sources.views.literals import Literal


class _Habit(Struct, frozen=True):
    """``marks``: what only a migration holds, of one of them every part. ``undoing``: the line that begins what undoes
    it. ``second``: what stands before the first of two strings of which the other undoes it. ``named``: what stands
    before a string that does."""

    marks: tuple[tuple[str, ...], ...]
    undoing: str
    second: str = ""
    named: str = ""


_FUNCTION = r"(?:async\s+)?(?:function\b|\(|\w+\s*=>)"
"""What a function of JavaScript begins with."""


def _entries(name: str) -> str:
    """A function of that name in an object or a class."""
    return rf"^[ \t]*(?:public\s+)?(?:(?:async\s+)?{name}\s*\(|{name}\s*:\s*{_FUNCTION})"


def _exports(name: str) -> str:
    """A function of that name, exported by itself."""
    return (
        rf"^[ \t]*(?:(?:module\.)?exports\.{name}\s*=\s*(?:{_FUNCTION}|false\b)"
        rf"|export\s+const\s+{name}\b[^=\n]*=\s*(?:{_FUNCTION}|false\b)|export\s+(?:async\s+)?function\s+{name}\b)"
    )


_HABITS = {
    "python": _Habit(
        (
            (r"^[ \t]*+(?:from|import)\s+alembic\b", r"^def\s+upgrade\s*\("),
            (r"^revision\b[^=\n]*=", r"^down_revision\b[^=\n]*=", r"^def\s+upgrade\s*\("),
            (r"^[ \t]*+from\s+django\.db\s+import\b.*\bmigrations\b", r"\bmigrations\.\w+\("),
            (r"^[ \t]*+from\s+yoyo\s+import\b", r"(?<![\w.])step\("),
        ),
        r"^[ \t]*(?:async[ \t]+)?def[ \t]+(?:downgrade|reverse|backwards?|rollback|undo)\w*[ \t]*\(",
        r"(?:\bRunSQL|(?<![\w.])step)\(\s*$",
        r"\breverse_sql\s*=\s*[\[(]*\s*$",
    ),
    "ruby": _Habit(
        ((r"<\s*ActiveRecord::Migration\b",), (r"\bSequel\.migration\b",), (r"\bROM::SQL\.migration\b",)),
        r"^[ \t]*(?:def[ \t]+(?:self\.)?down\b|(?:\w+\.)?down[ \t]+(?:do|\{))",
    ),
    "javascript": _Habit(
        (
            (_exports("up"), _exports("down")),
            (r"\bimplements\s+MigrationInterface\b|\bextends\s+(?:Migration|BaseSchema)\b", _entries("up")),
            (r"^[ \t]*+(?:module\.exports\s*=|export\s+default)\s*\{", _entries("up"), _entries("down")),
        ),
        r"^[ \t]*(?:(?:module\.)?exports\.down\s*=|export\s+(?:const|async\s+function|function)\s+down\b"
        r"|(?:public\s+)?(?:async\s+)?down\s*[(:=]|(?:async\s+)?function\s+down\b)",
    ),
    "go": _Habit(
        (
            (r"\bgoose\.Add(?:Named)?Migration",),
            (r"\bmigrations?\.(?:Register|MustRegister)",),
            (r"\bgormigrate\.Migration\b",),
        ),
        r"^[ \t]*(?:func\s+[dD]own\w*\s*\(|Rollback:\s*func|func\s+\([^)\n]*\)\s+Down\w*\s*\()",
    ),
    "elixir": _Habit(
        ((r"\buse\s+Ecto\.Migration\b",),), r"^[ \t]*def\s+down\b", r"\bexecute[ \t(]\s*$", r"(?<!\w)down:\s*$"
    ),
    "java": _Habit(
        (
            (r"\bextends\s+BaseJavaMigration\b|:\s*BaseJavaMigration\b", r"\bmigrate\s*\("),
            (r"\bimplements\b[^{]{0,200}?\b(?:JavaMigration|CustomSqlChange)\b",),
        ),
        r"^[ \t]*(?:public\s+)?\w+\s+(?:down|undo|rollback)\(",
    ),
    "csharp": _Habit(
        ((r":\s*Migration\b", r"\boverride\s+void\s+Up\s*\("),),
        r"^[ \t]*(?:public|protected)\s+override\s+void\s+Down\s*\(",
    ),
    "php": _Habit(
        ((r"\bextends\s+(?:\w*\\)*(?:Abstract)?Migration\b", r"\bfunction\s+(?:up|safeUp|change)\s*\("),),
        r"^[ \t]*(?:public\s+)?(?:static\s+)?function\s+(?:down|safeDown)\s*\(",
    ),
    "rust": _Habit(
        ((r"\bimpl\s+(?:\w+::)*MigrationTrait\s+for\b|\bimpl\s+(?:\w+::)*Migration\s+for\b",),),
        r"^[ \t]*(?:pub\s+)?(?:async\s+)?fn\s+(?:down|revert|rollback)\b",
    ),
}


def undone(text: str, language: str, found: Sequence[Literal]) -> tuple[bool, list[tuple[int, int]]]:
    """Whether a program is a migration, and the ascending spans of what undoes it."""
    habit = _HABITS[language]
    if not any(all(re.search(part, text, re.MULTILINE) for part in mark) for mark in habit.marks):
        return False, []
    spans: list[tuple[int, int]] = []
    starts = [each.start for each in found]
    for header in re.finditer(habit.undoing, text, re.MULTILINE):
        if (not spans or header.start() >= spans[-1][1]) and not _within(header.start(), found, starts):
            spans.append((header.start(), _block_end(text, header.start(), header.end(), found, starts)))
    for number, literal in enumerate(found):
        before = text[max(0, literal.start - 80) : literal.start]
        if habit.named and re.search(habit.named, before):
            spans.append((literal.start, literal.end))
        elif habit.second and number and re.fullmatch(r"\s*,\s*", text[found[number - 1].end : literal.start]):
            first = found[number - 1]
            if re.search(habit.second, text[max(0, first.start - 80) : first.start]):
                spans.append((literal.start, literal.end))
    return True, _ascending(spans)


def _ascending(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, none within another one."""
    apart: list[tuple[int, int]] = []
    for span in sorted(spans):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


def _within(at: int, found: Sequence[Literal], starts: Sequence[int]) -> bool:
    number = bisect_right(starts, at) - 1
    return number >= 0 and found[number].start < at + found[number].heredoc and at < found[number].end


_LINE = re.compile(r"^([ \t]*)(\S)", re.MULTILINE)


def _block_end(text: str, start: int, end: int, found: Sequence[Literal], starts: Sequence[int]) -> int:
    """The end of the block whose first line begins at ``start``: the next line that is not further in, a closing
    bracket of the first line's arguments and the lines of strings apart."""
    header = _LINE.match(text, text.rfind("\n", 0, start + 1) + 1)
    indent = len(header[1].expandtabs(8)) if header is not None else 0
    for line in _LINE.finditer(text, text.find("\n", end) + 1 or len(text)):
        if len(line[1].expandtabs(8)) <= indent and line[2] not in ")]{" and not _within(line.start(2), found, starts):
            return line.start(2)
    return len(text)
