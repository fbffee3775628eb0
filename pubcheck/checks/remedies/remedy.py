"""A remedy for a refused write: SQL that a person can run, and its cost."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Remedy(Struct, frozen=True):
    """``statements`` to run one after the other, after which a cause is gone and no other has come; ``cost``: at what
    price, as the end of a sentence. ``lists``: the columns that they add to a column list. ``ends``: all causes of the
    table, those of the publication, or this cause alone.
    """

    statements: tuple[str, ...]
    cost: str
    lists: tuple[str, ...] = ()
    ends: Literal["table", "publication", "cause"] = "table"


Keys = dict[tuple[int, tuple[str, ...]], bool]
"""Whether a primary key can consist of these columns, by the key's index and the columns' names.

All partitions ask this of their root, so the answer is kept. It holds for one state of the catalog.
"""
