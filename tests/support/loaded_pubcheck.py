"""A process that has loaded pubcheck, and runs its command line in forks of itself: to start Python for each of
hundreds of runs would cost more than most of them."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from pubcheck import cli
from pubcheck.cli import app

MEMORY = 1 << 30
"""Bytes of address space."""
SECONDS = 30
"""Of CPU time, on any machine."""


class Ended(Struct, frozen=True):
    """What came of a run: its exit status, CPU seconds, and bytes of memory."""

    status: int
    seconds: float
    memory: int


class LoadedPubcheck:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, command: Sequence[str], out: str, error: str) -> Ended:
        """`pubcheck` in a process with limits, which writes its output to two files."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([command, out, error]) + "\n")
        self._process.stdin.flush()
        return Ended(*json.loads(self._process.stdout.readline()))


@contextmanager
def loaded(sql: str) -> Iterator[LoadedPubcheck]:
    """Start one that has linted and explained a text, and so has loaded what that needs."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as sample:
        sample.write(sql)
        sample.flush()
        command = [sys.executable, "-m", "tests.support.loaded_pubcheck", sample.name]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield LoadedPubcheck(process)
            assert process.stdin is not None
            process.stdin.close()


def main(sample: str) -> None:
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for command in ("lint", "explain"):
        app.run([command, "--format", "json", sample])
    sys.stdout.flush()
    for request in sys.stdin:
        command, out, error = json.loads(request)
        os.write(answers, (json.dumps(fork(command, out, error)) + "\n").encode())


def fork(command: list[str], out: str, error: str) -> tuple[int, float, int]:
    """Return the fields of ``Ended`` of a run."""
    process = os.fork()
    if process == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in enumerate((out, error), 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        sys.argv = ["pubcheck", *command]
        try:
            cli.main()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)
    _, status, usage = os.wait4(process, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


if __name__ == "__main__":
    main(sys.argv[1])
