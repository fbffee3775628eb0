"""Pairs of consumers that cannot both read one publication, or one table: the data of `_contradictions.toml`."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec
from msgspec import Struct

from pubcheck.bundled_texts import read_text
from pubcheck.consumers import FOLDER

Condition = Literal[
    "always", "partitioned", "all tables", "row filter", "column list", "generated columns", "keyless", "root and leaf"
]
"""What the publication, or the table, must hold so that the two consumers contradict each other."""


class Side(Struct, frozen=True, forbid_unknown_fields=True):
    """What one of the two ``needs``, a clause without subject, and the claims that say so."""

    needs: str
    claims: tuple[str, ...]


class Contradiction(Struct, frozen=True, forbid_unknown_fields=True):
    """Two demands that cannot both be met.

    ``level`` says what the two cannot share. ``soft``: both work, and one of them loses something. ``against``: the
    second side is any publication with a column list, whoever reads it. ``solution`` is the shortest way to serve both;
    `{first}` and `{second}` in it are the names of the consumers.
    """

    id: str
    title: str
    level: Literal["publication", "table"]
    first: Side
    second: Side
    consequence: str
    solution: str
    when: Condition = "always"
    soft: bool = False
    against: Literal["consumers", "column lists"] = "consumers"


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    contradictions: tuple[Contradiction, ...]


@lru_cache(maxsize=1)
def contradictions() -> tuple[Contradiction, ...]:
    """Return all contradictions."""
    return msgspec.toml.decode(read_text("consumers", FOLDER, "_contradictions.toml"), type=_File).contradictions
