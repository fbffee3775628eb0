"""`pubcheck simulate`: messages, errors of statements, and what it cannot follow."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Call

SCHEMA = "CREATE TABLE t (id int PRIMARY KEY, v text);\nCREATE PUBLICATION p FOR TABLE t WHERE (id > 0);"
SCRIPT = """BEGIN;
INSERT INTO t VALUES (1, 'one');
-- session: b
INSERT INTO t VALUES (2, 'two');
-- session: a
INSERT INTO t VALUES (-3, 'three');
COMMIT;
"""

PAGE = Path(__file__).parents[2] / "docs" / "simulate.md"


@pytest.fixture
def files() -> None:
    Path("schema.sql").write_text(SCHEMA)
    Path("work.sql").write_text(SCRIPT)


def changes(text: str) -> list[str]:
    """The words after position and transaction id."""
    return [" ".join(line.split()[2:4]) for line in text.splitlines()]


@pytest.mark.parametrize("reading", ["live", "afterwards"])
def test_transactions_come_in_the_order_of_their_commits(pubcheck: Call, files: None, reading: str) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", "--publication", "p", "--read", reading)
    assert (called.status, called.err) == (0, "")
    kinds = [line.split()[2].strip(",") for line in called.out.splitlines()]
    assert kinds == ["BEGIN", "RELATION", "INSERT", "COMMIT", "BEGIN", "INSERT", "COMMIT"]
    assert "id=2 v='two'" in called.out.splitlines()[2]


def test_without_publication_all_of_the_schema_are_asked_for(pubcheck: Call, files: None) -> None:
    named = pubcheck("simulate", "schema.sql", "work.sql", "--publication", "p")
    assert pubcheck("simulate", "schema.sql", "work.sql") == named


def test_a_schema_without_publication_is_mentioned(pubcheck: Call, files: None) -> None:
    Path("schema.sql").write_text("CREATE TABLE t (id int PRIMARY KEY, v text);")
    called = pubcheck("simulate", "schema.sql", "work.sql")
    assert (called.status, called.out, called.err) == (0, "", "WARNING: the schema creates no publication\n")


@pytest.mark.parametrize(
    ("command", "stops"),
    [("\\set ON_ERROR_STOP on", True), ("\\set ON_ERROR_STOP", True), ("\\set ON_ERROR_STOP 0", False), ("", False)],
)
def test_an_error_stops_a_script_where_psql_does(pubcheck: Call, files: None, command: str, stops: bool) -> None:
    lines = [command, "INSERT INTO t VALUES (1, 'a');", "BEGIN;", "INSERT INTO t VALUES (2, 'b');", "SELECT nothing;"]
    Path("work.sql").write_text("\n".join([*lines, "ROLLBACK;", "INSERT INTO t VALUES (3, 'c');"]))
    called = pubcheck("simulate", "schema.sql", "work.sql")
    assert called.status == stops
    assert 'ERROR:  column "nothing" does not exist' in called.err
    assert [text for text in ("id=1", "id=2", "id=3") if text in called.out] == (
        ["id=1"] if stops else ["id=1", "id=3"]
    )


def test_majors_with_the_same_messages_are_shown_together(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", "--postgres", "15,18")
    assert called.out.splitlines()[0] == "-- PostgreSQL 15, 18"
    assert called.out.count("BEGIN") == 2


def test_the_majors_of_a_unit_come_before_those_of_the_configuration(pubcheck: Call, files: None) -> None:
    unit = '[[unit]]\nname = "shop"\nfiles = ["schema.sql"]\npostgres = [15, 16]\n'
    Path("pubcheck.toml").write_text(f"postgres = [18]\n{unit}")
    called = pubcheck("simulate", "schema.sql", "work.sql")
    assert called.out.splitlines()[0] == "-- PostgreSQL 15, 16"


def test_majors_that_differ_are_shown_apart(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", "--postgres", "17,18", "--publication", "p,missing")
    assert called.status == 1
    assert 'PostgreSQL 17: ERROR:  publication "missing" does not exist' in called.err
    assert 'PostgreSQL 18: WARNING: skipped loading publication "missing"' in called.err
    assert called.out.splitlines()[0] == "-- PostgreSQL 17"


def test_json_lines_and_hex(pubcheck: Call, files: None) -> None:
    lines = pubcheck("simulate", "schema.sql", "work.sql", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["kind"] for line in lines][:3] == ["begin", "relation", "insert"]
    hexed = pubcheck("simulate", "schema.sql", "work.sql", "--format", "hex").out.splitlines()
    assert len(hexed) == len(lines)


def test_test_decoding(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", "--plugin", "test_decoding", "--option", "include-xids=0")
    assert called.out.splitlines()[1].endswith("table public.t: INSERT: id[integer]:2 v[text]:'two'")
    assert "id[integer]:-3" in called.out


def test_a_refused_statement_is_reported_with_its_place_and_the_script_goes_on(pubcheck: Call, files: None) -> None:
    script = b"INSERT INTO t VALUES (1, 'a');\n\nINSERT INTO t VALUES (1, 'b');\nINSERT INTO t VALUES (2, 'c');\n"
    called = pubcheck("simulate", "schema.sql", "-", stdin=script)
    assert called.status == 0
    assert called.err.splitlines() == [
        '<stdin>:3: ERROR:  duplicate key value violates unique constraint "t_pkey"',
        "DETAIL:  Key (id)=(1) already exists.",
    ]
    assert called.out.count("INSERT") == 2


def test_large_transactions_are_streamed(pubcheck: Call, files: None) -> None:
    rows = ", ".join(f"({key}, '{'x' * 1000}')" for key in range(1, 100))
    called = pubcheck(
        *("simulate", "schema.sql", "-", "--work-mem", "64kB", "--option", "streaming=on"),
        stdin=f"INSERT INTO t VALUES {rows};".encode(),
    )
    assert (called.status, "STREAM START" in called.out) == (0, True)


def test_what_cannot_be_followed_ends_with_2_and_names_the_statement(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "-", stdin=b"SELECT 1;\nINSERT INTO t\nVALUES (random() * 9, 'x');\n")
    assert (called.status, called.out) == (2, "")
    (line,) = called.err.splitlines()
    assert line.startswith("pubcheck: <stdin>:2: this statement cannot be followed: ")
    assert line.endswith("INSERT INTO t VALUES (random() * 9, 'x')")


def test_the_rows_of_a_system_view_cannot_be_followed(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "-", stdin=b"SELECT * FROM pg_stat_activity;")
    assert called.status == 2
    assert 'this statement cannot be followed: the rows of "pg_stat_activity"' in called.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--postgres", "14"), "PostgreSQL 14 is not supported"),
        (("--publication", "Two Words"), "put a name with spaces or capitals in double quotes"),
        (("--output", "no/such/folder"), "--output: no/such/folder: No such file or directory"),
        (("--option", "binary"), "'binary' is not NAME=VALUE"),
        (("--postgres", "15,18", "--format", "jsonl"), "--format jsonl takes one version at a time"),
        (("--plugin", "test_decoding", "--publication", "p"), "--publication is for pgoutput only"),
        (("--plugin", "test_decoding", "--format", "jsonl"), "--format jsonl is for pgoutput only"),
    ],
)
def test_wrong_arguments_end_with_2_and_the_reason(
    pubcheck: Call, files: None, arguments: tuple[str, ...], reason: str
) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", *arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in " ".join(called.err.split())


def test_a_wrong_option_of_the_plugin_is_the_server_s_error(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", "--option", "proto_version=9")
    assert called.status == 1
    assert called.err == "ERROR:  client sent proto_version=9 but server only supports protocol 4 or lower\n"


def test_a_missing_file_is_named(pubcheck: Call, files: None) -> None:
    called = pubcheck("simulate", "schema.sql", "no.sql")
    assert (called.status, called.err) == (2, "pubcheck: no input: there is no no.sql\n")


def test_data_of_copy_follow_the_statement(pubcheck: Call, files: None) -> None:
    script = b"COPY t FROM STDIN;\n7\tseven\n8\t\\N\n\\.\nDELETE FROM t WHERE id = 7;\n"
    called = pubcheck("simulate", "schema.sql", "-", stdin=script)
    assert (called.status, called.err) == (0, "")
    assert "id=7 v='seven'" in called.out
    assert "DELETE" in called.out


def test_an_update_of_a_partitioned_table_whose_columns_have_defaults(pubcheck: Call, files: None) -> None:
    Path("schema.sql").write_text(
        "CREATE TABLE t (id int, region text DEFAULT 'eu', PRIMARY KEY (id, region)) PARTITION BY LIST (region);\n"
        "CREATE TABLE t_eu PARTITION OF t DEFAULT;\nCREATE PUBLICATION p FOR TABLE t;\n"
    )
    called = pubcheck("simulate", "schema.sql", "-", stdin=b"INSERT INTO t VALUES (1);\nUPDATE t SET id = 2;\n")
    assert (called.status, called.err) == (0, "")
    assert "UPDATE public.t_eu key(id=1 region='eu') new(id=2 region='eu')" in called.out


def test_a_folder_of_migrations_is_a_schema(pubcheck: Call, files: None) -> None:
    expected = pubcheck("simulate", "schema.sql", "work.sql")
    Path("migrations").mkdir()
    for number, statement in enumerate(SCHEMA.splitlines(), 1):
        Path("migrations", f"{number:03}_step.sql").write_text(statement)
    assert pubcheck("simulate", "migrations", "work.sql") == expected


def test_the_page_shows_what_is_printed(pubcheck: Call) -> None:
    """Apart from what is made up: positions, transaction ids and times."""
    page = PAGE.read_text()
    schema, work = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    Path("schema.sql").write_text(schema)
    Path("work.sql").write_text(work)
    (command,) = re.findall(r"```sh\npubcheck (.*)\n```", page)
    (printed,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    made_up = re.compile(r"0/[0-9A-F]+|\b7\d\d\b|2026-01-01 \S+")
    called = pubcheck(*command.split())
    assert (called.status, called.err) == (0, "")
    assert made_up.sub("", called.out) == made_up.sub("", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "timezone=Mars"), 'invalid value for parameter "TimeZone": "Mars"'),
        (("--work-mem", "nonsense"), 'invalid value for parameter "logical_decoding_work_mem": "nonsense"'),
        (("--set", "bytea_output=x"), 'invalid value for parameter "bytea_output": "x"'),
        (("--set", "nothing=1"), "the setting nothing changes nothing in a stream"),
        (("--clock", "noon"), "--clock: 'noon' is not a time such as '2024-05-01 12:00'"),
    ],
)
def test_arguments_that_no_server_takes_are_refused(
    pubcheck: Call, files: None, arguments: tuple[str, ...], message: str
) -> None:
    called = pubcheck("simulate", "schema.sql", "work.sql", *arguments)
    assert (called.status, called.out) == (2, "")
    assert message in called.err


def test_a_schema_that_is_not_text_is_refused(pubcheck: Call, files: None) -> None:
    Path("schema.sql").write_bytes(b"\xf9\x8f\x00")
    called = pubcheck("simulate", "schema.sql", "work.sql")
    assert (called.status, called.out) == (2, "")
    assert "schema.sql: this is not text" in called.err


def test_a_clock_says_when_the_script_begins(pubcheck: Call, files: None) -> None:
    Path("work.sql").write_text("INSERT INTO t VALUES (1, now()::date::text);")
    called = pubcheck("simulate", "schema.sql", "work.sql", "--clock", "2024-05-01T12:00+02:00")
    assert (called.status, called.err) == (0, "")
    assert "v='2024-05-01'" in called.out
    assert "at 2024-05-01 10:00:01+00" in called.out


@pytest.mark.parametrize(
    "statement", ["DO $$ BEGIN LOOP NULL; END LOOP; END $$", "SELECT count(*) FROM generate_series(1, 1e12)"]
)
def test_endless_work_is_not_followed(pubcheck: Call, files: None, statement: str) -> None:
    Path("work.sql").write_text(statement + ";")
    called = pubcheck("simulate", "schema.sql", "work.sql")
    assert called.status == 2
    assert "more than 500,000 rows and turns of loops" in called.err


def test_a_dump_is_simulated_as_its_header_says(pubcheck: Call, files: None) -> None:
    header = "-- Dumped from database version 19beta3\n"
    Path("schema.sql").write_text(header + SCHEMA + "CREATE PUBLICATION q FOR ALL TABLES EXCEPT (TABLE t);")
    called = pubcheck("simulate", "schema.sql", "work.sql", "--publication", "p,q")
    assert (called.status, called.err) == (0, "")
    assert "INSERT" in called.out
    assert "EXCEPT" in pubcheck("simulate", "schema.sql", "work.sql", "--postgres", "18", "--publication", "p").err
