"""Growth of the audit's time and of the driver's memory with the corpus, and repositories of unequal size."""

from __future__ import annotations

import gc
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow
from pyspark.sql import SparkSession

from corpus.generate import Repository, Shape, repositories, repository
from pubcheck.spark.sources import FrameInput, TableInput
from tests.benchmarks.audit.bench import Bench, Seconds, descendants
from tests.benchmarks.audit.files import COLUMNS, ROWS, rows_of

MOST_GROWTH = 1.1
"""Of the driver's memory, and of the time per unit."""
SMALL = Shape(tables=1.5, spread=0.3, quiet=0.5, faulty=0.05, plain=True)


def growth(bench: Bench) -> None:
    """Folders of small units, from the hundredth part of --units to all of them."""
    _grow(bench, lambda number: bench.audit(bench.corpus("small", number, SMALL)), bench.options.units)


def generated(bench: Bench) -> None:
    """Rows that are generated in the tasks that read them, from the hundredth part of --units to all of them; one in
    ten may have a publication."""
    _grow(bench, partial(_audit_generated, bench, SMALL, quiet=9), bench.options.units)


def quiet(bench: Bench) -> None:
    """The same up to --most, of which one in fifty may have one."""
    _grow(bench, partial(_audit_generated, bench, SMALL, quiet=49), bench.options.most)


