"""The address of a rule: its page, the functions that find it, its message templates, its fixes and its tests.

Each of these is declared where it is written: functions by `rulebook.finder`, `rulebook.fixer` and
`checks.context.finds`, templates in `checks.messages`, fixes of statements in `checks.remedies.statement_fixes`. This
module only collects them by the code of the rule, for people and tests: `python -m pubcheck.rule_address PUB503`. A run
of the linter does not load it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module
from pathlib import Path

from msgspec import Struct

from pubcheck.checks.messages.refusals import MESSAGES
from pubcheck.checks.registry import load_all
from pubcheck.checks.remedies.statement_fixes import STATEMENT_FIXES
from pubcheck.rulebook import FINDERS, FIXERS, RULES, Rule

_PACKAGE = Path(__file__).parent
_DECLARING = (
    "checks.ddl.syntax_help",
    "checks.refused_dml",
    "checks.remedies.filter_rewrites",
    "checks.remedies.syntax_fixes",
    "checks.remedies.write_remedies",
    "checks.write.replica_identity",
    "discovery.read",
    "engine.blocks",
    "engine.suppressions.apply",
    "engine.syntax_errors",
    "engine.statement_runner",
    "engine.unit_run",
    "extract.embedded_sql",
    "extract.sql_migrations",
    "faults",
    "verify.against_script",
    "verify.verifier",
)
"""Modules that declare finders and fixers, or that import such modules."""


class Site(Struct, frozen=True, order=True):
    """A place in the code: a file below `pubcheck/`, a line and the name of a function or key."""

    path: str
    line: int
    name: str


class RuleAddress(Struct, frozen=True):
    """A rule with everything that belongs to it.

    ``finders`` are functions, or the places where PostgreSQL's errors of this rule are raised. ``messages`` is empty if
    the finders write their own texts. ``tests`` is the file of a rule that SQL alone can show; those of the other rules
    are named in `tests/rules/test_scripts.py`.
    """

    rule: Rule
    page: str
    finders: tuple[Site, ...]
    messages: tuple[Site, ...]
    fixes: tuple[Site, ...]
    tests: str


def address(code: str) -> RuleAddress:
    """Return the address of the rule with this code. KeyError for an unknown one."""
    rule = RULES[code]
    for name in _DECLARING:
        import_module(f"pubcheck.{name}")
    load_all()
    finders = [_site(function) for function in FINDERS.get(code, ())]
    fixes = [_site(function) for function in FIXERS.get(code, ())]
    if code in STATEMENT_FIXES:
        fixes.append(_site(STATEMENT_FIXES[code]))
    return RuleAddress(
        rule,
        f"rules/{rule.filename}",
        (*finders, *_quoted("postgres", MESSAGES.get(code, ()))),
        tuple(_quoted("checks/messages", [code] if code in MESSAGES else ())),
        tuple(fixes),
        f"tests/rules/{code}.sql",
    )


def _site(function: Callable[..., object]) -> Site:
    code = function.__code__
    path = Path(code.co_filename).relative_to(_PACKAGE).as_posix()
    return Site(path, code.co_firstlineno, code.co_qualname)


def _quoted(folder: str, texts: Collection[str]) -> Iterator[Site]:
    """Yield the lines of a folder with one of these texts as a whole string."""
    if not texts:
        return
    strings = re.compile(f'"({"|".join(map(re.escape, texts))})"')
    for path in sorted((_PACKAGE / folder).rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for match in strings.finditer(line):
                yield Site(path.relative_to(_PACKAGE).as_posix(), number, match[1])


def describe(address_of_rule: RuleAddress) -> Iterator[str]:
    """Yield lines about the address of a rule."""
    rows: Iterable[tuple[str, Iterable[Site]]] = (
        ("found", address_of_rule.finders),
        ("text", address_of_rule.messages),
        ("fix", address_of_rule.fixes),
    )
    yield f"{address_of_rule.rule.code} {address_of_rule.rule.name}"
    yield f"  page   {address_of_rule.page}"
    for label, sites in rows:
        for site in sites:
            yield f"  {label:<6} pubcheck/{site.path}:{site.line} {site.name}"
    yield f"  tests  {address_of_rule.tests}"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print("\n".join(describe(address(argument))))
