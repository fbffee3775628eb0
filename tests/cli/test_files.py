"""`pubcheck files`, and files given by name in the history that they lie in, from the outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.cli.conftest import Call

TABLE = "CREATE TABLE t (id int PRIMARY KEY, r text NOT NULL);\n"
PUBLICATION = "CREATE PUBLICATION p FOR TABLE t WHERE (r = 'x');\n"
KEYLESS = "CREATE TABLE u (a int);\nCREATE PUBLICATION q FOR TABLE u;\n"


def history(**texts: str) -> None:
    Path("migrations").mkdir()
    for name, text in texts.items():
        Path("migrations", f"{name[1:]}.sql").write_text(text)


def linted(pubcheck: Call, *arguments: str) -> list[tuple[str, int, str, str]]:
    document = json.loads(pubcheck("lint", "--format", "json", *arguments).out)
    return [(each["path"], each["line"], each["rule"], each["operation"]) for each in document["diagnostics"]]


def test_units_are_shown_with_their_order_and_the_reason(pubcheck: Call) -> None:
    history(_2_publication=PUBLICATION, _1_table=TABLE)
    Path("setup.py").write_text('execute("CREATE PUBLICATION p")')
    called = pubcheck("files")
    assert (called.status, called.out) == (
        0,
        "./setup.py  file: a program that holds a publication\n"
        "  1  ./setup.py  (python)\n"
        "./migrations  migrations: numbered files in order\n"
        "  1  ./migrations/1_table.sql\n"
        "  2  ./migrations/2_publication.sql\n"
        "3 files in 2 databases\n",
    )


def test_context_and_what_is_passed_over_are_shown(pubcheck: Call) -> None:
    history(**{"_1_a.up": TABLE, "_1_a.down": "DROP TABLE t;", "_2_b.up": PUBLICATION})
    assert pubcheck("files", "migrations/2_b.up.sql").out == (
        "migrations  up-down: the ways up in order\n"
        "  1  migrations/1_a.up.sql  (context)\n"
        "  2  migrations/2_b.up.sql\n"
        "2 files in 1 database\n"
    )
    assert pubcheck("files", "migrations").out.endswith(
        "passed over\n  migrations/1_a.down.sql  (it takes back what another file does)\n"
        "2 files in 1 database, 1 passed over\n"
    )


def test_the_same_as_json(pubcheck: Call) -> None:
    history(_1_a=TABLE)
    document = json.loads(pubcheck("files", "--format", "json", "migrations", "none.sql").out)
    assert document["units"] == [
        {
            "name": "migrations",
            "habit": "migrations",
            "reason": "numbered files in order",
            "postgres": [],
            "files": [{"path": "migrations/1_a.sql", "view": "sql", "context": False, "problem": None}],
        },
        {
            "name": "none.sql",
            "habit": "file",
            "reason": "given by name",
            "postgres": [],
            "files": [{"path": "none.sql", "view": "sql", "context": False, "problem": None}],
        },
    ]
    assert document["passed_over"] == []


def test_nothing_to_read_is_no_error(pubcheck: Call) -> None:
    assert pubcheck("files").out == "0 files in 0 databases\n"


def test_a_file_given_by_name_is_judged_in_its_history(pubcheck: Call) -> None:
    history(_1_table=TABLE, _2_publication=PUBLICATION, _3_keyless=KEYLESS)
    found = [("migrations/2_publication.sql", 1, "PUB301", operation) for operation in ("update", "delete")]
    assert linted(pubcheck, "migrations/2_publication.sql") == found
    assert linted(pubcheck, "migrations/1_table.sql") == found, "the key that is pointed at is in that file"
    assert [each[0] for each in linted(pubcheck, "migrations/3_keyless.sql")] == ["migrations/3_keyless.sql"] * 2


def test_a_later_file_of_the_history_counts(pubcheck: Call) -> None:
    history(_1_table=TABLE, _2_publication=PUBLICATION, _3_full="ALTER TABLE t REPLICA IDENTITY FULL;")
    assert linted(pubcheck, "migrations/2_publication.sql") == []


def test_only_files_given_by_name_are_counted_and_fixed(pubcheck: Call) -> None:
    history(_1_table=TABLE, _2_publication=PUBLICATION, _3_keyless=KEYLESS)
    assert "of 1 file (" in pubcheck("lint", "migrations/2_publication.sql").out
    before = {path: path.read_text() for path in Path("migrations").iterdir()}
    pubcheck("lint", "--fix", "--unsafe-fixes", "migrations/3_keyless.sql")
    changed = [path.name for path, text in before.items() if path.read_text() != text]
    assert changed in ([], ["3_keyless.sql"])


def test_context_given_with_an_option_is_followed_and_not_reported(pubcheck: Call) -> None:
    Path("base.sql").write_text(TABLE + KEYLESS)
    Path("p.sql").write_text(PUBLICATION)
    assert [each[0] for each in linted(pubcheck, "--schema", "base.sql", "p.sql")] == ["p.sql", "p.sql"]
    Path("p.sql").write_text("CREATE PUBLICATION p FOR TABLE t;")
    explained = pubcheck("explain", "--schema", "base.sql", "p.sql")
    assert (explained.status, explained.out.count("refused")) == (0, 2)


def test_the_majors_of_a_unit_yield_to_those_of_the_command_line(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    Path("pubcheck.toml").write_text('[[unit]]\nname = "a"\nfiles = ["a.sql"]\npostgres = [15, 16]\n')
    assert json.loads(pubcheck("lint", "--format", "json", "a.sql").out)["postgres"] == [15, 16]
    assert json.loads(pubcheck("lint", "--format", "json", "--postgres", "17", "a.sql").out)["postgres"] == [17]


def test_a_pipe_given_by_name_is_read_once(pubcheck: Call) -> None:
    from threading import Thread

    os.mkfifo("pipe.sql")
    writer = Thread(target=lambda: Path("pipe.sql").write_text(TABLE + PUBLICATION))
    writer.start()
    assert len(linted(pubcheck, "pipe.sql")) == 2
    writer.join()
