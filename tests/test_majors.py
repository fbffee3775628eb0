"""A major is a row of ``pubcheck.postgres.versions``: no other module compares its number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.builtins.objects import objects, zones
from pubcheck.postgres.versions import BY_NUMBER, DEFAULT_MAJOR, MAJORS, Major

PACKAGE = Path(__file__).parent.parent / "pubcheck"
TABLE = PACKAGE / "postgres" / "versions.py"
FEATURES = [name for name in Major.__struct_fields__ if name != "number"]
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def comparisons(source: str) -> Iterator[int]:
    """The lines that compare a major's number: in order with anything, or for equality with a literal."""
    tree = ast.parse(source)
    numbers = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_major(node.value, frozenset())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        operands = (node.left, *node.comparators)
        if not any(_is_major(operand, numbers) for operand in operands):
            continue
        literal = any(isinstance(part, ast.Constant | ast.Tuple | ast.Set) for part in operands)
        none = any(isinstance(part, ast.Constant) and part.value is None for part in operands)
        if any(isinstance(op, _ORDER) or (isinstance(op, _EQUAL) and literal and not none) for op in node.ops):
            yield node.lineno


def _is_major(node: ast.expr, names: set[str] | frozenset[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr.endswith("major") or (node.attr == "number" and _is_major(node.value, frozenset()))
    return isinstance(node, ast.Name) and (node.id.endswith("major") or node.id in names)


def test_the_check_finds_comparisons() -> None:
    found = "if catalog.major.number >= 17: pass\nnumber = p.major.number\nx = number < 16\ny = 15 == self._major\n"
    assert list(comparisons(found + "z = major in (15, 16)\n")) == [1, 3, 4, 5]
    assert not list(comparisons("if p.major.set_expression: pass\nx = major in majors\ny = major == number\n"))


def test_no_module_compares_the_number_of_a_major() -> None:
    compared = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != TABLE
        for line in comparisons(path.read_text(encoding="utf-8"))
    ]
    assert compared == [], "give the difference a name in pubcheck/postgres/versions.py"


def test_every_feature_differs_between_majors_and_is_asked_for() -> None:
    asked = {
        word
        for path in PACKAGE.rglob("*.py")
        if path != TABLE
        for word in re.findall(r"\.(\w+)\b", path.read_text(encoding="utf-8"))
    }
    assert [name for name in FEATURES if len({getattr(major, name) for major in BY_NUMBER.values()}) < 2] == []
    assert [name for name in FEATURES if name not in asked] == []
    assert [name for name in FEATURES if f"``{name}``" not in str(Major.__doc__)] == []


def test_every_major_has_a_snapshot() -> None:
    for major in MAJORS:
        assert builtins(major).type("pg_catalog", "int4") == 23
        assert objects(major).type(23) is not None
        assert "Europe/Berlin" in zones(major).names
    assert DEFAULT_MAJOR in MAJORS
