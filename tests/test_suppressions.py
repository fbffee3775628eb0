"""Ignoring: comments on statements and files, those that ignore nothing, ignores by file and severities."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.engine.linter import Linter
from pubcheck.engine.suppressions import MARK
from pubcheck.engine.suppressions.comments import Comment, Unclear, comments
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.support.linting import covered

UNUSED, UNCLEAR = "PUB011", "PUB012"
TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int);\n"
BAD = "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);"  # PUB301, for UPDATE and for DELETE
REFUSED = "CREATE PUBLICATION p FOR TABLE t WHERE (b);"  # PUB201


def lint(*texts: str, config: Config = Config(), original: str | None = None) -> list[Diagnostic]:
    sources = tuple(Source(f"{number}.sql", text, original) for number, text in enumerate(texts, 1))
    return list(Linter(config).lint(Unit(sources)).diagnostics)


def rules(*texts: str, config: Config = Config()) -> set[str]:
    return {finding.rule for finding in lint(*texts, config=config)}


@pytest.mark.parametrize(
    "text",
    [
        f"{TABLE}-- pubcheck: ignore[PUB301] not updated\n{BAD}",
        f"{TABLE}-- why\n-- pubcheck: ignore[PUB301]\n-- and how\n\n{BAD}",
        f"{TABLE}{BAD} -- pubcheck: ignore[PUB301]",
        f"{TABLE}{BAD[:-1]} -- pubcheck: ignore[PUB301]\n;",
        f"{TABLE}CREATE PUBLICATION p FOR TABLE -- pubcheck: ignore[PUB301]\n t WHERE (a > 1);",
        f"{TABLE}/* pubcheck: ignore[PUB301] */ {BAD}",
        f"{TABLE}/* pubcheck: ignore[PUB301]: on purpose\n   for now */\n{BAD}",
        f"{TABLE}--pubcheck:ignore [ pub301 , PUB301]\n{BAD}",
        f"{TABLE}-- pubcheck: ignore[PUB3]\n{BAD}",
        f"{TABLE}-- pubcheck: ignore\n{BAD}",
        f"{TABLE}-- PUBCHECK: IGNORE[PUB301]\n{BAD}",
        f"-- Pubcheck: Ignore-File\n{TABLE}{BAD}",
        f"{TABLE}-- pubcheck: ignore on purpose\r\n{BAD}",
        f"{TABLE}{BAD}\n-- pubcheck: ignore-file[PUB301] a test",
        f"-- pubcheck: ignore-file\n{TABLE}{BAD}",
    ],
)
def test_a_comment_on_a_statement_takes_its_findings_away(text: str) -> None:
    assert lint(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"-- pubcheck: ignore[PUB301]\n{TABLE}{BAD}",
        f"{TABLE[:-1]} -- pubcheck: ignore[PUB301]\n{BAD}",
        f"{TABLE}{BAD}\n-- pubcheck: ignore[PUB301]",
        f"{TABLE}-- pubcheck: ignore[PUB302]\n{BAD}",
    ],
)
def test_a_comment_elsewhere_ignores_nothing_and_is_reported(text: str) -> None:
    assert rules(text) == {"PUB301", UNUSED}


def test_what_ignores_nothing_is_a_certain_warning_at_the_comment() -> None:
    (finding,) = lint(TABLE + "-- pubcheck: ignore[PUB301] why\nCREATE PUBLICATION p FOR TABLE t;")
    assert (finding.rule, finding.severity, finding.certainty) == (UNUSED, "warning", "certain")
    assert covered(finding.span) == "-- pubcheck: ignore[PUB301] why"
    assert finding.message == "there is no PUB301 to ignore in the statement"


def test_of_several_codes_those_that_ignore_nothing_are_reported() -> None:
    (finding,) = lint(f"{TABLE}-- pubcheck: ignore[PUB302, PUB301,PUB406] why\n{BAD}")
    assert finding.message == "there is no PUB302, PUB406 to ignore in the statement"
    (fix,) = finding.fixes
    assert [(covered(edit.span), edit.text) for edit in fix.edits] == [("PUB302, PUB301,PUB406", "PUB301")]


def test_a_code_that_is_not_reported_in_the_run_is_no_unused_one() -> None:
    text = f"{TABLE}-- pubcheck: ignore[PUB301]\nCREATE PUBLICATION p FOR TABLE t;"
    assert lint(text, config=Config(ignore=("PUB301",))) == []
    assert rules(text, config=Config(select=("PUB0", "PUB3"))) == {UNUSED}
    assert lint(text, config=Config(select=("PUB3",))) == []
    assert lint(text.replace("PUB301", "PUB604")) == []  # off by default
    # PUB126 is of PostgreSQL 18 alone.
    assert lint(text.replace("PUB301", "PUB126"), config=Config(postgres=(17,))) == []


def test_a_comment_that_is_unused_on_purpose_can_say_so() -> None:
    text = f"{TABLE}-- pubcheck: ignore[PUB301]\nCREATE PUBLICATION p FOR TABLE t;\n-- pubcheck: ignore-file[PUB011]"
    assert lint(text) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("-- pubcheck: ignore PUB301", "this comment names a rule outside of brackets"),
        ("-- pubcheck: ignore: pub301, PUB302", "this comment names a rule outside of brackets"),
        ("-- pubcheck: ignores", "this comment is not understood; did you mean ignore?"),
        ("-- pubcheck: off", "this comment is not understood"),
        ("-- pubcheck:", "this comment is not understood"),
        ("-- pubcheck: ignore[]", "this comment names no rule"),
        ("-- pubcheck: ignore[PUB301", "the list of codes in this comment is not closed"),
        ("-- pubcheck: ignore[PUB3O1]", "no rule has the code PUB3O1; did you mean PUB301?"),
    ],
)
def test_what_is_not_understood_is_reported(comment: str, message: str) -> None:
    (finding,) = lint(f"{comment}\n{TABLE}")
    assert (finding.rule, finding.message) == (UNCLEAR, message)


def test_a_code_that_is_not_known_leaves_the_others_in_force() -> None:
    (finding,) = lint(f"{TABLE}-- pubcheck: ignore[PUB301, PUB999]\n{BAD}")
    assert (finding.rule, covered(finding.span)) == (UNCLEAR, "PUB999")


def test_comments_may_be_left_out_of_account() -> None:
    text = "CREATE TABLE t (a int);\nCREATE PUBLICATION p FOR TABLE t; -- pubcheck: ignore, no key yet\nDELETE FROM t;"
    config = Config(ignore_comments=False)
    assert "PUB302" in rules(text, config=config) - rules(text)
    assert not {"PUB011", "PUB012"} & rules(
        "-- pubcheck: ignore[PUB301]\n-- pubcheck: nonsense\n" + text, config=config
    )


def test_a_rule_may_be_named() -> None:
    assert rules(f"{TABLE}-- pubcheck: ignore[filter-column-outside-replica-identity] why\n{BAD}") == set()


def test_the_mark_in_a_text_is_no_comment() -> None:
    assert list(comments(Source("a", "SELECT 'pubcheck: ignore', '# pubcheck: ignore'"))) == []


def test_without_the_mark_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pubcheck.engine.suppressions.apply.apply_suppressions", None)
    assert MARK not in TABLE
    assert rules(TABLE + BAD) == {"PUB301"}


def test_other_languages_have_other_comments() -> None:
    program = '# pubcheck: ignore[PUB301] why\ncursor.execute("' + TABLE[:-1] + '")\n'
    for sign in ("#", "//", "--", "/*"):
        text = program.replace("#", sign)
        (comment,) = comments(Source("a.py", " " * len(text), text))
        assert isinstance(comment, Comment)
        assert [code.text for code in comment.codes or ()] == ["PUB301"]
    (comment,) = comments(Source("a", "", "<!-- pubcheck: ignore-file[PUB9O] -->"))
    assert isinstance(comment, Unclear)


def view(program: str, *statements: str) -> str:
    """The SQL view of a program: nothing but these statements, where they stand."""
    text = [character if character == "\n" else " " for character in program]
    for statement in statements:
        position = program.index(statement)
        text[position : position + len(statement) + 1] = statement + ";"
    return "".join(text)


def test_a_comment_of_a_program_is_on_the_statement_that_comes_next_or_ends_on_its_line() -> None:
    table, bad = TABLE[:-2], BAD[:-1]
    comment = "# pubcheck: ignore[PUB301]"
    for before, after in ((f"{comment}\n\n", '")'), ("", f'")  {comment}'), ("", f'\n  ")  {comment}')):
        program = f'execute("{table}")\n{before}execute("{bad}{after}\n'
        assert lint(view(program, table, bad), original=program) == []


def test_ignores_by_file_go_by_its_path() -> None:
    config = Config(per_file_ignores=(("2.*", ("PUB3",)),))
    assert rules(TABLE + BAD, config=config) == {"PUB301"}
    assert rules(TABLE, BAD, config=config) == set()


def test_paths_are_relative_to_the_configuration(tmp_path: object) -> None:
    config = Config(per_file_ignores=(("/old/*.sql", ("PUB",)),), root=str(tmp_path))
    text = TABLE + BAD
    for label, ignored in ((f"{tmp_path}/old/a.sql", True), (f"{tmp_path}/new/old/a.sql", False), ("old/a.sql", True)):
        findings = Linter(config).lint(Unit((Source(label, text),))).diagnostics
        assert (findings == ()) is ignored


def test_a_comment_in_a_file_that_is_ignored_all_the_same_is_used() -> None:
    config = Config(per_file_ignores=(("*.sql", ("PUB301",)),))
    assert lint(f"{TABLE}-- pubcheck: ignore[PUB301]\n{BAD}", config=config) == []


def test_severities_are_the_configuration_s() -> None:
    config = Config(severity=(("PUB3", "note"), ("PUB301", "warning")))
    assert {finding.severity for finding in lint(TABLE + BAD, config=config)} == {"warning"}


def test_what_is_not_visible_stays_a_note() -> None:
    (finding,) = lint("ALTER PUBLICATION p ADD TABLE t;", config=Config(severity=(("PUB1", "error"),)))
    assert (finding.rule, finding.severity) == ("PUB106", "note")


def test_what_was_said_of_reading_is_ignored_by_file_too() -> None:
    source = Source("a.sql", "-- pubcheck: ignore-file[PUB003] old\n-- \xe9\nCREATE PUBLICATION p;\n")
    (remark,) = lint("-- pubcheck: x")
    remark = replace(remark, rule="PUB003", span=Span(source, 38, 39))
    linter = Linter(Config(ignore=("PUB804",)))
    assert linter.lint(Unit((source,), reading_notes=(remark,))).diagnostics == ()


def test_what_explains_a_unit_sees_what_is_ignored() -> None:
    followed = Linter().follow(Unit((Source("a.sql", f"{TABLE}-- pubcheck: ignore\n{BAD}"),)))
    assert followed.result.diagnostics == ()
    assert {finding.rule for finding in followed.findings} == {"PUB301"}
