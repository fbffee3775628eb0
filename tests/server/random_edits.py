"""Random edits of the files of a unit: after each one the findings are those of linting it from the beginning.

`python -m tests.server.random_edits SEED EDITS`
"""

from __future__ import annotations

import random
import sys

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.engine.linter import Linter
from pubcheck.findings import Finding
from pubcheck.server.analysis import Analysis
from pubcheck.server.analyst import Analyst

FILES = 4
STATEMENTS = (
    "CREATE TABLE t{n} (id int PRIMARY KEY, a int, b text);",
    "ALTER TABLE t{n} ADD COLUMN c{m} int;",
    "ALTER TABLE t{n} DROP COLUMN a;",
    "ALTER TABLE t{n} REPLICA IDENTITY FULL;",
    "DROP TABLE t{n};",
    "CREATE PUBLICATION p{m} FOR TABLE t{n} WHERE (a > {n});",
    "CREATE PUBLICATION p{m} FOR TABLE t{n} (id);",
    "ALTER PUBLICATION p{m} ADD TABLE t{n};",
    "ALTER PUBLICATION p{m} SET (publish = 'insert');",
    "DROP PUBLICATION p{m};",
    "BEGIN;",
    "COMMIT;",
    "ROLLBACK;",
    "SET search_path TO s{n};",
    "CREATE SCHEMA s{n};",
    "DO $$ BEGIN CREATE PUBLICATION p{m} FOR ALL TABLES; END $$;",
    "-- pubcheck: ignore[PUB301]",
    "SELECT 'not closed",
    "\\i other.sql",
    "CREATE TABLE",
    "COPY t{n} FROM stdin;\n1\t2\n\\.",
)


class Edits:
    """Files that change at random, mostly one of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = [[self.statement() for _ in range(6)] for _ in range(FILES)]
        self._edited = FILES - 1

    def statement(self) -> str:
        numbers = {"n": self.random.randrange(4), "m": self.random.randrange(3)}
        text = self.random.choice(STATEMENTS)
        for name, number in numbers.items():
            text = text.replace(f"{{{name}}}", str(number))
        return text

    def change(self) -> None:
        if self.random.random() < 0.1:
            self._edited = self.random.randrange(FILES)
        lines = self.lines[self._edited]
        place = self.random.randrange(len(lines) + 1)
        kind = self.random.randrange(4)
        if kind == 0 or len(lines) < 3:
            lines.insert(place, self.statement())
        elif kind == 1:
            del lines[place - 1]
        elif kind == 2:
            lines[place - 1] = self.statement()
        else:
            text = lines[place - 1]
            cut = self.random.randrange(len(text) + 1)
            lines[place - 1] = text[:cut] + self.random.choice(("", " ", "x", ";", "'", "(")) + text[cut + 1 :]

    def unit(self) -> DiscoveredUnit:
        files = tuple(
            File(f"/V{number}.sql", f"/V{number}.sql", cached_content="\n".join(lines).encode())
            for number, lines in enumerate(self.lines)
        )
        return DiscoveredUnit("", files, "flyway", "")


def differences(seed: int, edits: int) -> list[str]:
    """Return the edits after which the findings differ from those of a fresh lint."""
    changes, analyst, config = Edits(seed), Analyst(), Config()
    different = []
    for number in range(edits):
        changes.change()
        unit = changes.unit()
        answer: list[Finding] = analyst.findings(unit, config)
        fresh = Analysis(unit, Linter(config)).findings()
        if answer != fresh:
            different.append(f"seed {seed}, edit {number}: {set(answer) ^ set(fresh)}")
    analyst.close()
    return different


if __name__ == "__main__":
    disagreements = differences(int(sys.argv[1]), int(sys.argv[2]))
    print(*disagreements, f"{sys.argv[2]} edits, {len(disagreements)} with other findings than a fresh lint", sep="\n")
    sys.exit(bool(disagreements))
