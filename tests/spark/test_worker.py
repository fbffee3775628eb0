"""What runs in Spark's workers, without Spark: how repositories that lie in folders are looked through and linted."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from pubcheck.discovery.walk import find_repositories
from pubcheck.spark import worker
from pubcheck.spark.costs import SMALL, cost
from pubcheck.spark.lint_process import Limits
from pubcheck.spark.schema import EXAMINED, LISTING, arrow
from pubcheck.spark.unit_discovery import Largest, encode_files
from pubcheck.spark.unit_row import unpacked
from pubcheck.spark.worker import Job
from tests.spark.conftest import Plant, linted
from tests.spark.faulty import FaultyLinter

pytestmark = pytest.mark.slow

PUBLISHES = "CREATE TABLE t (a int PRIMARY KEY, b int);\nCREATE PUBLICATION p FOR TABLE t WHERE (b > 1);\n"
MYSQL = "CREATE TABLE `publication` (`a` int) ENGINE=InnoDB;\nDROP /**/ TABLE `u`;"


@pytest.fixture(autouse=True)
def _end_of_the_process() -> Iterator[None]:
    yield
    if worker._child is not None:
        worker._child.close()
        worker._child = None


def job(seconds: float = 60.0) -> Job:
    return Job(pickle.dumps(FaultyLinter()), Limits(seconds, 512 << 20), Largest(4 * SMALL, 8 * SMALL), "rules", "")


def listed(where: str) -> list[pa.RecordBatch]:
    rows = [
        {
            "repository": repository.name,
            "state": None,
            "files": len(repository.files),
            "cost": cost(sum(os.path.getsize(path) for path, _ in repository.files), len(repository.files)),
            "tops": [os.fsencode(top) for top in repository.tops],
            "included": [os.fsencode(path) for path in repository.included],
            "linked": repository.linked,
            "path": os.fsencode(repository.root),
            "into": True,
            "members": encode_files((file.label, os.fsencode(path), file.error) for path, file in repository.files),
        }
        for repository in find_repositories(where)
    ]
    return [pa.RecordBatch.from_pylist(rows, schema=arrow(LISTING))]


def rows_of(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def in_two_passes(where: str) -> list[dict[str, Any]]:
    rows = rows_of(worker.examine(listed(where), job=job(), at_once=False))
    batch = pa.RecordBatch.from_pylist([row for row in rows if row["step"] == "lint"], schema=arrow(EXAMINED))
    return [row for row in rows if row["step"] != "lint"] + rows_of(worker.lint_units([batch], job=job()))


def comparable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert all(list(row) == [column.name for column in EXAMINED] for row in rows)
    for row in rows:
        row["seconds"] = 0.0
        for told in row["quarantine"]:
            told["trace"] = told["trace"] and told["trace"].splitlines()[-1]
    return sorted(rows, key=lambda row: (row["repository"], row["unit"] or ""))


def test_small_repositories_come_to_the_same_at_once_and_in_two_passes(plant: Plant) -> None:
    many: dict[str, str | bytes] = {f"r{number}/a.sql": PUBLISHES for number in range(40)}
    plant(
        many
        | {
            "units/one/a.sql": PUBLISHES,
            "units/two/a.sql": PUBLISHES + "CREATE PUBLICATION p;",
            "unread/a.sql": PUBLISHES,
            "unread/b.sql": b"\x00",
            "none/a.sql": PUBLISHES.encode() + b"\x00",
            "mysql/a.sql": MYSQL,
            "quiet/a.sql": "SELECT 1;",
            "large/a.sql": PUBLISHES + "-" * (4 * SMALL),
            "error/a.sql": PUBLISHES + "-- fault: error\n",
        }
    )
    at_once = rows_of(worker.examine(listed("corpus"), job=job(), at_once=True))
    assert {row["step"] for row in at_once} == {"linted", "skipped", "stopped"}
    assert {row["failed"] for row in at_once} == {None, "not-text", "not-postgresql", "internal-error"}
    assert comparable(at_once) == comparable(in_two_passes("corpus"))


def test_the_platform_of_a_repository_is_seen_in_its_folders_as_lint_sees_it(plant: Plant) -> None:
    auth = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t, auth.users;\n"
    plant({"r/.git/HEAD": "", "r/supabase/config.toml": "", "r/db/a.sql": auth, "other/db/a.sql": auth})
    at_once = rows_of(worker.examine(listed("corpus"), job=job(), at_once=True))
    assert comparable(at_once) == comparable(in_two_passes("corpus"))
    rules = {row["repository"]: [finding["rule"] for finding in unpacked(row["findings"])] for row in at_once}
    assert rules == {name: [finding["rule"] for finding in linted(f"corpus/{name}")] for name in ("r", "other")}
    assert rules == {"r": [], "other": ["PUB107"]}


def test_a_large_repository_is_only_looked_through(plant: Plant) -> None:
    plant({"large/a.sql": PUBLISHES + "-" * SMALL, "small/a.sql": PUBLISHES})
    rows = rows_of(worker.examine(listed("corpus"), job=job(), at_once=True))
    assert {row["repository"]: row["step"] for row in rows} == {"large": "lint", "small": "linted"}


@pytest.mark.parametrize("fault", ["hang", "segfault", "memory"])
def test_whom_a_fault_is_to_be_blamed_on_is_found_out_later(plant: Plant, fault: str) -> None:
    plant({"a/a.sql": PUBLISHES, "b/b.sql": PUBLISHES + f"-- fault: {fault}\n", "c/c.sql": PUBLISHES})
    rows = rows_of(worker.examine(listed("corpus"), job=job(2.0), at_once=True))
    assert [(row["repository"], row["step"], row["failed"]) for row in rows] == [
        (name, "lint", None) for name in ("a", "b", "c")
    ]
