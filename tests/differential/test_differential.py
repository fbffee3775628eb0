"""Random scripts: no difference between a server and pubcheck, and no exception whatever a script says."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.linter import Linter, Unit
from pubcheck.postgres.versions import MAJORS
from pubcheck.sources.text import Source
from tests.differential.compare import compare
from tests.differential.scripts import Script
from tests.support.servers import Servers

SEEDS = range(120)
"""About a tenth of a second a seed and major."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_scripts_are_judged_as_the_server_judges_them(major: int, servers: Servers) -> None:
    found = {
        (seed, difference) for seed in SEEDS for difference in compare(servers[major], Script(seed).statements)
    }
    assert not found


@pytest.mark.parametrize("complete", [True, False])
def test_no_script_raises(complete: bool) -> None:
    linter = Linter(Config(postgres=(15, 18), complete=complete))
    for seed in range(1_000_000, 1_000_030):
        statements = Script(seed).statements
        linter.lint(Unit((Source("script.sql", ";\n".join(statements)),)))
        # Half of it has a world that is not visible.
        linter.lint(Unit((Source("script.sql", ";\n".join(statements[::2])),)))
