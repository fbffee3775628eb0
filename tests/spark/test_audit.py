"""The audit as a whole: nothing is lost, nothing is invented, and its findings are those of `pubcheck lint`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from corpus.generate import Shape, planted, repositories, write
from pubcheck.config import Config
from pubcheck.linter import Followed, Linter, Unit
from pubcheck.sources.plans import find_plans, find_repositories
from pubcheck.spark import costs
from pubcheck.spark.child import Limits
from pubcheck.spark.inputs import BadInput, Columns, EmptyInput, Folders, Input, Rows, state_of
from pubcheck.spark.job import Options, audit
from pubcheck.spark.published import Published
from pubcheck.spark.reporting import collect
from pubcheck.spark.runs import NoRun, Store
from pubcheck.spark.summary import Summary
from pubcheck.spark.tables import (
    FINDINGS,
    METRICS,
    PUBLICATIONS,
    PUBLISHED,
    QUARANTINE,
    REPOSITORIES,
    RUNS,
    UNITS,
    Column,
)
from tests.spark.conftest import PROJECT, PUBLISHES, Plant, linted
from tests.spark.faulty import FaultyBefore, FaultyLinter

pytestmark = pytest.mark.spark

TABLES = {
    "findings": FINDINGS,
    "publications": PUBLICATIONS,
    "units": UNITS,
    "quarantine": QUARANTINE,
    "repositories": REPOSITORIES,
    "metrics": METRICS,
    "runs": RUNS,
}
SAMPLES = Path(__file__).parents[2] / "corpus" / "samples"
PATIENT, QUICK = Limits(120.0, 256 << 20), Limits(5.0, 256 << 20)
SMALL = 1 << 16


class Audits:
    """Runs audits into a folder of their own and reads their tables."""

    def __init__(self, spark: SparkSession, where: Path) -> None:
        self.spark, self.store = spark, Store(spark, str(where))

    def run(
        self,
        given: Input | Path,
        run: str = "r1",
        *,
        since: str | None = None,
        linter: Linter = Linter(),
        small: bool = True,
        limits: Limits = PATIENT,
    ) -> Summary:
        """``small``: whether no large files are allowed."""
        source = Folders(str(given)) if isinstance(given, Path) else given
        options = Options(run=run, since=since, limits=limits)
        if small:
            options = replace(options, largest_file=SMALL, largest_unit=2 * SMALL)
        return audit(self.spark, source, self.store, linter, options)

    def rows(self, table: str, run: str = "r1") -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in self.store.read(TABLES[table], table, run).collect()]

    def findings(self, run: str = "r1") -> list[dict[str, Any]]:
        """The findings as `pubcheck lint --format json` has them, in the order of ``linted``."""
        rows = self.rows("findings", run)
        for row in rows:
            for name in ("repository", "unit", "fingerprint"):
                del row[name]
            if row["statement"] and row["statement"]["embedded"] is None:
                del row["statement"]["embedded"]
        return sorted(rows, key=msgspec.json.encode)

    def ends(self, run: str = "r1") -> dict[str, tuple[str, str | None]]:
        """What became of each unit."""
        return {row["unit"]: (row["status"], row["reason"]) for row in self.rows("units", run)}

    def quarantined(self, run: str = "r1") -> set[tuple[str | None, str | None, str]]:
        return {(row["unit"], row["path"], row["reason"]) for row in self.rows("quarantine", run)}


@pytest.fixture
def audits(spark: SparkSession, tmp_path: Path) -> Audits:
    return Audits(spark, tmp_path / "audit")


def exactly(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings with the order of an object's keys made one."""
    return sorted((msgspec.json.decode(msgspec.json.encode(each, order="sorted")) for each in found), key=str)


