"""A command line to call in the process, and an engine whose findings are written in the text that it lints."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from pubcheck.cli.app import run
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.engine.unit import Result, Unit


class Called(Struct, frozen=True):
    """What a call left behind."""

    status: int
    out: str
    err: str


Call = Callable[..., Called]


@pytest.fixture
def pubcheck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command line in an empty folder; ``stdin`` is what is piped into it."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> Called:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run(arguments)
        return Called(status, *capsys.readouterr())

    return call


class MarkedLinter:
    """Stands in for the engine: `-- RULE severity certainty` is a finding there, `-- crash` an error in the engine."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def lint(self, unit: Unit) -> Result:
        majors = self.config.postgres or (18,)
        findings = [*unit.reading_notes]
        for source in unit.sources:
            if "-- crash" in source.text:
                raise RuntimeError("the engine fell over\nwith details")
            findings += [
                Diagnostic(
                    rule=mark[1],
                    name="marked",
                    phase="ddl",
                    severity=mark[2],  # type: ignore[arg-type]
                    certainty=mark[3],  # type: ignore[arg-type]
                    postgres=majors,
                    message=f"complete={self.config.complete}",
                    span=Span(source, mark.start(), mark.end()),
                )
                for mark in re.finditer(r"-- (PUB\d+) (note|warning|error) (certain|assumed)", source.text)
            ]
        counts = tuple(source.text.count(";") for source in unit.sources)
        return Result(tuple(findings), majors, sum(counts), counts)


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the stand-in in the place of the engine."""
    monkeypatch.setattr("pubcheck.engine.linter.Linter", MarkedLinter)
