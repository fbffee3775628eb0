"""The process in which units are linted: whatever a unit does to it, the next one is linted."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pubcheck.engine.linter import Linter
from pubcheck.spark.lint_process import Answer, Limits, LintUnit
from pubcheck.spark.process_client import ChildProcess
from pubcheck.spark.unit_row import MemberRow, Quarantined, UnitRow, unpacked
from tests.spark.faulty import FaultyLinter

pytestmark = pytest.mark.slow

GOOD = "CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;"


@pytest.fixture(scope="module")
def process() -> Iterator[ChildProcess]:
    child = ChildProcess(pickle.dumps(FaultyLinter()), Limits(60.0, 256 << 20))
    yield child
    child.close()


@pytest.fixture(scope="module")
def hasty() -> Iterator[ChildProcess]:
    """One that waits for a second only."""
    child = ChildProcess(pickle.dumps(FaultyLinter()), Limits(1.0, 256 << 20))
    yield child
    child.close()


def ask(process: ChildProcess, *texts: str | bytes) -> Answer[list[Any]]:
    contents = tuple(text if isinstance(text, bytes) else text.encode() for text in texts)
    members = tuple(MemberRow(f"{number}.sql", None, "sql", None) for number in range(len(contents)))
    return process.ask(LintUnit(UnitRow("", "", members=members), "", contents))


def lint(process: ChildProcess, *texts: str | bytes) -> dict[str, Any]:
    (fields,) = ask(process, *texts).rows
    return dict(zip(UnitRow.__struct_fields__, fields, strict=True))


def failure_of(process: ChildProcess, *texts: str | bytes) -> Quarantined:
    """Why a unit is quarantined: its process failed, or the linter did."""
    answer = ask(process, *texts)
    if answer.failure is not None:
        return answer.failure
    quarantine = dict(zip(UnitRow.__struct_fields__, answer.rows[0], strict=True))["quarantine"]
    return msgspec.convert(quarantine[-1], Quarantined)


@pytest.mark.parametrize(
    ("fault", "reason", "detail"),
    [
        ("segfault", "crashed", "the process that linted it died of SIGSEGV"),
        ("killed", "crashed", "the process that linted it died of SIGKILL"),
        ("exit", "crashed", "the process that linted it ended with status 3"),
        ("memory", "memory", "the unit needs more memory than --unit-memory allows"),
        ("error", "internal-error", "LookupError: planted"),
    ],
)
def test_a_fault_is_a_failure_of_its_unit_alone(process: ChildProcess, fault: str, reason: str, detail: str) -> None:
    failure = failure_of(process, f"-- fault: {fault}\n")
    assert (failure.reason, failure.detail) == (reason, detail)
    good = lint(process, GOOD)
    assert (good["failed"], good["statements"]) == (None, 2)


@pytest.mark.parametrize("fault", ["loop", "loop-in-c"])
def test_what_never_ends_is_ended(hasty: ChildProcess, fault: str) -> None:
    failure = failure_of(hasty, f"-- fault: {fault}\n")
    assert (failure.reason, failure.detail) == ("time-out", "not finished after 1 seconds (--unit-timeout)")
    assert hasty.pid is None


def test_a_crash_and_an_error_leave_their_trace(process: ChildProcess) -> None:
    assert "in lint" in (failure_of(process, "-- fault: segfault").trace or "")
    assert "in _error" in (failure_of(process, "-- fault: error").trace or "")


def test_what_a_linter_prints_is_no_answer(process: ChildProcess) -> None:
    assert lint(process, "-- fault: print\n" + GOOD)["statements"] == 2


def test_a_process_that_was_killed_at_rest_is_replaced_and_no_unit_is_blamed(process: ChildProcess) -> None:
    lint(process, GOOD)
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert lint(process, GOOD)["failed"] is None
    assert process.pid != first


def test_what_was_killed_from_outside_is_tried_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTY_MARK", str(tmp_path / "mark"))
    process = ChildProcess(pickle.dumps(FaultyLinter()), Limits(60.0, 512 << 20))
    assert lint(process, GOOD + "-- fault: killed-once\n")["failed"] is None
    assert (tmp_path / "mark.killed").exists()
    process.close()


def test_one_process_lints_many_units(process: ChildProcess) -> None:
    lint(process, GOOD)
    first = process.pid
    assert [lint(process, GOOD)["statements"] for _ in range(3)] == [2, 2, 2]
    assert process.pid == first


def test_files_that_cannot_be_read_are_told_and_the_others_linted(process: ChildProcess) -> None:
    reply = lint(process, GOOD, b"\x00", b"\xff\x00\x81")
    unread = [(file["path"], file["reason"]) for file in reply["quarantine"]]
    assert unread == [("1.sql", "not-text"), ("2.sql", "not-text")]
    assert reply["statements"] == 2
    assert [finding["rule"] for finding in unpacked(reply["findings"])] == ["PUB002", "PUB002"]


def test_a_linter_that_cannot_be_had_is_no_fault_of_a_unit() -> None:
    child = ChildProcess(b"no pickle", Limits(1.0, 256 << 20))
    with pytest.raises(RuntimeError, match=r"the process that lints does not start: (?s:.)*UnpicklingError"):
        lint(child, GOOD)


@pytest.mark.parametrize("megabytes", [8, 24, 40, 80])
def test_too_little_memory_is_no_finding_whoever_lacks_it(megabytes: int) -> None:
    """The connection, the parser while it raises its error, the parser, the linter."""
    columns = ", ".join(f"a_column_with_a_long_name_{number} varchar(100)" for number in range(50_000))
    child = ChildProcess(pickle.dumps(Linter()), Limits(60.0, megabytes << 20))
    answer = ask(child, f"CREATE TABLE t ({columns}); CREATE PUBLICATION p FOR ALL TABLES;")
    child.close()
    rows = [dict(zip(UnitRow.__struct_fields__, row, strict=True)) for row in answer.rows]
    assert answer.failure is not None
    assert answer.failure.reason in ("memory", "crashed")
    assert all(row["findings"] is None for row in rows)


def test_the_linter_itself_can_be_sent() -> None:
    child = ChildProcess(pickle.dumps(Linter()), Limits(10.0, 1 << 30))
    assert lint(child, GOOD)["statements"] == 2
    child.close()
