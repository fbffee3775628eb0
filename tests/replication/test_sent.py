"""What publications send, rule by rule; `test_servers` holds the same rules to servers."""

from __future__ import annotations

import pytest

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.replication.publication_lookup import (
    PublishedChanges,
    published_by,
    published_of,
    unpublished_members,
)
from pubcheck.postgres.replication.subscription_set import (
    Combined,
    combine,
    publication_tables,
    subscribe_conflicts,
    tables_to_copy,
)
from tests.postgres.ddl.support import find, fold
from tests.support.servers import MAJORS

TREE = """
    CREATE SCHEMA s;
    CREATE TABLE pt (id int, k int, v text, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
    CREATE TABLE mid PARTITION OF pt FOR VALUES IN (1) PARTITION BY RANGE (id);
    CREATE TABLE s.leaf PARTITION OF mid FOR VALUES FROM (0) TO (10);
    CREATE TABLE other PARTITION OF pt FOR VALUES IN (2);
"""
ROOT = " WITH (publish_via_partition_root)"


def catalog_of(sql: str, major: int = 18, complete: bool = True) -> Catalog:
    return fold(sql, major, complete).catalog


def oid(catalog: Catalog, name: str) -> int:
    schema, _, table = name.rpartition(".")
    return catalog.relation_names[catalog.namespace_names[schema or "public"], table]


def names(catalog: Catalog, changes: list[PublishedChanges]) -> dict[str, str]:
    return {catalog.relations[change.relation].name: catalog.relations[change.arrives_as].name for change in changes}


def combined(catalog: Catalog, relation: str, *publications: str) -> Combined | None:
    return combine(catalog, [catalog.publication_names[name] for name in publications], oid(catalog, relation))


@pytest.mark.parametrize(
    ("made", "arriving"),
    [
        ("FOR TABLE pt", {"leaf": "leaf", "other": "other"}),
        ("FOR TABLE pt" + ROOT, {"leaf": "pt", "other": "pt"}),
        ("FOR TABLE mid" + ROOT, {"leaf": "mid"}),
        ("FOR TABLE mid, s.leaf" + ROOT, {"leaf": "mid"}),
        ("FOR TABLE s.leaf" + ROOT, {"leaf": "leaf"}),
        ("FOR TABLES IN SCHEMA s" + ROOT, {"leaf": "leaf"}),
        ("FOR TABLES IN SCHEMA public" + ROOT, {"leaf": "pt", "other": "pt"}),
        ("FOR TABLES IN SCHEMA public", {"leaf": "leaf", "other": "other"}),
        ("FOR TABLES IN SCHEMA s, TABLE mid" + ROOT, {"leaf": "mid"}),
        ("FOR ALL TABLES" + ROOT, {"leaf": "pt", "other": "pt"}),
        ("FOR ALL TABLES", {"leaf": "leaf", "other": "other"}),
        ("", {}),
    ],
)
def test_changes_of_leaves_arrive_under_the_topmost_published_name(made: str, arriving: dict[str, str]) -> None:
    catalog = catalog_of(f"{TREE}; CREATE PUBLICATION p {made}")
    publication = catalog.publication_names["p"]
    changes = published_by(catalog, publication)
    assert names(catalog, changes) == arriving
    assert [published_of(catalog, publication, finding.relation) for finding in changes] == changes


def test_why_a_table_is_sent_and_through_which_relation() -> None:
    catalog = catalog_of(
        f"{TREE}; CREATE PUBLICATION p FOR TABLE mid, TABLES IN SCHEMA s; CREATE PUBLICATION q FOR TABLE pt"
    )
    leaf = oid(catalog, "s.leaf")
    changes = published_of(catalog, catalog.publication_names["p"], leaf)
    assert changes is not None
    assert (changes.how, changes.through) == ("schema", leaf)
    changes = published_of(catalog, catalog.publication_names["q"], leaf)
    assert changes is not None
    assert (changes.how, changes.through) == ("table", oid(catalog, "pt"))


