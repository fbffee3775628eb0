"""The layout of plain text."""

from __future__ import annotations

import pytest

from pubcheck.explain.render_text import Field, plain_lines


@pytest.mark.parametrize(
    ("label", "line"),
    [("note", "    note            text\n"), ("warning (assumed)", "    warning (assumed) text\n")],
)
def test_a_space_follows_every_label(label: str, line: str) -> None:
    assert list(plain_lines(Field(label, "text"))) == [line]


def test_lines_are_as_wide_as_asked_for() -> None:
    lines = list(plain_lines(Field("rows", "only rows for which this is true: region = 'eu'"), 50))
    assert [line.rstrip("\n") for line in lines] == [
        "    rows            only rows for which this is",
        "                    true: region = 'eu'",
    ]
