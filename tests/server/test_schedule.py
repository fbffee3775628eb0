"""When files are linted, without a client."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.engine.linter import Linter
from pubcheck.server.analyst import Analyst, Failed
from pubcheck.server.language_server import Server
from pubcheck.server.workspace import PAUSE, Schedule

FILES = ("a", "b", "c", "d")


class SlowLinter:
    """Lints all files in one unit, which takes a while, and notes which files changed before it was finished."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.lints: list[str] = []
        self.shown: list[str] = []
        self.schedule = Schedule(self.lint)

    async def lint(self, path: str) -> None:
        self.lints.append(path)
        self.schedule.begin(FILES)
        await asyncio.sleep(self.seconds)
        if self.schedule.waits(FILES):
            self.schedule.put(path)
        else:
            self.shown.append(path)

    async def type(self, paths: Sequence[str], times: int, pause: float) -> None:
        for _ in range(times):
            for path in paths:
                self.schedule.put(path)
            await asyncio.sleep(pause)
        await asyncio.gather(*map(self.schedule.settled, paths))


def test_a_burst_over_the_files_of_a_unit_is_one_lint() -> None:
    linter = SlowLinter(0)
    asyncio.run(linter.type(FILES, times=5, pause=0))
    assert (len(linter.lints), len(linter.shown)) == (1, 1)


def test_edits_that_come_faster_than_lints_end_do_not_pile_up() -> None:
    linter = SlowLinter(4 * PAUSE)
    asyncio.run(linter.type(FILES[:2], times=10, pause=1.5 * PAUSE))
    assert len(linter.lints) <= 6  # 20 pauses pass
    assert len(linter.shown) == 1


def test_the_file_that_changed_last_is_linted_first() -> None:
    linted: list[str] = []

    async def lint(path: str) -> None:
        if not linted:
            schedule.put("edited", pause=0)
        linted.append(path)
        await asyncio.sleep(0.001)

    async def session() -> None:
        for path in FILES:
            schedule.put(path, pause=0)
        for path in FILES:
            await schedule.settled(path)

    schedule = Schedule(lint)
    asyncio.run(session())
    assert linted[1] == "edited"
    assert sorted(linted) == [*FILES, "edited"]


def test_an_answer_that_takes_too_long_is_given_up_and_the_next_one_is_not() -> None:
    unit = DiscoveredUnit("", (), "file", "")
    analyst = Analyst(patience=30)
    assert analyst.call(unit, Config(), sleep, 0.0) == "slept"
    analyst._patience = 0.2
    with pytest.raises(Failed, match="more than 0 seconds"):
        analyst.call(unit, Config(), sleep, 600.0)
    analyst._patience = 30
    assert analyst.call(unit, Config(), sleep, 0.0) == "slept"
    analyst.close()


def test_a_question_that_is_cancelled_before_its_turn_is_never_asked() -> None:
    asked: list[str] = []
    end = threading.Event()

    def first() -> None:
        asked.append("first")
        end.wait(30)

    async def session() -> None:
        server = Server()
        running, waiting, last = (
            asyncio.create_task(server.ask(question))
            for question in (first, lambda: asked.append("second"), lambda: asked.append("third"))
        )
        while not asked:
            await asyncio.sleep(0)
        running.cancel()
        for _ in range(1000):  # the first one is still being answered
            await asyncio.sleep(0)
        waiting.cancel()
        end.set()
        await last

    asyncio.run(session())
    assert asked == ["first", "third"]


def sleep(unit: DiscoveredUnit, linter: Linter, seconds: float) -> str:
    time.sleep(seconds)
    return "slept"
