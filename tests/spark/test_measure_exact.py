"""A filter that is run in Spark gives, for every row, what the server gives: true, false or NULL."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.measure.spark_sql import SparkFilter, spark_filter
from pubcheck.measure.spark_types import NotExact, SparkType
from pubcheck.postgres.catalog.rows import Filter
from pubcheck.postgres.executor import Context
from pubcheck.spark.measure import EXACT, Data, read, typed
from pubcheck.spark.session import settings
from tests.differential.evaluation.filters import make_filter
from tests.differential.evaluation.rows import COLUMNS, TABLE, make_row
from tests.differential.evaluation.run import Evaluator
from tests.support.servers import MAJORS, Server, Servers

pytestmark = [pytest.mark.server, pytest.mark.spark]

SEED, ROWS, RANDOM_FILTERS = 7, 400, 4000

FILTERS = (
    *("a > 5", "a >= -1 AND a <= 100", "a BETWEEN 2 AND 42", "a = b", "a <> s", "s < l", "l > 2147483647", "l = a"),
    *("a IN (1, 2, NULL)", "a NOT IN (1, 2)", "a NOT IN (1, NULL)", "a IN (s, b, 3)", "a = ANY ('{1,2,NULL}')"),
    *("a <> ALL ('{1,2}')", "a < ANY ('{2,5}')", "a > ALL ('{2,NULL}')", "a = ANY ('{}')", "a <> ALL ('{}')"),
    *("a % 4 = 1", "a % -3 = -1", "mod(l, 10) = 7", "a / 10 = 4", "l / -7 > 100", "s % 2 = 0", "s / 3 = 1::smallint"),
    *("a > 1.5", "a = 2.0", "l < 12345678901.5", "m > 1.5", "m = 99.99", "m IN (0.5, 99.990, 7)", "m = a", "m > -0.01"),
    *("m < 1e20", "m BETWEEN 0 AND 100.00", "f > 1.5", "f = 'NaN'", "f < 'Infinity'", "f >= '-Infinity'", "f = a"),
    *("f = 0", "f = '-0'", "r = 0.1", "r = 0.1::real", "r > f", "r < 1.5", "r = 'NaN'", "f = r", "f <> l", "f = 0.3"),
    *("t = 'a'", "t <> ''", "t = vc", "t IN ('a', 'EU', NULL)", "t NOT IN ('a', 'b')", "vc = 'de-DE'", "t = E'a\\tb'"),
    *("t = E'a\\nb'", "t = ''''", "t = E'a\\\\b'", "t = '\"'", "t = '日本'", "t || u = 'ab'", "t || 'x' <> vc || 'y'"),
    *("t LIKE 'a%'", "t LIKE '_b%'", "t NOT LIKE '%@%'", "t LIKE '%'", "t LIKE ''", "t LIKE '日_'", "t LIKE 'a_b'"),
    *("t LIKE '%.%'", "t LIKE '(%'", "t LIKE '%ß%'", "vc LIKE '%-%'", "t ^@ 'ab'", "starts_with(t, u)", "t ^@ ''"),
    *("length(t) > 3", "length(t) = 2", "char_length(t || u) = 3", "t COLLATE \"C\" > 'b'", 't < u COLLATE "C"'),
    *("t COLLATE \"POSIX\" >= 'Ab'", "t COLLATE \"ucs_basic\" <= 'é'", "length(vc) < 2"),
    *("p", "NOT p", "p = q", "p > q", "p IS TRUE", "p IS NOT TRUE", "p IS FALSE", "p IS UNKNOWN", "p IS NOT UNKNOWN"),
    *("p AND q", "p OR q", "NOT (p AND q)", "p IS NULL", "p = (a > 1)", "p <> q", "p IN (true, NULL)"),
    *(
        "d > '2024-01-01'",
        "d = '2024-02-29'",
        "d BETWEEN '1999-12-31' AND '2024-01-31'",
        "d <> e",
        "d IN ('1970-01-01')",
    ),
    *("ts > '2024-01-01'", "ts = '2024-02-29 12:30:45.5'", "ts < tt", "ts >= '1850-05-05 05:05:05'"),
    *("tz > '2024-01-01 00:00+02'", "tz = '2024-03-31 02:30:00Z'", "tz < zt", "tz IN ('2000-01-01 00:00:00+00')"),
    *("uu = '12345678-1234-1234-1234-123456789ABC'", "uu <> '00000000-0000-0000-0000-000000000000'"),
    *("uu > 'a0000000-0000-0000-0000-000000000000'", "uu IN ('ffffffff-ffff-ffff-ffff-ffffffffffff')"),
    *("a IS DISTINCT FROM 1", "a IS NOT DISTINCT FROM b", "t IS DISTINCT FROM NULL", "m IS DISTINCT FROM 1.1"),
    *("nullif(a, 1) IS NULL", "nullif(t, 'a') = 'b'", "coalesce(a, 3) = 3", "coalesce(t, u, 'z') = 'z'"),
    *(
        "coalesce(p, q, true)",
        "greatest(a, b) > 5",
        "least(a, s::int, 3) = 3",
        "greatest(f, r) > 1",
        "least(d, e) < '2000-1-1'",
    ),
    *(
        "CASE WHEN a > 1 THEN p ELSE t = 'b' END",
        "CASE t WHEN 'a' THEN true WHEN 'b' THEN p END",
        "CASE WHEN p THEN q END",
    ),
    *("CASE a WHEN 1 THEN 'x' WHEN 2 THEN t ELSE vc END = 'x'", "CASE WHEN p THEN m ELSE 1.125 END > 1"),
    *(
        "(a, b) > (1, 2)",
        "(a, b) >= (a, 3)",
        "(a, t) = (1, 'a')",
        "(a, b) IN ((1, 2), (3, 5))",
        "(l, d) < (7, '2024-01-01')",
    ),
    *("(a, b, s) <= (b, s, a)", "ROW(a, b) IS DISTINCT FROM ROW(1, 2)"),
    *("j IS NULL", "jb IS NOT NULL", "ip IS NULL OR a = 1", "n IS NULL", "c IS NOT NULL", "ia IS NULL"),
    *(
        "true",
        "false",
        "NULL",
        "NULL::boolean OR a = 1",
        "1 = 1",
        "abs(-3) = a",
        "a = 2 + 3",
        "t = lower('A')",
        "a = -17",
    ),
)
"""All that is run, in forms that rows tell apart."""

NOT_RUN = {
    "n > 1": "n is numeric without a precision, which can be too large for a Spark decimal",
    "m > 'NaN'": "NaN is not a Spark decimal",
    "m * 2 > 1": "arithmetic of numeric gives different digits in Spark (numeric_mul)",
    "m = 1e-36": "the comparison needs more digits than a decimal of Spark has",
    "a + 1 > 2": "arithmetic of integers fails with an error when it overflows (int4pl)",
    "abs(a) = 1": "arithmetic of integers fails with an error when it overflows (abs)",
    "a / b = 1": "a division fails with an error when the divisor is zero (int4div)",
    "a / 0 = 1": "a division fails with an error when the divisor is zero (int4div)",
    "a / -1 = 1": "a division fails with an error when the divisor is zero (int4div)",
    "a = 1 / 0": "the server fails with division by zero",
    "f * 2 > 1": "arithmetic of floating point numbers fails with an error when it overflows (float8mul)",
    "t > 'b'": "text is ordered by the collation of the database, and in Spark by its bytes",
    "greatest(t, u) = 'a'": "text is ordered by its collation, and in Spark by its bytes",
    "t ILIKE 'a%'": "upper and lower case depend on the locale (texticlike)",
    "lower(t) = 'a'": "upper and lower case depend on the locale (lower)",
    "t LIKE 'a\\%'": "the pattern of LIKE contains a backslash",
    "t LIKE u": "the pattern of LIKE is not a constant",
    "t ~ 'a'": "Spark has a different regular expression syntax (textregexeq)",
    "c = 'a'": "character(n) is compared without trailing blanks (bpchareq)",
    "d > 'infinity'": "it contains a date that Spark cannot represent",
    "d = timestamp '2024-01-01'": "a date is compared with a moment, which depends on their ranges or the zone"
    " (date_eq_timestamp)",
    "nm = 'a'": "text of type name is cut at 63 bytes (nameeq)",
    "jb ->> 'a' = 'b'": "JSON documents are compared and read differently in Spark (jsonb_object_field_text)",
    "1 = ANY (ia)": "the array is not a list of values",
    "hashtext(t) % 2 = 0": "hashtext() is not known to mean the same in Spark",
}


class Transpiled:
    """Filters of the table in Spark SQL."""

    def __init__(self, major: int) -> None:
        self.evaluator = Evaluator(major)

    def __call__(self, text: str) -> SparkFilter:
        expr = self.evaluator.analysed(text)
        if expr is None:
            raise LookupError(f"no publication takes {text}")
        return spark_filter(Filter(None, (), expr=expr), self.evaluator.relation, Context(self.evaluator.inputs()))


@pytest.fixture(scope="module")
def transpiled() -> Transpiled:
    return Transpiled(max(MAJORS))


@pytest.mark.parametrize("text", NOT_RUN)
def test_what_does_not_carry_over_is_named_with_the_reason(transpiled: Transpiled, text: str) -> None:
    with pytest.raises(NotExact) as raised:
        transpiled(text)
    assert str(raised.value) == NOT_RUN[text]


def chosen(transpiled: Transpiled) -> dict[str, SparkFilter]:
    """All of FILTERS, and those that can be run of many random ones."""
    sql_of = {text: transpiled(text) for text in FILTERS}
    random = Random(SEED)
    for _ in range(RANDOM_FILTERS):
        text = make_filter(random)
        try:
            sql_of[text] = transpiled(text)
        except (NotExact, LookupError):
            continue
    return sql_of


Answers = dict[int, list[bool | None]]


def asked(server: Server, filters: list[str], to: Path) -> Answers:
    """The server's answers by row, whose values it writes as CSV."""
    random = Random(SEED)
    rows = [some_row(random) for _ in range(ROWS)]
    answers: Answers = {number: [] for number in range(ROWS)}
    with server.database() as database, server.connect(database) as conn:
        conn.execute("SET timezone = 'UTC'")
        conn.execute(TABLE)
        marks = ", ".join(f"%s::{type_}" for type_ in COLUMNS.values())
        insert = f"INSERT INTO e (id, {', '.join(COLUMNS)}) VALUES (%s, {marks})"
        with conn.cursor() as cursor:
            cursor.executemany(insert, [(number, *row.values()) for number, row in enumerate(rows)])
        for first in range(0, len(filters), 200):
            conditions = ", ".join(f"({text})" for text in filters[first : first + 200])
            for number, *values in conn.execute(f"SELECT id, {conditions} FROM e").fetchall():
                answers[number] += values
        with conn.cursor().copy("COPY e TO STDOUT (FORMAT csv, HEADER)") as copy:
            to.write_bytes(b"".join(bytes(piece) for piece in copy))
    return answers


