"""`python -m tests.benchmarks.audit [NAME...]`: the audit, measured against its limits.

    samples     the findings of the sample repositories are those of lint, through every kind of input;
    findings    those of --repositories generated ones as well, all planted faults are found, and none is invented;
    inputs      the same through Parquet, a table, an object store and a stream, over --inputs repositories
    since       a full run against one in which nothing has changed
    speed       throughput, in units per second and core, against that of `pubcheck lint --jobs`
    skew        one repository with half of all files, and one with a file of 500 MB
    giant       a unit a thousand times the median among many
    generated   the cost of units, and the driver's memory, up to --units that are generated in the tasks
    quiet       the same up to --most, of which few hold a publication
    executors   two executors against one, each a process of its own (local-cluster)
    growth      as `generated`, over folders; only by name

Corpora are written by `corpus.generate`, to a folder that lasts as long as the run. Start-up is left out: that of each
program is the time of the same run over one repository, and Spark's session is warmed up before. Compared runs take
turns, and the shortest of each counts: other work on the machine only adds to them. Ratios are of wall time and, on
Linux, of the processors' time. Exit status 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.audit.bench import CORES, Bench
from tests.benchmarks.audit.sameness import findings, inputs, samples
from tests.benchmarks.audit.size import generated, giant, growth, quiet, skew
from tests.benchmarks.audit.throughput import executors, since, speed

PARTS: dict[str, Callable[[Bench], None]] = {
    "samples": samples,
    "findings": findings,
    "inputs": inputs,
    "since": since,
    "speed": speed,
    "skew": skew,
    "giant": giant,
    "generated": generated,
    "quiet": quiet,
    "executors": executors,
    "growth": growth,
}
BY_NAME_ONLY = ("growth",)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.audit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(PARTS)}")
    parser.add_argument("--repositories", type=int, default=20_000, metavar="N")
    parser.add_argument("--inputs", type=int, default=4_000, metavar="N", help="those of `inputs` and `skew`")
    parser.add_argument("--kinds", metavar="KIND,...", help="those of `inputs` and `samples`; all without")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="the runs of each of what is compared")
    parser.add_argument("--units", type=int, default=200_000, metavar="N", help="the most units of `generated`")
    parser.add_argument("--most", type=int, default=400_000, metavar="N", help="the most units of `quiet`")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--folder", help="where corpora are written, and kept; a temporary folder without")
    parser.add_argument("--master", help=f"of Spark; local[{CORES},4] without")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PARTS]:
        parser.error(f"there is no {unknown[0]}")
    gc.set_threshold(500_000)  # as the command line does
    with tempfile.TemporaryDirectory(prefix="pubcheck-") as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder, options)
        try:
            bench.spark  # noqa: B018 -- started before anything is timed
            for name in options.names or [name for name in PARTS if name not in BY_NAME_ONLY]:
                begin = time.monotonic()
                print(f"\n{name}: {(PARTS[name].__doc__ or '').splitlines()[0]}", flush=True)
                PARTS[name](bench)
                bench.figures.show("all of it", time.monotonic() - begin, "s")
        finally:
            bench.stop()
    return 1 if bench.figures.broken else 0


if __name__ == "__main__":
    sys.exit(main())
