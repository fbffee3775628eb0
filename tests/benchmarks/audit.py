"""`python -m tests.benchmarks.audit [NAME...]`: the audit against `pubcheck lint` over the same repositories.

    findings   the audit gives the findings of lint row by row, all planted faults are found, and none is invented;
    speed      its throughput, in units a second and core, against that of `pubcheck lint --jobs`
    since      a full run against one in which nothing has changed
    inputs     the same findings from Parquet, a table, an object store and a stream
   generated  rows made inside the tasks, up to --units of them, and the driver's memory
   growth     the cost of small units from the hundredth part of --units to all of them, and the driver's memory
    giant      a unit a thousand times the median among many

Corpora are made by `corpus.generate` in a folder for the time of the run. What a start takes stands apart: of each
program it is what the same run takes over one repository; the session of Spark, its workers and what Java compiles are
made before, by runs over a few. What is compared runs in turns, some times each, and the least of its times counts:
what else the machine does only adds. Ratios are of wall time and, on Linux, of the processors' time. Exit status 1 when
a limit is broken.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet
from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from corpus.generate import Repository, Shape, planted, repositories, repository, write
from pubcheck.engine.linter import Linter
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.job import Options, audit
from pubcheck.spark.object_input import ObjectInput
from pubcheck.spark.session import session
from pubcheck.spark.store import Store
from pubcheck.spark.stream_audit import stream
from pubcheck.spark.summary import Summary
from pubcheck.spark.table_input import FrameInput, TableColumns, TableInput
from tests.benchmarks.measure import ROOT

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
LEAST_THROUGHPUT = 0.95
"""Of the audit, of what lint has."""
LEAST_GAIN = 20
"""Of a run in which nothing has changed."""


class Took(Struct, frozen=True):
    """Seconds that passed, and seconds of all processors that all processes took."""

    wall: float
    cpu: float

    def __sub__(self, other: Took) -> Took:
        return Took(self.wall - other.wall, self.cpu - other.cpu)

    @staticmethod
    def least(times: Sequence[Took]) -> Took:
        return Took(min(each.wall for each in times), min(each.cpu for each in times))


class Held:
    """What was held against limits."""

    def __init__(self) -> None:
        self.broken = False

    def least(self, what: str, value: float, limit: float, unit: str = "x") -> None:
        self._told(what, value, unit, f"of at least {limit:g}", broken=value < limit)

    def most(self, what: str, value: float, limit: float, unit: str = "x") -> None:
        self._told(what, value, unit, f"of at most {limit:g}", broken=value > limit)

    def told(self, what: str, value: float, unit: str) -> None:
        self._told(what, value, unit, "", broken=False)

    def _told(self, what: str, value: float, unit: str, limit: str, *, broken: bool) -> None:
        print(f"  {what:<52}{value:>12,.2f} {unit:<8}{limit}{'  BROKEN' if broken else ''}".rstrip(), flush=True)
        self.broken = self.broken or broken


class Bench:
    """A folder for corpora and tables, and a session of Spark that is warm."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.folder, self.given, self.held = folder, given, Held()
        self._spark: SparkSession | None = None
        self._runs = 0

    @property
    def spark(self) -> SparkSession:
        if self._spark is None:
            # Spark's workers are to have this checkout.
            os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
            self._spark = session("benchmark of the audit", self.given.master or f"local[{CORES},4]", None, {})
            few = self.corpus("few", 50 * CORES, Shape(quiet=0))
            for _ in range(2):
                summary, _, _ = self.audit(few)
                self.audit(few, since=summary.run)
                self.audit(self.one)
        return self._spark

    @property
    def one(self) -> str:
        """A corpus of one repository, over which a run is nothing but its start."""
        return self.corpus("one", 1, Shape(tables=1, spread=0, quiet=0))

    @property
    def loud(self) -> str:
        """A quarter of the repositories, all of which hold publications: of others the audit lints nothing."""
        return self.corpus("loud", max(1, self.given.repositories // 4), Shape(quiet=0))

    def corpus(self, name: str, number: int, shape: Shape = Shape()) -> str:
        return self.written(name, repositories(self.given.seed, number, shape))

    def written(self, name: str, given: Iterator[Repository]) -> str:
        where = str(self.folder / name)
        if not os.path.exists(where):
            made = write(given, where)
            print(
                f"  {name}: {made.repositories:,} repositories, {made.holding:,} with publications, {made.files:,}"
                f" files, {made.bytes / 1e6:,.0f} MB, {made.planted:,} findings planted",
                flush=True,
            )
        return where

    def audit(self, where: str, since: str | None = None) -> tuple[Summary, Took, Store]:
        spark = self.spark
        store = Store(spark, str(self.folder / "audit"))
        self._runs += 1
        begun, before = time.monotonic(), _tree()
        summary = audit(spark, FolderInput(where), store, Linter(), Options(run=f"r{self._runs}", since=since))
        return summary, Took(time.monotonic() - begun, _tree() - before), store

    def lint(self, where: str) -> tuple[dict[str, Any], Took]:
        """The JSON document of `pubcheck lint --jobs`."""
        command = (sys.executable, "-m", "pubcheck", "lint", "--quiet", "--jobs", str(CORES), "--format", "json", where)
        begun, before = time.monotonic(), os.times()
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True)
        after = os.times()
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.decode())
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return msgspec.json.decode(done.stdout), Took(time.monotonic() - begun, cpu)

    def stop(self) -> None:
        if self._spark is not None:
            self._spark.stop()


