"""Modules that are loaded when something of them is first asked for: start-up counts, and most files need few."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
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


def lazy_module(name: str) -> ModuleType:
    """Return a stand-in for a module, which is imported when something of it is asked for."""
    module = ModuleType(name)
    module.__dict__["__getattr__"] = lambda attribute: getattr(import_module(name), attribute)
    return module
