"""Names as SQL writes them."""

from __future__ import annotations

import re

RESERVED = (
    " all analyse analyze and any array as asc both case cast check collate column constraint create default desc "
    "distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral "
    "leading limit not null offset on only or order placing primary references returning select session_user some "
    "symmetric table then to trailing true union unique user using variadic when where window with "
)
"""The reserved words that could be somebody's name for a table or a column (src/include/parser/kwlist.h)."""


def identifier(name: str) -> str:
    """A name as it must be written in SQL: quoted where it needs quotes."""
    if re.fullmatch(r"[a-z_][a-z0-9_$]*", name) and f" {name} " not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """``schema.table`` as SQL writes it."""
    return ".".join(identifier(part) for part in name.split(".", 1))
