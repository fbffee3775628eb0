"""Dates, times and intervals (date.c, timestamp.c, datetime.c): days and microseconds since 2000-01-01.

Infinite dates and timestamps are infinite floats. What rests on the session's TimeZone is not immutable, and so in no
filter, except for age() of timestamptz.
"""

from __future__ import annotations

from pubcheck.postgres.executor.datetime import dates, fields, intervals, zones
from pubcheck.postgres.executor.function_lookup import Function, Maker

FUNCTIONS: dict[str, Function] = {**dates.FUNCTIONS, **intervals.FUNCTIONS, **zones.FUNCTIONS}
MAKERS: dict[str, Maker] = {**dates.MAKERS, **intervals.MAKERS, **fields.MAKERS, **zones.MAKERS}
