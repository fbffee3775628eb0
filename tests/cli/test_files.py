"""`pubcheck files`, and files given by name in the history that they lie in, from the outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

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
    return [
        (finding["path"], finding["line"], finding["rule"], finding["operation"]) for finding in document["diagnostics"]
    ]


def test_units_are_shown_with_their_order_and_the_reason(pubcheck: Call) -> None:
    history(_2_publication=PUBLICATION, _1_table=TABLE)
    Path("setup.py").write_text('execute("CREATE PUBLICATION p")')
    called = pubcheck("files")
    assert (called.status, called.out) == (
        0,
        "setup.py  file: a program that holds a publication\n"
        "  1  setup.py  (python)\n"
        "migrations  migrations: numbered files in order\n"
        "  1  migrations/1_table.sql\n"
        "  2  migrations/2_publication.sql\n"
        "3 files in 2 units\n",
    )


def test_names_that_a_terminal_would_obey_are_shown(pubcheck: Call) -> None:
    Path("a\x1b[2J\nb.sql").write_text(TABLE + PUBLICATION)
    called = pubcheck("files")
    assert "  1  a\\x1b[2J b.sql\n" in called.out
    assert "\x1b" not in called.out


def test_context_and_what_is_passed_over_are_shown(pubcheck: Call) -> None:
    history(**{"_1_a.up": TABLE, "_1_a.down": "DROP TABLE t;", "_2_b.up": PUBLICATION})
    assert pubcheck("files", "migrations/2_b.up.sql").out == (
        "migrations  up-down: up migrations in order\n"
        "  1  migrations/1_a.up.sql  (context)\n"
        "  2  migrations/2_b.up.sql\n"
        "2 files in 1 unit\n"
    )
    assert pubcheck("files", "migrations").out.endswith(
        "skipped\n  migrations/1_a.down.sql  (it is a rollback file)\n2 files in 1 unit, 1 skipped\n"
    )


def test_the_same_as_json(pubcheck: Call) -> None:
    history(_1_a=TABLE)
    document = json.loads(pubcheck("files", "--format", "json", "migrations", "none.sql").out)
    assert document["units"] == [
        {
            "name": "migrations",
            "convention": "migrations",
            "reason": "numbered files in order",
            "postgres": [],
            "files": [{"path": "migrations/1_a.sql", "view": "sql", "context": False, "problem": None}],
        },
        {
            "name": "none.sql",
            "convention": "file",
            "reason": "named on the command line",
            "postgres": [],
            "files": [{"path": "none.sql", "view": "sql", "context": False, "problem": "No such file or directory"}],
        },
    ]
    assert document["passed_over"] == []


def test_nothing_to_read_is_no_error(pubcheck: Call) -> None:
    assert pubcheck("files").out == "0 files in 0 units\n"


def test_a_file_given_by_name_is_judged_in_its_history(pubcheck: Call) -> None:
    history(_1_table=TABLE, _2_publication=PUBLICATION, _3_keyless=KEYLESS)
    expected = [("migrations/2_publication.sql", 1, "PUB301", operation) for operation in ("update", "delete")]
    assert linted(pubcheck, "migrations/2_publication.sql") == expected
    assert linted(pubcheck, "migrations/1_table.sql") == expected, "the key that is pointed at is in that file"
    assert [finding[0] for finding in linted(pubcheck, "migrations/3_keyless.sql")] == ["migrations/3_keyless.sql"] * 2


def test_a_later_file_of_the_history_counts(pubcheck: Call) -> None:
    history(_1_table=TABLE, _2_publication=PUBLICATION, _3_full="ALTER TABLE t REPLICA IDENTITY FULL;")
    assert linted(pubcheck, "migrations/2_publication.sql") == []


def test_only_files_given_by_name_are_counted_and_fixed(pubcheck: Call) -> None:
    history(_1_table=TABLE, _2_publication=PUBLICATION, _3_keyless=KEYLESS)
    assert "in 1 statement of 1 file (" in pubcheck("lint", "migrations/2_publication.sql").out
    before = {path: path.read_text() for path in Path("migrations").iterdir()}
    pubcheck("lint", "--fix", "--unsafe-fixes", "migrations/3_keyless.sql")
    changed = [path.name for path, text in before.items() if path.read_text() != text]
    assert changed in ([], ["3_keyless.sql"])


def test_context_given_with_an_option_is_followed_and_not_reported(pubcheck: Call) -> None:
    Path("base.sql").write_text(TABLE + KEYLESS)
    Path("p.sql").write_text(PUBLICATION)
    assert [finding[0] for finding in linted(pubcheck, "--schema", "base.sql", "p.sql")] == ["p.sql", "p.sql"]
    Path("p.sql").write_text("CREATE PUBLICATION p FOR TABLE t;")
    explained = pubcheck("explain", "--schema", "base.sql", "p.sql")
    # What is refused, why, and that neither UPDATE nor DELETE is sent.
    assert (explained.status, explained.out.count("refused")) == (0, 3)


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


def test_what_is_undone_is_passed_over_when_given_by_name(pubcheck: Call) -> None:
    history(_V1__a=TABLE + PUBLICATION, _U1__a="DROP PUBLICATION p;")
    called = pubcheck("lint", "migrations/U1__a.sql")
    assert (called.status, called.out.splitlines()[-1]) == (
        0,
        "migrations/U1__a.sql skipped: it is a Flyway undo migration.",
    )
    called = pubcheck("lint", "--format", "json", "migrations/U1__a.sql")
    assert (called.status, json.loads(called.out)["files"]) == (0, 0)
    assert "skipped: it is a Flyway undo migration" in called.err
    called = pubcheck("explain", "migrations/U1__a.sql")
    assert (called.status, called.err) == (
        2,
        "pubcheck: no input: migrations/U1__a.sql skipped: it is a Flyway undo migration\n",
    )


def test_a_history_of_ways_back_alone_holds_nothing(pubcheck: Call) -> None:
    history(_U1__a="DROP PUBLICATION p;", _U2__b="DROP TABLE t;")
    assert pubcheck("lint", "migrations").err == (
        "pubcheck: no input: migrations/U1__a.sql and 1 more skipped: it is a Flyway undo migration\n"
    )


def test_what_is_excluded_is_passed_over_by_name_only_when_asked(pubcheck: Call) -> None:
    Path(".git").mkdir()
    Path("gen").mkdir()
    Path(".gitignore").write_text("gen/*\n!gen/kept.sql\n")
    for name in ("gen/a.sql", "gen/kept.sql", "seed.sql"):
        Path(name).write_text(TABLE + PUBLICATION)
    Path("pubcheck.toml").write_text('exclude = ["seed*"]\n')
    paths = ("gen/a.sql", "gen/kept.sql", "seed.sql")
    assert {path for path, *_ in linted(pubcheck, *paths)} == set(paths)
    assert {path for path, *_ in linted(pubcheck, "--force-exclude", *paths)} == {"gen/kept.sql"}
    called = pubcheck("lint", "--force-exclude", "gen/a.sql", "seed.sql")
    assert (called.status, called.out.splitlines()[1:]) == (
        0,
        ["gen/a.sql skipped: git ignores it.", "seed.sql skipped: the configuration excludes it."],
    )
    Path("pubcheck.toml").write_text('exclude = ["seed*"]\nforce-exclude = true\nrespect-gitignore = false\n')
    assert {path for path, *_ in linted(pubcheck, *paths)} == {"gen/a.sql", "gen/kept.sql"}
    assert {path for path, *_ in linted(pubcheck, "--no-force-exclude", *paths)} == set(paths)
    assert "seed.sql  (the configuration excludes it)" in pubcheck("files", *paths).out


def test_patterns_of_the_command_line_are_relative_to_the_current_folder(
    pubcheck: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b[1]/a.sql", "b[1]/old/b.sql", "b[1]/x/old/c.sql", "b[1]/seed.sql"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(TABLE + PUBLICATION)
    Path("pubcheck.toml").write_text('exclude = ["seed*"]\n')
    monkeypatch.chdir("b[1]")

    def read(*patterns: str) -> set[str]:
        options = [word for pattern in patterns for word in ("--exclude", pattern)]
        return {path for path, *_ in linted(pubcheck, ".", *options)}

    assert read() == {"a.sql", "old/b.sql", "x/old/c.sql"}
    assert read("old/") == {"a.sql"}
    assert read("/old") == {"a.sql", "x/old/c.sql"}
    assert read("x/old/c.sql", "a.*") == {"old/b.sql"}
    assert read("*.sql", "!a.sql") == {"a.sql"}
    assert "a.sql" not in pubcheck("files", "--exclude", "a.sql", "--exclude", "old").out.split()


def test_without_a_path_the_units_of_the_configuration_are_meant(
    pubcheck: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    history(_1_a=TABLE, _2_b=PUBLICATION)
    assert {path for path, *_ in linted(pubcheck)} == {"migrations/2_b.sql"}
    Path("pubcheck.toml").write_text('[[unit]]\nname = "shop"\nfiles = ["migrations/*.sql", "later.sql"]\n')
    assert {path for path, *_ in linted(pubcheck)} == {"migrations/2_b.sql", "later.sql"}
    assert "  3  later.sql  (No such file or directory)\n" in pubcheck("files").out
    monkeypatch.chdir("migrations")
    assert {path for path, *_ in linted(pubcheck)} == {"../migrations/2_b.sql", "../later.sql"}


def test_a_unit_of_the_configuration_without_files_is_told(pubcheck: Call) -> None:
    Path("pubcheck.toml").write_text('[[unit]]\nname = "shop"\nfiles = ["shop/*.sql"]\n')
    Path("a.sql").write_text(TABLE)
    called = pubcheck("lint")
    assert called.status == 1
    assert "no file matches the files of shop" in called.out
    assert "no file matches the files of shop" in pubcheck("files").out
