"""The definition of an index."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.parse import Node


class IndexSpec(Struct, frozen=True):
    """The definition of an index: ``elements`` and ``included`` are IndexElem bodies, ``kind`` the constraint's, if
    any.
    """

    elements: tuple[Node, ...]
    included: tuple[Node, ...] = ()
    name: str = ""
    unique: bool = False
    primary: bool = False
    exclusion: bool = False
    without_overlaps: bool = False
    deferrable: bool = False
    nulls_not_distinct: bool = False
    where: Node | None = None
    method: str = "btree"
    kind: str = ""
    only: bool = False
    parent: int = 0
    parent_constraint: int = 0
    copied: bool = False
    """Whether it is that of an existing index, so that its expressions are known to be accepted."""
    always: bool | None = False
    """``Index.always`` of the copied index."""
