"""The same command on other kinds of Spark: a local cluster, a standalone one of separate processes, Spark Connect."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet
import pyspark
import pytest

from tests.spark.conftest import PUBLISHES

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


def audit(where: Path, *options: str) -> str:
    """Audits two repositories of which one crashes nothing and one is quiet; returns what is told on the terminal."""
    for name, text in (("loud", PUBLISHES), ("quiet", "SELECT 1;")):
        (where / "corpus" / name).mkdir(parents=True)
        (where / "corpus" / name / "a.sql").write_text(text)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pubcheck",
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
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def expect(where: Path, told: str) -> None:
    assert "2 units of 2 repositories, 2 files" in told
    assert re.search(r"PUB301 error +certain +2 ", told)
    assert "PUB301" in (where / "audit" / "report.html").read_text()
    found = pyarrow.parquet.read_table(where / "audit" / "findings" / "run=r1").to_pylist()
    assert [(row["path"], row["rule"]) for row in found] == [("corpus/loud/a.sql", "PUB301")] * 2


def test_a_local_cluster(tmp_path: Path) -> None:
    expect(tmp_path, audit(tmp_path, "--master", "local-cluster[2,1,1024]", *SMALL))


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


SPARK = Path(pyspark.__file__).parent / "bin"


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
