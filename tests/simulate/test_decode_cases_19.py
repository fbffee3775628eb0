"""The corpus' decode cases of PostgreSQL 19, on a simulated server: its messages are those that 19beta3 sent."""

from __future__ import annotations

import pytest

from pubcheck.simulate import Database, NotFollowed, ServerError
from tests.support.cases import Case, load
from tests.support.pgoutput import describe

CASES = [case for case in load() if case.decode is not None and 19 in case.answers and case.id.startswith("v19-")]
NOT_FOLLOWED = {
    **dict.fromkeys(
        (
            "v19-dec-portion-update",
            "v19-dec-portion-update-no-insert",
            "v19-dec-portion-update-filter",
            "v19-dec-portion-delete",
            "v19-dec-portion-delete-no-insert",
            "v19-dec-portion-delete-filter",
        ),
        "FOR PORTION OF",
    ),
    "v19-dec-on-conflict-select": "ON CONFLICT DO SELECT",
}
"""Cases with statements that the simulated server refuses to guess."""


def decoded(case: Case) -> tuple[bool, str | None, tuple[str, ...]]:
    """ok, SQLSTATE and changes, as they are recorded."""
    assert case.decode is not None
    database = Database(19, ";\n".join((*case.setup, case.statement)))
    slot = database.slot("pgoutput")
    session = database.session()
    try:
        for statement in case.decode.sql:
            session.run(statement)
        messages = slot.peek(proto_version="1", publication_names=case.decode.publications)
        return True, None, tuple(describe(data for _, _, data in messages))
    except ServerError as error:
        return False, error.sqlstate, ()


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in NOT_FOLLOWED], ids=lambda case: case.id)
def test_a_simulated_server_sends_what_19_sent(case: Case) -> None:
    answer = case.answers[19]
    assert decoded(case) == (answer.ok, answer.sqlstate, answer.changes or ())


@pytest.mark.parametrize("case", [case for case in CASES if case.id in NOT_FOLLOWED], ids=lambda case: case.id)
def test_other_cases_are_not_guessed(case: Case) -> None:
    with pytest.raises(NotFollowed, match=NOT_FOLLOWED[case.id]):
        decoded(case)
