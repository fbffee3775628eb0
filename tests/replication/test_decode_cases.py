"""The corpus' decode cases: the changes that servers sent are those that pubcheck says they send."""

from __future__ import annotations

import re

import pytest

from pubcheck.postgres.replication.subscription_set import combine
from tests.postgres.ddl.support import fold
from tests.replication.decoding import Stopped, decoded
from tests.support.cases import Case, load

BEYOND = {
    "dec-on-conflict": "ON CONFLICT",
    "dec-copy-freeze-note": "INSERT ... SELECT",
    "dec-folded-now": "now()",
}
"""Cases whose rows the tests' own SQL cannot follow: there, only names, columns and operations are compared."""

OF_19 = "v19-"
"""The prefix of cases with syntax of PostgreSQL 19: tests.simulate runs them."""

CASES = [case for case in load() if case.decode is not None and not case.id.startswith(OF_19)]


def predicted(case: Case, major: int) -> tuple[bool, str | None, str | None, str | None, tuple[str, ...] | None]:
    """ok, at, SQLSTATE, message and changes, as they are recorded."""
    assert case.decode is not None
    setup = (*case.setup, case.statement)
    try:
        changes = decoded(major, setup, case.decode.publications, case.decode.sql, case.decode.relations)
    except Stopped as stopped:
        return False, stopped.at, stopped.sqlstate, stopped.message, None
    return True, None, None, None, tuple(changes)


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in BEYOND], ids=lambda case: case.id)
def test_the_changes_of_a_case_are_predicted(case: Case) -> None:
    for major, answer in case.answers.items():
        recorded = (answer.ok, answer.at, answer.sqlstate, answer.message, answer.changes)
        assert predicted(case, major) == recorded, major


@pytest.mark.parametrize("case", [case for case in CASES if case.id in BEYOND], ids=lambda case: case.id)
def test_the_names_and_columns_of_other_cases_are_predicted(case: Case) -> None:
    assert case.decode is not None
    for major, answer in case.answers.items():
        catalog = fold(";".join(case.setup), major).catalog
        asked = [catalog.publication_names[name] for name in case.decode.publications.split(",")]
        expected = set()
        for relation in catalog.relations.values():
            got = combine(catalog, asked, relation.oid)
            if got is not None:
                names = tuple(relation.columns[number - 1].name for number in got.columns)
                expected |= {
                    (operation.upper(), f"public.{catalog.relations[got.arrives_as].name}", names)
                    for operation in ("insert", "update", "delete")
                    if got.filters(operation) is not None
                }
        for change in answer.changes or ():
            operation, name, row = change.split(" ", 2)
            assert (operation, name, tuple(re.findall(r"(\w+)=", row))) in expected, major


def test_what_is_beyond_the_tests_is_in_the_corpus() -> None:
    assert {case.id for case in CASES} >= BEYOND.keys()
