"""The rules about a running server, from the facts of one, and where each of them ends: PUB860, PUB861, PUB862, PUB863,
PUB864, PUB865, PUB866, PUB867, PUB868, PUB869, PUB870, PUB871, PUB872."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.live.document import source_of
from pubcheck.live.server_facts import (
    ColumnStatistics,
    Reader,
    ServerFacts,
    Settings,
    Slot,
    SubscriptionState,
    SubscriptionTable,
    TableStatistics,
    Usage,
)
from pubcheck.source import Source

SETTINGS = Settings(
    wal_level="logical",
    max_replication_slots=10,
    max_wal_senders=10,
    max_logical_replication_workers=4,
    max_slot_wal_keep_size=4 << 30,
    max_wal_size=1 << 30,
)
FACTS = ServerFacts(settings=SETTINGS, usage=Usage(slots=1, wal_senders=1, subscription_workers=0))
READER = Reader(publications=("shop",))
SLOT = Slot(
    name="crm",
    plugin="pgoutput",
    active=True,
    wal_status="reserved",
    held=1 << 20,
    unconfirmed=1 << 20,
    catalog_age=5,
    reader=READER,
)
OBJECTS: tuple[records.AnyObject, ...] = (
    records.Schema(name="public", oid=2200, owner="postgres"),
    records.Role(name="postgres", oid=10, superuser=True),
    records.Table(
        name="orders",
        schema="public",
        oid=16400,
        owner="postgres",
        identity="f",
        columns=(
            records.Column(name="id", type="int4"),
            records.Column(name="region", type="text", collation='"default"'),
        ),
    ),
    records.Publication(name="shop", oid=16410, owner="postgres"),
    records.PublicationTable(name="shop", oid=16411, table="public.orders"),
)
SUBSCRIPTION = records.Subscription(name="s", oid=16420, owner="postgres", publications=("shop",), slot="s")
RUNNING = SubscriptionState(name="s", enabled=True, running=True)


def lint(
    code: str,
    facts: ServerFacts,
    objects: tuple[records.AnyObject, ...] = OBJECTS,
    major: int = 18,
    migration: str | None = None,
) -> list[Diagnostic]:
    """Return the findings of a rule about a server with these facts, and about a migration that runs on it."""
    settings = tuple(records.Setting(name=name) for name in Settings.__struct_fields__)
    slots = tuple(records.Slot(name=slot.name) for slot in facts.slots)
    server = doc.Server(
        postgres=major,
        version=str(major),
        database="shop",
        database_owner="postgres",
        encoding="UTF8",
        collate="C",
        ctype="C",
        wal_level=facts.settings.wal_level,
        search_path='"$user", public',
    )
    snapshot = doc.Snapshot(
        pubcheck_snapshot=doc.FORMAT,
        pubcheck="0",
        server=server,
        objects=doc.sorted_objects((*objects, *settings, *slots)),
        facts=facts,
    )
    source = source_of("postgresql:///shop", doc.encode(snapshot).decode(), live=True)
    sources = (source,) if migration is None else (source, Source("migration.sql", migration))
    result = Linter(Config(postgres=(major,), select=(code,))).lint(Unit(sources))
    assert not [finding for finding in result.diagnostics if finding.rule == "PUB000"]
    return [finding for finding in result.diagnostics if finding.rule == code]


def with_settings(**values: Any) -> ServerFacts:
    return replace(FACTS, settings=replace(SETTINGS, **values))


def with_usage(**values: Any) -> ServerFacts:
    return replace(FACTS, usage=replace(FACTS.usage, **values))


def with_slots(*slots: Slot) -> ServerFacts:
    return replace(FACTS, slots=slots, publication_ages={"shop": 100})


def with_subscription(**values: Any) -> ServerFacts:
    return replace(FACTS, subscriptions=(replace(RUNNING, **values),))


@pytest.mark.parametrize(("level", "major", "refused"), [
    ("logical", 18, False),
    ("replica", 18, True),
    ("minimal", 18, True),
    ("replica", 19, False),
    ("minimal", 19, True),
])  # fmt: skip
def test_pub860_wal_level_is_too_low_for_decoding(level: str, major: int, refused: bool) -> None:
    facts = with_settings(wal_level=level)
    assert bool(lint("PUB860", facts, major=major)) == refused
    assert not lint("PUB860", facts, OBJECTS[:3], major), "without a publication nobody needs it"


@pytest.mark.parametrize(("usage", "expected"), [
    ({"slots": 9, "wal_senders": 9}, []),
    ({"slots": 10}, ["all 10 replication slots"]),
    ({"wal_senders": 11}, ["all 10 walsenders"]),
    ({"subscription_workers": 4}, []),
    ({"subscription_workers": 3, "waiting_subscriptions": ("s",)}, []),
    ({"subscription_workers": 4, "waiting_subscriptions": ("s",)}, ["all 4 logical replication workers"]),
])  # fmt: skip
def test_pub861_a_limit_is_reached(usage: dict[str, Any], expected: list[str]) -> None:
    messages = [finding.message.partition(" are in use")[0] for finding in lint("PUB861", with_usage(**usage))]
    assert messages == expected


def test_pub861_one_is_not_all() -> None:
    settings = replace(FACTS.settings, max_replication_slots=1)
    [finding] = lint("PUB861", replace(with_usage(slots=1), settings=settings))
    assert finding.message.startswith("the only replication slot is in use: CREATE SUBSCRIPTION is refused")


QUARTER = (4 << 30) // 4


@pytest.mark.parametrize(("changes", "rule", "severity"), [
    ({"active": True}, None, None),
    ({"active": False}, "PUB864", "note"),
    ({"active": False, "held": None}, None, None),
    ({"active": False, "wal_status": "extended", "safe": QUARTER}, "PUB864", "warning"),
    ({"active": True, "wal_status": "extended", "safe": QUARTER}, None, None),
    ({"active": False, "wal_status": "extended", "safe": QUARTER - 1}, "PUB863", "warning"),
    ({"active": True, "wal_status": "extended", "safe": QUARTER - 1}, "PUB863", "warning"),
    ({"active": True, "wal_status": "reserved", "safe": QUARTER - 1}, "PUB863", "warning"),
    ({"active": True, "wal_status": "reserved", "safe": QUARTER}, None, None),
    ({"active": True, "wal_status": "unreserved", "safe": 0}, "PUB863", "warning"),
    ({"active": False, "wal_status": "lost", "held": None}, "PUB862", "error"),
])  # fmt: skip
def test_pub862_to_pub864_one_of_them_speaks_of_a_slot(
    changes: dict[str, Any], rule: str | None, severity: str | None
) -> None:
    facts = with_slots(replace(SLOT, **changes))
    findings = [finding for code in ("PUB862", "PUB863", "PUB864") for finding in lint(code, facts)]
    assert [(finding.rule, finding.severity, finding.certainty) for finding in findings] == (
        [(rule, severity, "certain")] if rule else []
    )


def test_pub865_a_limit_is_missing_only_where_slots_are() -> None:
    unlimited = replace(SETTINGS, max_slot_wal_keep_size=None)
    assert lint("PUB865", replace(FACTS, settings=unlimited, slots=(SLOT,)))
    assert not lint("PUB865", replace(FACTS, settings=unlimited))
    assert not lint("PUB865", with_slots(SLOT))


OTHER = Reader(publications=("other",))
BY_SUBSCRIPTION = Reader(publications=("other",), subscription="s")


@pytest.mark.parametrize(("slots", "certainty"), [
    ((), "certain"),
    ((SLOT,), None),
    ((replace(SLOT, reader=OTHER),), "certain"),
    ((replace(SLOT, reader=BY_SUBSCRIPTION),), "assumed"),
    ((replace(SLOT, reader=OTHER), replace(SLOT, name="x", reader=None)), None),
    ((replace(SLOT, plugin="wal2json", reader=None),), "certain"),
    ((replace(SLOT, plugin="some_other", reader=None),), None),
])  # fmt: skip
def test_pub866_a_publication_has_no_subscriber_if_all_readers_are_known(
    slots: tuple[Slot, ...], certainty: str | None
) -> None:
    findings = lint("PUB866", with_slots(*slots), major=15)
    assert [finding.certainty for finding in findings] == ([certainty] if certainty else [])


def test_pub866_is_assumed_where_a_standby_may_have_slots() -> None:
    """PostgreSQL 16 decodes on standbys; the views of their primary do not show it."""
    [finding] = lint("PUB866", FACTS, major=16)
    assert finding.certainty == "assumed"
    assert finding.assumptions == ("whether a standby of this server has a slot that reads it",)


INACTIVE = replace(SLOT, active=False)


@pytest.mark.parametrize(("slot", "age", "major", "expected"), [
    (SLOT, 100, 17, []),
    (replace(SLOT, reader=OTHER), 100, 17, [("error", "certain")]),
    (replace(SLOT, reader=OTHER), 100, 18, [("warning", "certain")]),
    (replace(SLOT, reader=BY_SUBSCRIPTION), 100, 17, [("error", "assumed")]),
    (SLOT, 5, 17, []),
    (INACTIVE, 5, 17, [("warning", "assumed")]),
    (INACTIVE, 6, 17, []),
    (replace(INACTIVE, reader=None), 5, 17, [("note", "assumed")]),
    (replace(INACTIVE, reader=None), 6, 17, []),
    (replace(INACTIVE, plugin="test_decoding", reader=None), 5, 17, []),
    (replace(INACTIVE, wal_status="lost"), 5, 17, []),
])  # fmt: skip
def test_pub867_a_publication_is_missing_or_younger_than_the_slot(
    slot: Slot, age: int, major: int, expected: list[tuple[str, str]]
) -> None:
    facts = replace(with_slots(slot), publication_ages={"shop": age})
    assert [(finding.severity, finding.certainty) for finding in lint("PUB867", facts, major=major)] == expected


@pytest.mark.parametrize(("rows", "severity"), [(1000.0, "warning"), (50.0, None)])
def test_pub868_a_filter_of_a_table_with_few_rows_is_not_estimated(rows: float, severity: str | None) -> None:
    objects = (*OBJECTS[:4], records.PublicationTable(name="shop", table="public.orders", filter="region = 'EU'::text"))
    column = ColumnStatistics(
        table="public.orders",
        column="region",
        rows=rows,
        nulls=0.0,
        distinct=2.0,
        values=("eu", "us"),
        frequencies=(0.5, 0.5),
    )
    findings = lint("PUB868", replace(FACTS, columns=(column,)), objects)
    assert [(finding.severity, finding.certainty) for finding in findings] == (
        [(severity, "assumed")] if severity else []
    )
    assert not lint("PUB868", FACTS, objects), "nothing is known"


DAY = 86_400
TABLE = TableStatistics(table="public.orders", rows=1_000_000, size=100 << 20, updates=DAY, deletes=0, seconds=DAY)
KEY = records.Index(
    name="k", schema="public", owner="postgres", oid=16430, table="public.orders", keys=("id",), unique=True
)


@pytest.mark.parametrize(("changes", "more", "expected"), [
    ({}, (), 0),
    ({"updates": 2 * DAY}, (), 1),
    ({"updates": DAY, "deletes": DAY}, (), 1),
    ({"updates": 2 * DAY}, (KEY,), 0),
    ({"size": 2048 * 1_000_000}, (), 1),
    ({"size": 2048 * 1_000_000, "updates": 2 * DAY}, (), 1),
    ({"size": 2048 * 1_000_000}, (KEY,), 1),
    ({"size": 2048 * 1_000_000, "updates": 0}, (), 0),
    ({"rows": 0}, (), 0),
    ({"size": 2048 * 1_000_000, "seconds": DAY - 1}, (), 0),
])  # fmt: skip
def test_pub869_identity_full_is_reported_for_wide_or_busy_tables(
    changes: dict[str, Any], more: tuple[records.AnyObject, ...], expected: int
) -> None:
    facts = replace(FACTS, tables=(replace(TABLE, **changes),))
    assert len(lint("PUB869", facts, (*OBJECTS, *more))) == expected
    inserts = records.Publication(name="shop", oid=16410, owner="postgres", update=False, delete=False)
    assert not lint("PUB869", facts, (*OBJECTS[:3], inserts, *OBJECTS[4:], *more))


@pytest.mark.parametrize(("key", "advice"), [
    (replace(KEY, primary=True, constraint=records.IndexConstraint(oid=16431, type="p")), "ALTER TABLE orders REPLICA"),
    (KEY, "add a primary key"),
])  # fmt: skip
def test_pub869_a_primary_key_is_not_to_be_added_again(key: records.Index, advice: str) -> None:
    facts = replace(FACTS, tables=(replace(TABLE, size=2048 * 1_000_000),))
    [finding] = lint("PUB869", facts, (*OBJECTS, key))
    assert finding.help is not None
    assert finding.help.startswith(advice)


TO_COPY = (SubscriptionTable("public.orders", "d"),)


@pytest.mark.parametrize(("changes", "expected"), [
    ({}, []),
    ({"enabled": False, "running": False}, [("PUB870", "warning", "certain")]),
    ({"running": False}, [("PUB871", "warning", "assumed")]),
    ({"running": False, "apply_errors": 3}, [("PUB871", "warning", "certain")]),
    ({"apply_errors": 3}, [("PUB871", "note", "certain")]),
    ({"not_ready": TO_COPY}, [("PUB872", "note", "certain")]),
    ({"not_ready": TO_COPY, "sync_errors": 1},
     [("PUB871", "warning", "certain"), ("PUB872", "warning", "certain")]),
    ({"not_ready": TO_COPY, "enabled": False, "running": False},
     [("PUB870", "warning", "certain"), ("PUB872", "warning", "certain")]),
])  # fmt: skip
def test_pub870_to_pub872_a_subscription_does_not_run(
    changes: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    facts, objects = with_subscription(**changes), (*OBJECTS, SUBSCRIPTION)
    diagnostics = [finding for code in ("PUB870", "PUB871", "PUB872") for finding in lint(code, facts, objects)]
    assert [(finding.rule, finding.severity, finding.certainty) for finding in diagnostics] == expected


def test_pub870_names_the_errors_that_disabled_a_subscription() -> None:
    facts = with_subscription(enabled=False, running=False, disable_on_error=True, apply_errors=1)
    [finding] = lint("PUB870", facts, (*OBJECTS, SUBSCRIPTION))
    assert "probably by an error (1 apply error)" in finding.message


MIGRATION = "CREATE PUBLICATION added FOR TABLE orders; DROP PUBLICATION shop; CREATE PUBLICATION shop FOR ALL TABLES;"


def test_a_migration_on_a_running_server_adds_no_subscriber_and_no_findings_of_its_own() -> None:
    for code in ("PUB860", "PUB861", "PUB866", "PUB867", "PUB868", "PUB869"):
        assert not lint(code, with_slots(SLOT), migration=MIGRATION)


@pytest.mark.parametrize(("slots", "expected"), [
    ((), ("note", "assumed", "a subscription to it")),
    ((SLOT,), ("warning", "certain", 'the reader of slot "crm"')),
    ((replace(SLOT, reader=replace(READER, subscription="s")),), ("warning", "assumed", 'the reader of slot "crm"')),
    ((replace(SLOT, reader=None),), ("note", "assumed", "a subscription to it")),
])  # fmt: skip
def test_pub811_a_migration_drops_a_publication_that_a_slot_reads(
    slots: tuple[Slot, ...], expected: tuple[str, str, str]
) -> None:
    [finding] = lint("PUB811", with_slots(*slots), migration=MIGRATION)
    severity, certainty, reader = expected
    assert (finding.severity, finding.certainty) == (severity, certainty)
    assert f"is dropped and recreated: {reader}" in finding.message


def test_pub810_a_subscription_of_a_database_is_to_another_server() -> None:
    elsewhere = replace(SUBSCRIPTION, publications=("theirs",))
    assert not lint("PUB810", FACTS, (*OBJECTS, elsewhere))
    assert lint("PUB810", FACTS, (*OBJECTS, replace(SUBSCRIPTION, publications=("shop", "gone"))))