def test_columns_of_a_partition_are_mapped_by_name_and_sent_in_the_order_of_the_root() -> None:
    catalog = catalog_of(
        """
        CREATE TABLE pt (id int, k int, v text, w text) PARTITION BY LIST (k);
        CREATE TABLE p1 (w text, hole int, v text, k int, id int);
        ALTER TABLE p1 DROP COLUMN hole;
        ALTER TABLE pt ATTACH PARTITION p1 FOR VALUES IN (1);
        CREATE PUBLICATION p FOR TABLE pt (v, id) WITH (publish_via_partition_root);
        CREATE PUBLICATION q FOR TABLE p1
        """
    )
    p1 = oid(catalog, "p1")
    through_root = published_of(catalog, catalog.publication_names["p"], p1)
    alone = published_of(catalog, catalog.publication_names["q"], p1)
    assert through_root is not None
    assert alone is not None
    assert through_root.columns == (5, 3)
    assert alone.columns == (1, 3, 4, 5)


@pytest.mark.parametrize(
    ("made", "columns"),
    [
        ("FOR TABLE t", (1, 2)),
        ("FOR TABLE t WITH (publish_generated_columns = stored)", (1, 2, 3)),
        ("FOR TABLE t (g)", (3,)),
        ("FOR TABLE t (a) WITH (publish_generated_columns = stored)", (2,)),
        ("FOR ALL TABLES WITH (publish_generated_columns = stored)", (1, 2, 3)),
    ],
)
def test_generated_columns(made: str, columns: tuple[int, ...]) -> None:
    table = "id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a) STORED, v int GENERATED ALWAYS AS (a) VIRTUAL"
    catalog = catalog_of(f"CREATE TABLE t ({table}); CREATE PUBLICATION p {made}")
    assert [changes.columns for changes in published_by(catalog, catalog.publication_names["p"])] == [columns]


def test_what_is_accepted_and_never_sent() -> None:
    catalog = catalog_of(
        """
        CREATE TABLE pt (id int) PARTITION BY RANGE (id);
        CREATE UNLOGGED TABLE pt1 PARTITION OF pt FOR VALUES FROM (0) TO (10);
        CREATE FOREIGN DATA WRAPPER w; CREATE SERVER f FOREIGN DATA WRAPPER w;
        CREATE FOREIGN TABLE pt2 PARTITION OF pt FOR VALUES FROM (10) TO (20) SERVER f;
        CREATE TABLE pt3 PARTITION OF pt FOR VALUES FROM (20) TO (30);
        CREATE TEMP TABLE tt (a int); CREATE SEQUENCE sq; CREATE MATERIALIZED VIEW mv AS SELECT 1 AS x;
        CREATE PUBLICATION p FOR TABLE pt; CREATE PUBLICATION q FOR ALL TABLES
        """
    )

    def reasons(publication: str) -> dict[str, str]:
        unpublished = unpublished_members(catalog, catalog.publication_names[publication])
        return {catalog.relations[member].name: reason for member, reason in unpublished}

    assert reasons("p") == {"pt1": "unlogged", "pt2": "foreign"}
    others = {"tt": "temporary", "sq": "sequence", "mv": "materialized view"}
    assert reasons("q") == {"pt1": "unlogged", "pt2": "foreign", **others}
    # The view lists the partitions all the same.
    shown = {
        catalog.relations[table.relation].name for table in publication_tables(catalog, catalog.publication_names["p"])
    }
    assert shown == {"pt1", "pt2", "pt3"}


def test_an_operation_that_only_an_overruled_publication_publishes_is_sent_unfiltered() -> None:
    catalog = catalog_of(
        f"""{TREE};
        CREATE PUBLICATION p FOR TABLE pt WHERE (id > 5) WITH (publish_via_partition_root, publish = 'insert');
        CREATE PUBLICATION q FOR TABLE s.leaf WHERE (id > 7) WITH (publish = 'update')
        """
    )
    got = combined(catalog, "s.leaf", "p", "q")
    assert got is not None
    assert got.arrives_as == oid(catalog, "pt")
    assert [catalog.publications[publication].name for publication in got.overruled] == ["q"]
    assert got.insert is not None
    assert [catalog.publications[publication].name for publication, _ in got.insert] == ["p"]
    assert got.update == ()
    assert got.delete is None


