"""Captured messages decoded and verified as Spark jobs, compared with the commands that read one capture."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pubcheck.cli.app import run
from pubcheck.config import Config
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from pubcheck.spark.decode_messages import decode_messages
from pubcheck.spark.inputs import BadInput
from pubcheck.spark.sources import MessageColumns, read_messages
from pubcheck.spark.verify_messages import Job, verify_messages
from pubcheck.stream import Insert, encode
from pubcheck.verify import Options
from tests.messages.test_batches import decode_in_batches
from tests.support.recorded_streams import FOLDER, messages
from tests.verify.test_verify import ORDERS, SCHEMA, findings, transaction

pytestmark = pytest.mark.spark

SLOTS = 12


def recorded() -> list[list[bytes]]:
    """A few streams with many kinds of messages."""
    streams = sorted(
        messages(FOLDER / "live-pgoutput-17.jsonl.gz"), key=lambda stream: -len({data[0] for data in stream})
    )
    return streams[:SLOTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files: the slots one after the other, cut where it comes."""
    rows = [(f"slot{number:02}", data) for number, stream in enumerate(recorded()) for data in stream]
    folder = tmp_path_factory.mktemp("messages") / "captured"
    folder.mkdir()
    third = len(rows) // 3 + 1
    for number in range(3):
        part = rows[number * third : (number + 1) * third]
        table = pa.table({"slot": [slot for slot, _ in part], "data": [data for _, data in part]})
        pq.write_table(table, folder / f"part-{number}.parquet")
    return folder


def test_a_folder_is_decoded_as_each_of_its_streams(spark: SparkSession, folder: Path) -> None:
    rows = decode_messages(read_messages(spark, str(folder), "parquet", MessageColumns())).toArrow().to_pylist()
    rows.sort(key=lambda row: (row["slot"], row["ordinal"]))
    streams = [list(of_slot) for _, of_slot in groupby(rows, key=lambda row: row["slot"])]
    assert len(streams) == SLOTS
    for decoded, stream in zip(streams, recorded(), strict=True):
        assert [content(row) for row in decoded] == [content(row) for row in decode_in_batches(stream, 1000)]


def content(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what names its place."""
    return {name: value for name, value in row.items() if name not in ("slot", "ordinal", "lsn", "xid")}


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_table_is_verified_as_each_of_its_streams(spark: SparkSession, tmp_path: Path, format: str) -> None:
    """Rows of a table come in any order; the data are hex in one of them."""
    sound = [encode(message) for message in [ORDERS, *transaction(ORDERS, Insert(1, ("1", "eu", "a")))]]
    streams = {
        "outside": [encode(message) for message in transaction(ORDERS, Insert(1, ("1", "us", "a")))],
        "cut": [*sound[:-2], sound[-2][:9], sound[-1]],
        "open": sound[:-1],
        "sound": [encode(message) for message in transaction(ORDERS, Insert(1, ("1", "eu", "a")))],
    }
    rows = [
        {"s": slot, "n": number, "bytes": data.hex() if format == "json" else data}
        for slot, stream in streams.items()
        for number, data in enumerate(stream)
    ]
    table = pa.Table.from_pylist(rows[::-1])
    if format == "json":
        (tmp_path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows[::-1]))
    else:
        pq.write_table(table, tmp_path / "rows.parquet")
    columns = MessageColumns(slot="s", order="n", data="bytes")
    captured = read_messages(spark, str(tmp_path), format, columns)
    job = Job(Unit((Source("schema.sql", SCHEMA),)), Config(postgres=(17,)), ("shop",), Options())
    reported = verify_messages(captured, job).toArrow().to_pylist()
    for slot, stream in streams.items():
        single = findings(stream, major=17)
        of_slot = [row for row in reported if row["slot"] == slot]
        assert [(row["number"], row["rule"], row["kind"], row["offset"]) for row in of_slot] == [
            (finding.number, finding.rule, finding.kind, finding.offset) for finding in single
        ]
        assert bool(single) == (slot != "sound")


def test_a_table_without_the_data_or_an_order_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"data": "42", "number": 1}\n')
    with pytest.raises(BadInput, match="no column ordinal to order messages by, it has data, number: use"):
        read_messages(spark, str(tmp_path), "json", MessageColumns())
    with pytest.raises(BadInput, match="no column bytes, it has data, number: use --data-column"):
        read_messages(spark, str(tmp_path), "json", MessageColumns(data="bytes"))
    with pytest.raises(BadInput, match="column number must be binary or string"):
        read_messages(spark, str(tmp_path), "json", MessageColumns(data="number"))


def test_the_commands_read_tables(
    spark: SparkSession,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["decode", str(folder), "--from", "parquet", "--to", "decoded"]) == 0
    assert capsys.readouterr() == ("", "")
    assert spark.read.parquet(str(tmp_path / "decoded")).count() == sum(map(len, recorded()))

    outside = [encode(message) for message in transaction(ORDERS, Insert(1, ("1", "us", "a")))]
    pq.write_table(pa.table({"slot": ["s"] * 4, "data": outside}), "rows.parquet")
    Path("schema.sql").write_text(SCHEMA)
    command = ["verify", "schema.sql", "rows.parquet", "--from", "parquet", "--to", "findings", "--format", "json"]
    assert run(command) == 1
    (finding,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (finding["rule"], finding["path"]) == ("PUB856", "rows.parquet:s")
    assert finding["stream"]["message"] == 3
    assert [row["rule"] for row in spark.read.parquet(str(tmp_path / "findings")).collect()] == ["PUB856"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["decode", "rows.parquet", "--from", "parquet"], "--from needs --to"),
        (["decode", "rows.parquet", "--to", "x"], "need --from"),
        (["decode", "gone.parquet", "--from", "parquet", "--to", "x"], "no input: there is no gone.parquet"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"data": [b"B"]}), "rows.parquet")
    assert run(arguments) == 2
    assert problem in capsys.readouterr().err
