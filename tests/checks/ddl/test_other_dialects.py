"""Scripts of other databases: one note a file, nothing else, and never where PostgreSQL is spoken."""

from __future__ import annotations

import pytest

from tests.support.linting import lint, run

FOREIGN = {
    "MySQL or MariaDB": (
        "CREATE TABLE `orders` (`id` int AUTO_INCREMENT, PRIMARY KEY (`id`)) ENGINE=InnoDB;\nDROP TABLE `x`;\n",
        "CREATE TABLE a (id int);\nDELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END //\nDELIMITER ;\n",
    ),
    "SQL Server": (
        "SET ANSI_NULLS ON\nGO\nCREATE TABLE [dbo].[orders] ([id] INT IDENTITY(1,1) NOT NULL, [n] NVARCHAR(50))\nGO\n",
    ),
    "Oracle": (
        "PROMPT tables\nCREATE TABLE orders (id NUMBER(10) NOT NULL, n VARCHAR2(50 CHAR))\n/\n"
        "CREATE OR REPLACE TRIGGER t BEFORE INSERT ON orders FOR EACH ROW BEGIN NULL; END;\n/\n",
    ),
    "SQLite": (
        "PRAGMA foreign_keys = ON;\nCREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT);\n",
        "CREATE TABLE kv (k TEXT PRIMARY KEY) WITHOUT ROWID;\nCREATE VIRTUAL TABLE f USING fts5(x);\n",
    ),
    "a data warehouse": (
        "CREATE TABLE orders (id INT, at DATE) DISTKEY(id) SORTKEY(at);\n",
        "CREATE OR REPLACE TABLE d.t (a STRUCT<x INT64>, b ARRAY<STRING>) PARTITION BY DATE(at) CLUSTER BY a;\n",
        "CREATE OR REPLACE STAGE s URL = 's3://x' FILE_FORMAT = (TYPE = CSV);\n",
    ),
    "a stream processor": (
        "CREATE STREAM s (a INT KEY) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'JSON');\n"
        "CREATE TABLE c AS SELECT a FROM s EMIT CHANGES;\n",
        "CREATE TABLE t (a INT, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH ('connector' = 'kafka');\n",
    ),
    "DB2": ("--#SET TERMINATOR @\nCREATE TABLE t (a INT) ORGANIZE BY ROW IN ts\n@\n",),
}


OURS = "DROP SUBSCRIPTION IF EXISTS s;\n"
"""A script beside them by which the unit is about replication: of others nothing is said."""


@pytest.mark.parametrize("text", [text for texts in FOREIGN.values() for text in texts])
def test_a_script_of_another_database_in_a_unit_without_publications_is_silence(text: str) -> None:
    assert lint(text) == []


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FOREIGN.items() for text in texts])
def test_a_script_of_another_database_is_one_note(name: str, text: str) -> None:
    [finding] = lint(text, OURS)
    assert finding.rule == "PUB008"
    assert f" {name}," in finding.message
    assert finding.severity == "note"


def test_a_script_of_which_hardly_anything_is_postgres_is_one_note() -> None:
    [finding] = lint("FLUSH LOGS;\nKILL 5;\nOPTIMIZE TABLE t;\nRENAME TABLE a TO b;\n", OURS)
    assert finding.rule == "PUB008"


def test_statements_with_variables_do_not_speak_against_postgres() -> None:
    findings = lint(":QUERY a;\n:QUERY b;\n:QUERY c;\n:QUERY d;\n:QUERY e;\n")
    assert "PUB008" not in [finding.rule for finding in findings]


POSTGRES = (
    # Marks in comments and texts, statements that are all PostgreSQL's.
    "-- was: CREATE TABLE `orders` (id int AUTO_INCREMENT) ENGINE=InnoDB\nCREATE TABLE orders (id int PRIMARY KEY);\n",
    "CREATE TABLE t (a text DEFAULT '`x`', b varchar2, c nvarchar);\nCREATE TABLE u (a text);\n",
    # One slip among many.
    "".join(f"CREATE TABLE t{number} (id int);\n" for number in range(9)) + "CREATE TABLE `x` (id int);\n",
    # No marks: rubbish only.
    "CREATE TABEL t (id int);\n",
)


@pytest.mark.parametrize("text", POSTGRES)
def test_what_may_be_postgres_is_never_passed_over(text: str) -> None:
    assert "PUB008" not in [finding.rule for finding in lint(text)]


def test_a_publication_speaks_for_postgres_whatever_else_there_is() -> None:
    text = "CREATE TABLE `a` (id int) ENGINE=InnoDB;\nDROP TABLE `b`;\nCREATE PUBLICATION p FOR ALL TABLES;\n"
    names = [finding.rule for finding in lint(text)]
    assert "PUB008" not in names
    assert "PUB004" in names


def test_tables_of_a_passed_over_script_are_not_those_of_a_publication_for_certain() -> None:
    mysql = "CREATE TABLE orders (id int);\nCREATE TABLE `x` (`id` int) ENGINE=InnoDB;\n"
    postgres = "CREATE PUBLICATION p FOR TABLE orders WHERE (nothing > 1);\n"
    findings = run(mysql, postgres).diagnostics
    assert [finding.rule for finding in findings if finding.certainty == "certain"] == ["PUB008"]
    assert not [finding for finding in findings if finding.server]


def test_the_statements_after_a_passed_over_script_are_judged() -> None:
    postgres = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t WHERE (random() > 1);\n"
    findings = lint(FOREIGN["SQLite"][0], postgres)
    assert [(finding.rule, finding.certainty) for finding in findings] == [("PUB008", "certain"), ("PUB209", "certain")]
