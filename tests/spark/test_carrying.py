"""What is carried over from an earlier run, and what is not."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pubcheck.config import Config
from pubcheck.discovery.walk import find_repositories
from pubcheck.spark.folder_input import FolderInput, state_of
from pubcheck.spark.inputs import Input
from pubcheck.spark.report_data import collect
from pubcheck.spark.sources import TableColumns, TableInput
from pubcheck.spark.store import Folders
from tests.spark.audits import SMALL, Audits, exactly
from tests.spark.conftest import PUBLISHES, Plant, linted
from tests.spark.faulty import FaultyLinter

pytestmark = pytest.mark.spark


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
    assert summary.notes == (
        "Nothing was carried over from run r3: it used another pubcheck version, rules or configuration.",
    )

    summary = audits.run(corpus, "r5", since="r3", linter=FaultyLinter(Config(fail_on="error", fail_on_assumed=True)))
    assert (summary.metrics["units_carried"], summary.notes) == (4, ()), "no finding depends on it"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is so young that a change could not be told."""
    monkeypatch.setattr("pubcheck.spark.folder_input._TICK", -(10**18))
    monkeypatch.setattr("pubcheck.spark.folder_input._COARSE", -(10**18))


def without(rows: list[dict[str, Any]], *columns: str) -> list[str]:
    return sorted(str({name: value for name, value in row.items() if name not in columns}) for row in rows)


@pytest.mark.usefixtures("settled")
def test_a_corpus_that_has_not_changed_is_carried_over_whole(
    audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    # Where the folder is not one of this machine, Spark writes the same tables.
    monkeypatch.setattr(Folders, "are_here", lambda folders, path: False)
    assert audits.run(corpus, "r3", since="r1").rules == full.rules
    for table in ("findings", "publications", "quarantine", "repositories", "units"):
        assert without(audits.rows(table, "r2")) == without(audits.rows(table, "r3"))
    assert audits.rows("runs", "r3")[0].keys() == audits.rows("runs", "r2")[0].keys()


@pytest.mark.usefixtures("settled")
def test_of_repositories_only_those_that_have_changed_are_looked_at(
    audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where tasks list them: then first of all their states, and then the files of some."""
    monkeypatch.setattr("pubcheck.spark.folder_input._LISTED_HERE", 1)
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


def test_rows_of_repositories_that_have_not_changed_are_carried_over(spark: SparkSession, audits: Audits) -> None:
    def table_of(*rows: tuple[str, str, str | None]) -> Input:
        spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("some")
        return TableInput("some", "table", TableColumns("repository", "path", "content"))

    same = (("a", "1.sql", PUBLISHES), ("a", "1.sql", "SELECT 1;"), ("b", "2.sql", PUBLISHES), ("c", "3.sql", "SELECT"))
    audits.run(table_of(*same, ("d", "4.sql", None)))
    summary = audits.run(table_of(*same, ("d", "4.sql", None)), "r2", since="r1")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units_carried"]) == (3, 2)
    assert audits.findings("r2") == audits.findings("r1")
    assert audits.quarantined("r2") == audits.quarantined("r1")
    summary = audits.run(table_of(*same[1:], ("e", "5.sql", PUBLISHES)), "r3", since="r2")
    assert (summary.metrics["repositories_unchanged"], summary.metrics["units"]) == (2, 4)
    assert {row["repository"] for row in audits.rows("findings", "r3")} == {"b", "e"}


def test_latest_is_the_latest_of_the_same_input(audits: Audits, plant: Plant) -> None:
    corpus = plant({"a/a.sql": PUBLISHES, "b/b.sql": PUBLISHES})
    audits.run(corpus / "a", "r1")
    audits.run(corpus / "b", "r2")
    assert audits.store.find("latest") == "r2"
    assert [audits.store.find("latest", f"corpus/{name}") for name in "abc"] == ["r1", "r2", "r2"]
    assert FolderInput("corpus/a/").name == FolderInput("corpus/a").name
    document = collect(audits.store, "r2")
    assert (document.change, [past.run for past in document.history]) == (None, ["r2"])
    assert audits.run(corpus / "a", "r3", since="r2").notes == ("Run r2 is of another input, corpus/b.",)
    change = collect(audits.store, "r3").change
    assert change is not None
    assert change.input == "corpus/b"


def test_what_looks_as_it_did_is_not_read(audits: Audits, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pubcheck.spark.folder_input.state_of", lambda *_: ("the same", 0))
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
