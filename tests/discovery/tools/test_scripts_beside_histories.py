"""Scripts beside a history or a full schema: what is run after what, and what is no history at all."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files
from tests.discovery.tools.trees import PUBLICATION, TABLE, Grow, plant, shown, units

ADD = "ALTER PUBLICATION supabase_realtime ADD TABLE {};\n"


def lint(*paths: str) -> list[tuple[str, str, str]]:
    linter = Linter(Config(postgres=(18,)))
    judged = [lint_files(plan, linter, excerpts=False) for plan in find_units(paths or ("repo",))]
    return [
        (finding.entry.path.removeprefix("repo/"), finding.entry.rule, finding.entry.certainty)
        for outcome in judged
        for finding in outcome.findings
    ]


def test_migrations_of_supabase_with_a_dash_are_in_the_history(grow: Grow) -> None:
    grow("repo/supabase/migrations/20250102000000-0a1b2c3d-aaaa-bbbb-cccc-000000000000.sql")
    grow("repo/supabase/migrations/20250103000000_c.sql", "repo/supabase/migrations/20250101000000_a.sql")
    grow("repo/supabase/migrations/README.sql")
    [files] = [files for convention, files in units().values() if convention == "supabase"]
    assert [file.rpartition("/")[2][:8] for file in files] == ["20250101", "20250102", "20250103"]


@pytest.mark.parametrize("script", ["enable_realtime.sql", "supabase/enable_realtime.sql", "src/db/fix.sql"])
def test_a_loose_script_follows_the_migrations_whose_tables_it_names(grow: Grow, script: str) -> None:
    grow()
    migrations = "supabase/migrations/1_a.sql"
    plant({f"repo/{migrations}": TABLE.format("t") + ADD.format("t"), f"repo/{script}": ADD.format("t, u")})
    [own] = [files for _, files in units().values() if script in files]
    assert own == [migrations, script]
    assert shown("repo") in (
        [[f"(repo/{migrations})", f"repo/{script}"], [f"repo/{migrations}"]],
        [[f"repo/{migrations}"], [f"(repo/{migrations})", f"repo/{script}"]],
    )
    assert shown(f"repo/{script}") == [[f"(repo/{migrations})", f"repo/{script}"]]
    # When it was run is not known.
    assert (script, "PUB130", "assumed") in lint()
    assert lint(f"repo/{script}") == lint()
    assert [finding for finding in lint() if finding[0] == migrations] == []


def test_a_loose_script_with_tables_of_its_own_follows_nothing(grow: Grow) -> None:
    grow()
    plant({"repo/supabase/migrations/1_a.sql": TABLE.format("t"), "repo/schema.sql": TABLE.format("t")})
    plant({"repo/publish.sql": "SELECT 1;", "repo/docs/add.sql": ADD.format("t")})
    assert all(len(files) == 1 or files[0] == "publish.sql" for _, files in units().values())


@pytest.mark.parametrize("folder", ["db/upgrades", "db/updates", "db/patches", "upgrade"])
def test_upgrades_beside_a_full_schema_are_not_run_after_it(grow: Grow, folder: str) -> None:
    grow()
    plant({"repo/db/schema.sql": TABLE.format("t"), "repo/db/publish/p.sql": PUBLICATION.format("t")})
    plant({f"repo/{folder}/2.sql": "ALTER TABLE t DROP CONSTRAINT t_pkey;\n"})
    plant({f"repo/{folder}/3.sql": "CREATE PUBLICATION q FOR TABLE t;\n"})
    assert ["db/schema.sql", "db/publish/p.sql"] in [files for _, files in units().values()]
    assert [finding for finding in lint() if finding[1] == "PUB302"] == []


@pytest.mark.parametrize("script", ["upgrade.sql", "upgrade-1.0-1.1.sql", "shop_upgrade_2.sql", "shop--1.0--1.1.sql"])
def test_an_upgrade_in_the_folder_of_a_full_schema_is_not_run_after_it(grow: Grow, script: str) -> None:
    grow()
    plant({"repo/db/schema.sql": TABLE.format("t") + PUBLICATION.format("t")})
    plant({f"repo/db/{script}": "ALTER PUBLICATION p ADD TABLE t;\n"})
    assert [finding for finding in lint() if finding[1] == "PUB130"] == []


@pytest.mark.parametrize("folder", ["cases", "migrations"])
@pytest.mark.parametrize("guard", ["", "IF NOT EXISTS "])
def test_files_that_create_the_same_tables_are_no_history(grow: Grow, folder: str, guard: str) -> None:
    grow()
    table, names = f"CREATE TABLE {guard}t (id int PRIMARY KEY);\n", [f"{number}_case.sql" for number in (1, 2, 3)]
    plant({f"repo/{folder}/{name}": table + PUBLICATION.format("t") for name in names})
    assert sorted(units().values(), key=lambda unit: unit[1]) == [("file", [f"{folder}/{name}"]) for name in names]
    assert lint() == []


@pytest.mark.parametrize(
    "script", [ADD.format("t, u"), "CREATE PUBLICATION p FOR TABLE t;", "ALTER PUBLICATION p ADD TABLE t;"]
)
def test_a_loose_script_that_creates_no_table_runs_where_the_tables_are(grow: Grow, script: str) -> None:
    grow()
    plant({"repo/enable.sql": script})
    assert lint() == []
    # A file that is given by name is meant to be checked: what is not in it is reported.
    assert {rule for _, rule, _ in lint("repo/enable.sql")} <= {"PUB106", "PUB107"}
    assert lint("repo/enable.sql")
    plant({"repo/enable.sql": TABLE.format("own") + script})
    assert {rule for _, rule, _ in lint()} <= {"PUB106", "PUB107"}
    assert lint()


def test_other_dialects_in_a_loose_folder_are_noted_in_the_files_about_replication(grow: Grow) -> None:
    grow()
    plant({"repo/a.sql": TABLE.format("t") + "DESCRIBE t FORMATTED;\n"})
    plant({"repo/b.sql": PUBLICATION.format("t") + "DESCRIBE t FORMATTED;\n"})
    assert [(path, rule) for path, rule, _ in lint()] == [("b.sql", "PUB004")]
    plant({"repo/migrations/1_a.sql": TABLE.format("t") + "DESCRIBE t FORMATTED;\n"})
    plant({"repo/migrations/2_b.sql": PUBLICATION.format("t")})
    assert [path for path, rule, _ in lint() if rule == "PUB004"] == ["b.sql", "migrations/1_a.sql"]


def test_scripts_that_add_the_same_tables_are_alternatives(grow: Grow) -> None:
    grow()
    plant({"repo/tables.sql": TABLE.format("t") + TABLE.format("u")})
    change = "ALTER PUBLICATION p ADD TABLE {};\n"
    plant({"repo/one.sql": change.format("t"), "repo/other.sql": change.format("public.t") + change.format("nowhere")})
    assert sorted(shown("repo")) == [
        ["(repo/tables.sql)", "repo/one.sql"],
        ["(repo/tables.sql)", "repo/other.sql"],
        ["repo/tables.sql"],
    ]
    assert lint() == [
        ("one.sql", "PUB106", "assumed"),
        ("other.sql", "PUB106", "assumed"),
        ("other.sql", "PUB107", "assumed"),
    ]
    plant({"repo/other.sql": "CREATE PUBLICATION IF NOT EXISTS p;\n" + change.format("t")})
    assert len(shown("repo")) == 3
    plant({"repo/other.sql": change.format("u")})
    assert shown("repo") == [["repo/tables.sql", "repo/one.sql", "repo/other.sql"]]


def test_a_unit_keeps_its_context_when_several_folders_are_linted(grow: Grow) -> None:
    grow()
    change = "ALTER PUBLICATION p ADD TABLE t;\n"
    plant({"repo/tables.sql": TABLE.format("t"), "repo/one.sql": change, "repo/other.sql": change})
    plant({"more/a.sql": TABLE.format("a")})
    assert sorted(shown("repo", "more")) == sorted([*shown("repo"), *shown("more")])
