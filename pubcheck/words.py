"""Vocabularies: names that are written as lines of words."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, in their order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())