def test_who_widens_whose_filters() -> None:
    catalog = catalog_of(
        """
        CREATE TABLE t (id int PRIMARY KEY);
        CREATE PUBLICATION p FOR TABLE t WHERE (id > 5);
        CREATE PUBLICATION q FOR TABLE t WITH (publish = 'update');
        CREATE PUBLICATION r FOR TABLE t WHERE (id < 3)
        """
    )
    got = combined(catalog, "t", "p", "q", "r")
    assert got is not None
    assert [catalog.publications[publication].name for publication in got.widened_by] == ["q"]
    assert got.insert is not None
    assert len(got.insert) == 2
    assert got.update == ()
    alone = combined(catalog, "t", "q")
    assert alone is not None
    assert alone.widened_by == ()


def test_truncate_of_a_partition_is_sent_under_its_own_name_or_not_at_all() -> None:
    catalog = catalog_of(f"{TREE}; CREATE PUBLICATION p FOR TABLE mid{ROOT}; CREATE PUBLICATION q FOR TABLE mid")
    for publication, expected in (("p", ["mid"]), ("q", ["leaf"])):
        got = {name: combined(catalog, name, publication) for name in ("pt", "mid", "s.leaf")}
        assert [
            name.removeprefix("s.") for name, changes in got.items() if changes is not None and changes.truncate
        ] == expected


def test_a_conflict_stops_no_publication_of_truncate_alone() -> None:
    catalog = catalog_of(
        """
        CREATE TABLE t (id int PRIMARY KEY, a int);
        CREATE PUBLICATION p FOR TABLE t (id) WITH (publish = 'truncate');
        CREATE PUBLICATION q FOR TABLE t WITH (publish = 'truncate')
        """
    )
    got = combined(catalog, "t", "p", "q")
    assert got is not None
    assert got.conflict is None
    publications = [catalog.publication_names[name] for name in ("p", "q")]
    assert [conflict.publications for conflict in subscribe_conflicts(catalog, publications)] == [tuple(publications)]


@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize(
    ("table", "later", "subscribing", "decoding"),
    [
        ("id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a) STORED", "", True, True),
        ("id int PRIMARY KEY, x int, a int", "ALTER TABLE t DROP COLUMN x", True, True),
        ("id int PRIMARY KEY, a int", "", False, False),
    ],
)
def test_a_list_of_all_columns_beside_none(
    major: int, table: str, later: str, subscribing: bool, decoding: bool
) -> None:
    """15 counts columns that were dropped or are generated."""
    catalog = catalog_of(
        f"""CREATE TABLE t ({table}); {later};
        CREATE PUBLICATION p FOR TABLE t (id, a); CREATE PUBLICATION q FOR TABLE t""",
        major,
    )
    got = combined(catalog, "t", "p", "q")
    assert got is not None
    assert (got.conflict is not None) == (decoding and major == 15)
    conflicts = subscribe_conflicts(catalog, [catalog.publication_names[name] for name in ("p", "q")])
    assert bool(conflicts) == (subscribing and major == 15)


@pytest.mark.parametrize("major", MAJORS)
def test_a_leaf_beside_its_root_is_copied_twice_by_15(major: int) -> None:
    made = f"{TREE}; CREATE PUBLICATION p FOR TABLE pt{ROOT}; CREATE PUBLICATION q FOR TABLE other"
    catalog = catalog_of(made, major)
    tables = tables_to_copy(catalog, [catalog.publication_names[name] for name in ("p", "q")])
    within = {catalog.relations[finding.relation].name: finding.within for finding in tables}
    assert within == ({"pt": 0, "other": oid(catalog, "pt")} if major == 15 else {"pt": 0})


def test_what_rests_on_the_unseen_is_not_certain() -> None:
    session = fold("CREATE PUBLICATION p FOR TABLE t WHERE (a > 1), u; CREATE TABLE v (id int)", complete=False)
    assert find(session, "t") is not None
    changes = published_by(session.catalog, session.catalog.publication_names["p"])
    assert [finding.certain for finding in changes] == [False, False]
