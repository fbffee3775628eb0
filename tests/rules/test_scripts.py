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
TESTS = FOLDER.parent
ABOUT_FILES = {
    "PUB000": "test_faults.py",
    "PUB001": "cli/test_lint.py",
    "PUB002": "cli/test_lint.py",
    "PUB003": "cli/test_adoption.py",
    "PUB006": "test_large_statements.py",
    "PUB007": "test_linter.py",
    "PUB008": "checks/ddl/test_other_dialects.py",
    "PUB009": "programs/test_names.py",
    "PUB010": "programs/test_certainty.py",
    "PUB013": "extract/test_sql_migrations.py",
    **dict.fromkeys((*(f"PUB{number}" for number in range(850, 857)), "PUB859"), "verify/test_verify.py"),
    "PUB715": "checks/history/test_slots.py",
    **dict.fromkeys(("PUB857", "PUB858"), "verify/test_script.py"),
    **dict.fromkeys((f"PUB{number}" for number in range(860, 873)), "live/test_running_server.py"),
    **dict.fromkeys((code for code in RULES if code.startswith("PUB9")), "consumers/test_pairs.py"),
    **dict.fromkeys(("PUB917", "PUB921"), "consumers/test_contradictions.py"),
}
"""Rules about files, programs and consumers, which no script of this folder shows, and where their tests are."""

SCRIPTS = [
    pytest.param(path.stem, script, major, id=f"{path.stem}-{script.title}-{major}")
    for path in sorted(FOLDER.glob("PUB*.sql"))
    for script in rule_scripts(path.read_text(encoding="utf-8"), path.stem, RULES[path.stem].postgres)
    for major in script.majors
]


def test_every_rule_has_tests() -> None:
    scripts = {path.stem for path in FOLDER.glob("PUB*.sql")}
    assert scripts | ABOUT_FILES.keys() == RULES.keys()
    for code, path in ABOUT_FILES.items():
        assert code in (TESTS / path).read_text(encoding="utf-8"), f"{path} does not name {code}"


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
