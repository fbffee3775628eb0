"""Which lints an editor's changes cause, in a server without a client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.findings import Finding
from pubcheck.server.analyst import Analyst, Cancelled
from pubcheck.server.language_server import Server
from tests.server.test_language_server import EU, ORDERS


class CountingAnalyst(Analyst):
    """Notes the units that it begins to lint, and of each whether it was linted to its end."""

    def __init__(self) -> None:
        super().__init__(patience=60)
        self.begun: list[str] = []
        self.ended: list[bool] = []

    def findings(self, unit: DiscoveredUnit, config: Config) -> list[Finding]:
        self.begun.append(unit.name)
        try:
            findings = super().findings(unit, config)
        except Cancelled:
            self.ended.append(False)
            raise
        self.ended.append(True)
        return findings


class QuietServer(Server):
    """A server without a client: it notes the rules of the findings that it would publish."""

    def __init__(self, analyst: CountingAnalyst) -> None:
        super().__init__()
        self.analyst = analyst
        self.schedule._stop = analyst.cancel_findings
        self.rules: dict[str, list[str]] = {}

    def _publish(self, path: str, diagnostics: object) -> None:
        self.rules[Path(path).name] = [finding.entry.rule for finding in self.shown[path]]

    def put(self, path: Path, text: str, version: int) -> None:
        self.files.put(str(path), text, version)
        self.schedule.put(str(path), 0)

    async def settled(self) -> None:
        await asyncio.gather(*map(self.schedule.settled, self.files.texts))


@pytest.fixture(scope="module")
def process() -> Iterator[CountingAnalyst]:
    analyst = CountingAnalyst()
    yield analyst
    analyst.close()


@pytest.fixture
def analyst(process: CountingAnalyst) -> CountingAnalyst:
    process.begun.clear()
    process.ended.clear()
    return process


MANY_TABLES = "".join(f"CREATE TABLE t{number} (id int PRIMARY KEY, a int);\n" for number in range(30_000))


def test_a_lint_ends_when_its_text_changes(analyst: CountingAnalyst, tmp_path: Path) -> None:
    """Also while the process that lints is started, and the next lint has the same process."""

    async def session() -> None:
        server = QuietServer(analyst)
        path = tmp_path / "schema.sql"
        for version in (1, 2):
            server.put(path, f"{MANY_TABLES}-- {version}\n", version)
            while len(analyst.begun) < version or analyst._pending is None:
                await asyncio.sleep(0.01)
        process = analyst._process
        server.put(path, ORDERS + EU, 3)
        await server.settled()
        assert analyst.ended == [False, False, True]
        assert server.rules == {"schema.sql": ["PUB301", "PUB301"]}
        assert analyst._process is process

    asyncio.run(session())


def test_a_save_lints_the_units_that_changed(analyst: CountingAnalyst, tmp_path: Path) -> None:
    async def session() -> None:
        server = QuietServer(analyst)
        for name in ("shop", "billing"):
            folder = tmp_path / name / "db" / "migrations"
            folder.mkdir(parents=True)
            (folder / "V1__orders.sql").write_text(ORDERS)
            server.put(folder / "V2__eu.sql", EU, 1)
        await server.settled()
        assert analyst.ended == [True, True]
        server.lint_changed()
        await server.settled()
        assert len(analyst.begun) == 2
        (folder / "V3__full.sql").write_text("ALTER TABLE orders REPLICA IDENTITY FULL;\n")
        server.lint_changed()
        await server.settled()
        (folder / "V1__orders.sql").write_text(ORDERS + "\n")
        server.lint_changed()
        await server.settled()
        assert len(analyst.begun) == 4
        assert all(name.endswith("billing/db/migrations") for name in analyst.begun[2:])

    asyncio.run(session())
