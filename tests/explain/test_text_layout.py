"""The layout of plain text."""

from __future__ import annotations

import pytest

from pubcheck.explain.text_layout import Field, plain_lines


@pytest.mark.parametrize(
    ("label", "line"),
    [("note", "    note            text\n"), ("warning (assumed)", "    warning (assumed) text\n")],
)
def test_a_space_follows_every_label(label: str, line: str) -> None:
    assert list(plain_lines(Field(label, "text"))) == [line]
