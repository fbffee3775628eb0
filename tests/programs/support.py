"""Lint a program after files of SQL."""

from __future__ import annotations

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit


def lint(text: str, kind: str, *others: str) -> list[Diagnostic]:
    sources = [extract.source(f"{number}.sql", other) for number, other in enumerate(others)]
    unit = Unit((*sources, extract.source("program", text, kind)))
    return [finding for finding in Linter(Config(postgres=(18,))).lint(unit).diagnostics if finding.rule != "PUB010"]


def certainties(findings: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(finding.rule, finding.certainty) for finding in findings]
