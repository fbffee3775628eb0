"""An edit in an editor: the last of 300 migrations, which build a schema of 500 tables."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.engine.linter import Linter
from pubcheck.server.analysis import Analysis
from pubcheck.server.analyst import Analyst
from tests.benchmarks.row import Row

MIGRATIONS, TABLES, EDITS = 300, 500, 10


def editing() -> Iterator[Row]:
    """The findings after an edit of the last of 300 migrations, against linting all of them."""
    analyst, config = Analyst(), Config()
    analyst.findings(_unit(0), config)
    analyst.findings(_unit(1), config)  # from here on the state before the last file is kept
    passed, before = [], _cpu()
    for number in range(2, EDITS + 2):
        begun = time.monotonic()
        after_edit = analyst.findings(_unit(number), config)
        passed.append(time.monotonic() - begun)
    edit = (_cpu() - before) / EDITS
    analyst.close()
    before = time.process_time()
    fresh = Analysis(_unit(EDITS + 1), Linter(config)).findings()
    whole = time.process_time() - before
    assert after_edit == fresh
    times = f"CPU; {min(passed) * 1000:.0f} to {max(passed) * 1000:.0f} ms pass"
    yield Row("an edit, until its findings", times, edit * 1000, 150, "ms")
    yield Row("the same, to a whole lint", f"whole {whole * 1000:,.0f} ms", edit / whole, 0.35)


def _cpu() -> float:
    """Return the CPU of this process, of the one that keeps the state, and of its copies, in seconds."""
    (analyst,) = multiprocessing.active_children()
    fields = Path(f"/proc/{analyst.pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _unit(edit: int) -> DiscoveredUnit:
    files = tuple(_file(number, _migration(number)) for number in range(1, MIGRATIONS))
    last = f"CREATE PUBLICATION last FOR TABLE t1 WHERE (name = 'edit {edit}');\n"
    return DiscoveredUnit("", (*files, _file(MIGRATIONS, last)), "flyway", "")


def _file(number: int, text: str) -> File:
    path = f"/V{number}__change.sql"
    return File(path, path, cached_content=text.encode())


def _migration(number: int) -> str:
    """Two tables each until there are enough, then changes of them and publications."""
    first = 2 * number - 1
    if first <= TABLES:
        return "".join(
            f"CREATE TABLE t{table} (id bigint PRIMARY KEY, name text NOT NULL, total numeric, at timestamptz);\n"
            f"CREATE INDEX t{table}_at ON t{table} (at);\n"
            for table in (first, first + 1)
        )
    return (
        f"ALTER TABLE t{number} ADD COLUMN note text;\nCREATE PUBLICATION p{number} FOR TABLE t{number} (id, name);\n"
    )
