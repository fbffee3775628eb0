"""What Java writes is shown after a failure only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pubcheck.spark import session
from tests.spark.conftest import PROJECT, PUBLISHES

pytestmark = pytest.mark.spark


class Builder:
    """Starts a process in the place of Java, which writes to standard error."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def getOrCreate(self) -> Any:
        subprocess.run(["sh", "-c", "echo greetings >&2"], check=True)
        if self.fails:
            raise RuntimeError("Java did not start")
        self.java = subprocess.Popen(["sh", "-c", "read line; echo $line >&2"], stdin=subprocess.PIPE)
        return self


@pytest.fixture
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test before this one has left a session."""
    monkeypatch.setattr(session, "_reused_session", None)


@pytest.mark.usefixtures("no_session")
def test_what_java_writes_is_kept_and_its_greetings_are_no_part_of_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    started = session._started(Builder(), aside=True)  # type: ignore[arg-type]
    started.java.communicate(b"it fell over\n")  # type: ignore[attr-defined]
    os.write(2, b"ours\n")
    assert session.log() == ["it fell over"]
    assert capfd.readouterr().err == "ours\n"


@pytest.mark.usefixtures("no_session")
def test_all_that_java_wrote_is_the_log_when_it_did_not_start(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="did not start"):
        session._started(Builder(fails=True), aside=True)  # type: ignore[arg-type]
    assert session.log() == ["greetings"]
    assert capfd.readouterr().err == ""


def test_an_audit_writes_nothing_to_standard_error_unless_it_fails(tmp_path: Path) -> None:
    (tmp_path / "corpus" / "a").mkdir(parents=True)
    (tmp_path / "corpus" / "a" / "a.sql").write_text(PUBLISHES)
    done = audit(tmp_path, "corpus")
    assert (done.returncode, done.stderr) == (1, "")
    failed = audit(tmp_path, "corpus", JAVA_HOME="/nowhere")
    assert failed.returncode == 2
    assert "/nowhere/bin/java" in failed.stderr
    assert failed.stderr.splitlines()[-1].startswith("pubcheck: the Spark job failed: [JAVA_GATEWAY_EXITED]")


def audit(where: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pubcheck", "audit", *arguments, "--output", "audit", "--conf=spark.driver.memory=512m"],
        cwd=where,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
