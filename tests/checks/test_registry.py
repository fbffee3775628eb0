"""A rule has one address: its code leads to its page, to what finds it, to its texts and to its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pubcheck
from pubcheck.checks import registry
from pubcheck.checks.context import Check, RuleContext, RuleFinding
from pubcheck.checks.messages.refusals import BY_KEY, MESSAGES
from pubcheck.checks.remedies.statement_fixes import STATEMENT_FIXES
from pubcheck.rulebook import RULES
from tests.support.checks import CHECKS
from tests.support.linting import run
from tools.rulebook.pages import read_pages

PACKAGE = Path(pubcheck.__file__).parent
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in PACKAGE.rglob("*.py")
    if path.name != "_index.py"
}


WITHOUT_EXAMPLE = {"PUB901", "PUB916", *(f"PUB{number}" for number in range(860, 873))}
"""Rules that no SQL can show: they need a configuration, a later version of PostgreSQL, or a running server."""


@pytest.mark.parametrize("code", RULES)
def test_a_code_leads_to_the_module_that_finds_the_rule(code: str) -> None:
    assert any(f'"{code}"' in text for text in SOURCES.values())


def test_the_tables_name_rules_that_there_are() -> None:
    assert {*CHECKS, *MESSAGES, *STATEMENT_FIXES} <= RULES.keys()
    assert {code for code in CHECKS if RULES[code].phase == "ddl"} == set()
    assert all(RULES[code].fix for code in STATEMENT_FIXES)


def test_every_check_is_in_a_module_that_the_registry_loads() -> None:
    entering = re.compile(r"^@(finds|finds_on_server|finds_by_statistics|evaluates)\(", re.MULTILINE)
    named = {name for name, text in SOURCES.items() if entering.search(text)}
    assert registry.MODULES.keys() == {
        name.removeprefix("checks/").removesuffix(".py").replace("/", ".") for name in named
    }


def test_the_server_knows_no_rules() -> None:
    for name, text in SOURCES.items():
        if name.startswith("postgres/"):
            assert re.search(r"PUB\d{3}", text) is None, name


def test_names_and_aliases_of_rules_are_on_their_pages_only() -> None:
    names = {rule.name for rule in RULES.values()} | {alias for rule in RULES.values() for alias in rule.spec}
    names -= {*BY_KEY, "truncate"}  # keys of errors, and an operation
    for name, text in SOURCES.items():
        if not name.startswith(("report/", "spark/")):
            assert names.isdisjoint(re.findall(r'"([a-z0-9-]+)"', text)), name


def test_a_module_is_loaded_wherever_one_of_its_checks_finds_something(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {code: check.__module__.removeprefix("pubcheck.checks.") for code, check in CHECKS.items()}
    loaded: set[str] = set()
    findings: set[str] = set()
    monkeypatch.setattr(registry, "load", loaded.add)
    for code, check in list(CHECKS.items()):
        monkeypatch.setitem(registry.CHECKS, code, _recording(code, check, findings))
    everything: set[str] = set()
    for page in read_pages(str(PACKAGE.parent / "rules")):
        for sql in (*(bad.sql for bad in page.bad), *page.good):
            loaded.clear()
            findings.clear()
            run(sql, postgres=(15, 18, 19), select=("PUB",))
            assert {modules[code] for code in findings} <= loaded, (page.rule.code, sql)
            everything |= findings
    assert everything | WITHOUT_EXAMPLE == CHECKS.keys()


def _recording(code: str, check: Check, findings: set[str]) -> Check:
    def recorded(context: RuleContext) -> Iterator[RuleFinding]:
        for finding in check(context):
            findings.add(code)
            yield finding

    return recorded
