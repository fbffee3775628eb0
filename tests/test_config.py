"""Configuration: where it is found, what it may say, and what is answered to what it may not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pubcheck.config import Config, ConfigError, from_options, load


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
        'fail-on = "error"\nfail-on-assumed = true\ndatabase = "shop"\n'
    )
    assert load(path=str(file)) == Config(
        postgres=(15, 18),
        complete=True,
        select=("PUB3", "PUB107"),
        ignore=("PUB301",),
        fail_on="error",
        fail_on_assumed=True,
        database="shop",
        root=str(tmp_path),
    )


def test_a_file_given_by_name_may_be_a_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.pubcheck]\ncomplete = true")
    assert load(path=str(file)).complete


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("postgres = ", "not valid TOML"),
        ("postgres = 19", "pubcheck.toml: postgres: PostgreSQL 19 is not supported"),
        ("fail_on = 'error'", "pubcheck.toml: fail_on: there is no such option; did you mean fail-on?"),
        ("nonsense = 1", "nonsense: there is no such option; there are postgres, complete, "),
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
        ({"select": ["PUB310"]}, "no rule has the code PUB310; did you mean PUB30"),
        ({"select": ["relation-missing"]}, "select by code: PUB107"),
        ({"ignore": ["W"]}, "no rule has the code W; `pubcheck rules` lists them"),
        ({"fail-on": "fatal"}, "must be one of note, warning, error, not 'fatal'"),
        ({"database": 1}, "database: must be a text, not a number"),
    ],
)
def test_a_wrong_value_is_explained(options: dict[str, object], complaint: str) -> None:
    assert complaint in refused(options)


def test_an_unsupported_major_is_answered_with_those_that_are() -> None:
    assert refused({"postgres": "18,19"}).endswith("there are 15, 16, 17, 18")


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
