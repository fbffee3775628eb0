"""Simulated streams against the recorded ones in corpus/streams."""

from __future__ import annotations

from zlib import crc32

import pytest

from tests.streams.compare import compared
from tests.streams.normalise import without_empty_blocks
from tests.support.recorded_streams import FOLDER, recordings

QUICK = {
    "columns/dropped_and_added",
    "definition/add_column_in_transaction",
    "definition/add_column_volatile_default_in_transaction",
    "filter/full_00",
    "identity/full",
    "inheritance/parent_and_children",
    "toast/plain_repeated",
    "transaction/chain",
    "transaction/order_of_commits_with_savepoints",
    "transaction/savepoint_kept",
    "publication/dropped_and_made_again",
    "truncate/01",
    "two_phase/definition",
    "two_phase/others_between",
    "two_phase/two_in_other_order",
    "write/trigger_writes_elsewhere",
}


@pytest.mark.parametrize("major", [15, 18])
def test_some_scripts_send_what_was_recorded(major: int) -> None:
    chosen = [item for item in recordings(FOLDER, {major}) if item.name in QUICK and len(item.steps) < 40]
    assert len(chosen) >= len(QUICK)
    assert [difference for item in chosen for difference in compared(item).differences] == []


def test_empty_blocks_are_left_out() -> None:
    start, first, stop, change = b"S\0\0\0\x07\0", b"S\0\0\0\x07\1", b"E", b"I..."
    rows = [(0, 1, 7, data) for data in (first, stop, start, change, stop, start, stop)]
    assert [row[3] for row in without_empty_blocks(rows)] == [first, change, stop]


def test_empty_blocks_count_where_that_is_asked_for() -> None:
    chosen = [item for item in recordings(FOLDER, {18}, "definition") if item.name == "definition/trigger"]
    outcomes = [compared(item, exact=True) for item in chosen]
    assert all(item.equal + len(item.differences) == item.captures for item in outcomes)
    assert {item.text for outcome in outcomes for item in outcome.differences} == {"the number of empty blocks differs"}


@pytest.mark.parametrize("major", [15, 18])
def test_a_transaction_that_writes_first_below_two_savepoints_begins_with_that_change(major: int) -> None:
    chosen = [item for item in recordings(FOLDER, {major}, "random") if item.name == "random/035"]
    assert chosen
    assert [difference for item in chosen for difference in compared(item).differences] == []


def test_subtransactions_of_an_aborted_transaction_are_streamed_before_18() -> None:
    chosen = [item for item in recordings(FOLDER, {16, 17}, "random") if item.name in ("random/036", "random/038")]
    assert chosen
    assert [difference for item in chosen for difference in compared(item).differences] == []


@pytest.mark.slow
def test_nearly_all_scripts_send_what_was_recorded() -> None:
    """Each major takes another quarter of the scripts; `python -m tests.streams compare` takes all."""
    outcomes = [
        compared(recording)
        for recording in recordings(FOLDER)
        if crc32(recording.name.encode()) % 4 == recording.major % 4
    ]
    different = [difference for outcome in outcomes for difference in outcome.differences]
    assert len(outcomes) > 800
    assert sum(outcome.equal == outcome.captures for outcome in outcomes) >= 0.985 * len(outcomes), different
