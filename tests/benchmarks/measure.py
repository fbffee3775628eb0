"""What processes cost: user and system CPU, the time that passes, and memory. Machines drift: figures are compared
within one run only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
BARE_PYTHON = (sys.executable, "-I", "-c", "pass")
BARE_PARSER = (sys.executable, "-m", "tests.benchmarks.bare")


class Cost(Struct, frozen=True):
    """``cpu`` and ``wall``, the time that passed, in seconds, the best of several runs; ``memory``, the most that was
    resident, in megabytes."""

    cpu: float
    wall: float
    memory: float
    status: int


def cost(*commands: Sequence[str], runs: int = 3) -> list[Cost]:
    """The cost of each command, run in turns so that what else the machine does hits all alike."""
    measured: list[list[Cost]] = [[] for _ in commands]
    for _ in range(runs):
        for command, costs in zip(commands, measured, strict=True):
            costs.append(_once(command))
    return [
        Cost(
            min(cost_of_run.cpu for cost_of_run in costs),
            min(cost_of_run.wall for cost_of_run in costs),
            max(cost_of_run.memory for cost_of_run in costs),
            costs[0].status,
        )
        for costs in measured
    ]


_LAUNCHER = """\
import os, sys, time
null = os.open(os.devnull, os.O_RDWR)
actions = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
begun = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, time.monotonic() - begun, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def _once(command: Sequence[str]) -> Cost:
    # Bytecode is cached, as it is where pubcheck is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir(), f"pubcheck-benchmarks-{os.getuid()}"))
    # A process's peak of memory begins with that of the one that starts it: hence a small one between.
    launcher = (sys.executable, "-I", "-S", "-c", _LAUNCHER, *command)
    # In a folder without a configuration, as that of most users.
    folder = tempfile.gettempdir()
    output = subprocess.run(launcher, capture_output=True, text=True, check=True, cwd=folder, env=environment).stdout
    cpu, wall, kilobytes, status = output.split()
    return Cost(float(cpu), float(wall), int(kilobytes) / 1024, int(status))


def lint(path: Path | str, command: str = "lint", *options: str) -> tuple[str, ...]:
    """The command that lints a file, or does another thing with it: the console script where there is one beside this
    Python.
    """
    script = shutil.which("pubcheck", path=str(Path(sys.executable).parent))
    program = (script,) if script else (sys.executable, "-m", "pubcheck")
    return (*program, command, *options, str(path))


@contextmanager
def file_of(sql: str) -> Iterator[Path]:
    """A file of that text, in a folder where no configuration is found."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "schema.sql")
        path.write_text(sql, encoding="utf-8")
        yield path