def _grow(bench: Bench, run: Callable[[int], tuple[Any, Seconds]], most: int) -> None:
    per_unit: dict[int, float] = {}
    memory: dict[int, tuple[float, float]] = {}
    run(most // 100)
    for number in (most // 100, most // 10, most):
        _forget_peak()
        summary, seconds = run(number)
        units = summary.metrics["units"]
        per_unit[number], memory[number] = seconds.wall / units, (_peak(), heap(bench.spark))
        bench.figures.show(f"{units:,.0f} units", seconds.wall, "s")
        bench.figures.show("  processors", seconds.cpu, "s")
        bench.figures.show("  the driver's Python, at its peak", memory[number][0], "MB")
        bench.figures.show("  the driver's Java, heap after collection", memory[number][1], "MB")
    bench.figures.at_most("time per unit against a tenth of them", per_unit[most] / per_unit[most // 10], MOST_GROWTH)
    for name, place in (("Python", 0), ("Java", 1)):
        ratio = memory[most][place] / memory[most // 100][place]
        bench.figures.at_most(f"growth of the driver's {name}", ratio, MOST_GROWTH)


def _audit_generated(bench: Bench, shape: Shape, number: int, quiet: int = 0) -> tuple[Any, Seconds]:
    make = partial(_generated, seed=bench.options.seed, shape=shape, quiet=quiet)
    rows = bench.spark.range(0, number, 1, max(4, number // 2000)).mapInArrow(make, ROWS)
    return bench.audit(FrameInput(rows, COLUMNS))


def _generated(
    batches: Iterable[pyarrow.RecordBatch], *, seed: str, shape: Shape, quiet: int
) -> Iterator[pyarrow.RecordBatch]:
    """Return the files of repositories; ``quiet`` of them without publications follow each one of the shape."""
    for batch in batches:
        rows: list[tuple[str, str, bytes]] = []
        for number in batch.column("id").to_pylist():
            if quiet and number % (quiet + 1):
                rows += [(f"quiet-{number:09}", path, content) for path, content in _quiet(seed, number % 100)]
            else:
                new = repository(seed, number, shape)
                rows += [(new.name, path, content) for path, content in new.files.items()]
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(column) for column in zip(*rows, strict=True)], names=["repository", "path", "content"]
        )


@lru_cache
def _quiet(seed: str, number: int) -> tuple[tuple[str, bytes], ...]:
    return tuple(repository(seed, number, Shape(tables=1.5, spread=0.3, quiet=1, plain=True)).files.items())


def _forget_peak() -> None:
    if os.path.exists("/proc/self/clear_refs"):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """Return the most memory that this process had since it was forgotten, in megabytes; Linux only."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0]) / 1024


def heap(spark: SparkSession) -> float:
    """Return what the driver's Java holds after collections, in megabytes. Spark releases what was kept, and what is
    referenced weakly, some time after it may: the heap is measured until it no longer shrinks."""
    gc.collect()  # objects of Java that Python still holds
    java: Any = spark._jvm
    runtime = java.java.lang.Runtime.getRuntime()
    sizes: list[float] = []
    while len(sizes) < 4 or (len(sizes) < 20 and min(sizes[-3:]) < 0.99 * sizes[-4]):
        java.java.lang.System.gc()
        sizes.append((runtime.totalMemory() - runtime.freeMemory()) / 2**20)
        time.sleep(0.5)
    return min(sizes)


class LargestProcess:
    """Watches the memory of the processes that come of this one, in megabytes; Linux only."""

    def __enter__(self) -> LargestProcess:
        self.python = self.java = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(0.2):
            for process in descendants().keys() - {os.getpid()}:
                try:
                    status = Path("/proc", str(process), "status").read_text()
                except OSError:
                    continue
                resident = sum(int(size) for size in re.findall(r"VmRSS:\s+(\d+)", status)) / 1024
                if status.startswith("Name:\tjava"):
                    self.java = max(self.java, resident)
                else:
                    self.python = max(self.python, resident)


def giant(bench: Bench) -> None:
    """A unit a thousand times the median, which one process must take."""
    number = max(200, bench.options.repositories // 100)
    plain = list(repositories(bench.options.seed, number, Shape(tables=2, spread=0.3, quiet=0)))
    sizes = sorted(sum(map(len, plain_repository.files.values())) for plain_repository in plain)
    line = b"INSERT INTO t VALUES (1, 'a text that is neither long nor short');\n"
    text = b"CREATE TABLE t (id int PRIMARY KEY, v text);\nCREATE PUBLICATION p FOR TABLE t;\n"
    lines = line * (1000 * sizes[len(sizes) // 2] // len(line))
    large = Repository("giant", "one_file", True, {"schema.sql": text + lines})
    even, alone = bench.written("even", iter(plain)), bench.written("giant", iter([large]))
    uneven = bench.written("uneven", iter([*plain, large]))
    bench.audit(even)
    without, own, both = (bench.audit(where)[1].wall for where in (even, alone, uneven))
    bench.figures.show("without it", without, "s")
    bench.figures.show("it alone", own, "s")
    bench.figures.show("both", both, "s")
    bench.figures.at_most("the time that it adds, against it alone", (both - without) / own, 1.0)


def skew(bench: Bench) -> None:
    """A repository with half of all files and one with a file of 500 MB, as folders and as a table."""
    number = bench.options.inputs
    even, uneven = bench.corpus("even", 2 * number, SMALL), bench.folder / f"uneven-{2 * number}"
    small = repositories(bench.options.seed, number, SMALL)
    half = repositories(f"{bench.options.seed} half", number, SMALL)
    files = {
        f"{plain_repository.name}/{path}": content
        for plain_repository in half
        for path, content in plain_repository.files.items()
    }
    bench.written(uneven.name, iter([*small, Repository("half", "one_file", True, files)]))
    (uneven / "large").mkdir(exist_ok=True)
    with open(uneven / "large" / "schema.sql", "wb") as large:
        large.truncate(LARGE)
    table = f"{uneven}.parquet"
    rows_of(bench.spark, str(uneven), without="large").write.mode("overwrite").parquet(table)
    # By another process: the driver's memory is measured in this one.
    subprocess.run([sys.executable, "-c", WRITE_LARGE, f"{table}/large.parquet", str(LARGE)], check=True)
    bench.audit(even)
    for kind, source in (("folders", str(uneven)), ("table", TableInput(table, "parquet", COLUMNS))):
        _, time = bench.audit(even)
        with LargestProcess() as largest:
            summary, seconds = bench.audit(source)
        assert summary.quarantine["too-large"] == (1, 1), summary.quarantine
        bench.figures.show(f"{kind}: all repositories alike", time.wall, "s")
        bench.figures.show(f"{kind}: skewed", seconds.wall, "s")
        bench.figures.show(f"{kind}: the largest process of Python", largest.python, "MB")
        bench.figures.show(f"{kind}: the largest process of Java", largest.java, "MB")


LARGE = 500 << 20
WRITE_LARGE = """
import sys, pyarrow, pyarrow.parquet
row = {"repository": ["large"], "path": ["large/schema.sql"], "content": [bytes(int(sys.argv[2]))]}
pyarrow.parquet.write_table(pyarrow.table(row), sys.argv[1])
"""
