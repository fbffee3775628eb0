"""`python -m tests.benchmarks.chaos [--kills N] [--repositories N]`: audits whose processes are killed at random.

An undisturbed run comes first. Then an audit of the same corpus is started again and again, and in each one process of
it, chosen at random, is killed after a random time: a Python worker of Spark, the process that lints, Spark's Java,
which is driver and executor at once, or the command itself. A run that does not end is repeated with the same ID. Its
tables must then be those of the undisturbed run.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet

from corpus.generate import Shape, repositories, write
from tests.benchmarks.measure import ROOT

KINDS = {
    "worker": "pyspark.daemon",
    "lint process": "pubcheck.spark.lint_process",
    "Java": "org.apache.spark.deploy.SparkSubmit",
    "command": "-m pubcheck audit",
}
"""What the command lines of processes have in them."""
_VOLATILE = ("seconds",)


def audit(where: str, output: str, run: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pubcheck", "audit", where, "--output", output, "--run", run, "--no-report", "-q"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def processes(session: int) -> dict[int, str]:
    """The command lines of the processes that a command started, and its own; Linux alone."""
    found: dict[int, str] = {}
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(name)] = int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1])
            found[int(name)] = Path("/proc", name, "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue

    def belongs(process: int) -> bool:
        while process in parents and process != session:
            process = parents[process]
        return process == session

    return {process: line for process, line in found.items() if belongs(process)}


def tables(output: str, run: str) -> dict[str, Counter[str]]:
    """The rows of the tables of a run."""
    rows = {}
    for table in ("findings", "publications", "units", "quarantine", "repositories"):
        read = pyarrow.parquet.read_table(f"{output}/{table}/run={run}", partitioning=None)
        kept = [name for name in read.column_names if name not in _VOLATILE]
        rows[table] = Counter(map(str, read.select(kept).to_pylist()))
    return rows


def exists(output: str, run: str) -> bool:
    folder = Path(output, "runs", f"run={run}")
    return (
        folder.is_dir() and sum(pyarrow.parquet.read_metadata(file).num_rows for file in folder.glob("*.parquet")) > 0
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.chaos", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--kills", type=int, default=30, metavar="N")
    parser.add_argument("--repositories", type=int, default=2_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, different = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory(prefix="pubcheck-") as folder:
        where, output = f"{folder}/corpus", f"{folder}/audit"
        write(repositories("chaos", options.repositories, Shape(quiet=0.3)), where)
        begun = time.monotonic()
        audit(where, output, "calm").wait()
        whole, expected = time.monotonic() - begun, tables(output, "calm")
        print(f"undisturbed: {expected['findings'].total():,} findings in {whole:.1f} s", flush=True)
        for number in range(options.kills):
            kind, run = list(KINDS)[number % len(KINDS)], f"r{number}"
            process = audit(where, output, run)
            delay, victims = chance.uniform(0.2, 0.7) * whole, list[int]()
            time.sleep(delay)
            while not victims and process.poll() is None:
                victims = [pid for pid, line in processes(process.pid).items() if KINDS[kind] in line]
                time.sleep(0.05)
            for victim in chance.sample(victims, min(1, len(victims))):
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            status = process.wait()
            ended = exists(output, run)
            if not ended:
                audit(where, output, run).wait()
            same = tables(output, run) == expected
            different += not same
            print(
                f"{kind}: {len(victims)} there, status {status}, {'whole' if ended else 'repeated'}, {same=}",
                flush=True,
            )
    print(f"{options.kills} kills, {different} runs with other rows")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
