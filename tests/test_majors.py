"""A major is a row of ``pubcheck.postgres.versions``, and a snapshot. tests/test_layers.py finds comparisons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.builtins.objects import objects, zones
from pubcheck.postgres.versions import BY_NUMBER, DEFAULT_MAJOR, MAJORS, Major, span

PACKAGE = Path(__file__).parent.parent / "pubcheck"
TABLE = PACKAGE / "postgres" / "versions.py"
FEATURES = [name for name in Major.__struct_fields__ if name != "number"]


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


@pytest.mark.parametrize(
    ("text", "majors"),
    [("", MAJORS), ("15", (15,)), ("15-17", (15, 16, 17)), ("18-", MAJORS[3:]), ("15, 17-18", (15, 17, 18))],
)
def test_a_span_names_majors(text: str, majors: tuple[int, ...]) -> None:
    assert span(text) == majors
