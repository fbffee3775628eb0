"""The address of a rule: its page, the functions that find it, its message templates, its fixes and its tests.

Each of these is declared where it is written: functions by `rulebook.finder`, `rulebook.fixer` and
`checks.context.finds`, templates in `checks.messages`, fixes of statements in `checks.remedies.statement_fixes`. This
module only collects them by the code of the rule, for people and tests: `python -m tools.rule_address PUB503`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from msgspec import Struct

from pubcheck.bundled_texts import PACKAGE
from pubcheck.checks.messages.refusals import MESSAGES
from pubcheck.checks.registry import load_all
from pubcheck.checks.remedies.statement_fixes import STATEMENT_FIXES
from pubcheck.rulebook import FINDERS, FIXERS, RULES, Rule

_PACKAGE = Path(PACKAGE)
_TESTS = _PACKAGE.parent / "tests"
_CODE = re.compile(r"\bPUB\d{3}\b")
_MARK = re.compile(r"^ *@(?:rulebook\.)?(?:finder|fixer)\(", re.MULTILINE)
"""The mark of a function that reports a rule or makes its fixes."""


class Site(Struct, frozen=True, order=True):
    """A place in the code: a file below `pubcheck/`, a line and the name of a function or key."""

    path: str
    line: int
    name: str


class RuleAddress(Struct, frozen=True):
    """A rule with everything that belongs to it.

    ``finders`` are functions, or the places where PostgreSQL's errors of this rule are raised. ``messages`` is empty if
    the finders write their own texts. ``tests`` is the file of a rule that SQL alone can show; for another rule the
    test modules that name it.
    """

    rule: Rule
    page: str
    finders: tuple[Site, ...]
    messages: tuple[Site, ...]
    fixes: tuple[Site, ...]
    tests: tuple[str, ...]


def address(code: str) -> RuleAddress:
    """Return the address of the rule with this code. KeyError for an unknown one."""
    rule = RULES[code]
    _load_marked()
    finders = [_site(function) for function in FINDERS.get(code, ())]
    fixes = [_site(function) for function in FIXERS.get(code, ())]
    if code in STATEMENT_FIXES:
        fixes.append(_site(STATEMENT_FIXES[code]))
    return RuleAddress(
        rule,
        f"rules/{rule.filename}",
        (*finders, *_raised(MESSAGES.get(code, ()))),
        tuple(_matches("checks/messages", f'"({code})"')),
        tuple(fixes),
        _tests(code),
    )


@cache
def _load_marked() -> None:
    """Import every module with a mark, which enters its functions in ``FINDERS`` and ``FIXERS``."""
    load_all()
    for path in sorted(_PACKAGE.rglob("*.py")):
        if _MARK.search(path.read_text(encoding="utf-8")):
            module = path.parent if path.stem == "__init__" else path.with_suffix("")
            import_module(".".join(module.relative_to(_PACKAGE.parent).parts))


def _tests(code: str) -> tuple[str, ...]:
    script = f"rules/{code}.sql"
    paths = [script] if (_TESTS / script).is_file() else _test_modules().get(code, ())
    return tuple(f"tests/{path}" for path in paths)


@cache
def _test_modules() -> Mapping[str, Sequence[str]]:
    """Return the test modules that name each code."""
    modules: dict[str, list[str]] = {}
    for path in sorted(_TESTS.rglob("test_*.py")):
        for code in set(_CODE.findall(path.read_text(encoding="utf-8"))):
            modules.setdefault(code, []).append(path.relative_to(_TESTS).as_posix())
    return modules


def _site(function: Callable[..., object]) -> Site:
    code = function.__code__
    path = Path(code.co_filename).relative_to(_PACKAGE).as_posix()
    return Site(path, code.co_firstlineno, code.co_qualname)


def _raised(keys: Collection[str]) -> Iterator[Site]:
    """Yield the places that give errors one of these keys. A key of a table is none: it describes errors."""
    return _matches("postgres", f'(?<!b)"({"|".join(map(re.escape, keys))})"(?!:)') if keys else iter(())


def _matches(folder: str, pattern: str) -> Iterator[Site]:
    """Yield the lines of a folder that a pattern matches; its group is the name."""
    strings = re.compile(pattern)
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
    yield f"  tests  {', '.join(address_of_rule.tests)}"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print("\n".join(describe(address(argument))))
