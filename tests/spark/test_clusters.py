"""The same command on other kinds of Spark: a local cluster, a standalone one of separate processes, Spark Connect."""

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

from tests.spark.conftest import PROJECT, PUBLISHES

pytestmark = pytest.mark.spark

SMALL = (
    "--conf=spark.sql.shuffle.partitions=2",
    "--conf=spark.ui.enabled=false",
    "--conf=spark.driver.memory=512m",
    "--conf=spark.executor.memory=512m",
    "--conf=spark.sql.codegen.wholeStage=false",
)
ENVIRONMENT = {
    **os.environ,
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_HOME": str(Path(pyspark.__file__).parent),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "512m",
    # Short lives: what the compiler would gain is never earned.
    "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
}


def audit(where: Path, *options: str, by: tuple[str, ...] = (sys.executable, "-m", "pubcheck")) -> str:
    """Audits two repositories of which one crashes nothing and one is quiet; returns what is told on the terminal.
    ``by`` is what runs pubcheck."""
    for name, text in (("loud", PUBLISHES), ("quiet", "SELECT 1;")):
        (where / "corpus" / name).mkdir(parents=True)
        (where / "corpus" / name / "a.sql").write_text(text)
    done = subprocess.run(
        [
            *by,
            "audit",
            "corpus",
            "--output",
            str(where / "audit"),
            "--run",
            "r1",
            *options,
        ],
        cwd=where,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def expect(where: Path, told: str) -> None:
    assert "2 units of 2 repositories, 2 files" in told
    assert re.search(r"PUB301 error +certain +2 ", told)
    assert "PUB301" in (where / "audit" / "report.html").read_text()
    found = pyarrow.parquet.read_table(where / "audit" / "findings" / "run=r1").to_pylist()
    assert [(row["path"], row["rule"]) for row in found] == [("corpus/loud/a.sql", "PUB301")] * 2


SPARK = Path(pyspark.__file__).parent / "bin"


def archived(where: Path) -> Path:
    """An archive with a Python that has pubcheck, which without it is not there, as `venv-pack` makes one."""
    environment = where / "environment"
    for name in ("pubcheck", "rules"):
        shutil.copytree(PROJECT / name, environment / "lib" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (environment / "bin").mkdir()
    python = environment / "bin" / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="$(cd "$(dirname "$0")/../lib" && pwd):$PYTHONPATH" exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    with tarfile.open(where / "environment.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(environment, ".")
    return where / "environment.tar.gz"


def test_spark_submit_takes_an_archive_of_the_environment_to_a_local_cluster(tmp_path: Path) -> None:
    archive = archived(tmp_path)
    submit = (
        str(SPARK / "spark-submit"),
        "--master=local-cluster[2,1,1024]",
        f"--archives={archive}#environment",
        "--conf=spark.pyspark.python=./environment/bin/python",
        f"--conf=spark.pyspark.driver.python={tmp_path}/environment/bin/python",
        *SMALL,
        str(tmp_path / "environment" / "lib" / "pubcheck" / "__main__.py"),
    )
    expect(tmp_path, audit(tmp_path, by=submit))


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
            await_port(port, process, tmp_path / f"{port}.log")
            return port, process

        yield started


def await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
        else:
            return


def test_a_standalone_cluster_of_two_workers(tmp_path: Path, start: Start) -> None:
    run = (str(SPARK / "spark-class"), "org.apache.spark.deploy")
    master, _ = start(run[0], f"{run[1]}.master.Master", "--host", "127.0.0.1", "--port", "PORT", "--webui-port", "0")
    url = f"spark://127.0.0.1:{master}"
    worker = (run[0], f"{run[1]}.worker.Worker", "--host", "127.0.0.1", "--port", "PORT", "--webui-port", "0")
    for number in range(2):
        start(*worker, "--cores", "1", "--memory", "512m", "--work-dir", str(tmp_path / f"worker{number}"), url)
    told = audit(tmp_path, "--master", url, "--conf=spark.driver.host=127.0.0.1", *SMALL)
    expect(tmp_path, told)
    assert len(list(tmp_path.glob("worker*/app-*"))) == 2, "both took part"


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
