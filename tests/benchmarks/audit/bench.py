"""What the benchmarks of the audit have in common: corpora, sessions of Spark, and what runs cost."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from pyspark.sql import SparkSession

from corpus.generate import Repository, Shape, repositories, write
from pubcheck.engine.linter import Linter
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.inputs import Input
from pubcheck.spark.job import Options, audit
from pubcheck.spark.session import session
from pubcheck.spark.store import Store
from pubcheck.spark.summary import Summary
from tests.benchmarks.measure import ROOT

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Seconds(Struct, frozen=True):
    """Seconds that passed, and seconds of all processors that all processes used."""

    wall: float
    cpu: float

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)

    @staticmethod
    def least(times: Sequence[Seconds]) -> Seconds:
        return Seconds(min(run.wall for run in times), min(run.cpu for run in times))


class Figures:
    """Prints figures, each with its limit, and remembers whether a limit is broken."""

    def __init__(self) -> None:
        self.broken = False

    def at_least(self, name: str, value: float, limit: float, unit: str = "x") -> None:
        self._print(name, value, unit, f"of at least {limit:g}", broken=value < limit)

    def at_most(self, name: str, value: float, limit: float, unit: str = "x") -> None:
        self._print(name, value, unit, f"of at most {limit:g}", broken=value > limit)

    def show(self, name: str, value: float, unit: str) -> None:
        self._print(name, value, unit, "", broken=False)

    def _print(self, name: str, value: float, unit: str, limit: str, *, broken: bool) -> None:
        print(f"  {name:<56}{value:>12,.2f} {unit:<8}{limit}{'  BROKEN' if broken else ''}".rstrip(), flush=True)
        self.broken = self.broken or broken


class Bench:
    """A folder for corpora and tables, and a warm session of Spark."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder, self.options, self.figures = folder, options, Figures()
        self._spark: SparkSession | None = None
        self._runs = 0

    @property
    def spark(self) -> SparkSession:
        return self._spark or self.start(self.options.master or f"local[{CORES},4]")

    def start(self, master: str) -> SparkSession:
        """Start a session in the place of the one before, and warm it up: its workers, and the code of Java."""
        self.stop()
        # Spark's workers import this checkout.
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self._spark = session("benchmark of the audit", master, None, {})
        few = self.corpus("few", 50 * CORES, Shape(quiet=0))
        for _ in range(2):
            summary, _ = self.audit(few)
            self.audit(few, since=summary.run)
            self.audit(self.one)
        return self._spark

    def stop(self) -> None:
        if self._spark is not None:
            self._spark.stop()
            self._spark = None

    @property
    def one(self) -> str:
        """A corpus of one repository, over which a run is nothing but its start."""
        return self.corpus("one", 1, Shape(tables=1, spread=0, quiet=0))

    @property
    def every(self) -> str:
        """The corpus of all repositories."""
        return self.corpus("corpus", self.options.repositories)

    @property
    def loud(self) -> str:
        """A tenth of the repositories, all of which hold publications: of others the audit lints nothing."""
        return self.corpus("loud", max(1, self.options.repositories // 10), Shape(quiet=0))

    @property
    def quarter(self) -> str:
        """The first quarter of those."""
        return self.corpus("loud", max(1, self.options.repositories // 40), Shape(quiet=0))

    def corpus(self, name: str, number: int, shape: Shape = Shape()) -> str:
        return self.written(f"{name}-{number}", repositories(self.options.seed, number, shape))

    def written(self, name: str, repositories_to_write: Iterator[Repository]) -> str:
        where = self.folder / name
        if not where.exists():
            shutil.rmtree(unfinished := self.folder / f"{name}.unfinished", ignore_errors=True)
            counts = write(repositories_to_write, str(unfinished))
            os.rename(f"{unfinished}.jsonl", f"{where}.jsonl")
            unfinished.rename(where)
            print(
                f"  {name}: {counts.repositories:,} repositories, {counts.holding:,} with publications,"
                f" {counts.files:,} files, {counts.bytes / 1e6:,.0f} MB, {counts.planted:,} findings planted",
                flush=True,
            )
        return str(where)

    @property
    def store(self) -> Store:
        return Store(self.spark, str(self.folder / "audit"))

    def audit(
        self, source: str | Input, since: str | None = None, linter: Linter = Linter()
    ) -> tuple[Summary, Seconds]:
        """Audit a folder or another input."""
        source = FolderInput(source) if isinstance(source, str) else source
        self._runs += 1
        options = Options(run=f"{os.getpid()}-{self._runs}", since=since)
        begin, before = time.monotonic(), processors()
        summary = audit(self.spark, source, self.store, linter, options)
        return summary, Seconds(time.monotonic() - begin, processors() - before)

    def lint(self, where: str) -> tuple[dict[str, Any], Seconds]:
        """Return the JSON document of `pubcheck lint --jobs`."""
        command = (sys.executable, "-m", "pubcheck", "lint", "--quiet", "--jobs", str(CORES), "--format", "json", where)
        begin, before = time.monotonic(), os.times()
        process = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True)
        after, end = os.times(), time.monotonic()
        if process.returncode not in (0, 1):
            raise RuntimeError(process.stderr.decode())
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return msgspec.json.decode(process.stdout), Seconds(end - begin, cpu)


def processors() -> float:
    """Return the processor seconds that this process and its descendants, living or dead, have used; Linux only."""
    return sum(descendants().values())


def descendants() -> dict[int, float]:
    """Return this process and its descendants, with the processor seconds of each and of its dead children."""
    if not os.path.exists("/proc/self/stat"):
        return {}
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[1])
            seconds[int(name)] = sum(map(int, fields[11:15])) / tick

    def belongs(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return {process: used for process, used in seconds.items() if belongs(process)}
