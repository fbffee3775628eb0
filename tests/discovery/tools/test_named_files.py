"""Files given by name bring the history that they are part of."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.discovery.units import find_units
from tests.discovery.tools.trees import PUBLICATION, TABLE, Grow, plant, shown, write

HISTORIES = {
    "supabase": ("supabase/migrations/1_a.sql", "supabase/migrations/2_b.sql"),
    "flyway": ("db/V1__a.sql", "db/V2__b.sql"),
    "prisma": ("prisma/migrations/1_a/migration.sql", "prisma/migrations/2_b/migration.sql"),
    "up-down": ("db/1_a.up.sql", "db/2_b.up.sql"),
    "initdb": ("docker-entrypoint-initdb.d/1.sql", "docker-entrypoint-initdb.d/2.sql"),
    "migrations": ("db/migrations/1_a.sql", "db/migrations/2_b.sql"),
}


@pytest.mark.parametrize("convention", HISTORIES)
def test_a_file_of_a_history_is_linted_in_it(grow: Grow, convention: str) -> None:
    first, second = HISTORIES[convention]
    grow(first, second)
    assert shown(second) == [[f"({first})", second]]
    assert shown(f"./{first}", second) == [[first, second]]
    assert find_units([first])[0].convention == convention


def test_a_file_with_the_marks_of_a_tool_is_linted_in_its_history(grow: Grow) -> None:
    grow()
    plant({f"db/{name}.sql": "-- +goose Up\nSELECT 1;" for name in ("1", "2")})
    assert shown("db/2.sql") == [["(db/1.sql)", "db/2.sql"]]


def test_a_file_that_sqitch_or_drizzle_lists_is_linted_in_its_history(grow: Grow) -> None:
    grow("deploy/b.sql", "deploy/a.sql", "drizzle/0000_a.sql", "drizzle/0001_b.sql")
    write("sqitch.plan", "b 2024-01-01T00:00:00Z A <a@b>\na 2024-01-01T00:00:00Z A <a@b>\n")
    write("drizzle/meta/_journal.json", '{"entries": [{"idx": 0, "tag": "0000_a"}, {"idx": 1, "tag": "0001_b"}]}')
    assert shown("deploy/a.sql") == [["(deploy/b.sql)", "deploy/a.sql"]]
    assert shown("drizzle/0001_b.sql") == [["(drizzle/0000_a.sql)", "drizzle/0001_b.sql"]]


def test_the_history_is_found_from_within_it_and_by_absolute_paths(
    grow: Grow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow("supabase/migrations/1_a.sql", "supabase/migrations/2_b.sql", "supabase/seed.sql")
    top = f"{tmp_path}/supabase"
    assert shown(f"{top}/seed.sql") == [
        [f"({top}/migrations/1_a.sql)", f"({top}/migrations/2_b.sql)", f"{top}/seed.sql"]
    ]
    monkeypatch.chdir("supabase/migrations")
    assert shown("2_b.sql") == [["(1_a.sql)", "2_b.sql", "(../seed.sql)"]]


def test_files_of_no_history_stay_apart_when_they_are_named(grow: Grow) -> None:
    grow()
    plant({"cases/01_a.sql": TABLE.format("t"), "cases/02_b.sql": PUBLICATION.format("t"), "cases/x.sql": ""})
    assert shown("cases/02_b.sql", "cases/01_a.sql", "cases/x.sql") == [
        ["cases/02_b.sql"],
        ["cases/01_a.sql"],
        ["cases/x.sql"],
    ]


def test_a_history_beyond_what_git_watches_over_is_not_looked_for(grow: Grow) -> None:
    grow("prisma/migrations/1_a/migration.sql", "prisma/migrations/2_b/migration.sql")
    Path("prisma/migrations/2_b/.git").mkdir()
    assert shown("prisma/migrations/2_b/migration.sql") == [["prisma/migrations/2_b/migration.sql"]]


def test_a_folder_brings_the_history_of_a_file_in_it(grow: Grow) -> None:
    grow("db/V1__a.sql", "db/V2__b.sql")
    assert shown("db/V2__b.sql", "db") == [["db/V1__a.sql", "db/V2__b.sql"]]


def test_what_is_said_to_be_context_comes_first_in_every_unit(grow: Grow) -> None:
    grow("schema.sql", "db/V1__a.sql", "db/V2__b.sql", "x.sql")
    assert shown("db/V2__b.sql", "x.sql", "schema.sql", schema=("schema.sql",)) == [
        ["(schema.sql)", "db/V2__b.sql"],
        ["(schema.sql)", "x.sql"],
        ["schema.sql"],
    ]


def read_from_stdin(label: str, content: str) -> list[tuple[str, str | None]]:
    """The files of the unit, with the content of the one that standard input holds."""
    [plan] = find_units(["-"], stdin=content.encode(), stdin_label=label)
    return [
        (f"({file.label})" if file.context else file.label, None if file.content is None else file.content.decode())
        for file in plan.files
    ]


@pytest.mark.parametrize("convention", HISTORIES)
def test_standard_input_is_linted_in_the_history_of_the_file_whose_name_it_bears(grow: Grow, convention: str) -> None:
    first, second = HISTORIES[convention]
    grow(first, second)
    assert read_from_stdin(second, "SELECT 1;") == [(f"({first})", None), (second, "SELECT 1;")]
    assert read_from_stdin(f"./{first}", "") == [(first, ""), (f"({second})", None)]


def test_standard_input_may_bear_the_name_of_a_migration_that_is_not_saved_yet(grow: Grow) -> None:
    grow("db/migrations/1_a.sql", "db/migrations/3_c.sql")
    assert read_from_stdin("db/migrations/2_b.sql", "SELECT 1;") == [
        ("(db/migrations/1_a.sql)", None),
        ("db/migrations/2_b.sql", "SELECT 1;"),
        ("(db/migrations/3_c.sql)", None),
    ]


def test_the_marks_of_what_standard_input_holds_count_and_not_those_on_the_disk(grow: Grow) -> None:
    grow("db/2.sql")
    plant({"db/1.sql": "-- +goose Up\nSELECT 1;"})
    up = "-- +goose Up\nSELECT 1;"
    assert read_from_stdin("db/2.sql", up) == [("(db/1.sql)", None), ("db/2.sql", up)]
    assert read_from_stdin("db/x.sql", "SELECT 1;") == [("db/x.sql", "SELECT 1;")]


def test_standard_input_with_the_name_of_a_program_is_one(grow: Grow) -> None:
    grow()
    [plan] = find_units(["-"], stdin=b"", stdin_label="app/publish.py")
    assert [file.view for file in plan.files] == ["python"]
