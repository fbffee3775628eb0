"""What the report of an audit counts: the same as its tables hold."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from pubcheck.cli.audit_run import summarised
from pubcheck.diagnostics import SEVERITIES
from pubcheck.engine.linter import Linter
from pubcheck.report import audit_html
from pubcheck.report.audit_html import Audit, Ends, Usage
from pubcheck.spark import report_data
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.job import Options, audit
from pubcheck.spark.progress import SparkProgress
from pubcheck.spark.report_data import collect
from tests.spark.audits import Audits
from tests.spark.conftest import PUBLISHES, Plant

pytestmark = pytest.mark.spark

TABLE = "CREATE TABLE t (id int PRIMARY KEY, g int GENERATED ALWAYS AS (id) STORED, r text);\n"
FILES: dict[str, str | bytes] = {
    "shop/a.sql": PUBLISHES,
    "shop/old/b.sql": PUBLISHES + "CREATE PUBLICATION p FOR ALL TABLES;",
    "list/a.sql": TABLE + "CREATE PUBLICATION l FOR TABLE t (id, r) WITH (publish = 'insert');",
    "schema/a.sql": TABLE + "CREATE PUBLICATION s FOR TABLES IN SCHEMA public WITH (publish_via_partition_root = true,"
    " publish_generated_columns = stored);",
    "empty/a.sql": "CREATE PUBLICATION e;",
    "empty/b.sql": b"\x00",
    "quiet/a.sql": "SELECT 1;",
}


@pytest.fixture(scope="module")
def document(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """The second of two runs, between which one repository came, one went and one changed."""
    folder = tmp_path_factory.mktemp("reported")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        audits = Audits(spark, folder / "audit")
        for run, gone in (("r1", {"list/a.sql"}), ("r2", {"quiet/a.sql"})):
            for name, text in FILES.items():
                path = Path("corpus", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
                if name in gone:
                    path.unlink()
            if run == "r2":
                Path("corpus/shop/a.sql").write_text("\n" + PUBLISHES.replace("r = 'x'", "id = 1"))
            audits.run(Path("corpus"), run)
        report = collect(audits.store, "r2")
        rows = audits.rows("findings", "r2")
        patch.setattr(report_data, "MOST_OF_A_RULE", 1)
        patch.setattr(report_data, "MOST_FINDINGS", 3)
        few = collect(audits.store, "r2").findings
        assert len({(finding.rule, finding.severity) for finding in few}) == 3
    counted = Counter((row["rule"], row["severity"], row["certainty"]) for row in rows)
    for rule in report.rules:
        assert counted.pop((rule.code, rule.severity, "certain"), 0) == rule.certain
        assert counted.pop((rule.code, rule.severity, "assumed"), 0) == rule.assumed
        here = {row["repository"] for row in rows if (row["rule"], row["severity"]) == (rule.code, rule.severity)}
        assert len(here) == rule.repositories
    assert not counted
    return report


def test_totals_add_up(document: Audit) -> None:
    assert document.repositories == 4
    assert document.units == Ends(5, 5, 0, 0)
    assert document.files == Ends(6, 5, 0, 1)
    assert sum(document.severities.values()) == sum(rule.count for rule in document.rules)
    assert document.spread == {"none": 2, "1": 1, "2 to 9": 1, "10 to 99": 0, "100 and more": 0}
    assert [(reason.reason, reason.units, reason.files) for reason in document.quarantine] == [("not-text", 0, 1)]
    assert {timing.unit for timing in document.slowest} >= {"corpus/shop", "corpus/shop/old"}


def test_the_first_findings_of_each_rule_are_listed(document: Audit) -> None:
    listed = Counter((finding.rule, finding.severity, finding.certainty) for finding in document.findings)
    for rule in document.rules:
        assert listed[rule.code, rule.severity, "certain"] == rule.certain
        assert listed[rule.code, rule.severity, "assumed"] == rule.assumed
    severities = [SEVERITIES.index(finding.severity) for finding in document.findings]
    assert severities == sorted(severities, reverse=True)
    assert all(finding.path is not None and finding.line is not None for finding in document.findings)


def test_features_are_counted_by_publication(document: Audit) -> None:
    features = document.features
    assert (features.publications, features.repositories) == (5, 4)
    assert {name: share for name, share in features.used.items() if share.publications} == {
        "row filter": Usage(2, 1),
        "column list": Usage(1, 1),
        "FOR TABLE": Usage(3, 2),
        "TABLES IN SCHEMA": Usage(1, 1),
        "no member": Usage(1, 1),
        "publish option": Usage(1, 1),
        "publish_via_partition_root": Usage(1, 1),
        "publish_generated_columns": Usage(1, 1),
        "refused UPDATE or DELETE": Usage(1, 1),
    }
    assert features.verdicts["update"] == {"filtered": 1, "refused": 1, "sent": 1}


def test_the_worst_come_first_with_their_rules(document: Audit) -> None:
    first = document.worst[0]
    assert (first.name, first.units) == ("shop", 2)
    assert sum(first.rules.values()) == first.errors + first.warnings + first.notes
    assert first.rules["PUB301"] == 2


def test_change_is_by_fingerprint(document: Audit) -> None:
    change = document.change
    assert change is not None
    assert (change.run, change.alike) == ("r1", True)
    assert (change.repositories_new, change.repositories_gone) == (1, 1)
    by_rule = {rule.code: (rule.new, rule.gone, rule.same) for rule in change.rules}
    assert by_rule["PUB301"] == (0, 2, 2)
    assert [past.run for past in document.history] == ["r1", "r2"]


def test_it_is_told_and_shown(document: Audit) -> None:
    names = ("units", "repositories", "files", "statements", "units_carried", "errors", "warnings", "notes", "seconds")
    ends = (
        f"{counted}_{end}" for counted in ("units", "files") for end in ("linted", "nothing_to_lint", "quarantined")
    )
    summary = SimpleNamespace(run="r2", metrics=dict.fromkeys((*names, *ends), 1.0), notes=(), quarantine={}, rules=[])
    told = "\n".join(summarised(summary, "out", "out/report.html", document))  # type: ignore[arg-type]
    assert "the same as in run r1" in told
    assert "  shop\n" in told
    assert told.endswith("The report is out/report.html.")
    assert "corpus/empty/b.sql" in "".join(audit_html.render(document))


def test_progress_shows_steps_tasks_and_counts(spark: SparkSession, plant: Plant, audits: Audits) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with SparkProgress(spark, console) as shown:
        shown("listing files")
        shown("linting")
        shown._update(3, 12)
        shown._bar.refresh()
        corpus = FolderInput(str(plant({"a/a.sql": PUBLISHES, "b/b.sql": PUBLISHES, "quiet/a.sql": ""})))
        summary = audit(spark, corpus, audits.store, Linter(), Options(run="r1"), shown, shown.counters)
        shown._update(12, 12)
        shown._bar.refresh()
    output = console.file.getvalue()  # type: ignore[attr-defined]
    assert "pubcheck: listing files (0.0 s)" in output
    assert "3/12 tasks" in output
    assert "pubcheck: linting (" in output
    assert "12/12 tasks, 2 units, 4 errors, 0 warnings" in output
    costs = {name: value for name, value in summary.metrics.items() if name.endswith("_step_examining")}
    assert costs.keys() == {f"{name}_step_examining" for name in COSTS}
    assert costs["tasks_step_examining"] >= 1
    assert costs["seconds_tasks_step_examining"] > 0


COSTS = ("seconds", "tasks", "seconds_tasks", "bytes_read", "bytes_shuffled")
