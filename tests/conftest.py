"""What all tests share: the marker `server`, the servers, the corpus, and the numbers of conformance in the summary."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cases import Case, load
from tests.support.servers import Servers


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "server: asks real PostgreSQL servers, which are installed and started on first use"
    )


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The running servers by major, started when the first is asked for. One that cannot be had is a failure."""
    with Servers() as running:
        yield running


@pytest.fixture(scope="session")
def corpus() -> list[Case]:
    """All cases with the answers that servers gave."""
    return load()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == "conformance"
    ]
    if lines:
        terminalreporter.section("conformance with recorded answers")
        for line in sorted(lines):
            terminalreporter.write_line(line)
