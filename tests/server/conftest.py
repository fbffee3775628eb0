"""A server that the scenarios share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.client import ServerProcess
from tests.server.test_language_server import Run, in_editor


@pytest.fixture(scope="package")
def process() -> Iterator[ServerProcess]:
    process = ServerProcess()
    yield process
    process.end()


@pytest.fixture
def run(process: ServerProcess, tmp_path: Path) -> Run:
    return lambda scenario: in_editor(process, tmp_path, scenario)
