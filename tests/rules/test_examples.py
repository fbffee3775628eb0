"""The examples of the rulebook's pages: the engine finds what a page says, and real servers answer what it claims."""

from __future__ import annotations

from pathlib import Path

import pglast
import pytest

from pubcheck import ServerAnswer
from pubcheck.rulebook import Rule
from tests.rules.conftest import Scripts
from tests.rules.findings import findings, places
from tests.support.servers import MAJORS, Answer
from tools.rulebook.pages import BadExample, read_pages

_PAGES = read_pages(str(Path(__file__).parent.parent.parent / "rules"))

EXAMPLES = [(page.rule, number, example) for page in _PAGES for number, example in enumerate(page.bad, 1)]
BAD = [
    pytest.param(rule, example, major, id=f"{rule.code}-bad{number}-{major}")
    for rule, number, example in EXAMPLES
    for major in rule.postgres
]
ANSWERED = [
    pytest.param(rule, example, major, id=f"{rule.code}-bad{number}-{major}")
    for rule, number, example in EXAMPLES
    for major in example.answers
    if major in MAJORS
]
GOOD = [
    pytest.param(page.rule, sql, major, id=f"{page.rule.code}-good{number}-{major}")
    for page in _PAGES
    for number, sql in enumerate(page.good, 1)
    for major in page.rule.postgres
]


def statements(sql: str) -> tuple[str, ...]:
    # With the scanner: an example may be about a statement that does not parse.
    parts: tuple[str, ...] = pglast.split(sql, with_parser=False)
    return parts or (sql,)  # no statement of it is complete


def words(answer: Answer | ServerAnswer | None) -> tuple[str | None, ...] | None:
    """What a page claims of an answer; None when the server refused nothing."""
    if answer is None or (isinstance(answer, Answer) and answer.ok):
        return None
    return (answer.sqlstate, answer.message, answer.detail, answer.hint)


@pytest.mark.parametrize(("rule", "example", "major"), BAD)
def test_the_engine_finds_the_bad_example_where_it_is_marked(rule: Rule, example: BadExample, major: int) -> None:
    assert places(rule.code, example.sql, major) == example.places[major]
    claimed = words(example.answers.get(major))
    if claimed is not None and not rule.code.startswith("PUB0"):  # which are about files, not about answers
        assert claimed in [words(finding.server) for finding in findings(rule.code, example.sql, major)]


@pytest.mark.parametrize(("rule", "sql", "major"), GOOD)
def test_the_engine_passes_the_good_example(rule: Rule, sql: str, major: int) -> None:
    assert findings(rule.code, sql, major) == []


@pytest.mark.server
@pytest.mark.parametrize(("rule", "example", "major"), ANSWERED)
def test_a_server_answers_the_bad_example_as_the_page_claims(
    scripts: Scripts, rule: Rule, example: BadExample, major: int
) -> None:
    parts = statements(example.sql)
    expected = [None] * (len(parts) - 1) + [words(example.answers[major])]
    answers = scripts.answers(major, parts, lambda answers: [words(answer) for answer in answers] == expected)
    assert [words(answer) for answer in answers] == expected


@pytest.mark.server
@pytest.mark.parametrize(("rule", "sql", "major"), [good for good in GOOD if good.values[2] in MAJORS])
def test_a_server_accepts_the_good_example(scripts: Scripts, rule: Rule, sql: str, major: int) -> None:
    answers = scripts.answers(major, statements(sql), lambda answers: all(answer.ok for answer in answers))
    assert [words(answer) for answer in answers if not answer.ok] == []
