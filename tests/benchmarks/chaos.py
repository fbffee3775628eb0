"""`python -m tests.benchmarks.chaos [--kills N] [--repositories N]`: audits whose processes are killed at random.

An undisturbed run comes first. Then the same corpus is audited again and again by two executors, and in each run some
of its processes are killed at random moments: a Python worker of Spark, a process that lints, an executor, and in
every other run the driver's Java or the command itself. A run that is not committed is repeated with the same ID. Its
tables must then be those of the undisturbed run. At last two runs, and two starts of one run, write into the output at
the same time.
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

SURVIVED = {
    "worker": "pyspark.daemon",
    "lint process": "pubcheck.spark.lint_process",
    "executor": "CoarseGrainedExecutorBackend",
}
"""Processes without which a run goes on, and a part of their command lines."""
DEADLY = {"driver": "org.apache.spark.deploy.SparkSubmit", "command": "-m pubcheck audit"}
_VOLATILE = ("seconds",)
TABLES = ("findings", "publications", "units", "quarantine", "repositories")
Rows = dict[str, Counter[str]]


def audit(where: str, output: str, run: str, master: str) -> subprocess.Popen[bytes]:
    options = ("--output", output, "--run", run, "--master", master, "--no-report", "-q")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "pubcheck", "audit", where, *options],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def processes(top: int) -> dict[int, str]:
    """Return the command lines of a process and its descendants; Linux only."""
    lines: dict[int, str] = {}
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(name)] = int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1])
            lines[int(name)] = Path("/proc", name, "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue

    def belongs(process: int) -> bool:
        while process in parents and process != top:
            process = parents[process]
        return process == top

    return {process: line for process, line in lines.items() if belongs(process)}


def tables(output: str, run: str) -> Rows | None:
    """Return the rows of the tables of a run; None if it is not committed."""
    if not os.path.isdir(f"{output}/runs/run={run}"):
        return None
    rows = pyarrow.parquet.read_table(f"{output}/runs/run={run}", partitioning=None).to_pylist()
    if not rows:
        return None
    attempt = max(rows, key=lambda row: row["finished"])["attempt"]
    contents = {}
    for name in TABLES:
        table = pyarrow.parquet.read_table(f"{output}/{name}/run={run}/attempt={attempt}", partitioning=None)
        columns = [column for column in table.column_names if column not in _VOLATILE]
        contents[name] = Counter(map(str, table.select(columns).to_pylist()))
    return contents


def kill(process: subprocess.Popen[bytes], kind: str, chance: random.Random) -> bool:
    """Kill a process of a run once there is one of its kind; return whether there was."""
    while process.poll() is None:
        if victims := [pid for pid, line in processes(process.pid).items() if (SURVIVED | DEADLY)[kind] in line]:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(victims), signal.SIGKILL)
                return True
        time.sleep(0.05)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.chaos", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--kills", type=int, default=30, metavar="N")
    parser.add_argument("--repositories", type=int, default=2_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    options = parser.parse_args()
    chance, different, kills = random.Random(options.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="pubcheck-") as folder:
        where, output = f"{folder}/corpus", f"{folder}/audit"
        write(repositories("chaos", options.repositories, Shape(tables=1.5, quiet=0.3, plain=True)), where)
        begin = time.monotonic()
        audit(where, output, "calm", options.master).wait()
        whole, expected = time.monotonic() - begin, tables(output, "calm")
        assert expected is not None, "the undisturbed run failed"
        print(f"undisturbed: {expected['findings'].total():,} findings in {whole:.1f} s", flush=True)
        number = 0
        while kills < options.kills:
            run, number = f"r{number}", number + 1
            process, begin = audit(where, output, run, options.master), time.monotonic()
            kinds = chance.sample(list(SURVIVED), len(SURVIVED)) + [chance.choice(list(DEADLY))] * (number % 2)
            killed = []
            # Java has started after a third of the time.
            for moment, kind in zip(sorted(chance.uniform(0.3, 1.0) for _ in kinds), kinds, strict=True):
                time.sleep(max(0.0, begin + moment * whole - time.monotonic()))
                killed += [kind] * kill(process, kind, chance)
            status, rows = process.wait(), tables(output, run)
            committed = rows is not None
            if not committed:
                audit(where, output, run, options.master).wait()
                rows = tables(output, run)
            kills += len(killed)
            different += rows != expected
            end = "committed" if committed else "repeated"
            print(f"{run}: {', '.join(killed)} killed, status {status}, {end}, same={rows == expected}", flush=True)
        for runs in (("one", "other"), ("twice", "twice")):
            for process in [audit(where, output, run, "local[1,4]") for run in runs]:
                process.wait()
            same = all(tables(output, run) == expected for run in runs)
            different += not same
            print(f"{runs[0]} and {runs[1]} at the same time: {same=}", flush=True)
        left = sorted(path.name for path in Path(output).glob("_started/*"))
        print(f"{len(left)} attempts are left to be deleted")
    print(f"{kills} kills, {different} runs with other rows")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
