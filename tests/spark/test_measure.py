"""What publications would publish of data: counted, or a clear reason why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from pyspark.sql import SparkSession

import pubcheck
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.measure.plan import Measurable, NoTable, measurable
from pubcheck.report import measure as report
from pubcheck.report.measure import Measurement, Nulls, Overlap, TableRows
from pubcheck.source import Source
from pubcheck.spark.measure import BadData, Data, measure

SCHEMA = """
CREATE SCHEMA app;
CREATE TABLE app.orders (id bigint PRIMARY KEY, region text, total numeric(10, 2), "Odd`name" boolean);
ALTER TABLE app.orders REPLICA IDENTITY FULL;
CREATE TABLE app.days (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE app.days_1 PARTITION OF app.days FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE app.days_2 PARTITION OF app.days DEFAULT;
CREATE TABLE public.days (id int PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE app.orders WHERE (region IN ('de', '')), app.days WHERE (id % 2 = 0)
    WITH (publish_via_partition_root = true);
CREATE PUBLICATION us FOR TABLE app.orders WHERE (region = 'us' AND total > 10) WITH (publish = 'update');
CREATE PUBLICATION odd FOR TABLE app.orders WHERE ("Odd`name" IS NOT TRUE), app.days_2 WHERE (id > 5);
"""
CSV = """\
id,region,total,Odd`name,more
1,de,1.50,t,x
2,us,10.01,f,
3,us,,true,
4,"",99999999.99,,
5,,5.00,on,
6,fr,-1,1,
"""
ROWS = [
    '{"id": 1, "region": "de", "total": 1.50, "Odd`name": true}',
    '{"id": 2, "region": "us", "total": 10.01, "Odd`name": false}',
    '{"id": 3, "region": "us", "Odd`name": true}',
    '{"id": 4, "region": "", "total": "99999999.99"}',
    '{"id": 5, "region": null, "total": 5, "Odd`name": true}',
    '{"id": 6, "region": "fr", "total": -1, "Odd`name": "t"}',
]


def table(name: str, more: str = "") -> Measurable:
    followed = Linter().follow(Unit((Source("schema.sql", SCHEMA + more),)))
    return measurable(followed.replays[-1], followed.statements, name)


# --- Without Spark --------------------------------------------------------------------------------------------------


def test_a_table_is_named_with_its_schema_or_without() -> None:
    assert table("orders").name == table("app.orders").name == "app.orders"
    assert [sending.publication for sending in table("orders").sendings] == ["eu", "us", "odd"]
    with pytest.raises(NoTable, match=r"the schema makes no table order; did you mean app\.orders"):
        table("order")
    with pytest.raises(NoTable, match=r"there are several tables days: app\.days, public\.days"):
        table("days")


def test_partitions_that_are_sent_differently_are_not_measured_as_one() -> None:
    whole = {sending.publication: sending for sending in table("app.days").sendings}
    assert whole["eu"].spark is not None
    assert whole["odd"].reason == "it publishes only some of the partitions: measure these one by one"
    leaf = {sending.publication: sending for sending in table("app.days_2").sendings}
    assert (leaf["eu"].filter, leaf["odd"].filter) == ("id % 2 = 0", "id > 5")
    both = "CREATE PUBLICATION each_day FOR TABLE app.days_1 WHERE (id > 1), app.days_2 WHERE (id > 2);"
    assert {sending.publication: sending.reason for sending in table("app.days", both).sendings}["each_day"] == (
        "it publishes the partitions with different filters: measure them one by one"
    )


def test_a_filter_that_is_assumed_or_fixed_by_the_zone_is_named() -> None:
    more = (
        "CREATE TABLE z (id int PRIMARY KEY, at timestamptz);"
        "CREATE PUBLICATION zone FOR TABLE z WHERE (at > '2024-01-01');"
        "CREATE PUBLICATION none FOR TABLE z WHERE (of_nobody(id));"
    )
    reasons = {sending.publication: sending.reason for sending in table("z", more).sendings}
    assert reasons["zone"] == "it contains a constant that depended on the time zone when the publication was created"


# --- Over data ------------------------------------------------------------------------------------------------------

Put = Callable[[str, str], Data]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def written(name: str, text: str) -> Data:
        (tmp_path / name).write_text(text)
        return Data("app.orders", str(tmp_path / name))

    return written


def expect(counted: TableRows) -> None:
    assert counted.rows == 6
    assert [
        (publication.publication, publication.copied, publication.inserted, publication.unknown)
        for publication in counted.publications
    ] == [
        ("eu", 2, 2, 1),
        ("us", 1, 0, 1),  # a NULL total of 'us' is unknown; of NULL AND false, false
        ("odd", 2, 2, 0),
    ]
    assert set(counted.nulls) == {Nulls("region", 1), Nulls("total", 1), Nulls("Odd`name", 1)}
    assert (counted.sent_by_none, counted.sent_by_several) == (3, 2)
    assert counted.overlaps == (Overlap(("eu", "us"), 0), Overlap(("eu", "odd"), 1), Overlap(("us", "odd"), 1))


@pytest.mark.spark
def test_the_same_rows_are_counted_in_every_format(spark: SparkSession, put: Put) -> None:
    expect(measure(spark, put("orders.csv", CSV), table("orders")))
    expect(measure(spark, put("orders.tsv", CSV.replace(",", "\t")), table("orders")))
    source = put("orders.jsonl", "\n".join(ROWS))
    expect(measure(spark, source, table("orders")))
    types = "id BIGINT, region STRING, total DECIMAL(10, 2), `Odd``name` BOOLEAN"
    rows = spark.read.schema(types).json(source.condition)
    where = source.condition.replace("jsonl", "parquet")
    rows.write.parquet(where)
    counted = measure(spark, Data("app.orders", where), table("orders"))
    assert counted.rows == 6
    rows.createOrReplaceTempView("orders_of_test")
    assert measure(spark, Data("app.orders", "table:orders_of_test"), table("orders")).publications == (
        counted.publications
    )


@pytest.mark.spark
def test_what_could_not_be_run_leaves_gap_and_overlap_open(spark: SparkSession, put: Put) -> None:
    more = "CREATE PUBLICATION late FOR TABLE app.orders WHERE (region > 'm'); CREATE PUBLICATION every FOR ALL TABLES;"
    counted = measure(spark, put("orders.csv", CSV), table("orders", more))
    late, every = counted.publications[3:]
    assert (late.copied, late.reason) == (
        None,
        "text is ordered by the collation of the database, and in Spark by its bytes",
    )
    assert (every.filter, every.copied) == (None, 6)
    assert (counted.sent_by_none, counted.sent_by_several) == (None, None)
    assert Overlap(("eu", "every"), 2) in counted.overlaps
    document = Measurement("0", 1, 18, (counted,))
    lines = [" ".join(line.split()) for line in report.text(document)]
    for line in (
        "copied 2 rows 33.3% by the initial copy",
        "unpublished 1 row 16.7% because the filter is NULL",
        "inserted none: it publishes no INSERT",
        "filter none: every row",
        "not run text is ordered by the collation of the database, and in Spark by its bytes",
        "gap not known: not every filter could be run",
        "NULL 1 row 16.7% in column region",
        "overlap 2 rows 33.3% are published by eu and every",
    ):
        assert line in lines


def test_json_is_valid_under_the_schema_that_ships() -> None:
    shipped = Path(pubcheck.__file__).parent / "report" / "measure.schema.json"
    assert report.schema() == shipped.read_bytes(), "python -m pubcheck.report.measure writes it again"
    counted = TableRows("t", "x", 0, (), (), None, None, (Overlap(("a", "b"), 0),))
    jsonschema.validate(json.loads(report.json(Measurement("0", 1, 18, (counted,)))), json.loads(shipped.read_text()))


BAD = {
    "there is no column Odd`name; there are id, region, total": "id,region,total\n1,a,2\n",
    "there is no column region; did you mean Region?": "id,Region,total,Odd`name\n1,a,2,t\n",
    "orders.csv: 2 values are not valid for its type in app.orders, such as '1.234'": (
        "id,region,total,Odd`name\n1,a,1.234,t\n2,a,1.2300,t\n3,a,100000000.00,t\n"
    ),
    "orders.csv: 1 values are not valid for its type": "id,region,total,Odd`name\n1,a,1,maybe\n",
}


@pytest.mark.spark
@pytest.mark.parametrize("reason", BAD)
def test_data_that_do_not_fit_are_an_error_with_the_place(spark: SparkSession, put: Put, reason: str) -> None:
    with pytest.raises(BadData) as raised:
        measure(spark, put("orders.csv", BAD[reason]), table("orders"))
    assert reason in str(raised.value)


@pytest.mark.spark
def test_data_of_other_types_or_nowhere_are_an_error(spark: SparkSession, put: Put) -> None:
    nested = put("orders.json", '{"id": 1, "region": {"a": 1}, "total": 1, "Odd`name": true}')
    with pytest.raises(BadData, match=r"column region is of type struct<a:string>, where STRING is needed"):
        measure(spark, nested, table("orders"))
    spark.sql("SELECT 1 id, 'x' region, 1.5D total, true `Odd``name`").createOrReplaceTempView("doubles")
    with pytest.raises(BadData, match=r"column total is of type double, where DECIMAL\(10, 2\) is needed"):
        measure(spark, Data("app.orders", "table:doubles"), table("orders"))
    with pytest.raises(BadData, match=r"none\.csv cannot be read: \[PATH_NOT_FOUND\]"):
        measure(spark, Data("app.orders", "none.csv"), table("orders"))
