"""Findings about a running server: one module a subject. They need its facts, so files alone have none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pubcheck.checks.context import CHECKS, RuleContext, RuleFinding
from pubcheck.live.server_facts import ServerFacts, Statistics
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


StatisticsCheck = Callable[[RuleContext, Statistics], Iterator[RuleFinding]]


def finds_by_statistics(code: str) -> Callable[[StatisticsCheck], StatisticsCheck]:
    """Enter a check under the code of the rule whose findings it yields. It runs only with statistics of a database."""

    def enter(check: StatisticsCheck) -> StatisticsCheck:
        CHECKS[code] = lambda context: iter(()) if context.statistics is None else check(context, context.statistics)
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


def times(number: int, noun: str) -> str:
    """Return "1 error", "2 errors"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
