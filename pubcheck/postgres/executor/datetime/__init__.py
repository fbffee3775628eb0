"""Dates, times and intervals (date.c, timestamp.c, datetime.c): days and microseconds since 2000-01-01.

Infinite dates and timestamps are infinite floats. Functions that depend on the session's TimeZone are not immutable, so
that no filter contains them, except for age() of timestamptz.
"""

from __future__ import annotations

from pubcheck.postgres.executor.datetime import dates, fields, intervals, zones
from pubcheck.postgres.executor.function_lookup import Function, Maker

FUNCTIONS: dict[str, Function] = {**dates.FUNCTIONS, **intervals.FUNCTIONS, **zones.FUNCTIONS}
MAKERS: dict[str, Maker] = {**dates.MAKERS, **intervals.MAKERS, **fields.MAKERS, **zones.MAKERS}
