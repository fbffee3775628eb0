"""Where there is no convention: files that name each other's tables build one database."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.discovery.units import find_units
from tests.discovery.tools.trees import PUBLICATION, TABLE, Grow, plant, units


def test_a_folder_that_is_about_no_publication_is_one_unit(grow: Grow) -> None:
    grow()
    plant({"repo/a.sql": TABLE.format("t"), "repo/b.sql": TABLE.format("t")})
    assert units() == {".": ("folder", ["a.sql", "b.sql"])}


def test_files_that_name_each_others_tables_belong_together_the_makers_first(grow: Grow) -> None:
    grow()
    plant(
        {
            "repo/a_publication.sql": PUBLICATION.format("orders"),
            "repo/b_keys.sql": "ALTER TABLE orders REPLICA IDENTITY FULL;",
            "repo/c_tables.sql": 'CREATE TABLE public.orders (id int REFERENCES "Users");',
            "repo/d_users.sql": 'CREATE TABLE "Users" (id int PRIMARY KEY);',
        }
    )
    assert units() == {
        ".": ("references", ["d_users.sql", "c_tables.sql", "a_publication.sql", "b_keys.sql"]),
    }


def test_in_a_circle_what_is_only_read_comes_later(grow: Grow) -> None:
    grow()
    reads = "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM replies';\n"
    plant(
        {
            "repo/a_replies.sql": "CREATE TABLE replies (post int REFERENCES posts);",
            "repo/posts.sql": TABLE.format("posts") + reads + PUBLICATION.format("posts"),
        }
    )
    assert [files for _, files in units().values()] == [["posts.sql", "a_replies.sql"]]


def test_files_that_make_all_they_need_are_databases_of_their_own(grow: Grow) -> None:
    grow()
    plant(
        {f"repo/{name}.sql": TABLE.format(name) + PUBLICATION.format(name).replace(" p ", f" {name} ") for name in "ab"}
    )
    assert [files for _, files in units().values()] == [["a.sql"], ["b.sql"]]


def test_a_name_that_two_files_make_joins_none(grow: Grow) -> None:
    grow()
    plant({"repo/new.sql": TABLE.format("t"), "repo/old.sql": TABLE.format("t"), "repo/p.sql": PUBLICATION.format("t")})
    assert [files for _, files in units().values()] == [["new.sql"], ["old.sql"], ["p.sql"]]


def test_publisher_and_subscriber_of_a_demo_are_databases_of_their_own(grow: Grow) -> None:
    grow()
    plant(
        {
            "repo/demo/publisher.sql": TABLE.format("t") + PUBLICATION.format("t"),
            "repo/demo/subscriber.sql": TABLE.format("t") + "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p;",
        }
    )
    assert [files for _, files in units().values()] == [["demo/publisher.sql"], ["demo/subscriber.sql"]]


def test_what_tears_all_down_is_not_run_after_what_builds_it(grow: Grow) -> None:
    grow()
    plant({"repo/setup.sql": TABLE.format("t") + PUBLICATION.format("t"), "repo/teardown.sql": "DROP PUBLICATION p;"})
    assert [files for _, files in units().values()] == [["setup.sql"], ["teardown.sql"]]


def test_a_publication_for_all_tables_needs_the_tables_of_its_folder(grow: Grow) -> None:
    grow()
    plant({"repo/all.sql": "CREATE PUBLICATION p FOR ALL TABLES;", "repo/tables.sql": TABLE.format("t")})
    assert [files for _, files in units().values()] == [["tables.sql", "all.sql"]]


def test_demo_folders_are_databases_of_their_own(grow: Grow) -> None:
    grow()
    for demo in ("one", "two"):
        plant({f"repo/{demo}/p.sql": PUBLICATION.format("t"), f"repo/{demo}/t.sql": TABLE.format("t")})
    assert [files for _, files in units().values()] == [["one/t.sql", "one/p.sql"], ["two/t.sql", "two/p.sql"]]


def test_a_publication_follows_the_tables_that_another_folder_makes(grow: Grow) -> None:
    grow()
    plant(
        {
            "repo/db/migrations/1_t.sql": TABLE.format("t"),
            "repo/ops/publication.sql": PUBLICATION.format("t"),
            "repo/ops/identity/full.sql": "ALTER TABLE t REPLICA IDENTITY FULL;",
        }
    )
    (plan,) = find_units(["repo"])
    assert [file.label for file in plan.files] == [
        "repo/db/migrations/1_t.sql",
        "repo/ops/identity/full.sql",
        "repo/ops/publication.sql",
    ]
    assert (plan.name, plan.convention) == ("repo/ops", "references")


def test_repositories_in_a_folder_are_not_joined(grow: Grow) -> None:
    grow()
    plant({"repo/a/t.sql": TABLE.format("t"), "repo/b/p.sql": PUBLICATION.format("t")})
    assert len(units()) == 1
    Path("repo/b/.git").mkdir()
    assert units() == {"a": ("folder", ["a/t.sql"]), "b": ("folder", ["b/p.sql"])}


@pytest.mark.parametrize(
    "more",
    [
        {"repo/other/t.sql": TABLE.format("t")},
        {"repo/other/p.sql": PUBLICATION.format("t").replace(" p ", " q ")},
        {"repo/db/p.sql": PUBLICATION.format("t").replace(" p ", " q ")},
    ],
    ids=["made-twice", "published-twice", "published-by-the-maker"],
)
def test_in_doubt_folders_are_not_joined(grow: Grow, more: dict[str, str]) -> None:
    grow()
    plant({"repo/db/t.sql": TABLE.format("t"), "repo/ops/publication.sql": PUBLICATION.format("t"), **more})
    assert ["ops/publication.sql"] in [files for _, files in units().values()]


def test_a_test_does_not_publish_the_tables_of_the_application(grow: Grow) -> None:
    grow()
    plant({"repo/db/t.sql": TABLE.format("t"), "repo/tests/publication.sql": PUBLICATION.format("t")})
    plant({"repo/src/db_test.go": f'db.Exec("{PUBLICATION.format("t").strip()}")'})
    assert len(units()) == 3


def test_a_program_is_read_when_it_holds_a_publication(grow: Grow) -> None:
    grow()
    plant({"repo/db/t.sql": TABLE.format("t"), "repo/src/setup.ts": f"await sql`{PUBLICATION.format('t')}`"})
    plant({"repo/src/other.ts": "await sql`SELECT 1`", "repo/readme.md": PUBLICATION.format("t")})
    (plan,) = find_units(["repo"])
    assert [(file.label, file.view) for file in plan.files] == [
        ("repo/db/t.sql", "sql"),
        ("repo/src/setup.ts", "javascript"),
    ]
