"""Tables of migration tools under publications that take in every table."""

from __future__ import annotations

import pytest

from tests.checks.history.finding import of, only
from tests.support.linting import lint

RULE = "PUB813"
LIQUIBASE = "--liquibase formatted sql\n\n--changeset ann:1\nCREATE TABLE t (id int PRIMARY KEY);\n"
TERN = "CREATE TABLE t (id int PRIMARY KEY);\n\n---- create above / drop below ----\n\nDROP TABLE t;\n"
RAMBLER = "-- rambler up\nCREATE TABLE t (id int PRIMARY KEY);\n"
ALL = "CREATE PUBLICATION p FOR ALL TABLES;\n"


@pytest.mark.parametrize(
    ("text", "table"), [(LIQUIBASE, "databasechangelog"), (TERN, "schema_version"), (RAMBLER, "migrations")]
)
@pytest.mark.parametrize("scope", ["ALL TABLES", "TABLES IN SCHEMA public", "ALL TABLES WITH (publish = 'delete')"])
def test_a_tool_that_shows_is_a_note_and_assumed(text: str, table: str, scope: str) -> None:
    finding = only(RULE, text, f"CREATE PUBLICATION p FOR {scope};")
    assert (finding.severity, finding.certainty) == ("note", "assumed")
    assert f"includes the table {table}" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "CREATE PUBLICATION p FOR TABLE t;",
        "CREATE PUBLICATION p FOR ALL TABLES WITH (publish = 'insert, truncate');",
        "CREATE SCHEMA s; CREATE PUBLICATION p FOR TABLES IN SCHEMA s;",
        ALL + "CREATE TABLE databasechangelog (id text, md5sum text, orderexecuted int);",
        ALL + "DROP PUBLICATION p;",
    ],
)
def test_publications_that_do_not_take_it_in_are_silent(text: str) -> None:
    assert of(RULE, LIQUIBASE, text) == []


def test_files_without_a_mark_are_silent() -> None:
    assert of(RULE, "-- not liquibase formatted sql\n" + ALL) == []
    assert of(RULE, "-- +goose Up\nCREATE TABLE t (id int PRIMARY KEY);\n" + ALL) == []


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("databasechangelog (id text, md5sum text, orderexecuted int)", "Liquibase"),
        ("schema_version (version int4 NOT NULL)", "tern"),
        ('"VersionInfo" ("Version" bigint NOT NULL, "AppliedOn" timestamp)', "FluentMigrator"),
        ("schema_migrations (version varchar NOT NULL)", "Rails before 5.0"),
        ("schema_info (version integer NOT NULL DEFAULT 0)", "Sequel"),
        ("migrations (migration varchar(255) NOT NULL)", "Rambler"),
        ("migrations (migration varchar(255) NOT NULL, batch integer NOT NULL)", "Laravel"),
        ('typeorm_metadata ("type" varchar NOT NULL, "name" varchar, "value" text)', "TypeORM"),
        ('"_PostToTag" ("A" int NOT NULL, "B" int NOT NULL)', "Prisma"),
    ],
)
def test_a_refused_table_that_looks_like_a_tools_is_said_to(table: str, says: str) -> None:
    findings = lint(ALL + f"CREATE TABLE {table};")
    assert [finding.rule for finding in findings] == ["PUB302"] * 2
    assert all(finding.help is not None and says in finding.help.splitlines()[-1] for finding in findings)


@pytest.mark.parametrize("table", ["schema_version (id int)", "visits (version int)", "_a (a int, b int)"])
def test_other_tables_are_not(table: str) -> None:
    (finding, _) = lint(ALL + f"CREATE TABLE {table};")
    assert finding.help is not None
    assert "tern" not in finding.help
    assert "Prisma" not in finding.help


@pytest.mark.parametrize(
    "table",
    [
        "schema_migrations (version varchar PRIMARY KEY)",
        "flyway_schema_history (installed_rank int PRIMARY KEY)",
        "alembic_version (version_num varchar(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
        "knex_migrations_lock (index serial PRIMARY KEY, is_locked int)",
    ],
)
def test_tools_whose_table_has_a_key_are_silent(table: str) -> None:
    assert lint(ALL + f"CREATE TABLE {table};") == []
