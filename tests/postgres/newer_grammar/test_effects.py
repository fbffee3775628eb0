"""What statements of 19 do to tables and publications; the answers are recorded on 19beta3."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.replication.publication_lookup import publishes
from pubcheck.source import Source
from tests.support.linting import answers, lint, writes

PARTITIONED = """
CREATE TABLE pt (id int NOT NULL, k int NOT NULL, v text{key}) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF pt FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF pt FOR VALUES FROM (10) TO (20);
"""
KEYED = PARTITIONED.format(key=", PRIMARY KEY (id)")
MERGE = "ALTER TABLE pt MERGE PARTITIONS (p1, p2) INTO p12;"
SPLIT = (
    "ALTER TABLE pt SPLIT PARTITION p1 INTO "
    "(PARTITION p1 FOR VALUES FROM (0) TO (5), PARTITION pb FOR VALUES FROM (5) TO (10));"
)


def followed(sql: str) -> Catalog:
    unit = Unit(sources=(Source("a.sql", sql),))
    (replay,) = Linter(Config(postgres=(19,), complete=True)).follow(unit).replays
    return replay.catalog


def published(sql: str) -> list[str]:
    """The tables with rows of their own that publication p publishes."""
    catalog = followed(sql)
    publication = catalog.publications[catalog.publication_names["p"]]
    tables = [row for row in catalog.relations.values() if row.kind == "r"]
    return sorted(row.name for row in tables if publishes(catalog, publication, row))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CREATE PUBLICATION p FOR TABLE p1, p2;" + MERGE, []),
        ("CREATE PUBLICATION p FOR TABLE pt;" + MERGE, ["p12"]),
        ("CREATE PUBLICATION p FOR TABLE p1;" + SPLIT, []),
        ("CREATE PUBLICATION p FOR TABLE pt;" + SPLIT, ["p1", "p2", "pb"]),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE pt);" + MERGE, []),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE pt); ALTER TABLE pt DETACH PARTITION p1;", ["p1"]),
        ("CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE pt); ALTER PUBLICATION p SET ALL TABLES;", ["p1", "p2"]),
        ("CREATE PUBLICATION p FOR ALL TABLES; ALTER PUBLICATION p SET ALL SEQUENCES;", []),
    ],
)
def test_partitions_stay_published_only_through_their_root(sql: str, expected: list[str]) -> None:
    assert published(KEYED + sql) == expected


SPLIT_P1 = "pt SPLIT PARTITION p1 INTO"
LISTED = "CREATE TABLE l (a text) PARTITION BY LIST (a); CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('a', 'b');"


@pytest.mark.parametrize(
    ("statement", "accepted"),
    [
        (f"{SPLIT_P1} (PARTITION x FOR VALUES FROM (5) TO (10), PARTITION y FOR VALUES FROM (0) TO (5))", True),
        (f"{SPLIT_P1} (PARTITION x FOR VALUES FROM (0) TO (5), PARTITION y FOR VALUES FROM (6) TO (10))", False),
        (f"{SPLIT_P1} (PARTITION x FOR VALUES FROM (0) TO (5), PARTITION y FOR VALUES FROM (5) TO (9))", False),
        (f"{SPLIT_P1} (PARTITION x FOR VALUES FROM (0) TO (5), PARTITION y DEFAULT)", True),
        ("l SPLIT PARTITION l1 INTO (PARTITION x FOR VALUES IN ('a'), PARTITION y FOR VALUES IN ('b'))", True),
        ("l SPLIT PARTITION l1 INTO (PARTITION x FOR VALUES IN ('a'), PARTITION y FOR VALUES IN ('c'))", False),
        ("pt MERGE PARTITIONS (p2, p1) INTO x", True),
        (
            "pt DETACH PARTITION p2; CREATE TABLE p3 PARTITION OF pt FOR VALUES FROM (30) TO (40);"
            "ALTER TABLE pt MERGE PARTITIONS (p1, p3) INTO x",
            False,
        ),
    ],
)
def test_partitions_replace_others_only_for_the_same_rows(statement: str, accepted: bool) -> None:
    """partitions/partbounds.c: check_partitions_for_split, calculate_partition_bound_for_merge."""
    names = [row.name for row in followed(f"{KEYED}{LISTED}ALTER TABLE {statement};").relations.values()]
    assert ("x" in names) is accepted


def test_new_partitions_have_the_default_identity() -> None:
    full = "".join(f"ALTER TABLE {table} REPLICA IDENTITY FULL;" for table in ("pt", "p1", "p2"))
    findings = lint(
        PARTITIONED.format(key="") + full + "CREATE PUBLICATION p FOR TABLE pt;" + MERGE, complete=True, postgres=(19,)
    )
    assert ("public.p12", "update", "certain") in writes(findings)
    assert not writes(lint(KEYED + "CREATE PUBLICATION p FOR TABLE pt;" + MERGE, complete=True, postgres=(19,)))


def test_a_property_graph_is_a_relation_that_is_not_published() -> None:
    sql = "CREATE TABLE t (id int PRIMARY KEY); CREATE PROPERTY GRAPH gr VERTEX TABLES (t);"
    findings = lint(sql + "CREATE PUBLICATION p FOR TABLE gr;", complete=True, postgres=(19,))
    assert answers(findings) == [("42809", 'cannot open relation "gr"', "certain")]
    catalog = followed(sql + "CREATE PUBLICATION p FOR TABLE t; DROP TABLE t;")
    assert len(catalog.publication_rels) == 1  # the graph needs the table


@pytest.mark.parametrize(
    ("statement", "sqlstate", "message"),
    [
        (
            "CREATE SUBSCRIPTION s SERVER far PUBLICATION p WITH (connect = false)",
            "0A000",
            'foreign-data wrapper "fdw" does not support subscription connections',
        ),
        (
            "CREATE SUBSCRIPTION s SERVER nosuch PUBLICATION p WITH (connect = false)",
            "42704",
            'server "nosuch" does not exist',
        ),
        (
            "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p WITH (connect = false);"
            "ALTER SUBSCRIPTION s REFRESH SEQUENCES",
            "55000",
            "ALTER SUBSCRIPTION ... REFRESH SEQUENCES is not allowed for disabled subscriptions",
        ),
        (
            "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p WITH (connect = false);"
            "ALTER SUBSCRIPTION s REFRESH PUBLICATION",
            "55000",
            "ALTER SUBSCRIPTION ... REFRESH PUBLICATION is not allowed for disabled subscriptions",
        ),
    ],
)
def test_forms_of_subscriptions(statement: str, sqlstate: str, message: str) -> None:
    server = "CREATE FOREIGN DATA WRAPPER fdw; CREATE SERVER far FOREIGN DATA WRAPPER fdw;"
    findings = lint(server + statement, complete=True, postgres=(19,))
    assert (sqlstate, message, "certain") in answers(findings)


def test_identity_needs_a_not_null_constraint_that_is_valid() -> None:
    sql = (
        "CREATE TABLE t (a int); ALTER TABLE t ADD CONSTRAINT nn NOT NULL a NOT VALID;"
        "CREATE UNIQUE INDEX ix ON t (a); ALTER TABLE t REPLICA IDENTITY USING INDEX ix;"
    )
    (finding,) = lint(sql, complete=True, postgres=(18, 19))
    assert (finding.rule, finding.postgres, finding.server and finding.server.sqlstate) == ("PUB305", (19,), "55000")
    assert finding.server is not None
    assert finding.server.detail == 'The constraint "nn" on column "a" is marked NOT VALID.'
