"""A run is there as a whole or not at all, whatever ends or doubles it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from pubcheck.spark import job
from pubcheck.spark.exports import current_findings, finding_history, findings
from pubcheck.spark.schema import FINDINGS, RUNS, Column
from pubcheck.spark.store import Store
from tests.spark.audits import Audits, exactly
from tests.spark.conftest import PUBLISHES, Plant, linted

pytestmark = pytest.mark.spark


def attempts(audits: Audits, run: str = "r1", table: str = "findings") -> list[str]:
    """The folders of a table that a run has."""
    return sorted(path.name for path in Path(audits.store.where, table, f"run={run}").glob("*"))


def test_what_an_audit_leaves_that_dies_before_the_commit_is_ignored_and_deleted_later(
    audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = plant({f"r{number}/a.sql": PUBLISHES for number in range(3)})
    audits.run(corpus)
    plant({"r3/a.sql": PUBLISHES})
    write = Store.write_rows

    class Dead(BaseException):
        """What ends an audit of which nothing goes on, as a signal does."""

    class Abandoned(ExitStack):
        def __exit__(self, *error: object) -> None:
            self.pop_all()

    def dead_between_tables(store: Store, columns: tuple[Column, ...], values: Any, table: str, run: str) -> None:
        write(store, columns, values, table, run)
        if table == "metrics":
            raise Dead

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write_rows", dead_between_tables)
        patch.setattr(job, "ExitStack", Abandoned)
        with pytest.raises(Dead):
            audits.run(corpus)
    assert len(attempts(audits)) == 2
    assert len(audits.findings()) == current_findings(audits.store).count() == findings(audits.store).count() == 6

    audits.run(corpus)
    assert exactly(audits.findings()) == exactly(linted("corpus"))
    assert current_findings(audits.store).count() == 8
    assert len(attempts(audits)) == 2, "the dead attempt might be alive"
    (dead,) = Path(audits.store.where, "_started").glob("r1.*")
    os.utime(dead, (time.time() - 8 * 24 * 3600,) * 2)
    audits.run(corpus, "r2", since="r1")
    assert len(attempts(audits)) == len(attempts(audits, "r2")) == 1
    assert not Path(audits.store.where, "_started").exists()
    assert exactly(audits.findings()) == exactly(audits.findings("r2")) == exactly(linted("corpus"))


def test_a_run_that_is_started_twice_is_there_once(audits: Audits, plant: Plant) -> None:
    corpus = plant({f"r{number}/a.sql": PUBLISHES for number in range(3)})
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda run: audits.run(corpus, run), ("r1", "r1")))
    assert [row["run"] for row in audits.store.runs().collect()] == ["r1"]
    assert exactly(audits.findings()) == exactly(linted("corpus"))
    assert current_findings(audits.store).count() == findings(audits.store).count() == 6
    assert finding_history(audits.store).where("runs = 1 AND open").count() == 6


def test_a_second_run_that_fails_while_it_writes_leaves_the_first(
    audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = plant({"a/a.sql": PUBLISHES})
    audits.run(corpus)
    before = attempts(audits)
    with monkeypatch.context() as patch:
        patch.setattr("pubcheck.spark.run_tables.RunTables.units", lambda self: self._listed().select("missing"))
        with pytest.raises(PySparkException, match="missing"):
            audits.run(plant({"b/b.sql": PUBLISHES}))
    assert attempts(audits) == before
    assert len(audits.findings()) == 2
    audits.run(corpus)
    assert len(attempts(audits)) == 1
    assert len(audits.findings()) == 4


def test_a_run_of_an_earlier_release_is_read_too(audits: Audits, plant: Plant) -> None:
    """Its tables have fewer columns, and no folder for the attempt."""
    corpus = plant({"a/a.sql": PUBLISHES})
    audits.run(corpus)
    where = Path(audits.store.where)
    for table in ("findings", "units", "quarantine", "publications", "repositories", "metrics", "runs"):
        (folder,) = where.joinpath(table, "run=r1").glob("attempt=*")
        rows = pa.concat_tables([pq.read_table(path, partitioning=None) for path in folder.glob("*.parquet")])
        newer = {"owners", "consumer", "attempt", "largest_file", "largest_unit"}
        rows = rows.drop_columns([name for name in rows.column_names if name in newer])
        target = where / table / "run=r0" / "part-0.parquet"
        target.parent.mkdir()
        if table == "runs":
            rows = rows.set_column(rows.column_names.index("run"), "run", pa.array(["r0"]))
        pq.write_table(rows, target, coerce_timestamps="us", allow_truncated_timestamps=True)

    assert [row["owners"] for row in audits.rows("findings", "r0")] == [None, None]
    assert audits.store.find("r0") == "r0"
    history = finding_history(audits.store).select("first_run", "last_run", "runs").distinct().collect()
    assert [tuple(row) for row in history] == [("r0", "r1", 2)]
    assert findings(audits.store).where("run = 'r0' AND owners IS NULL").count() == 2
    summary = audits.run(corpus, "r2", since="r0")
    assert summary.metrics["units_carried"] == 1
    assert exactly(audits.findings("r2")) == exactly(linted("corpus"))
    assert {column.name for column in (*FINDINGS, *RUNS)} > {"owners", "attempt"}
