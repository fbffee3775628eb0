"""Migrations as authors and their tools write them, with what goes wrong in them: judged as servers judge them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pglast.parser import split

from tests.differential.compare import compare
from tests.support.servers import MAJORS, Servers

MIGRATIONS = sorted((Path(__file__).parent / "migrations").glob("*.sql"))


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.stem)
def test_a_migration_is_judged_as_the_server_judges_it(path: Path, major: int, servers: Servers) -> None:
    compared = compare(servers[major], [text.strip() for text in split(path.read_text(encoding="utf-8"))])
    assert not compared.differences
    assert not [probe for probe in compared.probes if not probe.agrees]
