"""Decoded messages as text, JSON lines, Debezium's envelope and bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    BeginPrepare,
    Column,
    Commit,
    CommitPrepared,
    Delete,
    Frame,
    Insert,
    Message,
    Origin,
    Place,
    Prepare,
    Relation,
    RollbackPrepared,
    StreamAbort,
    StreamCommit,
    StreamPrepare,
    StreamStart,
    StreamStop,
    Truncate,
    Type,
    Update,
    encode,
)
from pubcheck.stream.render import RENDERERS
from pubcheck.stream.render.events import Events
from tests.support.recorded_streams import FOLDER, recordings_in

ORDERS = Relation(
    16385,
    "public",
    "orders",
    "d",
    (Column("id", 23, -1, True), Column("region", 25), Column("total", 1700, 655366), Column("Mood", 16390)),
)
NOON = 762609600_500000
TYPES = {23: "int4", 25: "text", 1700: "numeric(10,2)"}


def rendered(name: str, messages: Sequence[AnyMessage], lsn: int | None = 0x16B2D48) -> list[str]:
    events = Events(type_name=lambda oid, modifier: TYPES.get(oid))
    lines: list[str] = []
    for number, message in enumerate(messages, 1):
        event = events.event(Frame(lsn, None, encode(message), Place(number)))
        lines += "".join(RENDERERS[name](event, events)).splitlines()
    return lines


def test_text_names_columns_and_the_values_of_their_types() -> None:
    assert rendered(
        "text",
        [
            Begin(0x16B2E10, NOON, 727),
            Type(16390, "public", "mood"),
            ORDERS,
            Insert(16385, ("1", "eu", "12.50", "glad")),
            Update(16385, ("1", UNCHANGED_TOAST, None, "it's")),
            Update(16385, ("2", "a\nb", "NaN", b"\1\2"), ("1", None, None, None), "K"),
            Delete(16385, (b"\0\0\0\2", None, "1", "x"), "O"),
            Delete(16385, ("2", None, None, None), "K"),
            Truncate((16385,), cascade=True, restart_identity=True),
            Message(True, 0x16B2D48, "app", b"hello"),
            Commit(0x16B2E10, 0x16B2E40, NOON),
        ],
    ) == [
        "0/16B2D48   727     BEGIN 727 at 2024-03-01 12:00:00.5+00, commits at 0/16B2E10",
        "0/16B2D48   727     TYPE public.mood",
        '0/16B2D48   727     RELATION public.orders identity d (id* int4, region text, total numeric(10,2), "Mood"'
        " public.mood)",
        "0/16B2D48   727     INSERT public.orders id=1 region='eu' total=12.50 \"Mood\"='glad'",
        "0/16B2D48   727     UPDATE public.orders id=1 region=<unchanged> total=NULL \"Mood\"='it''s'",
        "0/16B2D48   727     UPDATE public.orders key(id=1) new(id=2 region=E'a\\nb' total='NaN' \"Mood\"=\\x0102)",
        "0/16B2D48   727     DELETE public.orders old(id=2 region=NULL total=1 \"Mood\"='x')",
        "0/16B2D48   727     DELETE public.orders key(id=2)",
        "0/16B2D48   727     TRUNCATE public.orders CASCADE RESTART IDENTITY",
        "0/16B2D48   727     MESSAGE 'app' (transactional) 'hello'",
        "0/16B2D48   727     COMMIT, ends at 0/16B2E40",
    ]


def test_text_of_streamed_and_prepared_transactions() -> None:
    assert rendered(
        "text",
        [
            StreamStart(7, True),
            Insert(1, ("x",), 8),
            StreamStop(),
            StreamAbort(7, 8, 1, NOON),
            StreamAbort(7, 7),
            StreamCommit(7, 1, 2, NOON),
            StreamPrepare(1, 2, NOON, 7, "g"),
            BeginPrepare(1, 2, NOON, 9, "g"),
            Origin(3, "or\tg"),
            Prepare(1, 2, NOON, 9, "g"),
            CommitPrepared(1, 2, NOON, 9, "g"),
            RollbackPrepared(1, 2, NOON, NOON, 9, "g"),
        ],
        lsn=None,
    ) == [
        "            7       STREAM START 7 (first block)",
        "            7       INSERT relation 1 (no Relation message seen) $1='x' (subtransaction 8)",
        "            7       STREAM STOP",
        "            7       STREAM ABORT 7 subtransaction 8 at 2024-03-01 12:00:00.5+00",
        "            7       STREAM ABORT 7",
        "            7       STREAM COMMIT 7 at 2024-03-01 12:00:00.5+00, ends at 0/2",
        "            7       STREAM PREPARE 'g' 7 at 2024-03-01 12:00:00.5+00",
        "            9       BEGIN PREPARE 'g' 9 at 2024-03-01 12:00:00.5+00",
        "            9       ORIGIN E'or\\tg' at 0/3",
        "            9       PREPARE 'g' 9 at 2024-03-01 12:00:00.5+00",
        "            9       COMMIT PREPARED 'g' 9 at 2024-03-01 12:00:00.5+00",
        "            9       ROLLBACK PREPARED 'g' 9 at 2024-03-01 12:00:00.5+00",
    ]


def test_json_lines_name_columns_and_say_which_values_are_not_sent() -> None:
    not_utf8 = b"\xe4".decode("utf-8", "surrogateescape")
    change = Update(16385, ("2", UNCHANGED_TOAST, None, b"\1\2"), ("1", None, None, None), "K")
    lines = rendered("jsonl", [Begin(0x16B2E10, NOON, 727), ORDERS, change, Insert(16385, ("1", not_utf8, None, None))])
    begin, relation, update, insert = map(json.loads, lines)
    assert begin == {
        "kind": "begin",
        "lsn": "0/16B2D48",
        "xid": 727,
        "final_lsn": "0/16B2E10",
        "commit_time": "2024-03-01 12:00:00.5+00",
    }
    assert relation["columns"][0] == {
        "name": "id",
        "type": "int4",
        "type_oid": 23,
        "type_modifier": -1,
        "key": True,
    }
    assert update == {
        "kind": "update",
        "lsn": "0/16B2D48",
        "xid": 727,
        "relation": "public.orders",
        "relation_oid": 16385,
        "old_kind": "key",
        "old": {"id": "1"},
        "new": {"id": "2", "total": None, "Mood": "0102"},
        "unchanged": ["region"],
        "binary": ["Mood"],
    }
    assert insert["new"] == {"id": "1", "region": "e4", "total": None, "Mood": None}
    assert insert["not_utf8"] == ["region"]


def test_json_lines_of_an_unknown_relation_number_the_columns() -> None:
    (line,) = rendered("jsonl", [Insert(5, ("a", None))])
    assert json.loads(line)["new"] == {"1": "a", "2": None}
    assert json.loads(line)["relation"] is None


def test_debezium_has_an_event_for_each_change_and_each_truncated_table() -> None:
    columns = (
        Column("id", 20, -1, True),
        Column("ok", 16),
        Column("price", 1700),
        Column("weight", 701),
        Column("raw", 17),
        Column("day", 1082),
        Column("hour", 1083),
        Column("at", 1114),
        Column("zoned", 1184),
        Column("big", 25),
    )
    row = ("9007199254740993", "t", "1.50", "2.5", "\\x00ff", "2024-02-29", "12:00:00.5", "1970-01-02 00:00:01")
    zoned = "2024-02-29 13:00:00+05:30"
    lines = rendered(
        "debezium",
        [
            Begin(0x16B2E10, NOON, 727),
            Relation(7, "public", "t", "d", columns),
            Update(7, (*row, zoned, UNCHANGED_TOAST), ("1", *[None] * 9), "K"),
            Insert(7, ("1", "f", None, "NaN", "raw", "infinity", None, "29/02/2024 01:02:03 PST", "x", "text")),
            Truncate((7, 8)),
            Message(False, 1, "p", b"\0"),
            Commit(0x16B2E10, 0x16B2E40, NOON),
        ],
    )
    update, insert, *truncates, message = map(json.loads, lines)
    assert update["op"] == "u"
    assert update["before"] == {"id": 1, **dict.fromkeys([column.name for column in columns[1:]])}
    assert update["after"] == {
        "id": 9007199254740993,
        "ok": True,
        "price": "1.50",
        "weight": 2.5,
        "raw": "AP8=",
        "day": 19782,
        "hour": 43200500000,
        "at": 86401000000,
        "zoned": "2024-02-29T07:30:00Z",
        "big": "__debezium_unavailable_value",
    }
    source = update["source"]
    assert (source["schema"], source["table"], source["txId"], source["lsn"]) == ("public", "t", 727, 0x16B2D48)
    assert update["ts_ms"] == 1709294400500  # date -d '2024-03-01 12:00:00.5 UTC' +%s%3N
    assert insert["op"] == "c"
    assert (insert["after"]["weight"], insert["after"]["day"], insert["after"]["at"]) == (
        "NaN",
        "infinity",
        "29/02/2024 01:02:03 PST",
    )
    assert [(truncate["op"], truncate["source"]["table"]) for truncate in truncates] == [("t", "t"), ("t", "")]
    assert (message["op"], message["message"]) == ("m", {"prefix": "p", "content": "AA=="})


def test_hex_is_read_again() -> None:
    assert rendered("hex", [Begin(1, 2, 727)]) == ["0/16B2D48\t727\t420000000000000001000000000000000200" + "0002d7"]
    assert rendered("hex", [StreamStop()], lsn=None) == ["45"]


@pytest.mark.parametrize("name", RENDERERS)
def test_every_recorded_message_can_be_shown(name: str) -> None:
    for recording in recordings_in(FOLDER / "pgoutput-18.jsonl.gz"):
        for capture in recording.captures:
            events = Events()
            if capture.plugin == "pgoutput":
                for number, (_, _, data) in enumerate(capture.rows[:40], 1):
                    frame = Frame(1, None, bytes.fromhex(data), Place(number))
                    for line in RENDERERS[name](events.event(frame), events):
                        assert line.endswith("\n")
                        assert name == "fields" or line.count("\n") == 1
                        checked: Any = json.loads(line) if name in ("jsonl", "debezium") else line
                        assert checked
