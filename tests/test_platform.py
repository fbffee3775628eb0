"""What a platform makes is there without being made in the unit: no remark that it is missing, and nothing certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit, platform_of
from pubcheck.lint_files import lint_files
from pubcheck.source import Source


def lint(text: str, config: Config = Config(), convention: str = "") -> list[Diagnostic]:
    return list(Linter(config).lint(Unit((Source("a.sql", text),), convention=convention)).diagnostics)


MEMBER = "CREATE TABLE t (id int PRIMARY KEY);\nALTER PUBLICATION supabase_realtime ADD TABLE t;\n"


AUTH = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t, auth.users;\n"


def test_the_name_of_its_publication_shows_the_platform() -> None:
    assert lint(MEMBER) == []
    (finding,) = lint(MEMBER + "ALTER PUBLICATION supabase_realtme ADD TABLE t;")
    assert (finding.rule, finding.severity) == ("PUB106", "warning")
    assert finding.message.endswith('did you mean "supabase_realtime"?')


def test_columns_of_the_platform_s_publication_may_be_called_otherwise() -> None:
    renamed = "ALTER TABLE t RENAME COLUMN id TO key;"
    assert lint(MEMBER + renamed) == []
    assert [
        finding.rule for finding in lint(MEMBER.replace("ALTER", "CREATE PUBLICATION q FOR TABLE t; ALTER") + renamed)
    ] == ["PUB712"]


def test_where_a_convention_shows_the_platform_its_publication_is_no_news() -> None:
    assert lint(MEMBER, convention="supabase") == []


@pytest.mark.parametrize(("path", "there"), [("supabase/sql/a.sql", True), ("app/a.sql", False), ("supabase", False)])
def test_a_folder_shows_the_platform_in_whatever_order_its_files_are(path: str, there: bool) -> None:
    plan = DiscoveredUnit(path, (File("-", path, content=AUTH.encode()),), "folder", "")
    assert (lint_files(plan, Linter(), excerpts=False).diagnostics == ()) is there


def test_another_publication_is_still_said_to_be_missing() -> None:
    (finding,) = lint(MEMBER.replace("supabase_realtime", "mine"), convention="supabase")
    assert (finding.rule, finding.certainty, finding.severity) == ("PUB106", "assumed", "note")


def test_what_rests_on_the_platform_s_publication_is_assumed() -> None:
    (finding,) = (
        diagnostic
        for diagnostic in lint(MEMBER.replace(" PRIMARY KEY", ""), convention="supabase")
        if diagnostic.operation == "update"
    )
    assert finding.certainty == "assumed"


def test_a_platform_s_publication_that_the_unit_makes_is_followed() -> None:
    text = "CREATE PUBLICATION supabase_realtime;\n" + MEMBER.replace(" PRIMARY KEY", "")
    assert {finding.certainty for finding in lint(text) if finding.phase == "write"} == {"certain"}


def test_one_that_the_unit_dropped_is_certainly_missing() -> None:
    (finding,) = lint("DROP PUBLICATION supabase_realtime;\n" + MEMBER, convention="supabase")
    assert (finding.rule, finding.certainty) == ("PUB106", "certain")


@pytest.mark.parametrize("member", ["TABLE auth.users", "TABLES IN SCHEMA auth"])
def test_tables_of_the_platform_s_schemas_are_no_news(member: str) -> None:
    findings = lint(f"CREATE PUBLICATION p FOR {member};", convention="supabase")
    assert [finding for finding in findings if finding.phase == "ddl"] == []


def test_names_of_one_s_own_are_configured() -> None:
    config = Config(platform_publications=("mine*",), platform_tables=("schema_migrations", "orm.*"))
    text = "ALTER PUBLICATION mine_1 ADD TABLE orm.a, b, schema_migrations;"
    (finding,) = lint(text, config)
    assert finding.message == 'table "b" is not created in these files'


def test_a_whole_database_has_the_platform_that_its_configuration_names() -> None:
    named = Config(complete=True, platform_publications=("supabase_realtime",), platform_tables=("app.t",))
    assert lint(MEMBER, named) == []
    assert lint("ALTER PUBLICATION supabase_realtime ADD TABLE app.t;", named) == []
    (finding,) = lint(MEMBER, Config(complete=True), "supabase")
    assert (finding.rule, finding.certainty) == ("PUB106", "certain")


def test_a_star_stands_for_no_dot() -> None:
    platform = platform_of(Config(platform_tables=("auth.*", "a+b")))
    assert platform.has_table("auth", "x")
    assert not platform.has_table("auth", "x.y")
    assert platform.has_table("any", "a+b")
    assert not platform.has_publication("")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("ADD TABLE t, DROP TABLE t, DROP TABLE t", 'relation "t" is not part of the publication'),
        ("DROP TABLE t, DROP TABLE t", 'relation "t" is not part of the publication'),
        ("SET TABLE u, DROP TABLE t", 'relation "t" is not part of the publication'),
        ("DROP TABLES IN SCHEMA s, DROP TABLES IN SCHEMA s", 'tables from schema "s" are not part of the publication'),
        ("DROP TABLE t, ADD TABLE t, DROP TABLE t", None),
        ("DROP TABLE t", None),
    ],
)
def test_a_member_that_the_unit_removed_from_the_platform_s_publication_is_not_removed_twice(
    members: str, message: str | None
) -> None:
    """These are the answers of PostgreSQL 15 and 18 if the publication begins FOR TABLE t, TABLES IN SCHEMA s."""
    changes = "".join(f"ALTER PUBLICATION supabase_realtime {change};" for change in members.split(", "))
    tables = "CREATE SCHEMA s; CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY);"
    refused = [finding for finding in lint(tables + changes, convention="supabase") if finding.server is not None]
    assert [(finding.server.message, finding.certainty) for finding in refused if finding.server] == (
        [(message, "assumed")] if message else []
    )


@pytest.mark.parametrize(("top", "there"), [(".", True), ("elsewhere", False)])
def test_any_folder_of_a_repository_of_supabase_has_its_publication(tmp_path: Path, top: str, there: bool) -> None:
    folder = tmp_path / "db" / "sql"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / top / "supabase" / "migrations").mkdir(parents=True)
    (folder / "a.sql").write_text(AUTH)
    plan = DiscoveredUnit("a.sql", (File(str(folder / "a.sql"), "a.sql"),), "file", "")
    assert (lint_files(plan, Linter(), excerpts=False).diagnostics == ()) is there
