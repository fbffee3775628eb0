"""Recognise scripts that are written for another database: by its syntax, and by the share of refused statements.

Syntax that only other databases have proves nothing alone, because a comment or a string may contain it. It counts if
the grammar refuses a good part of the statements.
"""

from __future__ import annotations

import re

from pubcheck.lexing.items import Statement
from pubcheck.lexing.placeholders import filled, placeholder_names
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.source import Source

LOOKED_AT = 1 << 18
"""Characters of a script that are looked at."""

_MARKS = {
    "MySQL or MariaDB": (
        r"^[ \t]*(?ai:delimiter)[ \t]+\S{1,4}[ \t]*$",
        r"(?ai:\bengine\s*=\s*['\"]?(?:innodb|myisam|memory|aria|ndb\w*|csv|archive)\b)",
        r"(?ai:\bauto_increment\b)",
        r"`[^`\n]{1,64}`",
        r"^/\*![0-9]{5}",
        r"'\w+'@'[^'\n]*'|(?ai:\bidentified\s+(?:by|with)\s+['\"])",
        r"(?ai:\b(?:tiny|small|medium|big)?int\s*\(\s*\d+\s*\)|\bunsigned\b)",
    ),
    "SQL Server": (
        r"^[ \t]*(?ai:go)[ \t]*;?[ \t\r]*$",
        r"(?ai:\bnvarchar\b)",
        r"(?ai:\bidentity\s*\(\s*-?\d+\s*,\s*-?\d+\s*\))",
        r"\[\w+\]\s*\.\s*\[\w+\]",
        r"(?ai:\bset\s+(?:quoted_identifier|ansi_nulls|ansi_padding|nocount|xact_abort|identity_insert)\b)",
    ),
    "Oracle": (
        r"^/[ \t\r]*$",
        r"(?ai:\bn?varchar2\b)",
        r"(?ai:\bnumber\s*\(\s*\d)",
        r"(?ai:\b(?:dbms|utl)_\w+\.)",
        r"(?ai:\bfrom\s+dual\b|\bsysdate\b|\balter\s+session\s+set\b|\bcreate\s+or\s+replace\s+package\b)",
        r"(?ai:\bidentified\s+by\s+\w|\bdatafile\s+'|\bquota\s+unlimited\b)",
        r"^[ \t]*(?ai:prompt|spool|rem|whenever\s+sqlerror|set\s+(?:define|serveroutput|echo|feedback))\b",
    ),
    "SQLite": (
        r"(?ai:\bautoincrement\b)",
        r"^[ \t]*(?ai:pragma)\s+\w+",
        r"(?ai:\bwithout\s+rowid\b)",
        r"^[ \t]*\.(?ai:mode|headers|read|import|tables)\b",
        r"(?ai:\bcreate\s+virtual\s+table\b)",
    ),
    "a data warehouse": (
        r"(?ai:\b(?:distkey|sortkey|diststyle)\b)",
        r"(?ai:\b(?:struct|array|map)\s*<)",
        r"(?ai:\bcreate\s+(?:or\s+replace\s+)?(?:transient\s+table|stage|warehouse|file\s+format|pipe|dynamic\s+table)\b)",
        r"(?ai:\b(?:tblproperties|stored\s+as|using\s+delta|row\s+format)\b)",
        r"(?ai:\bengine\s*=\s*\w*mergetree\b)",
        r"(?ai:\bcluster\s+by\b|\bpartition\s+by\s+date\s*\(|\boptions\s*\(\s*\w+\s*=)",
    ),
    "a stream processor": (
        r"(?ai:\bcreate\s+(?:or\s+replace\s+)?(?:stream|sink|source|connection|secret)\b)",
        r"(?ai:\bwatermark\s+for\b)",
        r"(?ai:'connector'\s*=|\bconnector\s*=\s*')",
        r"(?ai:\bemit\s+changes\b)",
        r"(?ai:\bkafka_topic\b)",
    ),
    "DB2": (
        r"^--#(?ai:set\s+terminator)",
        r"^@[ \t\r]*$",
        r"(?ai:\borganize\s+by\b|\bruntime\s+compression\b|\bcall\s+sysproc\.)",
    ),
}


_COMMENT = re.compile(r"--(?!\#)[^\n]*+|/\*(?!!)[^*]*+(?:\*(?!/)[^*]*+)*+\*/")


def dialect(text: str) -> tuple[str, int] | None:
    """The database whose marks a script holds most kinds of, and where one is; None if there is none."""
    best: tuple[int, str, int] | None = None
    # Remove the comments of all databases, except those that another database reads as something else.
    shown = _COMMENT.sub(lambda occurrences: " " * len(occurrences[0]), text[:LOOKED_AT])
    for name, marks in _MARKS.items():
        occurrences = [
            match.start() for match in (re.search(mark, shown, re.MULTILINE) for mark in marks) if match is not None
        ]
        if occurrences and (best is None or len(occurrences) > best[0]):
            best = len(occurrences), name, min(occurrences)
    return best[1:] if best is not None else None


_TRIED = 60
"""Statements that are tried to see how many of them the grammar refuses."""
_SHARE = 4
"""If a script has the syntax of another database, one refused statement in four is enough. If it has none, three in
four must be refused."""
_FEW = 4
"""Statements that must be refused where there are no marks."""


def foreign(source: Source) -> tuple[str, int] | None:
    """The database that a source is written for, "" if it cannot be known, and where that shows; None where it may be
    PostgreSQL.

    A statement about publications that PostgreSQL can read speaks for PostgreSQL whatever else is there.
    """
    dialect_place = dialect(source.text)
    tried = refused = 0
    first = 0
    speaks = "publication" in source.text.lower()
    splitter = Splitter(source)
    for item in splitter:
        if not isinstance(item, Statement) or item.keyword in ("insert", "select", "update", "delete", "copy"):
            continue
        if dialect_place is None and (item.variables or placeholder_names(item)):
            continue  # with its values it may be anything
        about = speaks and "publication" in item.text[:2000].lower()
        if tried >= _TRIED and not about:
            if not speaks:
                break
            continue
        tried += 1
        try:
            parse(item.sql)
        except TooDeep:
            continue
        except SyntaxRefused:
            if not _may_be_filled(item):
                first = item.start if not refused else first
                refused += 1
                splitter.recover(item)
                continue
        if about and item.keyword in ("create", "alter", "drop"):
            return None
    if dialect_place is not None:
        return dialect_place if refused and refused * _SHARE >= tried else None
    mostly = refused >= _FEW and refused * _SHARE >= tried * (_SHARE - 1)
    return ("", first) if mostly else None


def _may_be_filled(item: Statement) -> bool:
    """Return whether the grammar takes a statement with something in the place of its placeholders."""
    for text in filled(item):
        try:
            parse(text)
        except (SyntaxRefused, TooDeep):
            continue
        return True
    return False
