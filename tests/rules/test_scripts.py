"""A file of scripts for each rule, `PUB301.sql`: the linter reports the rule where a script marks it and nowhere else,
and servers answer each statement as it is annotated. tests/support/scripts.py has the notation."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.rulebook import RULES
from tests.rules.conftest import Scripts
from tests.rules.findings import places
from tests.support.scripts import RuleScript, rule_scripts, statements
from tests.support.servers import MAJORS, Answer

FOLDER = Path(__file__).parent

SCRIPTS = [
    pytest.param(path.stem, script, major, id=f"{path.stem}-{script.title}-{major}")
    for path in sorted(FOLDER.glob("PUB*.sql"))
    for script in rule_scripts(path.read_text(encoding="utf-8"), path.stem, RULES[path.stem].postgres)
    for major in script.majors
]


def test_every_script_is_of_a_rule() -> None:
    assert {path.stem for path in FOLDER.glob("PUB*.sql")} <= RULES.keys()


@pytest.mark.parametrize(("code", "script", "major"), SCRIPTS)
def test_the_rule_is_reported_where_it_is_marked(code: str, script: RuleScript, major: int) -> None:
    assert places(code, script.sql, major) == script.places


@pytest.mark.server
@pytest.mark.parametrize(("code", "script", "major"), [script for script in SCRIPTS if script.values[2] in MAJORS])
def test_servers_answer_as_annotated(scripts: Scripts, code: str, script: RuleScript, major: int) -> None:
    annotated = statements(script.sql)
    expected = [statement.answer(major) for statement in annotated]

    def sqlstates(answers: list[Answer]) -> list[str | None]:
        return [answer.sqlstate for answer in answers]

    texts = [statement.sql for statement in annotated]
    assert sqlstates(scripts.answers(major, texts, lambda answers: sqlstates(answers) == expected)) == expected
