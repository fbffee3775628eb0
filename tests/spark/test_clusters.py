"""The same command on other kinds of Spark: a cluster of separate processes that fail, and Spark Connect."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet
import pyspark
import pytest

from pubcheck.spark import costs
from tests.spark.conftest import PROJECT, PUBLISHES

pytestmark = pytest.mark.spark

SMALL = (
    "--conf=spark.sql.shuffle.partitions=2",
    "--conf=spark.ui.enabled=false",
    "--conf=spark.driver.memory=512m",
    "--conf=spark.executor.memory=512m",
    "--conf=spark.sql.codegen.wholeStage=false",
    # Short lives: the second compiler never earns what it costs.
    "--conf=spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
    "--conf=spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1",
)
ENVIRONMENT = {
    **os.environ,
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_HOME": str(Path(pyspark.__file__).parent),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "512m",
    "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
}


def audit(where: Path, *options: str, by: tuple[str, ...] = (sys.executable, "-m", "pubcheck"), **texts: str) -> str:
    """Audits two repositories, of which one is quiet, and those of ``texts``; returns the summary on the terminal.
    ``by`` is the command that runs pubcheck."""
    for name, text in {"loud": PUBLISHES, "quiet": "SELECT 1;", **texts}.items():
        (where / "corpus" / name).mkdir(parents=True)
        (where / "corpus" / name / "a.sql").write_text(text)
    done = subprocess.run(
        [*by, "audit", "corpus", "--output", str(where / "audit"), "--run", "r1", *options],
        cwd=where,
        env={**ENVIRONMENT, "FAULTY_MARK": str(where / "mark")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def expect(where: Path, summary: str, *more: str) -> None:
    """Check the findings about the loud repository, and about ``more`` with the same text."""
    number = 2 + len(more)
    assert f"{number} units of {number} repositories, {number} files" in summary
    assert re.search(rf"PUB301 error +certain +{2 * (number - 1)} ", summary)
    findings = pyarrow.parquet.read_table(where / "audit" / "findings" / "run=r1").to_pylist()
    expected = [(f"corpus/{name}/a.sql", "PUB301") for name in ("loud", *more)] * 2
    assert sorted((row["path"], row["rule"]) for row in findings) == sorted(expected)


SPARK = Path(pyspark.__file__).parent / "bin"


FAULTY = """
from pubcheck.cli import audit_run, main
from tests.spark.faulty import FaultyLinter

audit_run.Linter = FaultyLinter
main()
"""


def archived(where: Path) -> Path:
    """An archive with a Python that has pubcheck, which without it is not there, as `venv-pack` makes one; and with
    a command line whose linter is faulty."""
    environment = where / "environment"
    for name in ("pubcheck", "rules"):
        shutil.copytree(PROJECT / name, environment / "lib" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (environment / "lib" / "tests" / "spark").mkdir(parents=True)
    shutil.copy(PROJECT / "tests" / "spark" / "faulty.py", environment / "lib" / "tests" / "spark")
    (environment / "lib" / "faulty.py").write_text(FAULTY)
    (environment / "bin").mkdir()
    python = environment / "bin" / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="$(cd "$(dirname "$0")/../lib" && pwd):$PYTHONPATH" exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    with tarfile.open(where / "environment.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(environment, ".")
    return where / "environment.tar.gz"


Start = Callable[..., tuple[int, subprocess.Popen[bytes]]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a class of Spark as a process of its own; gives the port that it was told to listen on."""
    with ExitStack() as running:

        def started(*command: str) -> tuple[int, subprocess.Popen[bytes]]:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port: int = free.getsockname()[1]
            log = running.enter_context(open(tmp_path / f"{port}.log", "wb"))
            process = subprocess.Popen(
                [part.replace("PORT", str(port)) for part in command],
                cwd=tmp_path,
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            running.callback(process.wait)
            running.callback(process.kill)
            host = command[command.index("--host") + 1] if "--host" in command else "127.0.0.1"
            await_port((host, port), process, tmp_path / f"{port}.log")
            return port, process

        yield started


def await_port(address: tuple[str, int], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(address, 1).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
        else:
            return


SPECULATION = {
    "enabled": "true",
    "interval": "200ms",
    "minTaskRuntime": "1s",
    "multiplier": "1.5",
    "quantile": "0.5",
}


def test_a_cluster_with_slow_tasks_and_a_lost_executor(tmp_path: Path, start: Start) -> None:
    """Spark starts a second copy of a slow task, on another host, and replaces an executor that dies; Python and
    pubcheck come in an archive with spark-submit."""
    run = (str(SPARK / "spark-class"), "org.apache.spark.deploy")
    master, _ = start(run[0], f"{run[1]}.master.Master", "--host", "127.0.0.1", "--port", "PORT", "--webui-port", "0")
    url = f"spark://127.0.0.1:{master}"
    for number in (1, 2):
        host = ("--host", f"127.0.0.{number}", "--port", "PORT", "--webui-port", "0")
        size = ("--cores", "1", "--memory", "512m", "--work-dir", str(tmp_path / f"worker{number}"))
        start(run[0], f"{run[1]}.worker.Worker", *host, *size, url)
    archive = archived(tmp_path)
    submit = (
        str(SPARK / "spark-submit"),
        f"--master={url}",
        f"--archives={archive}#environment",
        "--conf=spark.driver.host=127.0.0.1",
        "--conf=spark.pyspark.python=./environment/bin/python",
        f"--conf=spark.pyspark.driver.python={tmp_path}/environment/bin/python",
        f"--conf=spark.executorEnv.FAULTY_MARK={tmp_path}/mark",
        "--conf=spark.eventLog.enabled=true",
        "--conf=spark.eventLog.compress=false",
        f"--conf=spark.eventLog.dir=file://{tmp_path}/events",
        *(
            f"--conf=spark.speculation{'' if key == 'enabled' else f'.{key}'}={text}"
            for key, text in SPECULATION.items()
        ),
        *SMALL,
        str(tmp_path / "environment" / "lib" / "faulty.py"),
    )
    (tmp_path / "events").mkdir()
    own_task = "-- x\n" * (costs.SMALL // 4)
    faults = {fault: f"{PUBLISHES}-- fault: {fault}-once\n{own_task}" for fault in ("slow", "executor")}
    summary = audit(tmp_path, "--no-report", "--unit-timeout", "600", by=submit, **faults)
    expect(tmp_path, summary, *faults)
    assert {path.name for path in tmp_path.glob("mark.*")} == {"mark.slow", "mark.executor"}
    assert len(list(tmp_path.glob("worker*/app-*"))) == 2, "both took part"
    events = "".join(path.read_text() for path in (tmp_path / "events").rglob("events_*"))
    assert '"Speculative":true' in events


def test_spark_connect(tmp_path: Path, start: Start) -> None:
    port, _ = start(
        str(SPARK / "spark-submit"),
        "--class=org.apache.spark.sql.connect.service.SparkConnectServer",
        "--master=local[2,4]",
        "--conf=spark.connect.grpc.binding.port=PORT",
        "--conf=spark.connect.grpc.binding.address=127.0.0.1",
        *SMALL,
        "spark-internal",
    )
    expect(tmp_path, audit(tmp_path, "--remote", f"sc://127.0.0.1:{port}"))
    assert "PUB301" in (tmp_path / "audit" / "report.html").read_text()
