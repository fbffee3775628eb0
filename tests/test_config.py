"""Configuration: where it is found, what it may say, and what is answered to what it may not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pubcheck import config
from pubcheck.config import Config, ConfigError, UnitConfig, from_options, load


def refused(options: dict[str, object]) -> str:
    with pytest.raises(ConfigError) as caught:
        from_options(options, where="x.toml: ")
    return str(caught.value)


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert load(str(tmp_path)) == Config()


def test_the_nearest_file_above_counts(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "pubcheck.toml").write_text("postgres = 15")
    assert load(str(below)).postgres == (15,)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.pubcheck]\npostgres = [16, 18]")
    assert load(str(below)).postgres == (16, 18)
    (tmp_path / "a" / "pubcheck.toml").write_text('postgres = "17"')
    assert load(str(below)).postgres == (17,)


def test_a_pyproject_without_a_table_for_pubcheck_is_passed_over(tmp_path: Path) -> None:
    below = tmp_path / "a"
    below.mkdir()
    (tmp_path / "pubcheck.toml").write_text("complete = true")
    (below / "pyproject.toml").write_text('[project]\ndependencies = ["pubcheck"]')
    assert load(str(below)).complete


def test_every_option_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_text(
        'postgres = [18, 15]\ncomplete = true\nselect = ["PUB3", "pub107"]\nignore = ["PUB301"]\n'
        'fail-on = "error"\nfail-on-assumed = true\ndatabase = "shop"\nextend-select = "PUB604"\n'
        'include = ["db/**/*.ddl"]\nexclude = "db/seed"\nrespect-gitignore = false\nbaseline = "known.json"\n'
        'docs-url = "https://example.com/{code}"\n'
        'platform-publications = ["ours_*"]\nplatform-tables = ["auth.*", "migrations"]\n'
        '[per-file-ignores]\n"old/**" = ["PUB3", "all"]\n"*.ddl" = "PUB101"\n'
        '[severity]\nPUB603 = "error"\n"PUB8" = "note"\n'
        '[variables]\nschema = "app"\nport = 5432\n'
        '[[unit]]\nname = "shop"\nfiles = ["db/roles.sql", "db/*.sql"]\nschema = "dump.sql"\npostgres = 16\n'
        '[[unit]]\nname = "other"\nfiles = "other.sql"\n'
    )
    assert load(path=str(file)) == Config(
        postgres=(15, 18),
        complete=True,
        select=("PUB3", "PUB107"),
        ignore=("PUB301",),
        fail_on="error",
        fail_on_assumed=True,
        database="shop",
        extend_select=("PUB604",),
        include=("db/**/*.ddl",),
        exclude=("db/seed",),
        respect_gitignore=False,
        baseline="known.json",
        docs_url="https://example.com/{code}",
        platform_publications=("ours_*",),
        platform_tables=("auth.*", "migrations"),
        per_file_ignores=(("old/**", ("PUB3", "PUB")), ("*.ddl", ("PUB101",))),
        severity=(("PUB603", "error"), ("PUB8", "note")),
        variables=(("schema", "app"), ("port", "5432")),
        units=(
            UnitConfig(name="shop", files=("db/roles.sql", "db/*.sql"), schema=("dump.sql",), postgres=(16,)),
            UnitConfig(name="other", files=("other.sql",)),
        ),
        root=str(tmp_path),
        file=str(file),
    )


def test_a_file_given_by_name_may_be_a_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.pubcheck]\ncomplete = true")
    assert load(path=str(file)).complete


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("postgres = ", "not valid TOML"),
        ("postgres = 20", "pubcheck.toml: postgres: PostgreSQL 20 is not supported"),
        ("fail_on = 'error'", "pubcheck.toml: fail_on: there is no such option; did you mean fail-on?"),
        ("docs-url = 'rules/'", "docs-url: must be an address such as https://example.com/rules/{code}, not 'rules/'"),
        ('docs-url = "https://a/\\u001b{code}"', "docs-url: must be an address such as"),
        ("docs-url = 'https://a/{id}'", "docs-url: must be an address such as"),
        ("nonsense = 1", "nonsense: there is no such option; there are postgres, complete, "),
        ("[tool.pubcheck]\ncomplete = true", "tool.pubcheck: in a file of this name the options must be outside any"),
        ("[[unit]]\nfile = 'a.sql'", "pubcheck.toml: unit 1: file: there is no such option; did you mean files?"),
        (
            "[[unit]]\nname = 'a'\nfiles = 'a'\n[[unit]]\nname = 'x'",
            "pubcheck.toml: unit 2: files: must name the files of the unit",
        ),
        ("[per-file-ignores]\n'a/*.sql' = ['PUB999']", 'per-file-ignores."a/*.sql": no rule has the code PUB999'),
    ],
)
def test_a_wrong_file_is_named_with_the_key(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "pubcheck.toml").write_text(content)
    with pytest.raises(ConfigError) as caught:
        load(str(tmp_path))
    assert complaint in str(caught.value)


def test_a_table_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\npubcheck = 3")
    with pytest.raises(ConfigError, match=r"tool\.pubcheck must be a table"):
        load(str(tmp_path))


def test_a_folder_of_that_name_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pubcheck.toml").mkdir()
    with pytest.raises(ConfigError, match=r"pubcheck\.toml: is a folder; the configuration must be a file"):
        load(str(tmp_path))


def test_a_missing_file_given_by_name_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read"):
        load(path="nowhere.toml")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"postgres": "sixteen"}, "x.toml: postgres: a PostgreSQL major must be a number such as 18, not 'sixteen'"),
        ({"postgres": True}, "must be a number"),
        ({"postgres": "18,"}, "must be a number"),
        ({"postgres": []}, "at least one major"),
        ({"postgres": 9.6}, "must be a number"),
        ({"complete": "yes"}, "complete: must be true or false, not a text"),
        ({"select": 3}, "select: must be a list of codes, not a number"),
        ({"ignore": [1]}, "ignore: must be a list of codes, and its item 1 is a number"),
        ({"ignore": ["PUB1", ""]}, "ignore: must be a list of codes, and its item 2 is an empty text"),
        ({"severity": "error"}, "severity: must be a table of codes and severities, not a text"),
        ({"severity": {"PUB301": "fatal"}}, "severity.PUB301: must be one of note, warning, error, not 'fatal'"),
        ({"severity": {"P301": "note"}}, "severity.P301: no rule has the code P301"),
        (
            {"per-file-ignores": ["PUB301"]},
            "must be a table of patterns and the codes to ignore in the files that they",
        ),
        ({"include": 1}, "include: must be a list of patterns, not a number"),
        ({"exclude": [[]]}, "exclude: must be a list of patterns, and its item 1 is a list"),
        ({"unit": {"files": "a"}}, "unit: must be written [[unit]], once for each unit; it is a table"),
        ({"unit": [1]}, "unit 1: must be a table, not a number"),
        ({"unit": [{"files": "a", "postgres": 9}]}, "unit 1: postgres: PostgreSQL 9 is not supported"),
        ({"unit": [{"name": "x", "files": "a"}] * 2}, "unit 2: name: another unit is already called 'x'"),
        ({"variables": {"a": ["b"]}}, "variables.a: must be a text, not a list"),
        ({"platform-tables": {}}, "platform-tables: must be a list of names, not a table"),
        ({"baseline": ""}, "baseline: must be a text, not an empty text"),
        ({"select": ["PUB310"]}, "no rule has the code PUB310; did you mean PUB30"),
        ({"select": ["relation-mising"]}, "no rule has the code relation-mising; did you mean relation-missing?"),
        ({"ignore": ["W"]}, "no rule has the code W; `pubcheck rules` lists them"),
        ({"fail-on": "fatal"}, "must be one of note, warning, error, not 'fatal'"),
        ({"database": 1}, "database: must be a text, not a number"),
    ],
)
def test_a_wrong_value_is_explained(options: dict[str, object], complaint: str) -> None:
    assert complaint in refused(options)


def test_an_unsupported_major_is_answered_with_those_that_are() -> None:
    assert refused({"postgres": "18,20"}).endswith("supported versions are 15, 16, 17, 18, 19")


def test_later_options_stand_over_earlier_ones() -> None:
    base = Config(postgres=(15,), complete=True)
    assert from_options({"postgres": "18"}, base) == Config(postgres=(18,), complete=True)


def test_the_toml_parser_is_imported_only_for_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'")
    code = "import sys; from pubcheck.config import load; load('.'); print('tomllib' in sys.modules)"
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(root)},
    )
    assert done.stdout == "False\n"


def test_the_documentation_shows_every_key() -> None:
    shown, *_ = re.findall(
        r"```toml\n(.*?)```", (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(), re.DOTALL
    )
    keys = tomllib.loads(shown)
    from_options(keys)
    assert set(keys) == set(config._READERS)


@pytest.mark.parametrize(
    "written",
    [
        '[tool.pubcheck]\nselect = ["PUB3"]\n',
        "[ tool . 'pubcheck' ]\nselect = [\"PUB3\"]\n",
        '["tool"."pubcheck"]\nselect = ["PUB3"]\n',
        '[tool]\npubcheck.select = ["PUB3"]\n',
        'tool.pubcheck.select = ["PUB3"]\n',
        'tool = { pubcheck = { select = ["PUB3"] } }\n',
        '[project]\r\nname = "x"\r\n[tool.pubcheck]\r\nselect = ["PUB3"]\r\n',
    ],
)
def test_the_table_of_a_project_may_be_written_in_any_way(tmp_path: Path, written: str) -> None:
    (tmp_path / "pyproject.toml").write_text(written, encoding="utf-8")
    assert load(str(tmp_path)).select == ("PUB3",)
