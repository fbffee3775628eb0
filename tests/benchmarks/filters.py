"""Row filters as people write them, and what judging one costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.source import Source

TABLE = (
    "CREATE TABLE t{} (id bigint PRIMARY KEY, region varchar(20) NOT NULL, status text, amount numeric(10, 2), "
    "created timestamptz, day date, tags text[], data jsonb, deleted boolean);\n"
)
FILTERS = (
    "id > 1000",
    "region = 'EU'",
    "status IN ('new', 'paid')",
    "amount > 10.5 AND NOT deleted",
    "created > '2024-01-01 00:00:00+00'",
    "day BETWEEN '2024-01-01' AND '2024-12-31'",
    "lower(region) = 'eu'",
    "data ->> 'kind' = 'order'",
    "'urgent' = ANY (tags)",
    "mod(id, 4) = 1",
    "coalesce(status, 'none') <> 'none'",
    "CASE WHEN amount > 0 THEN deleted ELSE false END",
    "region LIKE 'E%' OR region IS NULL",
    "(created AT TIME ZONE 'UTC')::date = '2024-01-01'",
    "region IN ('EU', 'US')",
    "created > now()",
    "id::text = '5'",
    "extract(year FROM day) = 2024",
)


def tables_and_publications(number: int, *, filtered: bool) -> str:
    """A schema of so many tables, each published by a publication of its own."""
    tables = "".join(TABLE.format(n) for n in range(number))
    where = [f" WHERE ({FILTERS[n % len(FILTERS)]})" if filtered else "" for n in range(number)]
    published = "WITH (publish = 'insert')"
    return tables + "".join(f"CREATE PUBLICATION p{n} FOR TABLE t{n}{where[n]} {published};\n" for n in range(number))


def milliseconds_per_filter(filters: Sequence[str] = FILTERS, repeats: int = 200) -> list[float]:
    """For each filter, what a CREATE PUBLICATION with it costs more than one without, warm, on one major."""
    linter = Linter(Config(postgres=(DEFAULT_MAJOR,)))

    def seconds(where: str) -> float:
        tables = "".join(TABLE.format(n) for n in range(repeats))
        insert = "WITH (publish = 'insert')"
        made = "".join(f"CREATE PUBLICATION p{n} FOR TABLE t{n}{where} {insert};\n" for n in range(repeats))
        unit = Unit(sources=(Source("filters.sql", tables + made),))
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            linter.lint(unit)
            best = min(best, time.process_time() - start)
        return best / repeats

    bare = seconds("")
    return [(seconds(f" WHERE ({text})") - bare) * 1000 for text in filters]


def median_milliseconds() -> float:
    return statistics.median(milliseconds_per_filter())
