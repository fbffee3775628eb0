"""Findings at the objects of a server, and amounts as their texts have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pubcheck.checks.context import CHECKS, RuleContext, RuleFinding
from pubcheck.live.server_facts import ServerFacts
from pubcheck.rulebook import finder

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from pubcheck.diagnostics import Severity

    class Details(TypedDict, total=False):
        """The optional fields of a finding."""

        severity: Severity | None
        object: str | None
        publications: tuple[str, ...]
        assumptions: tuple[str, ...]


ServerCheck = Callable[[RuleContext, ServerFacts], Iterator[RuleFinding]]


def finds_on_server(code: str) -> Callable[[ServerCheck], ServerCheck]:
    """Enter a check under the code of the rule whose findings it yields. It runs only with the facts of a server."""

    def enter(check: ServerCheck) -> ServerCheck:
        CHECKS[code] = lambda context: iter(()) if context.facts is None else check(context, context.facts)
        return finder(code)(check)

    return enter


def about(
    context: RuleContext,
    rule: str,
    address: str,
    message: str,
    help: str,
    *,
    certain: bool = True,
    **details: Unpack[Details],
) -> RuleFinding:
    """Return a finding at an object of the server, such as ``slot crm``."""
    return RuleFinding(
        rule=rule, message=message, help=help, place=context.place_at(address), certain=certain, **details
    )


_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """Return a number of bytes in the unit that a person would choose, with two digits at least."""
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{size:.0f} {unit}" if size >= 10 or unit == _UNITS[0] else f"{size:.1f} {unit}"


def count_text(number: float) -> str:
    """Return a number rounded to two digits, as estimates are."""
    if number < 10:
        return f"{number:.2g}"
    scale = 10 ** (len(str(int(number))) - 2)
    return f"{round(number / scale) * scale:,}"


def times(number: int, noun: str) -> str:
    """Return "1 error", "2 errors"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
