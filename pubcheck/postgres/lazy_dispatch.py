"""Functions whose modules are loaded when the first of them is asked for: start-up counts, and most files need few."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TypeVar

K = TypeVar("K")
F = TypeVar("F")


class Deferred(dict[K, F]):
    """The functions of a table of ``module:function`` below a package, by its keys.

    Ask with ``[key]``; raises KeyError for a key that the table does not have. ``loaded`` are there at once.
    """

    def __init__(self, package: str, table: Mapping[K, str], loaded: Mapping[K, F] | None = None) -> None:
        super().__init__(loaded or {})
        self._package, self._table = package, table

    def __missing__(self, key: K) -> F:
        module, function = self._table[key].split(":")
        handler: F = getattr(import_module(f"{self._package}.{module}"), function)
        self[key] = handler
        return handler
