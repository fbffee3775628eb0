"""The environment of an evaluation, and the errors of functions. ``pubcheck.postgres.datum`` has the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.budget import Budget
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input.dispatch import InputContext
from pubcheck.postgres.output import OutputContext


class Context:
    """The environment of an evaluation, besides the row.

    ``inputs`` is the context of reading literals: the major, the system caches, the settings. ``defaults``: a setting
    that is not set there has the server's default; otherwise what depends on it is Unknowable. ``locale`` is the
    database's collation and character classes ("C", "C.UTF-8", "en_US.UTF-8"...), None if it is unknown: results that
    depend on it are Unknowable then. ``budget`` is for all rows together.
    """

    __slots__ = ("_output", "budget", "cache", "defaults", "inputs", "locale", "major")

    def __init__(
        self, inputs: InputContext, locale: str | None = None, budget: Budget | None = None, *, defaults: bool = False
    ) -> None:
        self.inputs = inputs
        self.cache = inputs.cache
        self.major = inputs.major
        self.locale = locale
        self.budget = budget or Budget()
        self.defaults = defaults
        self._output: OutputContext | None = None

    @property
    def output(self) -> OutputContext:
        """The context of writing values as text."""
        if self._output is None:
            self._output = OutputContext(self.major.number, self.cache, self._setting)
        return self._output

    def _setting(self, name: str) -> Any:
        value = self.inputs.setting(name)
        if value is None and not self.defaults and name != "search_path":
            raise Unknowable(f"the setting {name}")
        return value


def evaluation_error(sqlstate: str, message: str, detail: str | None = None, hint: str | None = None) -> ServerError:
    """An ERROR that is raised for a row, while changes are decoded."""
    return ServerError(sqlstate, message, key="row-error", detail=detail, hint=hint)


def out_of_range(type_name: str, sqlstate: str = "22003") -> ServerError:
    return evaluation_error(sqlstate, f"{type_name} out of range")


def division_by_zero() -> ServerError:
    return evaluation_error("22012", "division by zero")


def substring(value: Any, start: int, length: int | None = None) -> Any:
    """text_substring and bytea_substring: ``start`` counts from 1 and may lie before the beginning."""
    if length is None:
        return value[max(start, 1) - 1 :]
    if length < 0:
        raise evaluation_error("22011", "negative substring length not allowed")
    return value[max(start, 1) - 1 : max(start + length, 1) - 1]


def overlay(value: Any, by: Any, start: int, length: int | None = None) -> Any:
    """text_overlay and bytea_overlay."""
    if start <= 0:
        raise evaluation_error("22011", "negative substring length not allowed")
    after = start + (len(by) if length is None else length)
    if not -(1 << 31) <= after < 1 << 31:
        raise evaluation_error("22003", "integer out of range")
    return value[: start - 1] + by + value[max(after, 1) - 1 :]


Order = Callable[[Any, Any], int]
