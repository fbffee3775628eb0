"""The labels of an enum share their storage and stay as they are."""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import EnumLabels


def test_labels_do_not_see_what_is_appended_to_them() -> None:
    short = EnumLabels(("a", "b"))
    longer = short.appended("c")
    assert (list(short), list(longer)) == (["a", "b"], ["a", "b", "c"])
    assert "c" not in short
    assert "c" in longer
    assert (len(short), len(longer), longer.index("c")) == (2, 3, 2)


def test_labels_that_were_appended_twice_differ() -> None:
    """As after a transaction that was rolled back."""
    short = EnumLabels("a")
    first, second = short.appended("b"), short.appended("c")
    assert (list(first), list(second)) == (["a", "b"], ["a", "c"])
    assert "b" not in second
    assert first != second
    assert first == EnumLabels(("a", "b"))
    assert hash(first) == hash(EnumLabels(("a", "b")))
