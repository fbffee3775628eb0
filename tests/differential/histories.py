"""Histories that random ones of 20 to 60 statements were reduced to, and others of their kinds.

Each showed an answer of pubcheck's that was not the server's. A statement is a line of ``histories.sql``.
"""

from __future__ import annotations

from pathlib import Path


def _read(text: str) -> dict[str, tuple[str, ...]]:
    histories = {}
    for block in text.strip().split("\n\n"):
        title, *lines = block.splitlines()
        histories[title.removeprefix("-- ")] = tuple(line.removesuffix(";") for line in lines)
    return histories


SCRIPTS = _read(Path(__file__).with_suffix(".sql").read_text())
