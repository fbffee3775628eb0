"""Regular expressions of JavaScript beside strings: what they hold is no string."""

from __future__ import annotations

from pubcheck.extract import VIEWS


def test_a_class_without_end_hides_no_expression_and_no_string_after_it() -> None:
    text = "x = /[ + /it's/ + q(\"CREATE PUBLICATION p FOR ALL TABLES\");\ny = /[']/;\nz = '\";';\n"
    assert "CREATE PUBLICATION p FOR ALL TABLES" in VIEWS["javascript"](text).text