def _tree() -> float:
    """Seconds that this process and those that come of it, living or dead, have had of processors; Linux alone."""
    if not os.path.exists("/proc/self/stat"):
        return 0.0
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
    total = 0.0
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        total += seconds[process] if above == os.getpid() else 0.0
    return total


# What is compared.


def findings(bench: Bench) -> None:
    """Row by row, and against what was planted."""
    where = bench.corpus("corpus", bench.given.repositories)
    document, _ = bench.lint(where)
    summary, _, store = bench.audit(where)
    units = pyarrow.parquet.read_table(store.path("units", summary.run), columns=["repository", "status"]).to_pylist()
    passed_over = {unit["repository"] for unit in units if unit["status"] == "nothing-to-lint"}
    of_lint, aside = [], 0
    for each in document["diagnostics"]:
        repository = os.path.relpath(each["path"], where).partition("/")[0]
        if repository not in passed_over:
            of_lint.append(each)
        else:  # such as that a file is written for another database
            aside += 1
            assert each["severity"] == "note"
            assert each["rule"].startswith("PUB0")
    bench.held.told("findings of lint in repositories without publications", aside, "rows")
    theirs = Counter(msgspec.json.encode(each, order="sorted") for each in of_lint)
    table = pyarrow.parquet.read_table(store.path("findings", summary.run)).to_pylist()
    ours = Counter(msgspec.json.encode(_as_printed(row), order="sorted") for row in table)
    bench.held.told("findings of lint", theirs.total(), "rows")
    bench.held.most("rows of the audit that lint has not", (ours - theirs).total(), 0, "rows")
    bench.held.most("rows of lint that the audit has not", (theirs - ours).total(), 0, "rows")
    expected = Counter(
        (f"{where}/{each.repository}/{each.path}", each.line, each.rule, each.operation, each.sqlstate)
        for each in planted(where)
    )
    found = Counter(
        (row["path"], row["line"], row["rule"], row["operation"], (row["server"] or {}).get("sqlstate"))
        for row in table
        if row["certainty"] == "certain" and row["severity"] != "note"
    )
    bench.held.told("planted", expected.total(), "rows")
    bench.held.most("planted and not found", (expected - found).total(), 0, "rows")
    bench.held.most("found and not planted", (found - expected).total(), 0, "rows")


_OWN = ("repository", "unit", "fingerprint", "owners")


