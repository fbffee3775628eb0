"""No code reads pubcheck's own texts back: what it needs of a message or a help is a field of its own.

PostgreSQL's texts are another matter: libpg_query tells what a syntax error is by its message alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pubcheck"
TEXTS = {"message", "help", "detail", "hint", "title", "headline"}
SOME_TEXT = re.compile(rf"\.(?:{'|'.join(TEXTS)})\b")
SEARCHES = {"startswith", "endswith", "find", "index", "partition", "rpartition", "split", "removeprefix", "count"}
PATTERNS = {"match", "search", "fullmatch", "findall", "finditer", "split"}
EXCEPT = {
    "cli/man.py",
    "postgres/parse.py",
    "postgres/newer_grammar/statements.py",
    "postgres/input/reg_types.py",
    "postgres/plpgsql/compile_errors.py",
}
"""The modules that read messages of PostgreSQL's parsers, and the one that lays out the help of commands."""


def is_text(node: ast.expr) -> bool:
    """Return whether an expression is a text of a finding or an error, in whatever case or form."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    if isinstance(node, ast.BoolOp):
        return is_text(node.values[0])
    if isinstance(node, ast.JoinedStr):
        return any(is_text(part.value) for part in node.values if isinstance(part, ast.FormattedValue))
    return isinstance(node, ast.Attribute) and node.attr in TEXTS


def readings(source: str) -> Iterator[int]:
    """The lines that search in such a text, or match it with a pattern."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            if is_text(node.comparators[0]):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            patterned = name in PATTERNS and any(map(is_text, node.args))
            if patterned or (name in SEARCHES and is_text(node.func.value)):
                yield node.lineno


def test_readings_are_recognised() -> None:
    assert list(readings('"x" in a.message')) == [1]
    assert list(readings("(a.help or '').split('- ')")) == [1]
    assert list(readings("WORD.findall(f'{a.b} {a.message}'.lower())")) == [1]
    assert list(readings("a.message == b.message; a.name.split()")) == []


def test_no_module_reads_own_texts() -> None:
    read = set()
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text()
        if SOME_TEXT.search(source) and str(path.relative_to(PACKAGE)) not in EXCEPT:
            read |= {f"{path}:{line}" for line in readings(source)}
    assert read == set()
