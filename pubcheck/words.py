"""Vocabularies that are written as lines of words, and sizes and estimates as people read them."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, in their order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Sizes and estimates of a server as people read them.

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """Return a number of bytes in the unit that a person would choose, with two digits at least."""
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{size:.0f} {unit}" if size >= 10 or unit == _UNITS[0] else f"{size:.1f} {unit}"


def count_text(number: float) -> str:
    """Return a number rounded to two digits, as estimates are."""
    if number < 10:
        return f"{number:.2g}"
    scale = 10 ** (len(str(int(number))) - 2)
    return f"{round(number / scale) * scale:,}"
