"""Exclusion constraints: no two rows for which all of their operators hold (execIndexing.c:
check_exclusion_or_unique_constraint)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pubcheck.postgres.catalog.rows import Constraint, Index

Keys = tuple[Any, ...]
KeysOf = Callable[[Any], "Keys | None"]
"""The keys of a row; None for a row that is not in the index."""
Test = Callable[[tuple[Keys, Keys]], Any]
"""An operator of the constraint between the keys of two rows."""


class Exclusion:
    """An exclusion constraint that rows are checked against."""

    __slots__ = ("_keys_of", "_tests", "constraint", "index", "name")

    def __init__(
        self, index: Index, name: str, constraint: Constraint | None, keys_of: KeysOf, tests: Sequence[Test]
    ) -> None:
        """``constraint`` is None if it is not deferrable."""
        self.index, self.name, self.constraint = index, name, constraint
        self._keys_of, self._tests = keys_of, tests

    @property
    def without_overlaps(self) -> bool:
        return self.index.unique

    def has_empty_range(self, row: Any) -> bool:
        """Return whether the last key is an empty range, which WITHOUT OVERLAPS does not allow."""
        keys = self._keys_of(row)
        last = None if keys is None else keys[-1]
        return last is not None and bool(getattr(last, "empty", last == ()))

    def conflicts(self, row: Any, others: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows that cannot be there together with another one. NULL conflicts with nothing."""
        keys = self._keys_of(row)
        if keys is None or None in keys:
            return
        for other in others:
            other_keys = self._keys_of(other)
            if other_keys is not None and all(test((other_keys, keys)) is True for test in self._tests):
                yield other
