"""What the configuration says of units, and which files it and git leave out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.config import Config, UnitConfig
from pubcheck.discovery.units import find_units
from tests.discovery.tools.trees import Grow, plant, shown, write


def test_the_configuration_says_what_a_unit_is(grow: Grow) -> None:
    grow("a/2.sql", "a/1.sql", "b/x.sql", "base/s.sql", "c/y.sql", "b/z.txt")
    shop = UnitConfig(name="shop", files=("b/x.sql", "a/*.sql", "b/z.txt"), schema=("base",), postgres=(16,))
    config = Config(units=(shop,))
    plans = find_units(["a", "b", "c"], config)
    assert [(plan.name, plan.convention, plan.postgres) for plan in plans] == [
        ("shop", "configuration", (16,)),
        ("c", "folder", ()),
    ]
    assert shown("b/x.sql", config=config) == [["(base/s.sql)", "b/x.sql", "(a/1.sql)", "(a/2.sql)", "(b/z.txt)"]]
    assert shown(".", config=config)[0] == ["(base/s.sql)", "b/x.sql", "a/1.sql", "a/2.sql", "b/z.txt"]


def test_paths_of_the_configuration_start_from_its_folder(grow: Grow, monkeypatch: pytest.MonkeyPatch) -> None:
    grow("project/a/1.sql", "project/b/2.sql", "project/sub/x.sql")
    config = Config(units=(UnitConfig(name="shop", files=("b/2.sql", "a/1.sql")),), root=str(Path("project").resolve()))
    monkeypatch.chdir("project/a")
    (files,) = shown("1.sql", config=config)
    assert files[1] == "1.sql"


def test_what_the_configuration_excludes_is_not_found_and_still_read_by_name(grow: Grow) -> None:
    grow("db/a.sql", "db/gen/b.sql", "db/c.ddl", "db/d.txt")
    config = Config(exclude=("gen/", "db/d*"))
    assert shown("db", config=config) == [["db/a.sql"]]
    assert shown("db/gen/b.sql", config=config) == [["db/gen/b.sql"]]


def test_what_the_configuration_includes_is_found_as_well(grow: Grow) -> None:
    grow("db/a.sql", "db/c.ddl", "db/d.txt", "db/e.ddl")
    assert shown("db", config=Config(include=("*.txt", "c.ddl"))) == [["db/a.sql", "db/c.ddl", "db/d.txt"]]


def test_what_git_ignores_is_not_found(grow: Grow) -> None:
    grow("a.sql", "build/b.sql", "db/c.sql", "db/local.sql", "db/keep.sql", "db/sub/local.sql", "x/secret.sql")
    Path(".git/info").mkdir(parents=True)
    plant(
        {
            ".gitignore": "build/\n*local*\n",
            "db/.gitignore": "!sub/local.sql\nkeep.sql\n",
            ".git/info/exclude": "secret.sql\n",
        }
    )
    assert sorted(file for files in shown(".") for file in files) == ["a.sql", "db/c.sql", "db/sub/local.sql"]
    assert shown("db") == [["db/c.sql"], ["db/sub/local.sql"]]
    assert len(shown(".", config=Config(respect_gitignore=False))) == 5


def test_an_ignored_folder_given_by_name_is_read(grow: Grow) -> None:
    grow("build/b.sql", "build/sub/c.sql")
    Path(".git").mkdir()
    write(".gitignore", "build/\n")
    assert shown("build") == [["build/b.sql"], ["build/sub/c.sql"]]


def test_patterns_that_can_match_nothing_load_nothing(grow: Grow, monkeypatch: pytest.MonkeyPatch) -> None:
    grow("db/a.sql")
    Path(".git").mkdir()
    write(".gitignore", "node_modules/\n*.log\n/dist\n[a-z]*.tmp\n")
    monkeypatch.setitem(__import__("sys").modules, "pathspec", None)
    assert shown("db") == [["db/a.sql"]]
