"""`pubcheck rule`, `pubcheck rules` and what the group itself answers."""

from __future__ import annotations

import json
import re

import pytest

from pubcheck import __version__, rulebook
from pubcheck.cli import rule_terminal
from tests.cli.conftest import Call


def test_a_page_is_shown_by_code_or_name_as_it_is_written(pubcheck: Call) -> None:
    page = rulebook.page("PUB301")
    for spelling in ("PUB301", "pub301", "filter-column-outside-replica-identity"):
        assert pubcheck("rule", spelling).out == page


@pytest.mark.parametrize("code", rulebook.RULES)
def test_a_terminal_gets_every_page_without_markup(code: str) -> None:
    text = re.sub("\x1b\\[[0-9;]*m", "", rule_terminal.render(rulebook.page(code)))
    assert "```" not in text
    assert not re.search(r"^#|\*\*", text, re.MULTILINE)
    assert rulebook.RULES[code].name in text


def test_a_terminal_shows_which_majors_give_an_answer_and_marks_below_their_lines() -> None:
    text = re.sub("\x1b\\[[0-9;]*m", "", rule_terminal.render(rulebook.page("PUB120")))
    assert "    PostgreSQL 15-17:\n    ERROR " in text
    page = rulebook.page("PUB301")
    shown = re.sub("\x1b\\[[0-9;]*m", "", rule_terminal.render(page))
    marked = re.search(r"^(.+)\n(--.*\^ PUB301)$", page, re.MULTILINE)
    assert marked is not None
    assert f"    {marked[1]}\n    {marked[2]}\n" in shown
    assert re.search(r"`REPLICA\nIDENTITY USING INDEX`", page), "code that goes on in the next line"
    assert "`" not in shown


def test_colour_is_for_those_who_ask(pubcheck: Call) -> None:
    assert "\x1b[1mWhat happens\x1b[0m" in pubcheck("rule", "--color", "always", "PUB301").out


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("PUB302x", "did you mean PUB30"),
        ("relation-mising", "did you mean relation-missing?"),
        ("E501", "`pubcheck rules` lists them"),
        ("PUB999", "did you mean PUB9"),
    ],
)
def test_an_unknown_rule_exits_2_with_the_nearest(pubcheck: Call, code: str, reason: str) -> None:
    called = pubcheck("rule", code)
    assert (called.status, called.out) == (2, "")
    assert reason in called.err


def test_the_list_has_a_line_for_every_rule(pubcheck: Call) -> None:
    lines = pubcheck("rules").out.splitlines()
    assert [line[:6] for line in lines] == list(rulebook.RULES)
    assert "PUB301 + error   write     filter-column-outside-replica-identity" in lines


def test_the_list_as_json_has_every_field(pubcheck: Call) -> None:
    listed = json.loads(pubcheck("rules", "--format", "json").out)
    assert [rule["code"] for rule in listed] == list(rulebook.RULES)
    assert list(listed[0]) == list(rulebook.Rule.__struct_fields__)


def test_the_version(pubcheck: Call) -> None:
    assert pubcheck("--version").out == f"pubcheck {__version__}\n"


def test_help_shows_examples(pubcheck: Call) -> None:
    for arguments in ((), ("lint",), ("rule",)):
        assert "Examples:\n" in pubcheck(*arguments, "--help").out


def test_an_unknown_command_exits_2_with_the_nearest(pubcheck: Call) -> None:
    called = pubcheck("lnt", "a.sql")
    assert called.status == 2
    assert "there is no command 'lnt'; did you mean lint?" in called.err


def test_without_a_rule_the_list_is_pointed_at(pubcheck: Call) -> None:
    assert "`pubcheck rules` lists them" in pubcheck("rule").err