def _as_printed(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table `findings` as lint prints it."""
    printed = {name: value for name, value in row.items() if name not in _OWN}
    if printed["statement"] and printed["statement"]["embedded"] is None:
        del printed["statement"]["embedded"]
    if printed["consumer"] is None:
        del printed["consumer"]
    for place in printed["related"]:
        for name in ("database_object", "live"):
            if place[name] is None:
                del place[name]
    return printed


def speed(bench: Bench) -> None:
    """Over repositories that all hold publications."""
    where = bench.loud
    bench.audit(where)
    turns = []
    for _ in range(bench.given.turns):
        (_, linting), (_, started) = bench.lint(where), bench.lint(bench.one)
        (summary, auditing, _), (_, begun, _) = bench.audit(where), bench.audit(bench.one)
        turns.append((linting, started, auditing, begun))
        bench.held.told("in one turn, wall", (linting - started).wall / (auditing - begun).wall, "x")
    linting, started, auditing, begun = map(Took.least, zip(*turns, strict=True))
    units = summary.metrics["units"]
    for name, took, start in (("lint", linting, started), ("audit", auditing, begun)):
        bench.held.told(f"{name}, start apart", units / (took - start).wall / CORES, "units/s and core")
        bench.held.told(f"{name}, its start", start.wall, "s")
    theirs, ours = linting - started, auditing - begun
    bench.held.least("throughput against lint's, wall", theirs.wall / ours.wall, LEAST_THROUGHPUT)
    if ours.cpu:
        bench.held.least("throughput against lint's, processors", theirs.cpu / ours.cpu, LEAST_THROUGHPUT)


def inputs(bench: Bench) -> None:
    """The findings of every kind of input, row by row against those of folders."""
    where = bench.corpus("corpus", bench.given.repositories)
    folders, _, store = bench.audit(where)
    expected = _fingerprints(store, folders.run)
    rows = _rows(bench.spark, where)
    files = str(bench.folder / "files.parquet")
    rows.write.mode("overwrite").parquet(files)
    rows.createOrReplaceTempView("files")
    columns = TableColumns("repository", "path", "content")
    parquet = TableInput(files, "parquet", columns)
    kinds: dict[str, Callable[[], Summary | None]] = {
        "parquet": lambda: audit(bench.spark, parquet, store, Linter(), Options(run="parquet")),
        "table": lambda: audit(
            bench.spark, TableInput("files", "table", columns), store, Linter(), Options(run="table")
        ),
        "objects": lambda: audit(bench.spark, ObjectInput(where), store, Linter(), Options(run="objects")),
        "stream": lambda: stream(bench.spark, parquet, store, Linter(), Options(run="stream")),
    }
    for kind, run in kinds.items():
        summary = run()
        assert summary is not None
        found = _fingerprints(store, summary.run)
        bench.held.told(f"{kind}: findings", found.total(), "rows")
        bench.held.most(
            f"{kind}: more or fewer than of folders", (found - expected | expected - found).total(), 0, "rows"
        )
        bench.held.told(f"{kind}: time against folders", summary.metrics["seconds"] / folders.metrics["seconds"], "x")


def _fingerprints(store: Store, run: str) -> Counter[tuple[str, ...]]:
    """The findings of a run. A path is without what depends on how the input is written."""
    columns = ["repository", "rule", "line", "certainty", "message", "operation", "path"]
    rows = pyarrow.parquet.read_table(store.path("findings", run), columns=columns).to_pylist()
    return Counter(
        (*map(str, list(row.values())[:-1]), row["path"].partition(f"/{row['repository']}/")[2]) for row in rows
    )


def _rows(spark: SparkSession, where: str) -> DataFrame:
    """The files of a corpus as rows."""
    pattern = f"{where}/*"
    read = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(pattern)
    path = F.substring_index("path", f"{where}/", -1)
    return read.select(
        F.substring_index(path, "/", 1).alias("repository"), F.concat(F.lit(f"{where}/"), path).alias("path"), "content"
    )


def generated(bench: Bench) -> None:
    """Rows that are made in the tasks that read them, so that no disk limits their number."""
    costs: dict[int, float] = {}
    memory: dict[int, tuple[float, float]] = {}
    most = bench.given.units
    for number in (most // 100, most // 10, most):
        made = bench.spark.range(0, number, 1, max(4, number // 2000)).mapInArrow(
            partial(_made, seed=bench.given.seed), "repository STRING, path STRING, content BINARY"
        )
        _forget_peak()
        store = Store(bench.spark, str(bench.folder / "generated"))
        begun = time.monotonic()
        source = FrameInput(made, TableColumns("repository", "path", "content"))
        summary = audit(bench.spark, source, store, Linter(), Options(run=f"g{number}"))
        costs[number], memory[number] = time.monotonic() - begun, (_peak(), _heap(bench.spark))
        bench.held.told(f"{summary.metrics['units']:,.0f} units", costs[number], "s")
        bench.held.told("  the driver's Python, at its peak", memory[number][0], "MB")
        bench.held.told("  the driver's Java, heap after collection", memory[number][1], "MB")
    bench.held.most(f"ten times {most // 10:,} repositories", costs[most] / costs[most // 10], 11)
    for what, place in (("Python", 0), ("Java", 1)):
        bench.held.most(f"growth of the driver's {what}", memory[most][place] / memory[most // 100][place], 1.1)


def _made(batches: Iterable[pyarrow.RecordBatch], *, seed: str) -> Iterator[pyarrow.RecordBatch]:
    shape = Shape(tables=1.5, spread=0.3, quiet=0.5, faulty=0.05, plain=True)
    for batch in batches:
        made = [repository(seed, number, shape) for number in batch.column("id").to_pylist()]
        rows = [(each.name, path, content) for each in made for path, content in each.files.items()]
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(column) for column in zip(*rows, strict=True)], names=["repository", "path", "content"]
        )


def since(bench: Bench) -> None:
    """A run in which nothing has changed."""
    where = bench.loud
    turns = []
    for _ in range(bench.given.turns):
        full, whole, _ = bench.audit(where)
        again, carried, _ = bench.audit(where, since=full.run)
        assert again.metrics["units_carried"] == full.metrics["units"]
        turns.append((whole, carried))
    whole, carried = map(Took.least, zip(*turns, strict=True))
    bench.held.told("in full", whole.wall, "s")
    bench.held.told("nothing changed", carried.wall, "s")
    bench.held.least("gain, wall", whole.wall / carried.wall, LEAST_GAIN)
    if carried.cpu:
        bench.held.told("gain, processors", whole.cpu / carried.cpu, "x")


def growth(bench: Bench) -> None:
    """Units of one or two tables. The driver's memory is measured after each run, and at its peak."""
    shape = Shape(tables=1.5, spread=0.3, quiet=0.5, faulty=0.05, plain=True)
    costs: dict[int, float] = {}
    memory: dict[int, tuple[float, float]] = {}
    for number in (bench.given.units // 100, bench.given.units // 10, bench.given.units):
        where = bench.corpus(f"small-{number}", number, shape)
        _forget_peak()
        summary, took, _ = bench.audit(where)
        costs[number], memory[number] = took.wall, (_peak(), _heap(bench.spark))
        bench.held.told(f"{summary.metrics['units']:,.0f} units", took.wall, "s")
        bench.held.told("  the driver's Python, at its peak", memory[number][0], "MB")
        bench.held.told("  the driver's Java, heap after collection", memory[number][1], "MB")
    some, many, most = costs
    bench.held.most(f"ten times {many:,} units", costs[most] / costs[many], 11)
    bench.held.most(f"a hundred times {some:,} units", costs[most] / costs[some], 110)
    for what, place in (("Python", 0), ("Java", 1)):
        bench.held.most(f"growth of the driver's {what}", memory[most][place] - memory[many][place], 64, "MB")


def _forget_peak() -> None:
    if os.path.exists("/proc/self/clear_refs"):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """The most memory that this process had since it was forgotten, in megabytes; Linux alone."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024


def _heap(spark: SparkSession) -> float:
    """What the driver's Java holds once nothing is there that could go, in megabytes."""
    java: Any = spark._jvm
    runtime = java.java.lang.Runtime.getRuntime()
    for _ in range(3):  # caches let go of what is referenced weakly after one collection only
        java.java.lang.System.gc()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 2**20


def giant(bench: Bench) -> None:
    """A history of INSERTs, a thousand times as large as the median, which one process must take."""
    number = max(200, bench.given.repositories // 10)
    shape = Shape(tables=2, spread=0.3, quiet=0)
    plain = list(repositories(bench.given.seed, number, shape))
    sizes = sorted(sum(map(len, each.files.values())) for each in plain)
    median = sizes[len(sizes) // 2]
    line = b"INSERT INTO t VALUES (1, 'a text that is neither long nor short');\n"
    text = b"CREATE TABLE t (id int PRIMARY KEY, v text);\nCREATE PUBLICATION p FOR TABLE t;\n"
    large = Repository("giant", "one_file", True, {"schema.sql": text + line * (1000 * median // len(line))})
    without = bench.written("even", iter(plain))
    alone, whole = bench.written("giant", iter([large])), bench.written("uneven", iter([*plain, large]))
    bench.audit(without)
    (_, even, _), (_, own, _), (_, uneven, _) = (bench.audit(where) for where in (without, alone, whole))
    bench.held.told("without it", even.wall, "s")
    bench.held.told("it alone", own.wall, "s")
    bench.held.told("both", uneven.wall, "s")
    bench.held.most("what it adds, against it alone", (uneven.wall - even.wall) / own.wall, 1.0)


PARTS: dict[str, Callable[[Bench], None]] = {
    "findings": findings,
    "speed": speed,
    "since": since,
    "inputs": inputs,
    "growth": growth,
    "giant": giant,
    "generated": generated,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.audit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(PARTS)}; all without")
    parser.add_argument("--repositories", type=int, default=20_000, metavar="N")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="how often what is compared runs")
    parser.add_argument("--units", type=int, default=200_000, metavar="N", help="the most of `growth`")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--folder", help="where corpora are written; a temporary folder without")
    parser.add_argument("--master", help=f"of Spark; local[{CORES},4] without")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in PARTS]:
        parser.error(f"there is no {unknown[0]}")
    gc.set_threshold(500_000)  # as the command line does
    with tempfile.TemporaryDirectory(prefix="pubcheck-") as temporary:
        bench = Bench(Path(given.folder or temporary), given)
        try:
            bench.spark  # noqa: B018 -- made before anything is timed
            for name in given.names or PARTS:
                print(f"\n{name}: {(PARTS[name].__doc__ or '').splitlines()[0]}".rstrip(": "), flush=True)
                PARTS[name](bench)
        finally:
            bench.stop()
    return 1 if bench.held.broken else 0


if __name__ == "__main__":
    sys.exit(main())
