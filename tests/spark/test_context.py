"""Units in an audit whose findings depend on other files: on context, which is replayed before the unit's own files and
not reported on, on the label that `apps.py` gives to an application of Django, and on the rest of the repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest
from pyspark.sql import SparkSession

from pubcheck.config import Config
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.sources import TableColumns, TableInput
from tests.spark.audits import SMALL, Audits, exactly
from tests.spark.conftest import Plant, linted

pytestmark = pytest.mark.spark

ORDERS = "CREATE TABLE orders (id int, total int);\nCREATE PUBLICATION shop FOR TABLE orders WHERE (total > 1);\n"
LATE = "CREATE PUBLICATION late FOR TABLE orders WHERE (total > 2);\n"
MIGRATION, SCRIPT = "app/supabase/migrations/20240101_orders.sql", "app/scripts/late.sql"
FILES: Mapping[str, str | bytes] = {
    MIGRATION: ORDERS,
    SCRIPT: LATE,
    "alt/sql/base.sql": "CREATE TABLE t (id int, a int);",
    "alt/sql/one.sql": "ALTER PUBLICATION p ADD TABLE t WHERE (a > now());",
    "alt/sql/two.sql": "ALTER PUBLICATION p ADD TABLE t WHERE (a > 2); ALTER PUBLICATION p ADD TABLE t;",
}


DJANGO = """\
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = []
    operations = [
        migrations.CreateModel(name="Item", fields=[("a", models.IntegerField(primary_key=True))]),
        migrations.RunSQL("CREATE PUBLICATION p FOR TABLE sales_item (none)"),
    ]
