"""The columns of a relation, and the look-up of their names."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

MANY = 32
"""Columns from which on an index of their names is worth its memory."""


class NotNull(Struct, frozen=True, gc=False):
    """A NOT NULL constraint of 18; before, NOT NULL is a flag only. ``name`` is empty until it is chosen."""

    name: str = ""
    inherited: int = 0
    local: bool = True
    no_inherit: bool = False
    validated: bool = True


class Column(Struct, frozen=True, gc=False):
    """pg_attribute. ``generated`` is '' | 's' | 'v', ``identity`` '' | 'a' | 'd'; a dropped column keeps its number.

    ``type`` is a pg_type oid, 0 if it is unknown, ``typmod`` atttypmod; ``expression`` are the columns a
    generated column reads, ``tree`` the parse tree of a virtual one's expression.
    """

    number: int
    name: str
    type: int = 0
    not_null: bool = False
    identity: str = ""
    generated: str = ""
    has_default: bool = False
    inherited: int = 0
    local: bool = True
    dropped: bool = False
    collation: int = 0
    expression: tuple[str, ...] = ()
    constraint: NotNull | None = None
    """The NOT NULL constraint of a column that is ``not_null``, where the major has such constraints."""
    typmod: int = -1
    tree: object = None
    default_type: int = 0
    """The type that the default has by itself, 0 where that does not show."""
    storage: str = ""
    """attstorage in words (plain, external, extended, main) where the unit says it; else it is the type's."""


def column_named(columns: tuple[Column, ...], name: str) -> Column | None:
    """Return the live column of that name."""
    return columns.named(name) if isinstance(columns, _Indexed) else _named(columns, name)


def with_changed(columns: tuple[Column, ...], changed: Sequence[Column]) -> tuple[Column, ...]:
    """Return columns with others at the places of their numbers; new ones come at the end."""
    if len(columns) < MANY:
        return _with_changed(columns, changed)
    return (columns if isinstance(columns, _Indexed) else _Indexed(columns)).with_changed(changed)


def _with_changed(columns: tuple[Column, ...], changed: Sequence[Column]) -> tuple[Column, ...]:
    if len(changed) == 1 and changed[0].number > len(columns):
        return columns + (changed[0],)  # noqa: RUF005 -- one copy where unpacking makes two
    copy = list(columns)
    for column in changed:
        copy[column.number - 1 : column.number] = [column]
    return tuple(copy)


def _named(columns: tuple[Column, ...], name: str) -> Column | None:
    for column in columns:
        if column.name == name and not column.dropped:
            return column
    return None


class _Indexed(tuple[Column, ...]):
    """Columns with an index of their names.

    The columns after a change share the index. So it holds the names of all versions, and a place in it may be that of
    another version.
    """

    _places: dict[str, int] | None = None

    def named(self, name: str) -> Column | None:
        """Return the live column of that name."""
        if self._places is None:
            self._places = {column.name: place for place, column in enumerate(self) if not column.dropped}
        place = self._places.get(name)
        if place is None:
            return None
        column = self[place] if place < len(self) else None
        if column is not None and column.name == name and not column.dropped:
            return column
        return _named(self, name)

    def with_changed(self, changed: Sequence[Column]) -> _Indexed:
        """Return these columns with others at the places of their numbers; new ones come at the end."""
        new = _Indexed(_with_changed(self, changed))
        if self._places is not None:
            self._places.update((column.name, column.number - 1) for column in changed)
            new._places = self._places
        return new
