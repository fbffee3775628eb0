"""Columns are found by name through an index that all versions of a table share."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from pubcheck.postgres.catalog.columns import MANY, Column, column_named, with_changed

_NAMES = [f"c{number}" for number in range(2 * MANY)]


def _scanned(columns: tuple[Column, ...], name: str) -> Column | None:
    return next((column for column in columns if column.name == name and not column.dropped), None)


@pytest.mark.parametrize("seed", range(20))
def test_every_version_finds_its_own_columns(seed: int) -> None:
    """Adding, renaming and dropping columns, also from an earlier version, as after a ROLLBACK."""
    random = Random(seed)
    versions: list[tuple[Column, ...]] = [tuple(Column(number, _NAMES[number]) for number in range(1, MANY + 1))]
    for _ in range(60):
        columns = versions[-1] if random.random() < 0.8 else random.choice(versions)
        free = [name for name in _NAMES if _scanned(columns, name) is None]
        live = [column for column in columns if not column.dropped]
        change = random.choice(("add", "rename", "drop", "other"))
        if change == "add":
            changed = Column(len(columns) + 1, random.choice(free))
        elif change == "rename":
            changed = replace(random.choice(live), name=random.choice(free))
        elif change == "drop":
            dropped = random.choice(live)
            changed = replace(dropped, name=f"........pg.dropped.{dropped.number}........", dropped=True)
        else:
            changed = replace(random.choice(live), not_null=True)
        versions.append(with_changed(columns, [changed]))
        assert versions[-1][changed.number - 1] is changed
        for version in random.sample(versions, min(4, len(versions))):
            assert all(column_named(version, name) is _scanned(version, name) for name in _NAMES)


def test_columns_with_an_index_are_equal_to_those_without() -> None:
    columns = tuple(Column(number, f"c{number}") for number in range(1, MANY + 2))
    assert with_changed(columns[:-1], [columns[-1]]) == columns
