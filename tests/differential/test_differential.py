"""Random scripts: no difference between a server and pubcheck, and no exception whatever a script says."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.differential import folded, followed, histories
from tests.differential.compare import compare
from tests.differential.later import Later
from tests.differential.scripts import Script
from tests.differential.trees import Trees
from tests.differential.wild import Wild
from tests.support.servers import MAJORS, Servers

SEEDS = range(40)
"""About a tenth of a second a seed and major."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_scripts_are_judged_as_the_server_judges_them(major: int, servers: Servers) -> None:
    disagreements: set[object] = set()
    for seed in SEEDS:
        compared = compare(servers[major], Script(seed).statements)
        disagreements |= {(seed, difference) for difference in compared.differences}
        disagreements |= {(seed, probe) for probe in compared.probes if not probe.agrees}
    assert not disagreements


@pytest.mark.server
@pytest.mark.parametrize("scripts", [followed.SCRIPTS, folded.SCRIPTS], ids=["followed", "folded"])
@pytest.mark.parametrize("major", MAJORS)
def test_what_other_statements_are_refused_for_is_followed(
    scripts: dict[str, tuple[str, ...]], major: int, servers: Servers
) -> None:
    compared = {name: compare(servers[major], list(script)) for name, script in scripts.items()}
    assert not {name: comparison.differences for name, comparison in compared.items() if comparison.differences}
    assert not [probe for comparison in compared.values() for probe in comparison.probes if not probe.agrees]


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_histories_that_once_differed(major: int, servers: Servers) -> None:
    disagreements: list[object] = []
    for name, script in histories.SCRIPTS.items():
        compared = compare(servers[major], list(script))
        disagreements += [
            (name, difference) for difference in compared.differences if difference.kind != "of a missing role"
        ]
        disagreements += [(name, probe) for probe in compared.probes if not probe.agrees]
    assert not disagreements


WILD = range(20)
"""Most of a second a seed and major; `python -m tests.differential wild` takes any number."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_histories_of_all_kinds_of_statements(major: int, servers: Servers) -> None:
    compared = [compare(servers[major], Wild(seed).statements) for seed in WILD]
    wrong = ("invented", "invented, assumed", "missed")
    judged = [
        difference
        for comparison in compared
        for difference in comparison.differences
        if not difference.statement.startswith("(")
    ]
    assert not [difference for difference in judged if difference.kind in wrong]
    assert sum(comparison.judged for comparison in compared) > 250


PROBED = range(12)
"""A sixth of a second a seed and major, for some 80 probes; `python -m tests.differential trees` takes any number."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_writes_are_refused_where_the_server_refuses_them(major: int, servers: Servers) -> None:
    compared = [compare(servers[major], Trees(seed).statements) for seed in PROBED]
    assert not [
        (seed, comparison.differences)
        for seed, comparison in zip(PROBED, compared, strict=True)
        if comparison.differences
    ]
    probes = [probe for comparison in compared for probe in comparison.probes]
    assert not [probe for probe in probes if not probe.agrees]
    # What makes the comparison worth something.
    assert len(probes) > 700
    assert sum(probe.part for probe in probes) > len(probes) / 3
    assert sum(probe.refused for probe in probes) > len(probes) / 3


@pytest.mark.parametrize("complete", [True, False])
def test_no_script_raises(complete: bool) -> None:
    linter = Linter(Config(postgres=(15, 18), complete=complete))
    for seed in range(1_000_000, 1_000_015):
        statements = (Script, Trees, Later)[seed % 3](seed).statements
        linter.lint(Unit((Source("script.sql", ";\n".join(statements)),)))
        # Half of it has a world that is not visible.
        linter.lint(Unit((Source("script.sql", ";\n".join(statements[::2])),)))


LATER = range(15)


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_changes_of_published_tables_are_refused_and_cascade_as_the_server_says(major: int, servers: Servers) -> None:
    compared = [compare(servers[major], Later(seed).statements) for seed in LATER]
    assert not [
        (seed, comparison.differences)
        for seed, comparison in zip(LATER, compared, strict=True)
        if comparison.differences
    ]
    assert not [probe for comparison in compared for probe in comparison.probes if not probe.agrees]


STOPPED = {
    "t": ["FOR TABLE t (a)", "FOR TABLE t WHERE (d = 1)"],
    "u": ["FOR TABLE u (a) WITH (publish = 'insert, update, delete')", "FOR TABLE u WHERE (d = 1)"],
    "w": [
        "FOR TABLE w (a) WITH (publish = 'update, delete')",
        "FOR TABLE w WITH (publish = 'insert, truncate')",
        "FOR TABLE w WHERE (d = 1) WITH (publish = 'delete')",
    ],
}
_LIST = "Column list used by the publication does not cover the replica identity."
_FILTER = "Column used in the publication WHERE expression is not part of the replica identity."


@pytest.mark.parametrize(("table", "detail"), [("t", _LIST), ("u", _FILTER), ("w", _LIST)])
def test_a_filter_is_not_seen_once_the_server_stopped_looking(table: str, detail: str) -> None:
    """The details are those of servers 15 to 18: all four operations published, a list at fault for both writes."""
    made = [f"CREATE TABLE {table} (a int, b int PRIMARY KEY, d int)"]
    made += [f"CREATE PUBLICATION p{number} {text}" for number, text in enumerate(STOPPED[table])]
    findings = Linter(Config(complete=True)).lint(Unit((Source("script.sql", ";\n".join(made)),))).diagnostics
    told = {d.operation: d.server.detail for d in findings if d.phase == "write" and d.server and not d.after_count}
    assert told == {"update": detail, "delete": detail}


@pytest.mark.parametrize(
    ("major", "detail"), [(17, _LIST), (18, "Replica identity must not contain unpublished generated columns.")]
)
def test_the_last_publication_to_fail_tells_lists_from_generated_columns_since_18(major: int, detail: str) -> None:
    """The details are those of servers: 18 writes down anew for each publication which of the two has failed."""
    made = (
        "CREATE TABLE t (a int PRIMARY KEY, g int GENERATED ALWAYS AS (a) STORED)",
        "ALTER TABLE t REPLICA IDENTITY FULL",
        "CREATE PUBLICATION p FOR TABLE t (a) WITH (publish = 'update, delete')",
        "CREATE PUBLICATION q FOR ALL TABLES",
    )
    config = Config(postgres=(major,), complete=True)
    findings = Linter(config).lint(Unit((Source("script.sql", ";\n".join(made)),))).diagnostics
    assert {d.server.detail for d in findings if d.phase == "write" and d.server and not d.after_count} == {detail}
