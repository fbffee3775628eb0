"""The judge itself: a prediction that is right agrees, and each way of being wrong is told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Operation, Phase, ServerAnswer, Span, StatementRef
from pubcheck.engine.unit import Result, Unit
from tests.conformance import judging
from tests.conformance.judging import judge, operations_of, text_of, written_tables
from tests.support.cases import Case, Recorded

REFUSED = Recorded(ok=False, sqlstate="42703", message='column "b" does not exist', position=41)
UNUPDATABLE = Recorded(ok=False, sqlstate="55000", message='cannot update table "t" because it publishes updates')
SERVER = ServerAnswer("42703", 'column "b" does not exist', position=41)

Predict = Callable[[Unit], Sequence[Diagnostic]]


def case(
    recorded: Recorded, statement: str = "CREATE PUBLICATION p FOR TABLE t WHERE (b > 1)", phase: str = "create"
) -> Case:
    return Case(
        id="c", rule="f", phase=phase, setup=("CREATE TABLE t (a int)",), statement=statement, answers={18: recorded}
    )


def reported(
    server: ServerAnswer | None,
    start: int,
    phase: Phase = "ddl",
    operation: Operation | None = None,
    table: str = "public.t",
) -> Predict:
    def predict(unit: Unit) -> Sequence[Diagnostic]:
        source = unit.sources[0]
        return [
            Diagnostic(
                rule="PUB000",
                name="x",
                phase=phase,
                severity="error",
                certainty="certain",
                postgres=(18,),
                message="",
                span=Span(source, start, start),
                statement=StatementRef(source, 0, start),
                object=table,
                operation=operation,
                server=server,
            )
        ]

    return predict


@pytest.fixture
def linter(monkeypatch: pytest.MonkeyPatch) -> Callable[[Predict], None]:
    """Puts a linter that says what it is told in the place of the real one."""

    def use(predict: Predict) -> None:
        class Told:
            def __init__(self, config: Config) -> None:
                self.config = config

            def lint(self, unit: Unit) -> Result:
                return Result(tuple(predict(unit)), self.config.postgres, 0)

        monkeypatch.setattr(judging, "Linter", Told)

    return use


def test_the_servers_own_words_agree(linter: Callable[[Predict], None]) -> None:
    judged = case(REFUSED)
    linter(reported(SERVER, text_of(judged)[1]))
    assert judge(judged, 18).worded


def test_other_words_agree_in_the_verdict_only(linter: Callable[[Predict], None]) -> None:
    judged = case(REFUSED)
    linter(reported(ServerAnswer("42703", "no such column", position=41), text_of(judged)[1]))
    result = judge(judged, 18)
    assert (result.agreed, result.worded, result.differences) == (True, False, ("message",))


def test_another_sqlstate_does_not_agree(linter: Callable[[Predict], None]) -> None:
    judged = case(REFUSED)
    linter(reported(ServerAnswer("42P10", 'column "b" does not exist', position=41), text_of(judged)[1]))
    assert not judge(judged, 18).agreed


def test_silence_misses_an_error_and_agrees_with_an_acceptance(linter: Callable[[Predict], None]) -> None:
    linter(lambda unit: [])
    assert not judge(case(REFUSED), 18).agreed
    assert judge(case(Recorded(ok=True)), 18).worded


def test_a_refusal_of_what_was_accepted_is_invented(linter: Callable[[Predict], None]) -> None:
    judged = case(Recorded(ok=True))
    linter(reported(SERVER, text_of(judged)[1]))
    assert judge(judged, 18).invented


def test_a_refusal_of_the_setup_is_invented_also_where_the_statement_fails(linter: Callable[[Predict], None]) -> None:
    linter(reported(SERVER, 0))
    result = judge(case(REFUSED), 18)
    assert (result.agreed, len(result.invented)) == (False, 1)


def test_a_refused_write_is_matched_by_table_and_operation(linter: Callable[[Predict], None]) -> None:
    judged = case(UNUPDATABLE, "UPDATE t SET a = 1", "dml")
    server = ServerAnswer("55000", UNUPDATABLE.message or "")
    linter(reported(server, 0, "write", "update"))
    assert judge(judged, 18).worded
    linter(reported(server, 0, "write", "delete"))
    assert not judge(judged, 18).agreed
    linter(reported(server, 0, "write", "update", "public.other"))
    assert not judge(judged, 18).agreed


def test_an_accepted_write_forbids_a_refusal_of_that_operation_only(linter: Callable[[Predict], None]) -> None:
    judged = case(Recorded(ok=True), "UPDATE t SET a = 1", "dml")
    server = ServerAnswer("55000", "cannot")
    linter(reported(server, 0, "write", "update"))
    assert judge(judged, 18).invented
    linter(reported(server, 0, "write", "delete"))
    assert judge(judged, 18).agreed


@pytest.mark.parametrize(
    ("statement", "operations"),
    [
        ("EXPLAIN UPDATE t SET a = 1", {"update"}),
        ("INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2", {"update"}),
        ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", set()),
        ("MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING", {"delete"}),
        ("PREPARE q AS UPDATE t SET a = 1", set()),
        ("TRUNCATE t", set()),
    ],
)
def test_what_a_statement_does_to_rows(statement: str, operations: set[str]) -> None:
    assert operations_of(statement) == operations


@pytest.mark.parametrize(
    ("setup", "statement", "tables"),
    [
        (("CREATE TABLE c () INHERITS (t)",), "DELETE FROM t", {"t", "c"}),
        (("CREATE TABLE c () INHERITS (t)",), "DELETE FROM ONLY t", {"t"}),
        (("CREATE TABLE c PARTITION OF t DEFAULT", "ALTER TABLE t DETACH PARTITION c"), "DELETE FROM t", {"t"}),
        (("CREATE VIEW v AS SELECT * FROM t",), "DELETE FROM v", {"t", "v"}),
    ],
)
def test_which_tables_a_statement_may_write(setup: tuple[str, ...], statement: str, tables: set[str]) -> None:
    judged = Case(id="c", rule="f", phase="dml", setup=setup, statement=statement, answers={})
    assert written_tables(judged) == tables
