"""Names and texts as SQL writes them."""

from __future__ import annotations

import re

from pubcheck.postgres.keywords import RESERVED


def identifier(name: str) -> str:
    """A name as it must be written in SQL: quoted where it needs quotes."""
    if re.fullmatch(r"[a-z_][a-z0-9_$]*", name) and f" {name} " not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """``schema.table`` as SQL writes it."""
    return ".".join(identifier(part) for part in name.split(".", 1))


def quote_literal(text: str) -> str:
    """A text as a string of SQL, where backslashes stand for themselves (standard_conforming_strings)."""
    return "'" + text.replace("'", "''") + "'"
