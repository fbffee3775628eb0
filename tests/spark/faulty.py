"""A linter that does, beside linting, what the text it lints tells it to: the faults that an audit must survive."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import time
from pathlib import Path

from pubcheck.discovery.file_facts import Traits, traits
from pubcheck.engine.linter import Followed, Linter
from pubcheck.engine.unit import Result, Unit
from pubcheck.spark import unit_discovery

_FAULT = re.compile(r"-- fault: ([\w-]+)")
_BEFORE = re.compile(rb"-- fault before: ([\w-]+)")


class FaultyLinter(Linter):
    """Follows a unit, but for one that says `-- fault: NAME`."""

    def follow(self, unit: Unit) -> Followed:
        for source in unit.sources:
            for fault in _FAULT.findall(source.text):
                _FAULTS[fault]()
        return super().follow(unit)

    def lint(self, unit: Unit) -> Result:
        return self.follow(unit).result


class FaultyBefore(FaultyLinter):
    """Plants faults where files are looked through before any is linted, in the process that it is sent to: in those
    that say `-- fault before: NAME`."""

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        unit_discovery.traits = _faulty_traits  # type: ignore[attr-defined]


def _faulty_traits(path: str, content: bytes) -> Traits:
    for fault in _BEFORE.findall(content):
        _FAULTS[fault.decode()]()
    return traits(path, content)


def _loop() -> None:
    while True:
        pass


def _loop_in_c() -> None:
    """Holds the interpreter: no other thread and no signal handler of Python gets a turn."""
    sum(range(1 << 60))


def _hang() -> None:
    """Takes as long and costs nothing; that a loop is ended is shown by the tests of the process."""
    time.sleep(600)


def _memory() -> None:
    hoard = []
    while True:
        hoard.append(bytearray(1 << 24))


def _error() -> None:
    raise LookupError("planted")


def _killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _is_first(fault: str) -> bool:
    """Return whether this is the first time, which files whose names begin with `FAULTY_MARK` note."""
    try:
        os.close(os.open(f"{os.environ['FAULTY_MARK']}.{fault}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _killed_once() -> None:
    """Dies the first time, as in a system that has no memory left."""
    if _is_first("killed"):
        _killed()


def _slow_once() -> None:
    """Takes the first time longer than any test."""
    if _is_first("slow"):
        _hang()


def _executor_once() -> None:
    """Kills the first time Spark's executor, the Java above this process."""
    if _is_first("executor"):
        process = os.getpid()
        while Path(f"/proc/{process}/comm").read_text() != "java\n":
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(process, signal.SIGKILL)


_FAULTS = {
    "killed-once": _killed_once,
    "slow-once": _slow_once,
    "executor-once": _executor_once,
    "segfault": faulthandler._sigsegv,  # type: ignore[attr-defined]
    "killed": _killed,
    "loop": _loop,
    "loop-in-c": _loop_in_c,
    "hang": _hang,
    "memory": _memory,
    "error": _error,
    "exit": lambda: os._exit(3),
    "print": lambda: print("said by the linter"),
}
