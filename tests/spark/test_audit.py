"""The audit as a whole: nothing is lost, nothing is invented, and its findings are those of `pubcheck lint`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from corpus.generate import Shape, planted, repositories, write
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Followed
from pubcheck.engine.unit import Unit
from pubcheck.spark import costs
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.inputs import EmptyInput, Input
from pubcheck.spark.lint_process import Limits, Published
from pubcheck.spark.schema import PUBLISHED, Column
from pubcheck.spark.sources import TableColumns, TableInput
from pubcheck.spark.store import NoRun
from tests.spark.audits import QUICK, SMALL, TABLES, Audits, exactly
from tests.spark.conftest import PROJECT, PUBLISHES, Plant, linted
from tests.spark.faulty import FaultyBefore, FaultyLinter

pytestmark = pytest.mark.spark

SAMPLES = Path(__file__).parents[2] / "corpus" / "samples"


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
    findings = audits.findings()
    # In repositories without a publication lint may still say that a file is written for another database.
    assert exactly(findings) == exactly(
        linted(*(f"corpus/{repository.name}" for repository in made if repository.holds))
    )
    certain = Counter(
        (
            finding["path"],
            finding["line"],
            finding["rule"],
            finding["operation"],
            finding["server"] and finding["server"]["sqlstate"],
        )
        for finding in findings
        if finding["certainty"] == "certain" and finding["severity"] != "note"
    )
    assert certain == Counter(
        (
            f"corpus/{expected.repository}/{expected.path}",
            expected.line,
            expected.rule,
            expected.operation,
            expected.sqlstate,
        )
        for expected in planted("corpus")
    )
    assert certain.total() == counts.planted > 20
    passed_over = {row["repository"] for row in audits.rows("units") if row["status"] == "nothing-to-lint"}
    assert passed_over == {repository.name for repository in made if not repository.holds}
    assert summary.metrics["repositories"] == 50


POISON = {
    "crash/a.sql": "-- fault: segfault\n",
    "hang/a.sql": "-- fault: hang\n",
    "memory/a.sql": "-- fault: memory\n",
    "error/a.sql": "-- fault: error\n",
    "exit/a.sql": "-- fault: exit\n",
}


REASONS = {"crash": "crashed", "hang": "time-out", "memory": "memory", "error": "internal-error", "exit": "crashed"}


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
            *(f"{reason}/a" for reason in REASONS),
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


@pytest.mark.parametrize("rows", [False, True], ids=["folders", "rows"])
def test_files_that_the_search_for_units_dies_of_are_quarantined(
    spark: SparkSession, audits: Audits, plant: Plant, rows: bool
) -> None:
    reasons = {"segfault": "crashed", "hang": "time-out", "memory": "memory", "error": "internal-error"}
    files: dict[str, str | bytes] = {f"{fault}/a.sql": PUBLISHES + f"-- fault before: {fault}\n" for fault in reasons}
    files |= {f"{fault}/b.sql": "SELECT 1;" for fault in reasons}
    files |= {f"good{number}/a.sql": PUBLISHES for number in range(3)}
    source: Input = FolderInput(str(plant(files)))
    if rows:
        table = [(name.partition("/")[0], f"corpus/{name}", text) for name, text in files.items()]
        spark.createDataFrame(table, "repository STRING, path STRING, content STRING").createOrReplaceTempView("bad")
        source = TableInput("bad", "table", TableColumns("repository", "path", "content"))
    summary = audits.run(source, linter=FaultyBefore(), limits=Limits(3.0, 256 << 20))
    lost = {f"corpus/{fault}": ("quarantined", reason) for fault, reason in reasons.items()}
    assert audits.ends() == lost | {f"corpus/good{number}": ("linted", None) for number in range(3)}
    assert audits.quarantined() == {
        (unit, path, reason) for unit, (_, reason) in lost.items() for path in (None, f"{unit}/a.sql", f"{unit}/b.sql")
    }
    (row,) = (row for row in audits.rows("quarantine") if row["path"] == "corpus/error/a.sql")
    assert "LookupError: planted" in row["trace"]
    assert (summary.metrics["files_linted"], summary.metrics["files_quarantined"]) == (3, 8)
    assert audits.rows("runs")[0]["state"] is None


def test_each_publication_table_and_operation_has_its_verdict(audits: Audits, plant: Plant) -> None:
    keys = "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (k int, j int, PRIMARY KEY (k, j));"
    corpus = plant(
        {
            "a/1.sql": PUBLISHES,
            "a/2.sql": "CREATE PUBLICATION k FOR TABLE t (id) WHERE (id > 1) WITH (publish = 'insert, delete');",
            "keys/a.sql": f"{keys} CREATE PUBLICATION p FOR TABLE a, b;",
        }
    )
    audits.run(corpus)
    identities = {
        (row["table"], tuple(row["identity_columns"]))
        for row in audits.rows("publications")
        if row["repository"] == "keys"
    }
    assert identities == {("public.a", ("id",)), ("public.b", ("k", "j"))}
    rows = [row for row in audits.rows("publications") if row["repository"] == "a"]
    assert {(row["publication"], row["table"], row["operation"], row["verdict"], row["sqlstate"]) for row in rows} == {
        ("p", "public.t", "insert", "filtered", None),
        ("p", "public.t", "update", "refused", "42P10"),
        ("p", "public.t", "delete", "refused", "42P10"),
        ("p", "public.t", "truncate", "sent", None),
        ("k", "public.t", "insert", "filtered", None),
        ("k", "public.t", "delete", "refused", "42P10"),  # by p: nothing is sent to anybody
    }
    row = next(row for row in rows if row["publication"] == "k")
    assert (row["filter"], row["columns"], row["identity"]) == ("id > 1", ["id"], "primary key")
    assert (row["repository"], row["path"], row["line"], row["postgres"]) == ("a", "corpus/a/2.sql", 1, [18])


def test_findings_are_the_same_however_the_input_is_written(audits: Audits, plant: Plant) -> None:
    corpus = plant({"a/a.sql": PUBLISHES, "b/db/1.sql": PUBLISHES, "b/db/2.sql": "DROP PUBLICATION none;"})
    corpus.rename("moved")
    observed = []
    alike = ("moved", "./moved/", "moved/*")
    assert len({FolderInput(where).top for where in alike}) == 1
    for number, where in enumerate((alike[0], os.path.abspath("moved/*"), "../*/moved/[ab]")):
        audits.run(FolderInput(where), f"r{number}")
        observed.append(
            sorted((row["repository"], row["fingerprint"]) for row in audits.rows("findings", f"r{number}"))
        )
    assert len(observed[0]) == 5
    assert observed[0] == observed[1]
    assert not {repository for repository, _ in observed[2]} & {"a", "b"}, "repositories are called otherwise there"


def test_what_spark_raises_is_not_written_too() -> None:
    script = (
        "import logging; from pubcheck.spark.session import silence; silence()\n"
        "for name in ('DataFrameQueryContextLogger', 'SQLQueryContextLogger'):\n"
        "    logging.getLogger(name).exception('message', file='x', line='1')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=PROJECT)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_run_is_written_again_unless_that_fails(
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

    monkeypatch.setattr("pubcheck.spark.folder_input._LISTED_HERE", 1)
    with pytest.raises(PySparkException, match="the process that lints does not start"):
        audits.run(corpus, linter=Unsendable())
    assert {name: audits.rows(name) for name in first} == first
    with pytest.raises(PySparkException):
        audits.run(corpus, "r2", linter=Unsendable())
    with pytest.raises(NoRun, match="there is no run r2 in"):
        audits.store.find("r2")
    written = {path.parent.name for path in Path(audits.store.where).rglob("run=*")}
    assert written == {"runs", "findings", "publications", "units", "quarantine", "repositories", "metrics"}
    assert {path.name for path in Path(audits.store.where).rglob("run=*")} == {"run=r1"}
    with pytest.raises(NoRun, match="cannot be read at the same time"):
        audits.run(corpus, "r1", since="r1")
    assert audits.store.find("latest") == "r1"


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
    # A file that is too large takes none with it that lint keeps apart.
    large = {
        "too/large.sql": (PUBLISHES + "-- pad\n" * SMALL).encode(),
        "too/small.sql": PUBLISHES.encode(),
    }
    files |= large
    plant(files)
    source: Input = FolderInput("corpus")
    if rows:
        table = [(name.partition("/")[0], f"corpus/{name}", bytearray(content)) for name, content in files.items()]
        spark.createDataFrame(table, "repository STRING, path STRING, content BINARY").createOrReplaceTempView(
            "samples"
        )
        source = TableInput("samples", "table", TableColumns("repository", "path", "content"))
    audits.run(source)
    repositories = sorted({f"corpus/{name.partition('/')[0]}" for name in files.keys() - large.keys()})
    ends = audits.ends()
    assert {unit: ends.pop(f"corpus/{unit}") for unit in large} == {
        "too/large.sql": ("quarantined", "too-large"),
        "too/small.sql": ("linted", None),
    }
    expected = [plan.name for repository in repositories for plan in find_units([repository])]
    assert Counter(ends) == Counter(dict.fromkeys(expected, ("linted", None)))
    assert exactly(audits.findings()) == exactly(linted(*repositories, "corpus/too/small.sql"))


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
    listing that is written in pieces, the first of them by the driver."""
    monkeypatch.setattr("pubcheck.spark.folder_input._PLACES", 10)
    monkeypatch.setattr("pubcheck.spark.folder_input._LISTED_HERE", 1000)
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
    assert all(column.description or column.name in ("started", "finished") for column in columns)


def test_what_explain_says_comes_in_the_order_of_the_columns() -> None:
    assert Published.__struct_fields__ == tuple(column.name for column in PUBLISHED)