def ran(rows: DataFrame, filters: dict[str, SparkFilter]) -> tuple[Answers, set[int]]:
    """Spark's answers by row, and the rows that hold what Spark's types do not."""
    needed: dict[str, SparkType] = {"id": SparkType("INT")}
    for filter_of_spark in filters.values():
        for name, kind in filter_of_spark.columns.items():
            if needed.get(name, kind).name in ("ANY", kind.name):
                needed[name] = kind
    frame, doubtful = typed(rows, needed, "e")
    bad = F.lit(False)
    for name in doubtful:
        bad = bad | F.col(f"`{name}`").isNotNull()
    answered = frame.select("id", bad, *(F.expr(filter_of_spark.sql) for filter_of_spark in filters.values())).collect()
    return {row[0]: list(row[2:]) for row in answered}, {row[0] for row in answered if row[1]}


def test_every_filter_that_is_run_answers_as_the_server_does(
    spark: SparkSession, servers: Servers, transpiled: Transpiled, tmp_path: Path
) -> None:
    filters = chosen(transpiled)
    assert len(filters) > len(FILTERS) + 400
    data = tmp_path / "e.csv"
    expected = asked(servers[max(MAJORS)], list(filters), data)
    with settings(spark, EXACT):
        answers, bad = ran(read(spark, Data("e", str(data))), filters)
    assert answers.keys() == expected.keys()
    # Only rows with values such as infinity and NaN, of which a table in use would make an error.
    with open(data, newline="", encoding="utf-8") as file:
        odd = {int(row["id"]) for row in csv.DictReader(file) if is_odd(row)}
    assert bad == odd
    assert 0 < len(bad) < ROWS / 3
    differences: list[Any] = []
    values_seen: Counter[str] = Counter()
    for place, text in enumerate(filters):
        for number in expected.keys() - bad:
            values_seen[text] |= {True: 1, False: 2, None: 4}[expected[number][place]]
            if answers[number][place] is not expected[number][place]:
                differences.append((text, filters[text].sql, number, expected[number][place], answers[number][place]))
    assert differences == []
    several = sum(values_seen[text] not in (1, 2, 4) for text in FILTERS)
    assert several > 0.85 * len(FILTERS), "the rows tell filters apart"


def is_odd(row: Mapping[str, str | None]) -> bool:
    """Whether a row holds what Spark's types do not: infinity, NaN of numeric, years before 1 and after 9999."""
    return row["m"] == "NaN" or any(_ODD.search(row[name] or "") for name in ("d", "e", "ts", "tt", "tz", "zt"))


_ODD = re.compile(r"infinity|BC|^\d{5}")


def some_row(random: Random) -> dict[str, str | None]:
    """A row, mostly without what Spark's types do not hold."""
    row = make_row(random, COLUMNS)
    return row if not is_odd(row) or random.random() < 0.03 else some_row(random)