def test_the_findings_are_those_of_lint_row_by_row(audits: Audits, plant: Plant) -> None:
    corpus = plant(
        {
            "top.sql": "DROP PUBLICATION none;",
            "shop/schema/1.sql": "CREATE TABLE t (id int PRIMARY KEY, r text);",
            "shop/schema/2.sql": "\ufeffCREATE PUBLICATION \"é\" FOR TABLE t WHERE (r = 'x');\r\nSELEC 1;",
            "shop/other/x.SQL": "CREATE PUBLICATION p FOR TABLE missing WHERE (random() > 0.5), TABLE t (a, a);",
            "shop/latin.d/y.sql": "CREATE PUBLICATION ü".encode("latin-1"),
            "shop/broken/z.sql": b"CREATE PUBLICATION \x00",
            "quiet/a.sql": "CREATE TABLE t (id int);",
        }
    )
    summary = audits.run(corpus)
    expected = linted("corpus")
    assert len(expected) > 6
    assert exactly(audits.findings()) == exactly(expected)
    assert (summary.metrics["units"], summary.metrics["units_linted"]) == (6, 4)
    assert audits.ends()["corpus/quiet"] == ("nothing-to-lint", None)
    assert audits.quarantined() == {
        ("corpus/shop/broken", None, "not-text"),
        ("corpus/shop/broken", "corpus/shop/broken/z.sql", "not-text"),
    }