"""
CONFIGURED = "from django.apps import AppConfig\n\n\nclass Shop(AppConfig):\n    label = {}\n"


def as_rows(spark: SparkSession, files: Mapping[str, str | bytes]) -> TableInput:
    """The same files as the rows of a table."""
    table = [
        (name.partition("/")[0], f"corpus/{name}", bytearray(text.encode() if isinstance(text, str) else text))
        for name, text in files.items()
    ]
    spark.createDataFrame(table, "repository STRING, path STRING, content BINARY").createOrReplaceTempView("context")
    return TableInput("context", "table", TableColumns("repository", "path", "content"))


UNREAD = {name.replace("app/", "unread/"): text for name, text in ((MIGRATION, ORDERS), (SCRIPT, LATE))}
NO_TEXT = "unread/supabase/migrations/20240102_none.sql"
HEAVY = {name.replace("app/", "heavy/"): text for name, text in ((MIGRATION, ORDERS + "-" * SMALL), (SCRIPT, LATE))}
LABELLED = {f"{name}/shop/migrations/0001_initial.py": DJANGO for name in ("named", "computed", "plain")} | {
    "named/shop/apps.py": CONFIGURED.format("'sales'"),
    "computed/shop/apps.py": CONFIGURED.format("f()"),
}
AUTH = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t, auth.users;\n"
SUPABASE = {"r/supabase/config.toml": "", "r/db/a.sql": AUTH, "other/db/a.sql": AUTH}


class Audited:
    """The tables of one audit of all these repositories."""

    def __init__(self, audits: Audits) -> None:
        self._findings, self._ends, self._quarantined = audits.findings(), audits.ends(), audits.quarantined()
        self.finding_rows, self.publications = audits.rows("findings"), audits.rows("publications")
        self._units = audits.rows("units")

    def findings(self, *repositories: str) -> list[dict[str, Any]]:
        return [finding for finding in self._findings if repository_of(finding["path"]) in repositories]

    def ends(self, *repositories: str) -> dict[str, tuple[str, str | None]]:
        return {unit: end for unit, end in self._ends.items() if repository_of(unit) in repositories}

    def quarantined(self, repository: str) -> set[tuple[str | None, str | None, str]]:
        return {lost for lost in self._quarantined if repository_of(lost[0] or lost[1] or "") == repository}

    def counts(self, *repositories: str) -> tuple[int, int, int, int]:
        """Files, those that were linted, those that are quarantined, and bytes."""
        units = [row for row in self._units if row["repository"] in repositories]
        files, linted, quarantined, size = (
            sum(row[name] for row in units) for name in ("files", "files_linted", "files_quarantined", "bytes")
        )
        return files, linted, quarantined, size


def repository_of(label: str) -> str:
    return label.split("/")[1]


@pytest.fixture(scope="module", params=[False, True], ids=["folders", "rows"])
def audited(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Audited]:
    """Of the folders, or of their files as the rows of a table."""
    files: dict[str, str | bytes] = {**FILES, **UNREAD, NO_TEXT: b"\x00", **HEAVY, **LABELLED, **SUPABASE}
    folder = tmp_path_factory.mktemp("contexts")
    for name, text in (files | {"r/.git/HEAD": "", "other/.git/HEAD": ""}).items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        audits = Audits(spark, folder / "audit")
        audits.run(as_rows(spark, files) if request.param else FolderInput("corpus"))
        yield Audited(audits)


def test_units_with_context_are_linted_as_lint_does(audited: Audited) -> None:
    repositories = ("corpus/alt", "corpus/app")
    units = [unit for repository in repositories for unit in find_units([repository])]
    assert sum(bool(unit.context) for unit in units) == 3
    assert Counter(audited.ends("alt", "app")) == Counter({unit.name: ("linted", None) for unit in units})
    findings = audited.findings("alt", "app")
    assert exactly(findings) == exactly(linted(*repositories))
    assert {finding["path"] for finding in findings} >= {f"corpus/{MIGRATION}", f"corpus/{SCRIPT}"}
    identities = {
        (row["unit"], row["fingerprint"]) for row in audited.finding_rows if row["repository"] in ("alt", "app")
    }
    assert len(identities) == len({fingerprint for _, fingerprint in identities}) == len(findings)
    assert audited.counts("alt", "app") == (5, 5, 0, sum(map(len, FILES.values())))
    publications = {
        (row["unit"], row["publication"]) for row in audited.publications if row["repository"] in ("alt", "app")
    }
    assert {publication for publication in publications if publication[1] != "p"} == {
        ("corpus/app/supabase/migrations", "shop"),
        ("corpus/app/scripts", "late"),
    }


def test_a_context_that_cannot_be_read_is_quarantined_where_it_is_counted(audited: Audited) -> None:
    assert exactly(audited.findings("unread")) == exactly(linted("corpus/unread"))
    assert audited.quarantined("unread") == {("corpus/unread/supabase/migrations", f"corpus/{NO_TEXT}", "not-text")}
    assert audited.counts("unread")[:3] == (3, 2, 1)


def test_a_unit_whose_context_is_too_large_is_quarantined(audited: Audited) -> None:
    migration, script = (f"corpus/{name}" for name in HEAVY)
    migrations, scripts = "corpus/heavy/supabase/migrations", "corpus/heavy/scripts"
    assert audited.quarantined("heavy") == {
        (migrations, None, "too-large"),
        (migrations, migration, "too-large"),
        (scripts, None, "too-large"),
        (scripts, script, "too-large"),
    }
    assert audited.counts("heavy")[:3] == (2, 0, 2)


def test_the_tables_of_an_application_have_its_label(audited: Audited) -> None:
    repositories = ("named", "computed", "plain")
    findings = audited.findings(*repositories)
    assert exactly(findings) == exactly(linted(*(f"corpus/{repository}" for repository in repositories)))
    certain = {(repository_of(row["path"]), row["rule"]) for row in findings if row["certainty"] == "certain"}
    assert certain == {("named", "PUB401")}


def test_a_project_of_supabase_is_the_platform_of_its_repository(audited: Audited) -> None:
    findings = audited.findings("r", "other")
    assert exactly(findings) == exactly(linted("corpus/r", "corpus/other"))
    assert [(row["path"], row["rule"]) for row in findings] == [("corpus/other/db/a.sql", "PUB107")]


def test_a_unit_is_linted_again_when_its_context_changes(audits: Audits, plant: Plant) -> None:
    corpus = plant(FILES)
    audits.run(corpus)
    plant({MIGRATION: ORDERS + "ALTER TABLE orders REPLICA IDENTITY FULL;"})
    summary = audits.run(corpus, "r2", since="r1")
    assert summary.metrics["units_carried"] == len(find_units(["corpus/alt"]))
    assert exactly(audits.findings("r2")) == exactly(linted("corpus/alt", "corpus/app"))
    refused = {row["path"].split("/")[1] for row in audits.findings("r2") if row["rule"] == "PUB301"}
    assert refused == {"alt"}


def test_repositories_in_a_repository_and_links_are_units_as_lint_has_them(audits: Audits, plant: Plant) -> None:
    table, publication = "CREATE TABLE t (id int, a int);\n", "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);\n"
    corpus = plant(
        {
            "r/tables/a.sql": table,
            "r/module/.git/HEAD": "",
            "r/module/p.sql": publication,
            "s/db/a.sql": table + publication,
            "s/other/b.sql": "CREATE PUBLICATION q FOR TABLE none;",
        }
    )
    (corpus / "s/zlinks").mkdir()
    (corpus / "s/zlinks/a.sql").symlink_to("../db/a.sql")
    summary = audits.run(corpus)
    repositories = ("corpus/r", "corpus/s")
    assert exactly(audits.findings()) == exactly(linted(*repositories))
    assert set(audits.ends()) == {unit.name for repository in repositories for unit in find_units([repository])}
    assert (summary.metrics["files"], summary.metrics["files_linted"]) == (5, 4)


def test_templates_that_the_configuration_includes_are_read_as_sql(audits: Audits, plant: Plant) -> None:
    corpus = plant(
        {
            "r/db/1.sql.j2": "CREATE TABLE t (id int, a int);",
            "r/db/2.sql": "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);",
        }
    )
    config = Config(include=("*.sql.j2",))
    linter = Linter(config)
    audits.run(FolderInput(str(corpus), config), linter=linter)
    (unit,) = find_units(["corpus/r"], config)
    assert len(unit.files) == 2
    expected = [msgspec.to_builtins(finding.entry) for finding in lint_files(unit, linter).findings]
    assert exactly(audits.findings()) == exactly(expected)
    assert {row["rule"] for row in audits.findings() if row["certainty"] == "certain"} >= {"PUB301"}
