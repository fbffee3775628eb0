"""`pubcheck verify` from the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

import pubcheck as package
from pubcheck.report import FORMATS
from pubcheck.stream import AnyMessage, Begin, Column, Commit, Insert, Relation, encode
from tests.cli.conftest import Call

SCHEMA = "CREATE TABLE items (id int PRIMARY KEY, name text NOT NULL);\nCREATE PUBLICATION shop FOR TABLE items;\n"
ITEMS = Relation(2, "public", "items", "d", (Column("id", 23, key=True), Column("name", 25)))
RIGHT = (Begin(0x1000, 5, 700), ITEMS, Insert(2, ("1", "a")), Commit(0x1000, 0x1030, 5))
WRONG = (*RIGHT[:2], Insert(2, ("1", None)), RIGHT[3])


def capture(messages: Sequence[AnyMessage]) -> str:
    """The rows of a slot as psql prints them unaligned."""
    lsns = ("0/F00", "0/F00", "0/F00", "0/1030")
    return "".join(f"{lsn}|700|{encode(message).hex()}\n" for lsn, message in zip(lsns, messages, strict=True))


@pytest.fixture
def files(pubcheck: Call) -> None:
    Path("schema.sql").write_text(SCHEMA)
    Path("right.txt").write_text(capture(RIGHT))
    Path("wrong.txt").write_text(capture(WRONG))


def test_a_stream_that_conforms_ends_with_0(pubcheck: Call, files: None) -> None:
    called = pubcheck("verify", "schema.sql", "right.txt", "--publication", "shop")
    assert (called.status, called.out) == (0, "Nothing found in 4 messages of 1 file (PostgreSQL 18).\n")


def test_a_finding_has_its_place_in_every_format(pubcheck: Call, files: None) -> None:
    for format_ in FORMATS:
        called = pubcheck("verify", "schema.sql", "wrong.txt", "--format", format_)
        assert called.status == 1
        assert "PUB855" in called.out
        assert "message 3 at 0/F00" in called.out
        assert "wrong.txt" in called.out


def test_the_json_document_follows_the_schema(pubcheck: Call, files: None) -> None:
    document = json.loads(pubcheck("verify", "schema.sql", "wrong.txt", "--format", "json").out)
    schema = Path(package.__file__).parent / "report" / "schema.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    [finding] = document["diagnostics"]
    assert (finding["path"], finding["line"], finding["object"]) == ("wrong.txt", 3, "public.items")
    assert finding["stream"] == {"message": 3, "kind": "Insert", "lsn": "0/F00", "xid": 700, "offset": None}


def test_a_capture_is_read_from_standard_input(pubcheck: Call, files: None) -> None:
    called = pubcheck("verify", "schema.sql", "-", "--format", "concise", stdin=capture(WRONG).encode())
    assert called.status == 1
    assert called.out.startswith("<stdin>:3:1: error[PUB855]: Insert of public.items has NULL")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("schema.sql", "none.txt"), "no input: there is no none.txt"),
        (("schema.sql", "right.txt", "--publication", "others"), "the schema has no publication 'others'; it has shop"),
        (("schema.sql", "right.txt", "--option", "binary=perhaps"), "'perhaps' is not on or off"),
        (("schema.sql", "right.txt", "--option", "binary"), "'binary' is not NAME=VALUE"),
        (("schema.sql", "right.txt", "--option", "binari=on"), "pgoutput has no option 'binari'"),
        (("schema.sql", "right.txt", "--option", "proto_version=two"), "proto_version is a number, not 'two'"),
        (
            ("schema.sql", "right.txt", "--option", "proto_version=99"),
            "the versions of the protocol are 1 to 4, not 99",
        ),
        (("schema.sql", "right.txt", "--publication", "All Of It"), "name with spaces or capitals in double quotes"),
        (("schema.sql", "right.txt", "--framing", "morse"), "'morse' is not one of 'psql'"),
        (("schema.sql", "right.txt", "--postgres", "15,18"), "verify takes one version at a time"),
        (("schema.sql", "schema.sql"), "framing"),
    ],
)
def test_wrong_arguments_end_with_2_and_the_reason(
    pubcheck: Call, files: None, arguments: tuple[str, ...], reason: str
) -> None:
    called = pubcheck("verify", *arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in " ".join(called.err.split())


def test_the_findings_before_a_place_that_cannot_be_read_are_reported(pubcheck: Call, files: None) -> None:
    Path("cut.txt").write_text(capture(WRONG)[:-10])
    called = pubcheck("verify", "schema.sql", "cut.txt", "--format", "concise")
    assert called.status == 2
    assert called.out.startswith("cut.txt:3:1: error[PUB855]: Insert of public.items has NULL")
    assert called.err.startswith("pubcheck: cut.txt: message 4, line 4: expected the hex of a message")


def test_a_script_says_what_is_missing(pubcheck: Call, files: None) -> None:
    Path("work.sql").write_text("INSERT INTO items VALUES (1, 'a');\nINSERT INTO items VALUES (2, 'b');\n")
    called = pubcheck("verify", "schema.sql", "right.txt", "--script", "work.sql", "--format", "concise")
    assert called.status == 1
    assert "error[PUB857]: message is missing: Insert of public.items (id=2, name=b), by the statement" in called.out
    Path("work.sql").write_text("INSERT INTO items VALUES (1, 'a');\n")
    call = ("verify", "schema.sql", "right.txt", "--script", "work.sql")
    assert pubcheck(*call).status == 0
    assert pubcheck(*call, "--option", "streaming=on").status == 0


def test_a_setting_without_a_script_is_not_ignored(pubcheck: Call, files: None) -> None:
    called = pubcheck("verify", "schema.sql", "right.txt", "--set", "timezone=UTC")
    assert (called.status, called.out) == (2, "")
    assert "--set needs --script" in called.err


def test_a_refused_statement_of_the_script_is_reported(pubcheck: Call, files: None) -> None:
    Path("work.sql").write_text("INSERT INTO items VALUES (1, 'a');\nINSERT INTO items VALUES (1, 'b');\n")
    called = pubcheck("verify", "schema.sql", "right.txt", "--script", "work.sql")
    assert called.status == 0
    assert called.err == 'work.sql:2: ERROR:  duplicate key value violates unique constraint "items_pkey"\n'


def test_options_that_the_server_refuses_are_its_error(pubcheck: Call, files: None) -> None:
    """pgoutput_startup, as recorded: streaming needs protocol version 2."""
    Path("work.sql").write_text("INSERT INTO items VALUES (1, 'a');\n")
    options = ("--option", "proto_version=1", "--option", "streaming=on")
    called = pubcheck("verify", "schema.sql", "right.txt", "--script", "work.sql", *options)
    assert (called.status, called.out) == (2, "")
    assert "requested proto_version=1 does not support streaming, need 2 or higher" in called.err


def test_a_script_that_cannot_be_followed_ends_with_2_and_names_the_statement(pubcheck: Call, files: None) -> None:
    Path("work.sql").write_text("INSERT INTO items VALUES (1, clock_timestamp()::text);\n")
    called = pubcheck("verify", "schema.sql", "right.txt", "--script", "work.sql")
    assert (called.status, called.out) == (2, "")
    assert "cannot be followed" in called.err
    assert "clock_timestamp" in called.err


def test_a_table_that_is_not_in_the_schema_is_assumed_to_be_elsewhere(pubcheck: Call, files: None) -> None:
    Path("other.sql").write_text("CREATE PUBLICATION shop FOR ALL TABLES;")
    called = pubcheck("verify", "other.sql", "right.txt", "--format", "concise")
    assert called.status == 0
    assert "error[PUB853] (assumed): Relation describes public.items, which is not in the schema" in called.out
    assert pubcheck("verify", "other.sql", "right.txt", "--complete").status == 1