def test_a_generated_corpus_gives_what_lint_finds_and_what_was_planted(
    audits: Audits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = list(repositories("audit", 50, Shape(tables=1.5, spread=0.5, quiet=0.3, faulty=0.6)))
    counts = write(made, "corpus")
    summary = audits.run(Path("corpus"), small=False)
    found = audits.findings()
    # In repositories without a publication lint may still say that a file is written for another database.
    assert exactly(found) == exactly(linted(*(f"corpus/{each.name}" for each in made if each.holds)))
    certain = Counter(
        (each["path"], each["line"], each["rule"], each["operation"], each["server"] and each["server"]["sqlstate"])
        for each in found
        if each["certainty"] == "certain" and each["severity"] != "note"
    )
    assert certain == Counter(
        (f"corpus/{each.repository}/{each.path}", each.line, each.rule, each.operation, each.sqlstate)
        for each in planted("corpus")
    )
    assert certain.total() == counts.planted > 20
    passed_over = {row["repository"] for row in audits.rows("units") if row["status"] == "nothing-to-lint"}
    assert passed_over == {each.name for each in made if not each.holds}
    assert summary.metrics["repositories"] == 50


POISON = {
    "crash/a.sql": "-- fault: segfault\n",
    "loop/a.sql": "-- fault: loop-in-c\n",
    "memory/a.sql": "-- fault: memory\n",
    "error/a.sql": "-- fault: error\n",
    "exit/a.sql": "-- fault: exit\n",
}
REASONS = {"crash": "crashed", "loop": "time-out", "memory": "memory", "error": "internal-error", "exit": "crashed"}


def test_poison_is_quarantined_and_the_rest_is_untouched(audits: Audits, plant: Plant) -> None:
    good = {f"good{number}/a.sql": PUBLISHES for number in range(6)}
    corpus = plant(
        {name: PUBLISHES + text for name, text in POISON.items()}
        | good
        | {
            "good6/a.sql": PUBLISHES,
            "good6/invalid.sql": b"\x81\x00\xff",
            "large/a.sql": PUBLISHES,
            "large/b.sql": PUBLISHES + "-" * SMALL,
            "whole/a.sql": PUBLISHES + "-- " + "x" * (SMALL - 1000),
            "whole/b.sql": "-- " + "x" * (SMALL - 1000),
            "whole/c.sql": "-- " + "x" * (SMALL - 1000),
            "mysql/a.sql": "CREATE TABLE `publication` (`a` int) ENGINE=InnoDB;\nDROP /**/ TABLE `u`;",
            "quiet/a.sql": "SELECT 1;",
        }
    )
    (corpus / "huge").mkdir()
    (corpus / "huge" / "a.sql").write_text(PUBLISHES)
    os.truncate(corpus / "huge" / "a.sql", 200 << 20)
    (corpus / "good7").mkdir()
    (corpus / "good7" / "gone.sql").symlink_to("nowhere")
    (corpus / "good7" / "a.sql").write_text(PUBLISHES)
    summary = audits.run(corpus, linter=FaultyLinter(), limits=QUICK)

    ends = {unit.removeprefix("corpus/"): end for unit, end in audits.ends().items()}
    expected: dict[str, tuple[str, str | None]] = {name: ("quarantined", reason) for name, reason in REASONS.items()}
    expected |= {f"good{number}": ("linted", None) for number in range(8)}
    expected |= {"large/a.sql": ("linted", None), "large/b.sql": ("quarantined", "too-large")}
    expected |= {"whole": ("quarantined", "too-large")}
    expected |= {"huge": ("quarantined", "too-large")}
    expected |= {"mysql": ("quarantined", "not-postgresql"), "quiet": ("nothing-to-lint", None)}
    assert ends == expected

    files = {path for _, path, _ in audits.quarantined() if path is not None}
    assert files == {"corpus/good6/invalid.sql", "corpus/good7/gone.sql"} | {
        f"corpus/{name}.sql"
        for name in (
            "large/b",
            "huge/a",
            "mysql/a",
            "whole/a",
            "whole/b",
            "whole/c",
            *(f"{each}/a" for each in REASONS),
        )
    }
    assert sum(1 for row in audits.rows("quarantine") if row["path"]) == summary.metrics["files_quarantined"]
    assert sum(units for units, _ in summary.quarantine.values()) == summary.metrics["units_quarantined"]
    metrics = summary.metrics
    assert metrics["files"] == sum(1 for path in corpus.rglob("*.sql"))
    assert (metrics["files_linted"], metrics["files_nothing_to_lint"]) == (9, 1)
    assert metrics["files_quarantined"] == len(POISON) + 2 + 1 + 3 + 1 + 1
    (row,) = (row for row in audits.rows("quarantine") if (row["reason"], row["path"]) == ("internal-error", None))
    assert "LookupError: planted" in row["trace"]

    by_repository = Counter(row["repository"] for row in audits.rows("findings") if row["rule"] == "PUB301")
    assert by_repository == {"large": 2} | {f"good{number}": 2 for number in range(8)}


class KillsItsWorkerOnce(FaultyLinter):
    """Kills, the first time that it lints anything, the Spark worker that its process belongs to."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark

    def follow(self, unit: Unit) -> Followed:
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().follow(unit)
        os.kill(os.getppid(), signal.SIGKILL)
        return super().follow(unit)


def test_a_worker_that_is_killed_loses_nothing(audits: Audits, plant: Plant, tmp_path: Path) -> None:
    corpus = plant({f"r{number}/a.sql": PUBLISHES for number in range(10)})
    summary = audits.run(corpus, linter=KillsItsWorkerOnce(str(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()
    assert (summary.metrics["units_linted"], summary.metrics["units_quarantined"]) == (10, 0)
    assert exactly(audits.findings()) == exactly(linted("corpus"))


def test_unchanged_units_are_carried_over_and_not_linted(audits: Audits, plant: Plant) -> None:
    files: dict[str, str | bytes] = {f"r{number}/a.sql": PUBLISHES for number in range(4)}
    files |= {"r0/b.sql": b"\x00", "error/a.sql": PUBLISHES + "-- fault: error\n", "quiet/a.sql": ""}
    corpus = plant(files)
    audits.run(corpus, "r1", linter=FaultyLinter())
    before = audits.findings()

    summary = audits.run(corpus, "r2", since=audits.store.find("latest"), linter=FaultyLinter())
    assert (summary.metrics["units_carried"], summary.metrics["units_linted"]) == (4, 4)
    assert audits.findings("r2") == before
    assert len(audits.rows("publications", "r2")) == len(audits.rows("publications", "r1")) > 0
    assert audits.quarantined("r2") == audits.quarantined("r1")
    assert {row["unit"] for row in audits.rows("units", "r2") if row["carried"]} == {
        f"corpus/r{number}" for number in range(4)
    }

    plant({"r1/a.sql": "\n" + PUBLISHES, "r2/c.sql": "SELECT 1;"})
    summary = audits.run(corpus, "r3", since="r2", linter=FaultyLinter())
    assert summary.metrics["units_carried"] == 2
    assert exactly(audits.findings("r3")) == exactly(linted("corpus", linter=FaultyLinter()))
    prints = [Counter(row["fingerprint"] for row in audits.rows("findings", run)) for run in ("r1", "r3")]
    assert prints[0] == prints[1], "a line that moved is no other finding"

    summary = audits.run(corpus, "r4", since="r3", linter=FaultyLinter(Config(postgres=(15,))))
    assert summary.metrics["units_carried"] == 0, "another configuration"
    assert summary.notes == ("Nothing was carried over from run r3: another pubcheck, rules or configuration made it.",)

    summary = audits.run(corpus, "r5", since="r3", linter=FaultyLinter(Config(fail_on="error", fail_on_assumed=True)))
    assert (summary.metrics["units_carried"], summary.notes) == (4, ()), "no finding depends on it"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is so young that a change could not be told."""
    monkeypatch.setattr("pubcheck.spark.inputs._TICK", -(10**18))
    monkeypatch.setattr("pubcheck.spark.inputs._COARSE", -(10**18))


def without(rows: list[dict[str, Any]], *columns: str) -> list[str]:
    return sorted(str({name: value for name, value in row.items() if name not in columns}) for row in rows)


@pytest.mark.usefixtures("settled")
def test_a_corpus_that_has_not_changed_is_carried_over_whole(audits: Audits, plant: Plant) -> None:
    corpus = plant(
        {
            "a/a.sql": PUBLISHES,
            "a/go.mod.tmpl": "nothing",
            "b/a.sql": "CREATE PUBLICATION p FOR TABLE none;",
            "mysql/a.sql": "CREATE TABLE `publication` (`a` int) ENGINE=InnoDB;",
            "large/a.sql": PUBLISHES + "-" * SMALL,
            "quiet/a.sql": "SELECT 1;",
        }
    )
    full = audits.run(corpus)
    again = audits.run(corpus, "r2", since="r1")
    assert again.metrics["repositories_unchanged"] == again.metrics["repositories"] == 5
    assert again.metrics["units_carried"] == full.metrics["units"] - 2, "all that were linted"
    assert full.metrics["files_nothing_to_lint"] == again.metrics["files_nothing_to_lint"] == 2
    for table in ("findings", "publications", "quarantine", "repositories", "units"):
        rows = [without(audits.rows(table, run), "carried") for run in ("r1", "r2")]
        assert rows[0] == rows[1]
        assert rows[0]
    assert again.quarantine == full.quarantine
    assert audits.run(corpus, "r2", since="r1").quarantine == full.quarantine, "once more"
    states = [audits.rows("runs", run)[0]["state"] for run in ("r1", "r2")]
    assert states[0]
    assert states[0] == states[1]


@pytest.mark.usefixtures("settled")
def test_of_repositories_only_those_that_have_changed_are_looked_at(audits: Audits, plant: Plant) -> None:
    linter = FaultyLinter()
    names = ("same", "other", "touched", "changed", "gone", "grown")
    corpus = plant({f"{name}/a.sql": PUBLISHES for name in names} | {"error/a.sql": PUBLISHES + "-- fault: error\n"})
    audits.run(corpus, linter=linter)
    (corpus / "gone" / "a.sql").unlink()
    os.utime(corpus / "touched" / "a.sql", ns=(1, 1))
    status = (corpus / "changed" / "a.sql").stat()
    (corpus / "changed" / "a.sql").write_text(PUBLISHES.replace("'x'", "'y'"))
    os.utime(corpus / "changed" / "a.sql", ns=(status.st_atime_ns, status.st_mtime_ns))
    plant({"new/a.sql": PUBLISHES, "grown/b.sql": "SELECT 1;"})
    for run, since, counts in (("r2", "r1", (2, 3)), ("r3", "r2", (6, 6))):
        summary = audits.run(corpus, run, since=since, linter=linter)
        assert [summary.metrics[name] for name in ("repositories_unchanged", "units_carried")] == list(counts)
        assert exactly(audits.findings(run)) == exactly(linted("corpus", linter=linter))
        repositories = {"same", "other", "touched", "changed", "grown", "new", "error"}
        assert {row["repository"] for row in audits.rows("repositories", run)} == repositories
        ends: dict[str, tuple[str, str | None]] = {f"corpus/{name}": ("linted", None) for name in repositories}
        ends["corpus/error"] = ("quarantined", "internal-error")
        assert audits.ends(run) == ends


def test_what_looks_as_it_did_is_not_read(audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pubcheck.spark.inputs.state_of", lambda *_: ("the same", 0))
    corpus = plant({"a/a.sql": PUBLISHES})
    audits.run(corpus)
    plant({"a/a.sql": "DROP PUBLICATION none;"})
    assert audits.run(corpus, "r2", since="r1").metrics["repositories_unchanged"] == 1
    assert audits.findings("r2") == audits.findings("r1")


def test_a_file_that_is_so_young_that_a_change_could_not_be_told_is_none_that_has_not_changed(plant: Plant) -> None:
    (repository,) = find_repositories(str(plant({"a.sql": ""}) / "a.sql"))
    newest = os.stat("corpus/a.sql").st_ctime_ns
    assert [state_of(repository, newest + later, "")[0] is None for later in (0, 50_000_000, 200_000_000)] == [
        True,
        True,
        False,
    ]
    os.utime("corpus/a.sql", ns=(newest, (newest // 10**9 + 60) * 10**9))
    newest = os.stat("corpus/a.sql").st_mtime_ns
    assert [state_of(repository, newest + later, "")[0] is None for later in (10**9, 2 * 10**9, 3 * 10**9)] == [
        True,
        True,
        False,
    ]


def test_rows_of_repositories_that_have_not_changed_are_carried_over(spark: SparkSession, audits: Audits) -> None:
    def given(*rows: tuple[str, str, str | None]) -> Input:
        spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("some")
        return Rows("some", "table", Columns("repository", "path", "content"))

    same = (("a", "1.sql", PUBLISHES), ("a", "1.sql", "SELECT 1;"), ("b", "2.sql", PUBLISHES), ("c", "3.sql", "SELECT"))
    audits.run(given(*same, ("d", "4.sql", None)))
    summary = audits.run(given(*same, ("d", "4.sql", None)), "r2", since="r1")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units_carried"]) == (3, 2)
    assert audits.findings("r2") == audits.findings("r1")
    assert audits.quarantined("r2") == audits.quarantined("r1")
    summary = audits.run(given(*same[1:], ("e", "5.sql", PUBLISHES)), "r3", since="r2")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units"]) == (2, 4)
    assert {row["repository"] for row in audits.rows("findings", "r3")} == {"b", "e"}


@pytest.mark.parametrize("rows", [False, True], ids=["folders", "rows"])
def test_files_that_the_search_for_units_dies_of_are_quarantined(
    spark: SparkSession, audits: Audits, plant: Plant, rows: bool
) -> None:
    reasons = {"segfault": "crashed", "loop-in-c": "time-out", "memory": "memory", "error": "internal-error"}
    files: dict[str, str | bytes] = {f"{fault}/a.sql": PUBLISHES + f"-- fault before: {fault}\n" for fault in reasons}
    files |= {f"{fault}/b.sql": "SELECT 1;" for fault in reasons}
    files |= {f"good{number}/a.sql": PUBLISHES for number in range(3)}
    given: Input = Folders(str(plant(files)))
    if rows:
        table = [(name.partition("/")[0], f"corpus/{name}", text) for name, text in files.items()]
        spark.createDataFrame(table, "repository STRING, path STRING, content STRING").createOrReplaceTempView("bad")
        given = Rows("bad", "table", Columns("repository", "path", "content"))
    summary = audits.run(given, linter=FaultyBefore(), limits=Limits(3.0, 256 << 20))
    lost = {f"corpus/{fault}": ("quarantined", reason) for fault, reason in reasons.items()}
    assert audits.ends() == lost | {f"corpus/good{number}": ("linted", None) for number in range(3)}
    assert audits.quarantined() == {
        (unit, path, reason) for unit, (_, reason) in lost.items() for path in (None, f"{unit}/a.sql", f"{unit}/b.sql")
    }
    (row,) = (row for row in audits.rows("quarantine") if row["path"] == "corpus/error/a.sql")
    assert "LookupError: planted" in row["trace"]
    assert (summary.metrics["files_linted"], summary.metrics["files_quarantined"]) == (3, 8)
    assert audits.rows("runs")[0]["state"] is None


def test_latest_is_the_latest_of_the_same_input(audits: Audits, plant: Plant) -> None:
    corpus = plant({"a/a.sql": PUBLISHES, "b/b.sql": PUBLISHES})
    audits.run(corpus / "a", "r1")
    audits.run(corpus / "b", "r2")
    assert audits.store.find("latest") == "r2"
    assert [audits.store.find("latest", f"corpus/{name}") for name in "abc"] == ["r1", "r2", "r2"]
    assert Folders("corpus/a/").name == Folders("corpus/a").name
    document = collect(audits.store, "r2")
    assert (document.change, [past.run for past in document.history]) == (None, ["r2"])
    assert audits.run(corpus / "a", "r3", since="r2").notes == ("Run r2 is of another input, corpus/b.",)
    change = collect(audits.store, "r3").change
    assert change is not None
    assert change.input == "corpus/b"


def test_each_publication_table_and_operation_has_its_verdict(audits: Audits, plant: Plant) -> None:
    corpus = plant(
        {
            "a/1.sql": PUBLISHES,
            "a/2.sql": "CREATE PUBLICATION k FOR TABLE t (id) WHERE (id > 1) WITH (publish = 'insert, delete');",
        }
    )
    audits.run(corpus)
    rows = audits.rows("publications")
    assert {(row["publication"], row["table"], row["operation"], row["verdict"], row["sqlstate"]) for row in rows} == {
        ("p", "public.t", "insert", "filtered", None),
        ("p", "public.t", "update", "refused", "42P10"),
        ("p", "public.t", "delete", "refused", "42P10"),
        ("p", "public.t", "truncate", "sent", None),
        ("k", "public.t", "insert", "filtered", None),
        ("k", "public.t", "delete", "filtered", None),
    }
    row = next(row for row in rows if row["publication"] == "k")
    assert (row["filter"], row["columns"], row["identity"]) == ("id > 1", ["id"], "primary key")
    assert (row["repository"], row["path"], row["line"], row["postgres"]) == ("a", "corpus/a/2.sql", 1, [18])


def test_a_run_is_written_again_and_a_failed_one_does_not_exist(
    audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = plant({"a/a.sql": PUBLISHES, "b/b.sql": "SELECT 1;"})
    audits.run(corpus)
    first = {name: audits.rows(name) for name in ("findings", "quarantine")}
    audits.run(corpus)
    assert {name: audits.rows(name) for name in first} == first
    assert [row["run"] for row in audits.store.runs().collect()] == ["r1"]

    class Unsendable(FaultyLinter):
        def __reduce__(self) -> tuple[Any, ...]:
            return (int, ("no number",))

    monkeypatch.setattr("pubcheck.spark.inputs._CHUNK", 1)
    with pytest.raises(PySparkException, match="the process that lints does not start"):
        audits.run(corpus, linter=Unsendable())
    assert audits.store.runs().count() == 0
    assert not (Path(audits.store.where) / "listing").exists()
    with pytest.raises(NoRun, match="there is no run r1 in"):
        audits.store.find("r1")
    audits.run(corpus)
    with pytest.raises(NoRun, match="cannot be read meanwhile"):
        audits.run(corpus, "r1", since="r1")
    assert audits.store.find("latest") == "r1"


KILLED = """
import os, sys
from pubcheck.spark.inputs import Folders
from pubcheck.spark.job import Options, audit
from pubcheck.spark.runs import Store
from pubcheck.spark.session import session
from tests.spark.faulty import KillsTheJob

spark = session("killed", "local[1]", None, {"spark.driver.memory": "512m"})
store = Store(spark, sys.argv[1])
audit(spark, Folders("corpus"), store, KillsTheJob(os.getpid()), Options(run="r1"))
"""


def test_a_job_that_is_killed_leaves_no_run_and_can_be_run_again(audits: Audits, plant: Plant) -> None:
    corpus = plant({f"r{number}/a.sql": PUBLISHES for number in range(3)})
    audits.run(corpus)
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "PYSPARK_PYTHON": sys.executable}
    # What Spark starts keeps the pipe: the call ends when all of it has.
    done = subprocess.run(
        [sys.executable, "-c", KILLED, audits.store.where], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert audits.store.runs().count() == 0
    with pytest.raises(NoRun):
        audits.store.find("latest")
    summary = audits.run(corpus)
    assert (audits.store.find("latest"), summary.metrics["units_linted"]) == ("r1", 3)
    assert exactly(audits.findings()) == exactly(linted("corpus"))


def test_a_format_that_spark_does_not_know_is_said(audits: Audits) -> None:
    with pytest.raises(BadInput, match="--format: Spark has no data source nosuch"):
        audits.run(Rows("x", "nosuch", Columns("repository", "path", "content")))


def test_a_corpus_without_a_file_is_no_run(audits: Audits, tmp_path: Path) -> None:
    with pytest.raises(EmptyInput, match=r"no \.sql file under"):
        audits.run(tmp_path)


@pytest.mark.parametrize("rows", [False, True], ids=["folders", "rows"])
def test_the_units_of_the_sample_repositories_are_those_of_lint(
    spark: SparkSession, audits: Audits, plant: Plant, rows: bool
) -> None:
    top = SAMPLES.resolve()
    samples = {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}
    # A unit that the configuration of a repository names is none in a corpus.
    files = {
        name: content for name, content in samples.items() if not name.startswith(("configured/", "orders", "shop"))
    }
    plant(files)
    given: Input = Folders("corpus")
    if rows:
        table = [(name.partition("/")[0], f"corpus/{name}", bytearray(content)) for name, content in files.items()]
        spark.createDataFrame(table, "repository STRING, path STRING, content BINARY").createOrReplaceTempView(
            "samples"
        )
        given = Rows("samples", "table", Columns("repository", "path", "content"))
    audits.run(given)
    repositories = sorted({f"corpus/{name.partition('/')[0]}" for name in files})
    expected = [plan.name for repository in repositories for plan in find_plans([repository])]
    assert Counter(audits.ends()) == Counter(dict.fromkeys(expected, ("linted", None)))
    assert exactly(audits.findings()) == exactly(linted(*repositories))


@pytest.mark.parametrize("format_", ["parquet", "json", "csv", "table"])
def test_a_table_of_files_gives_what_its_files_give(
    spark: SparkSession, audits: Audits, plant: Plant, tmp_path: Path, format_: str
) -> None:
    files: dict[str, str | bytes] = {
        "shop/schema/1.sql": "CREATE TABLE t (id int PRIMARY KEY, r text);",
        "shop/schema/2.sql": "CREATE PUBLICATION p FOR TABLE t WHERE (r = 'é');",
        "shop/other/x.sql": "CREATE PUBLICATION q FOR TABLE missing WHERE (random() > 0.5);",
        "quiet/a.sql": "CREATE TABLE t (id int);",
    }
    files = {name: f'{text!s}\n-- of "several" lines' for name, text in files.items()}
    plant(files)
    rows = [(name.partition("/")[0], f"corpus/{name}", text) for name, text in files.items()]
    rows += [
        ("shop", "corpus/shop/README.md", "CREATE PUBLICATION"),
        ("shop", "corpus/.git/h.sql", "CREATE PUBLICATION"),
    ]
    table = spark.createDataFrame(rows, "repo_name STRING, file STRING, code STRING")
    where = str(tmp_path / "files")
    if format_ == "table":
        where = f"files_{os.getpid()}"
        table.createOrReplaceTempView(where)
    elif format_ == "csv":
        table.write.options(header=True, escape='"').csv(where)
    else:
        table = table.withColumn("code", F.encode("code", "utf-8")) if format_ == "parquet" else table
        table.write.format(format_).save(where)
    summary = audits.run(Rows(where, format_, Columns("repo_name", "file", "code")))
    assert exactly(audits.findings()) == exactly(linted("corpus"))
    assert audits.ends() == {
        "corpus/shop/schema": ("linted", None),
        "corpus/shop/other": ("linted", None),
        "corpus/quiet": ("nothing-to-lint", None),
    }
    assert (summary.metrics["files"], summary.metrics["files_nothing_to_lint"]) == (5, 2)
    assert summary.metrics["rows_passed_over"] == 1
    with pytest.raises(BadInput, match=r"has no column path, it has .*: say --path-column"):
        audits.run(Rows(where, format_, Columns("repo_name", "path", "code")))


def test_rows_that_are_no_file_are_quarantined(spark: SparkSession, audits: Audits) -> None:
    rows: list[tuple[str | None, str | None, str | None]] = [
        ("a", "1.sql", PUBLISHES),
        ("a", "1.sql", PUBLISHES),
        ("a", "1.sql", PUBLISHES + "-- another version"),
        ("a", "2.sql", None),
        ("a", None, PUBLISHES),
        ("a", "", PUBLISHES),
        ("a", "README.md", PUBLISHES),
        (None, "3.sql", PUBLISHES),
        ("large", "4.sql", PUBLISHES + "-" * SMALL),
        ("quiet", "5.sql", "-" * 2 * SMALL),
        ("quiet", "6.sql", "SELECT 1;"),
    ]
    spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("odd")
    summary = audits.run(Rows("odd", "table", Columns("repository", "path", "content")))
    assert Counter(
        (row["repository"], row["unit"], row["path"], row["reason"]) for row in audits.rows("quarantine")
    ) == {
        ("a", ".", "1.sql", "duplicate"): 2,
        ("a", ".", "2.sql", "unreadable"): 1,
        ("a", None, None, "unreadable"): 2,
        ("large", ".", None, "too-large"): 1,
        ("large", ".", "4.sql", "too-large"): 1,
        ("quiet", ".", "5.sql", "too-large"): 1,
    }
    assert (summary.metrics["files"], summary.metrics["files_linted"]) == (10, 2)
    assert summary.metrics["files_quarantined"] == sum(files for _, files in summary.quarantine.values()) == 7
    assert summary.metrics["rows_passed_over"] == 1
    assert sum(1 for row in audits.rows("findings") if row["rule"] == "PUB301") == 4
    assert {row["repository"] for row in audits.rows("units")} == {"a", "", "large", "quiet"}


@pytest.mark.parametrize("rows", [[], [("a", "README.md", PUBLISHES)]], ids=["none", "none-to-read"])
def test_a_table_without_a_file_is_an_audit_of_nothing(
    spark: SparkSession, audits: Audits, rows: list[tuple[str, str, str]]
) -> None:
    spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("empty")
    summary = audits.run(Rows("empty", "table", Columns("repository", "path", "content")))
    assert (summary.metrics["files"], summary.metrics["rows_passed_over"]) == (0, len(rows))
    assert audits.rows("units") == []


@pytest.mark.parametrize("rows", [False, True], ids=["folders", "rows"])
def test_a_file_that_is_too_large_takes_none_with_it_that_lint_keeps_apart(
    spark: SparkSession, audits: Audits, plant: Plant, rows: bool
) -> None:
    files: dict[str, str | bytes] = {"big/a.sql": PUBLISHES + "-- pad\n" * SMALL, "big/b.sql": PUBLISHES}
    plant(files)
    given: Input = Folders("corpus")
    if rows:
        table = [(name.partition("/")[0], f"corpus/{name}", text) for name, text in files.items()]
        spark.createDataFrame(table, "repository STRING, path STRING, content STRING").createOrReplaceTempView("big")
        given = Rows("big", "table", Columns("repository", "path", "content"))
    audits.run(given)
    assert exactly(audits.findings()) == exactly(linted("corpus/big/b.sql"))
    assert Counter(audits.ends().values()) == {("linted", None): 1, ("quarantined", "too-large"): 1}


def test_files_whose_names_are_no_text_are_told_apart(audits: Audits, plant: Plant) -> None:
    corpus = os.fsencode(plant({"r/a/x.sql": "SELECT 1;"}))
    for name in (
        b"r/inv\xff/x.sql",
        b"r/inv\xfe/x.sql",
        b"r/b/\xff.sql",
        b"r/b/\xfe.sql",
        b"s\xff/x.sql",
        b"s\xfe/x.sql",
    ):
        path = os.path.join(corpus, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(PUBLISHES)
    summary = audits.run(Path("corpus"))
    assert len(audits.findings()) == 12
    assert exactly(audits.findings()) == exactly(linted("corpus"))
    assert (summary.metrics["files_linted"], summary.metrics["units_linted"]) == (7, 7)
    assert not audits.quarantined()
    assert {row["repository"] for row in audits.rows("findings")} == {"r", "s\\xff", "s\\xfe"}


def test_units_of_every_size_are_linted_once(audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of small repositories at once, two large ones in a partition alone, and many of one large repository; of a
    listing that the driver writes in pieces."""
    monkeypatch.setattr("pubcheck.spark.inputs._CHUNK", 100)
    most = "-- x\n" * (costs.SMALL // 5)
    files = {f"r{number}/a.sql": PUBLISHES + (most if number in (3, 17) else "-- x\n" * number) for number in range(30)}
    many = 2 * costs.SMALL // costs.cost(len(PUBLISHES), 1)
    files |= {f"many/u{number}/a.sql": PUBLISHES for number in range(many)}
    corpus = plant(files)
    summary = audits.run(corpus, small=False)
    assert summary.metrics["units_linted"] == 30 + many
    assert exactly(audits.findings()) == exactly(linted("corpus"))


@pytest.mark.parametrize("table", TABLES)
def test_a_table_says_what_each_column_means(table: str) -> None:
    columns: tuple[Column, ...] = TABLES[table]
    assert len({column.name for column in columns}) == len(columns)
    assert all(column.says or column.name in ("started", "finished") for column in columns)


def test_what_explain_says_comes_in_the_order_of_the_columns() -> None:
    assert Published.__struct_fields__ == tuple(column.name for column in PUBLISHED)
