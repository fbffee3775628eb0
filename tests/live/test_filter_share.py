"""The share of a table's rows that a filter publishes: the rows that a server counts lie within the bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pubcheck import __version__
from pubcheck.live.connect import connect
from pubcheck.live.document import Snapshot, read_snapshot, with_facts
from pubcheck.live.load import load
from pubcheck.live.published_shares import Share, filter_share
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.executor import Context
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session
from tests.support.servers import PACKAGES, Servers, prepare

ROWS = 3000
TABLE = (
    "CREATE TABLE t (id int PRIMARY KEY, region text, amount numeric, small int NOT NULL, paid boolean, at date,"
    " note varchar(40), nothing int)",
    # Fewer rows than ANALYZE samples: its statistics are those of the whole table.
    f"INSERT INTO t SELECT i, CASE i % 10 WHEN 0 THEN NULL WHEN 1 THEN 'us' WHEN 2 THEN 'ap' ELSE 'eu' END,"
    " CASE WHEN i % 7 = 0 THEN NULL ELSE (i * 37) % 5000 + i / 10000.0 END, i % 4, i % 3 = 0,"
    " CASE WHEN i % 5 = 0 THEN NULL ELSE date '2020-01-01' + i END, 'note ' || i, NULL"
    f" FROM generate_series(1, {ROWS}) i",
    "ALTER TABLE t REPLICA IDENTITY FULL",
    "ANALYZE t",
)
ATOMS = (
    "region = 'eu'", "region <> 'us'", "region IN ('eu', 'us')", "region = 'EU'", "region IS NULL",
    "region IS NOT NULL", "lower(region) = 'ap'", "region IS DISTINCT FROM 'eu'", "amount > 100", "amount <= 4999.9",
    "amount < 0",
    "amount >= 2500", "amount IS NULL", "500 > amount", "amount = 37", "small < 4", "small > 3", "small = 2",
    "small % 2 = 0", "paid", "NOT paid", "paid IS NOT TRUE", "at > '2023-01-01'", "at < '2020-01-02'", "at IS NOT NULL",
    "note = 'note 7'", "note <> ''", "note IS NOT NULL", "nothing IS NULL", "nothing > 0", "nothing = small",
    "id > 0", "id < 0", "id <= 1500", "id + small > 0", "true", "false", "length(region) = 2",
    "coalesce(region, 'eu') = 'eu'", "CASE WHEN paid THEN small ELSE 5 END >= 0", "1 / small > 0",
)  # fmt: skip


def filters() -> Iterator[str]:
    yield from ATOMS
    draw = random.Random(17)
    for _ in range(150):
        parts = [f"({draw.choice(('', 'NOT '))}({atom}))" for atom in draw.sample(ATOMS, draw.choice((2, 2, 3)))]
        yield draw.choice((" AND ", " OR ")).join(parts)


@pytest.mark.server
@pytest.mark.parametrize("major", PACKAGES)
def test_the_rows_that_a_server_counts_lie_within_the_bounds(servers: Servers, major: int) -> None:
    server, conditions = servers[major], list(filters())
    with server.database() as name, server.connect(name) as conn:
        prepare(conn, TABLE)
        for number, condition in enumerate(conditions):
            prepare(conn, [f"CREATE PUBLICATION p{number} FOR TABLE t WHERE ({condition})"])
        with connect(server.conninfo(name)) as connection:
            snapshot = with_facts(connection, read_snapshot(connection, __version__))
        shares = dict(estimated(snapshot, major))
        exact = extreme = shown = 0
        for number, condition in enumerate(conditions):
            share = shares[f"p{number}"]
            if "1 / small" in condition:
                continue  # fails on the server for rows that the filter may not look at
            [(true, false)] = conn.execute(
                f"SELECT count(*) FILTER (WHERE {condition}), count(*) FILTER (WHERE NOT ({condition})) FROM t"
            ).fetchall()
            assert share.true[0] - 0.001 <= true / ROWS <= share.true[1] + 0.001, condition
            assert share.false[0] - 0.001 <= false / ROWS <= share.false[1] + 0.001, condition
            assert not share.takes_all or true == ROWS, condition
            assert not share.takes_none or true == 0, condition
            exact += share.true[1] - share.true[0] < 0.02
            extreme += true in (0, ROWS)
            shown += share.takes_all or share.takes_none
        assert shown > extreme / 2
        assert exact > len(conditions) / 4


def estimated(snapshot: Snapshot, major: int) -> Iterator[tuple[str, Share]]:
    """The shares of all filters of a snapshot, by publication."""
    catalog = Catalog(major, snapshot.server.database)
    session = Session(catalog, complete=True)
    load(session, snapshot, 0)
    assert snapshot.facts is not None
    for entry in catalog.publication_rels.values():
        relation = catalog.relations[entry.relation]
        assert entry.filter is not None
        assert isinstance(entry.filter.expr, Expr)
        context = Context(parse_state(session, relation).inputs)
        share = filter_share(entry.filter.expr, relation, snapshot.facts.columns_by_table()["public.t"], context)
        yield catalog.publications[entry.publication].name, share
