"""For every claim about a consumer with a check: SQL that breaks it, which is reported, and SQL that satisfies it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from msgspec import Struct, convert

from pubcheck.config import Config
from pubcheck.consumers.demands import Exists, Majors
from pubcheck.consumers.profiles import ConsumerUse
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.rules.conftest import Scripts
from tests.support.scripts import statements
from tests.support.servers import PACKAGES
from tools.consumers.compile import read_all

RULES = {
    "publication-name": "PUB900",
    "exists": "PUB901",
    "scope": "PUB902",
    "operations": "PUB903",
    "via-root": "PUB904",
    "row-filter": "PUB905",
    "column-list": "PUB906",
    "replica-identity": "PUB907",
    "key": "PUB908",
    "members": "PUB909",
    "table-kind": "PUB910",
    "generated-columns": "PUB911",
    "names": "PUB912",
    "types": "PUB913",
    "alone": "PUB914",
    "privileges": "PUB915",
    "majors": "PUB916",
    "unread-publication": "PUB918",
    "sets-identity": "PUB919",
    "order": "PUB920",
}
"""The rule that reports each kind of demand; a claim that only tells an effect is reported under PUB919."""

EFFECTS = "PUB919"
CONTRADICTED = {"aws-dms-03": "aws-dms-01"}
"""Claims that only SQL that breaks another claim of the consumer satisfies: AWS DMS ignores TRUNCATE, and whether it is
published."""
KEYLESS = {"pgcopydb-03", "timescale-livesync-03"}
"""Claims about replica identities whose SQL has a table without a key, which a claim about keys is about too."""
OLD_SERVERS = {"sequin-07", "dlt-04"}
"""Claims about majors that pubcheck does not check."""


class Pair(Struct, forbid_unknown_fields=True):
    """``servers``: whether a plain server accepts the SQL."""

    claim: str
    consumer: str
    bad: str
    good: str
    mode: str = ""
    publications: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    postgres: tuple[int, ...] = tuple(PACKAGES)
    servers: bool = True

    @property
    def use(self) -> ConsumerUse:
        modes = (self.mode,) if self.mode else ()
        return ConsumerUse(self.consumer, modes, self.publications, self.tables)


_FILE = Path(__file__).parents[2] / "corpus" / "consumers" / "pairs.toml"
PAIRS = convert(tomllib.loads(_FILE.read_text(encoding="utf-8"))["pair"], list[Pair])
CLAIMS = {claim.id: claim for consumer in read_all().values() for claim in consumer.claims}
PARAMETERS = [pytest.param(pair, id=pair.claim) for pair in PAIRS]


def findings(sql: str, *uses: ConsumerUse, major: int) -> list[Diagnostic]:
    """Return the findings that rest on a claim about a consumer."""
    config = Config(postgres=(major,), complete=True, select=("PUB",), consumers=uses)
    diagnostics = Linter(config).lint(Unit((Source("example.sql", sql),))).diagnostics
    assert not [diagnostic for diagnostic in diagnostics if diagnostic.refused], "the SQL of a pair is valid"
    assert not [diagnostic for diagnostic in diagnostics if diagnostic.rule in ("PUB000", "PUB012")]
    return [diagnostic for diagnostic in diagnostics if diagnostic.claim is not None]


@pytest.mark.parametrize("pair", PARAMETERS)
def test_what_breaks_a_claim_is_reported_and_what_satisfies_it_is_not(pair: Pair) -> None:
    claim = CLAIMS[pair.claim]
    major = pair.postgres[-1]
    broken = [
        finding
        for finding in findings(pair.bad, pair.use, major=major)
        if finding.claim and _rests_on(finding, pair.claim)
    ]
    kept = findings(pair.good, pair.use, major=major)
    allowed = CONTRADICTED.get(pair.claim)
    assert {finding.claim.claim for finding in kept if finding.claim and finding.rule != EFFECTS} == (
        {allowed} if allowed else set()
    )
    assert not [finding for finding in kept if finding.claim and finding.claim.claim == pair.claim]
    (first, *_) = broken
    kinds = {type(demand).__struct_config__.tag for demand in claim.demands}
    rules = {EFFECTS} if claim.strength == "effect" else {RULES[str(kind)] for kind in kinds}
    assert {finding.rule for finding in broken} <= ({RULES["key"]} if pair.claim in KEYLESS else rules)
    assert first.certainty == "certain"
    assert first.claim is not None
    if first.claim.claim == pair.claim:
        assert first.severity == claim.severity
        assert (first.claim.message or "") == claim.message
    assert first.claim.source.startswith("https://")


def _rests_on(finding: Diagnostic, claim: str) -> bool:
    """Return whether a finding cites a claim, or has its consequence next to that of a graver one."""
    return finding.claim is not None and claim in (finding.claim.claim, *finding.claim.also)


def test_every_claim_with_a_check_has_a_pair() -> None:
    with_check = {claim.id for claim in CLAIMS.values() if any(not isinstance(d, Majors) for d in claim.demands)}
    assert len(PAIRS) == len({pair.claim for pair in PAIRS})
    assert {pair.claim for pair in PAIRS} == with_check - OLD_SERVERS


@pytest.mark.server
@pytest.mark.parametrize("pair", PARAMETERS)
def test_servers_accept_the_sql_of_a_pair(scripts: Scripts, pair: Pair) -> None:
    if not pair.servers:
        return
    for major in pair.postgres:
        for sql in (pair.bad, pair.good):
            texts = [statement.sql for statement in statements(sql)]
            answers = scripts.answers(major, texts, lambda answers: all(answer.ok for answer in answers))
            assert [answer.message for answer in answers if not answer.ok] == []


def test_demands_of_every_kind_occur() -> None:
    kinds = {type(demand).__struct_config__.tag for claim in CLAIMS.values() for demand in claim.demands}
    assert kinds == RULES.keys()
    assert Exists.__struct_config__.tag in kinds


def test_no_demand_of_powersync_asks_for_the_changes_of_partitions_under_their_root() -> None:
    sql = """CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
        CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
        CREATE PUBLICATION powersync FOR TABLE events;"""
    assert {finding.rule for finding in findings(sql, ConsumerUse("powersync"), major=18)} == {"PUB910"}
    (named,) = (
        finding
        for finding in findings(sql, ConsumerUse("powersync", tables=("events",)), major=18)
        if finding.rule == "PUB909"
    )
    assert named.help == "configure PowerSync to read the partitions"


def test_a_root_that_the_consumer_may_not_be_configured_to_read_is_assumed() -> None:
    pair = next(pair for pair in PAIRS if pair.claim == "airbyte-03")
    (finding,) = [
        diagnostic
        for diagnostic in findings(pair.bad, ConsumerUse("airbyte"), major=18)
        if diagnostic.claim and diagnostic.claim.claim == "airbyte-03"
    ]
    assert finding.certainty == "assumed"
    assert "by its name" in str(finding.assumptions)


ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, note text); CREATE TABLE log (line text);"
EVENTS = """CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
    CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');"""


