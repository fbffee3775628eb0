"""One small Spark session for all tests, and corpora to run it over."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import SparkSession

from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files
from tests.spark.audits import Audits

PROJECT = Path(__file__).parent.parent.parent

PUBLISHES = "CREATE TABLE t (id int PRIMARY KEY, r text); CREATE PUBLICATION p FOR TABLE t WHERE (r = 'x');\n"
"""A unit with two findings: its UPDATE and its DELETE will be refused."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session of two workers, which import this checkout with its tests; what a worker fails at is tried again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]))
        session = (
            SparkSession.builder.master("local[2,4]")
            .appName("tests of pubcheck")
            .config("spark.driver.memory", "2g")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.ui.enabled", "false")
            # What the driver remembers of what has ended would fill its memory in a hundred audits.
            .config("spark.ui.retainedJobs", "100")
            .config("spark.ui.retainedStages", "100")
            .config("spark.ui.retainedTasks", "1000")
            .config("spark.sql.ui.retainedExecutions", "50")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "ERROR")
            # The rows are few and the plans many: what compiles them costs more than it saves. The code of the first
            # compiler alone gets 48 MB, which the tests fill, and after that nothing is compiled.
            .config(
                "spark.driver.extraJavaOptions",
                "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
            )
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .getOrCreate()
        )
        yield session
        session.stop()


Plant = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Writes files, given by their paths, under `corpus` in an empty folder, which is entered."""
    monkeypatch.chdir(tmp_path)

    def written(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / "corpus" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Path("corpus")

    return written


def linted(*where: str, linter: Linter = Linter()) -> list[dict[str, Any]]:
    """The findings of `pubcheck lint` over each of the paths, as its JSON has them, in order."""
    entries = [
        msgspec.to_builtins(finding.entry)
        for path in where
        for plan in find_units([path])
        for finding in lint_files(plan, linter, excerpts=False).findings
    ]
    return sorted(entries, key=msgspec.json.encode)


@pytest.fixture
def audits(spark: SparkSession, tmp_path: Path) -> Audits:
    return Audits(spark, tmp_path / "audit")
