"""Snapshots as files: `shop.json` was read from a server of 17."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import jsonschema
import pytest

from pubcheck.cli import app
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.findings import Resolver, report
from pubcheck.live import document
from pubcheck.live.document import source_of
from pubcheck.report import render

SHOP = Path(__file__).with_name("shop.json")


def test_writing_a_snapshot_again_changes_nothing() -> None:
    content = SHOP.read_bytes()
    assert document.encode(document.decode(content)) == content


def test_the_objects_are_sorted_one_a_line() -> None:
    snapshot = document.decode(SHOP.read_bytes())
    assert document.sorted_objects(reversed(snapshot.objects)) == snapshot.objects
    lines = SHOP.read_text().splitlines()[document.FIRST_OBJECT : -1]
    assert [json.loads(line.rstrip(","))["name"] for line in lines] == [row.name for row in snapshot.objects]


def test_the_schema_that_ships_describes_snapshots() -> None:
    schema = Path(document.__file__).with_name("snapshot.schema.json").read_bytes()
    assert schema == document.schema()
    jsonschema.validate(json.loads(SHOP.read_text()), json.loads(schema))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"pubcheck_snapshot":2,"pubcheck":"9.0"}', "was written by pubcheck 9.0 in format 2"),
        (SHOP.read_text()[:3000], "this is not a whole snapshot: Input data was truncated"),
        ('{"pubcheck_snapshot":1,"pubcheck":"0.1.0"}', "this is not a whole snapshot: Object missing required field"),
        (json.dumps(json.loads(SHOP.read_text()), indent=2), "does not have one object a line any more"),
        (json.dumps(json.loads(SHOP.read_text()), indent=2, sort_keys=True), "not have one object a line any more"),
        (SHOP.read_text().replace("\n", ""), "does not have one object a line any more"),
        (SHOP.read_text().replace('"owner":"postgres"}', '"owner":\n"postgres"}', 1), "not have one object a line"),
        (SHOP.read_text().replace('\n{"kind":"role"', '\n\n{"kind":"role"', 1), "not have one object a line any more"),
        (f"[{SHOP.read_text()}]", "this is not a whole snapshot: Expected `object`, got `array`"),
        (SHOP.read_text().replace('"postgres":17', '"postgres":14'), "this is a snapshot of PostgreSQL 14"),
        (SHOP.read_text().replace('"postgres":17', '"postgres":"17"'), "Expected `int`, got `str`"),
        (SHOP.read_text().replace('"kind":"view"', '"kind":"vue"', 1), "line 22: Invalid value 'vue'"),
        (SHOP.read_text().replace('"oid":149717', f'"oid":{10**30}'), "line 39: Expected `int` <= 4294967295"),
        (SHOP.read_text().replace('"oid":149717,', ""), "line 39: publication eu: it has no oid"),
        (
            SHOP.read_text().replace('"oid":149717', '"oid":149720'),
            "line 40: publication s: the oid 149720 is there twice",
        ),
        (
            SHOP.read_text().replace('"type":"app.mood"', '"type":"app.food"'),
            "table app.orders: there is no type app.food",
        ),
        (
            SHOP.read_text().replace('"collation":"\\"C\\""', '"collation":"D"'),
            "line 21: table app.orders: its definition",
        ),
        (SHOP.read_text().replace('"table":"app.log",', '"table":"app.lag",'), "there is no app.lag in the snapshot"),
        (SHOP.read_text().replace('"columns":["id","region"]', '"columns":["id","regio"]'), "there is no regio in"),
        (
            SHOP.read_text().replace("((region)::text = 'eu'", "((region)::text = = 'eu'"),
            "cannot be read: syntax error",
        ),
        (SHOP.read_text().replace("((region)::text = 'eu'", "((regio)::text = 'eu'"), 'column "regio" does not exist'),
        (SHOP.read_text().replace('"parents":["app.log"]', '"parents":["app.log_1"]'), "it is among its own ancestors"),
    ],
)
def test_a_snapshot_that_cannot_be_read_is_one_line(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.json"
    file.write_text(content)
    assert app.run(["lint", str(file)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_snapshot_is_known_by_its_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, other = tmp_path / "shop.snapshot", tmp_path / "other.json"
    file.write_bytes(SHOP.read_bytes())
    other.write_text('{"name": "app"}')
    assert app.run(["lint", str(file), "--format", "concise"]) == 1
    assert "publication eu, table app.orders: error[PUB301]" in capsys.readouterr().out
    assert app.run(["lint", "--schema", str(other), str(file)]) == 2
    assert "other.json is JSON, and not a snapshot of a database" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_snapshot_is_read_in_the_encodings_of_windows(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.json"
    file.write_text(SHOP.read_text(), encoding=encoding)
    assert app.run(["lint", str(file), "--format", "concise"]) == app.run(["lint", str(SHOP), "--format", "concise"])
    first, second = capsys.readouterr().out.split("1 database (PostgreSQL 17).\n")[:2]
    assert first.replace(str(file), str(SHOP)) == second


def test_a_snapshot_from_a_pipe_is_not_taken_for_sql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe, migration = tmp_path / "pipe", tmp_path / "0001.sql"
    os.mkfifo(pipe)
    migration.write_text("SELECT 1")
    writer = Thread(target=lambda: pipe.write_bytes(SHOP.read_bytes()))
    writer.start()
    assert app.run(["lint", "--schema", str(pipe), str(migration)]) == 1
    writer.join()
    assert "a snapshot of a database is read from a file, or from standard input" in capsys.readouterr().out


def test_an_empty_file_is_not_a_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, migration = tmp_path / "shop.json", tmp_path / "0001.sql"
    empty.touch()
    migration.write_text("SELECT 1")
    assert app.run(["lint", "--schema", str(empty), str(migration)]) == 2
    assert "shop.json is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", "--schema", str(SHOP), "postgresql://me:secret@db.example.com/shop"],
        ["snapshot", "postgresql:/me:secret@db.example.com/shop"],
    ],
)
def test_refused_arguments_do_not_show_passwords(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(arguments) == 2
    output = capsys.readouterr()
    assert "secret" not in output.out + output.err


def test_a_migration_is_linted_after_a_snapshot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    migration = tmp_path / "0042.sql"
    migration.write_text("ALTER TABLE app.orders DROP COLUMN region;\nALTER PUBLICATION eu ADD TABLE app.missing;\n")
    assert app.run(["lint", "--schema", str(SHOP), "--format", "concise", str(migration)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix(f"{migration}:").partition("]")[0] for line in lines[:-1]] == [
        "1:36: error[PUB701",
        "2:32: error[PUB107",
    ]


def test_a_refused_write_of_a_migration_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    migration = tmp_path / "0042.sql"
    migration.write_text("SELECT 1;\nUPDATE app.orders SET id = 1;\n")
    assert app.run(["lint", "--schema", str(SHOP), str(migration)]) == 1
    block = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert block[1:5] == [
        f" --> {migration}:2:8",
        "  |",
        "2 | UPDATE app.orders SET id = 1;",
        "  |        ^^^^^^^^^^ is refused already",
    ]
    assert block[5] == "  = related: publication eu, table app.orders: the object that this finding is about"


@pytest.mark.parametrize(
    ("format", "place"),
    [
        ("concise", "{file}:2:8: error[PUB301]"),
        ("github", "::error file={file},line=2,"),
        ("gitlab", '"location":{{"path":"{file}","positions":{{"begin":{{"line":2,"column":8}}'),
        ("sarif", '"uri":"{uri}"}},"region":{{"startLine":2,"startColumn":8,'),
        ("json", '"statement":{{"index":1,"line":2}}'),
        ("checkstyle", '<file name="{file}">\n    <error line="2" column="8"'),
    ],
)
def test_every_format_shows_a_refused_write_of_a_migration_where_it_is_written(
    format: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    migration = tmp_path / "0042.sql"
    migration.write_text("SELECT 1;\nUPDATE app.orders SET id = 1;\n")
    assert app.run(["lint", "--schema", str(SHOP), "--format", format, str(migration)]) == 1
    assert place.format(file=migration, uri=migration.as_uri()) in capsys.readouterr().out


def test_a_comment_ignores_a_refused_write_of_a_migration(tmp_path: Path) -> None:
    migration = tmp_path / "0042.sql"
    migration.write_text("SELECT 1;\n-- pubcheck: ignore[PUB3] known\nUPDATE app.orders SET id = 1;\n")
    assert app.run(["lint", "--schema", str(SHOP), str(migration)]) == 0


def test_explain_counts_the_objects_of_a_database(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["explain", str(SHOP)]) in (0, 1)
    assert f"from {len(document.decode(SHOP.read_bytes()).objects)} objects of 1 database" in capsys.readouterr().out


def test_an_upgrade_is_checked_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["lint", "--postgres", "18", str(SHOP)]) == 1
    captured = capsys.readouterr()
    assert "is of PostgreSQL 17, and checked as 18" in captured.err
    assert "of 1 database (PostgreSQL 18)" in captured.out


@pytest.mark.parametrize("arguments", [("--together", "a.sql"), ("--schema", str(SHOP))])
def test_a_database_is_added_to_nothing(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["lint", str(SHOP), *arguments]) == 2
    assert "is a whole database" in capsys.readouterr().err


def test_every_format_names_the_object_of_a_database() -> None:
    source = source_of("postgresql://db/shop", SHOP.read_text(), live=True)
    result = Linter(Config()).lint(Unit((source,), (17,)))
    findings = report(Resolver().findings(result.diagnostics), (17,), 1, result.statements)
    assert findings.findings
    named = "publication eu, table app.orders"
    rendered = {
        name: "".join(render(findings, name)) for name in ("text", "concise", "github", "json", "jsonl", "gitlab")
    }
    assert all(named in text for text in rendered.values())
    assert f"postgresql://db/shop: {named}: error[PUB301]: " in rendered["concise"]
    assert "line=" not in rendered["github"]
    located = json.loads("".join(render(findings, "sarif")))["runs"][0]["results"][0]["locations"][0]
    assert "physicalLocation" not in located
    assert located["logicalLocations"][0]["fullyQualifiedName"].startswith("pub")
    for name, element in (("junit", "testcase"), ("checkstyle", "error")):
        first = next(ElementTree.fromstring("".join(render(findings, name))).iter(element))
        assert "line" not in first.attrib
        assert "publication eu" in str(first.attrib)