@pytest.mark.parametrize(
    ("consumer", "sql", "expected"),
    [
        # Values that an UPDATE does not change: of tables that have UPDATEs.
        ("debezium", f"{ORDERS} CREATE PUBLICATION app FOR TABLE orders WITH (publish = 'insert');", []),
        ("debezium", f"{ORDERS} CREATE PUBLICATION app FOR TABLE orders, log;", ["PUB907", "PUB908"]),
        # The root that is not listed is said once.
        ("estuary", f"{EVENTS} CREATE PUBLICATION app FOR ALL TABLES;", ["PUB904"]),
        # A key is a replica identity too, unless the consumer takes FULL only.
        ("pgcopydb", f"{ORDERS} CREATE PUBLICATION app FOR TABLE log;", ["PUB908"]),
        ("flink-cdc", f"{ORDERS} CREATE PUBLICATION app FOR TABLE log;", ["PUB907", "PUB908"]),
        # One identity, two claims.
        ("materialize", f"{ORDERS} CREATE PUBLICATION app FOR TABLE orders;", ["PUB903", "PUB907"]),
    ],
)
def test_one_cause_is_one_finding(consumer: str, sql: str, expected: list[str]) -> None:
    diagnostics = findings(sql, ConsumerUse(consumer), major=18)
    assert (
        sorted(finding.rule for finding in diagnostics if finding.rule != EFFECTS and finding.rule != "PUB900")
        == expected
    )


def test_the_advice_about_a_list_that_hides_nothing_is_not_to_publish_the_whole_table() -> None:
    sql = f"{ORDERS} CREATE PUBLICATION supabase_realtime FOR TABLE orders (id);"
    (finding,) = (
        diagnostic
        for diagnostic in findings(sql, ConsumerUse("supabase-realtime"), major=18)
        if diagnostic.rule == "PUB906"
    )
    assert finding.help is not None
    assert finding.help.startswith("hide columns by column privileges")


def test_tables_that_the_consumer_is_configured_to_read_and_nothing_creates_are_missing() -> None:
    use = ConsumerUse("powersync", tables=("orders", "app.*", "lnes"))
    sql = "CREATE TABLE orders (id bigint PRIMARY KEY); CREATE PUBLICATION powersync FOR TABLE orders;"
    (finding,) = (diagnostic for diagnostic in findings(sql, use, major=18) if diagnostic.rule == "PUB909")
    assert "tables app.* and lnes" in finding.message
    assert finding.severity == "error"
    assert finding.certainty == "certain"
    config = Config(postgres=(18,), consumers=(use,))
    (assumed,) = (
        diagnostic
        for diagnostic in Linter(config).lint(Unit((Source("a.sql", sql),))).diagnostics
        if diagnostic.rule == "PUB909"
    )
    assert assumed.certainty == "assumed"
