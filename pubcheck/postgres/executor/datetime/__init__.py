"""Dates, times and intervals (date.c, timestamp.c, datetime.c): days and microseconds since 2000-01-01.

Infinite dates and timestamps are infinite floats. Functions that depend on the session's TimeZone are not immutable: of
these, filters contain only age() of timestamptz.
"""

from __future__ import annotations

from pubcheck.postgres.executor.datetime import dates, fields, intervals, making, zones
from pubcheck.postgres.executor.functions import Function, Maker

_MODULES = (dates, intervals, fields, zones, making)
FUNCTIONS: dict[str, Function] = {
    name: function for module in _MODULES for name, function in getattr(module, "FUNCTIONS", {}).items()
}
MAKERS: dict[str, Maker] = {name: maker for module in _MODULES for name, maker in module.MAKERS.items()}
