"""Every recorded text, on every major: what the server answered is what ``read`` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, read
from tests.postgres.input.agreement import Case, answer, cases
from tests.postgres.input.fakes import Cache

MAY_BE_UNKNOWN = {
    "xml", "jsonpath", "regtype", "regprocedure", "regoperator", "regcollation", "daterange", "tsrange", "tstzrange",
}  # fmt: skip
"""Types of which some odd texts are beyond judging; every other is judged always."""


@pytest.fixture(scope="module")
def judged() -> list[Case]:
    return list(cases())


def test_every_answer_has_the_servers_verdict_and_sqlstate(judged: list[Case]) -> None:
    wrong = [case for case in judged if not case.unknown and not case.same_verdict]
    assert not wrong, wrong[:10]


def test_messages_details_and_hints_are_the_servers(
    judged: list[Case], record_property: Callable[[str, object], None]
) -> None:
    # libxml2's account of what is wrong with a text is the one DETAIL that is not told.
    certain = [case for case in judged if not case.unknown and case.type != "xml"]
    same = sum(case.ours == case.server for case in certain)
    record_property("conformance", f"literals: {same} of {len(certain)} answers of servers are the same to the letter")
    assert [case for case in certain if case.ours != case.server][:10] == []


def test_only_types_known_to_be_difficult_are_left_open(judged: list[Case]) -> None:
    open_cases = Counter(case.type for case in judged if case.unknown)
    assert set(open_cases) <= MAY_BE_UNKNOWN
    assert sum(open_cases.values()) < len(judged) / 50


def test_unset_names_are_refused_only_where_everything_was_seen() -> None:
    context = InputContext(18, Cache(18, complete=False))
    with pytest.raises(Unknowable):
        read(context, 2205, "nosuch")
    with pytest.raises(ServerError, match="invalid name syntax"):
        read(context, 2205, "a b")


def test_a_checked_domain_is_only_refused_for_its_base_type() -> None:
    context = InputContext(18, Cache(18))
    assert answer(context, 16410, "{x}") == ("22P02", 'invalid input value for enum mood: "x"', None, None)
    with pytest.raises(ServerError):
        read(context, 16411, "x")
    with pytest.raises(Unknowable):
        read(context, 16411, "5")


def test_array_nulls_off_reads_null_as_text() -> None:
    context = InputContext(18, Cache(18), {"array_nulls": "off"}.get)
    assert read(context, 1009, "{NULL}").elements == ["NULL"]
    assert read(InputContext(18, Cache(18)), 1009, "{NULL}").elements == [None]


def test_money_of_another_locale_is_not_judged() -> None:
    with pytest.raises(Unknowable):
        read(InputContext(18, Cache(18), {"lc_monetary": "de_DE.UTF-8"}.get), 790, "1.234,50")


def test_deep_documents_are_not_judged() -> None:
    context = InputContext(18, Cache(18))
    with pytest.raises(Unknowable):
        read(context, 3802, "[" * 5000 + "]" * 5000)
    with pytest.raises(Unknowable):
        read(context, 4072, "(" * 5000 + "1" + ")" * 5000)
