"""What is reported about a captured stream, rule by rule: PUB850, PUB851, PUB852, PUB853, PUB854,
PUB855, PUB856 and PUB859."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    BeginPrepare,
    Column,
    Commit,
    CommitPrepared,
    Delete,
    Insert,
    Prepare,
    Relation,
    Row,
    StreamAbort,
    StreamCommit,
    StreamStart,
    StreamStop,
    Truncate,
    Type,
    Update,
    encode,
)
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify import Options, StreamFinding, Verifier, publisher_of, verify

SCHEMA = """
CREATE TABLE orders (id int PRIMARY KEY, region text, note varchar(5));
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE TABLE items (id int PRIMARY KEY, name text NOT NULL);
CREATE PUBLICATION shop FOR TABLE orders WHERE (region = 'eu'), items;
"""
INT4, TEXT, VARCHAR = 23, 25, 1043
ORDERS = Relation(
    1,
    "public",
    "orders",
    "f",
    (
        Column("id", INT4, key=True),
        Column("region", TEXT, key=True),
        Column("note", VARCHAR, type_modifier=9, key=True),
    ),
)
ITEMS = Relation(2, "public", "items", "d", (Column("id", INT4, key=True), Column("name", TEXT)))


def transaction(*changes: AnyMessage, xid: int = 700, lsn: int = 0x1000) -> list[AnyMessage]:
    return [Begin(lsn, 5, xid), *changes, Commit(lsn, lsn + 0x30, 5)]


def findings(
    messages: Sequence[AnyMessage | bytes],
    schema: str = SCHEMA,
    options: Options = Options(),
    major: int = 18,
    publications: Sequence[str] = ("shop",),
) -> list[StreamFinding]:
    frames = [
        Frame(None, None, message if isinstance(message, bytes) else encode(message), Place(number, line=number))
        for number, message in enumerate(messages, 1)
    ]
    return list(verify(publisher_of(schema, publications, major), frames, options))


def rules(
    *messages: AnyMessage | bytes, schema: str = SCHEMA, options: Options = Options(), major: int = 18
) -> list[str]:
    return [finding.rule for finding in findings(messages, schema, options, major)]


def test_a_stream_that_conforms_has_no_finding() -> None:
    assert not rules(
        *transaction(ORDERS, Insert(1, ("1", "eu", None)), ITEMS, Insert(2, ("1", "a"))),
        *transaction(
            Update(1, ("1", "eu", "b"), ("1", "eu", None), "O"),
            Update(2, ("1", "c")),
            Update(2, ("2", UNCHANGED_TOAST), ("1", None), "K"),
            Delete(2, ("2", None), "K"),
            Truncate((1, 2)),
            lsn=0x2000,
        ),
    )


def test_a_malformed_message_is_reported_with_its_byte() -> None:
    data = encode(Insert(1, ("1", "eu", None)))
    [finding] = findings([*transaction(ORDERS, Insert(1, ("1", "eu", None))), data[:-1]])
    assert (finding.rule, finding.number, finding.line) == ("PUB850", 5, 5)
    assert finding.offset == len(data) - 1


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([Begin(1, 5, 7), Begin(2, 5, 8), ITEMS, Insert(2, ("1", "a")), Commit(2, 3, 5)], "whose commit is missing"),
        ([*transaction(ITEMS, Insert(2, ("1", "a"))), Commit(0x2000, 0x2030, 5)], "none has begun"),
        ([*transaction(ITEMS, Insert(2, ("1", "a"))), Insert(2, ("2", "a"))], "outside of a transaction"),
        ([*transaction(ITEMS, Insert(2, ("1", "a")))] * 2, "out of order"),
        ([Begin(1, 5, 7), ITEMS, Insert(2, ("1", "a")), Commit(9, 10, 5)], "its Begin says"),
        (transaction(), "without any change"),
        (transaction(ITEMS), "but no change of that table was sent"),
        ([StreamStart(7, True), StreamStop(), StreamCommit(8, 1, 2, 5)], "no block was sent"),
        ([StreamStart(7, False), StreamStop()], "begins inside a transaction"),
        ([StreamStart(7, True), replace(ITEMS, xid=7), Insert(2, ("1", "a"))], "although it is in a streamed block"),
    ],
)
def test_a_message_out_of_place_is_reported(messages: list[AnyMessage], text: str) -> None:
    first = findings(messages)[0]
    assert first.rule == "PUB851"
    assert text in first.message


def test_a_capture_that_is_cut_off_has_notes_only() -> None:
    whole = transaction(ITEMS, Insert(2, ("1", "a")))
    [end] = findings(whole[:-1])
    assert (end.rule, end.severity) == ("PUB851", "note")
    begin, *rest = findings(whole[1:])
    assert (begin.rule, begin.severity) == ("PUB851", "note")
    assert not rest
    about = findings(whole[2:])
    assert [finding.rule for finding in about] == ["PUB851", "PUB853"]
    assert {finding.severity for finding in about} == {"note"}


def test_a_message_of_an_option_that_was_not_requested_is_reported() -> None:
    block: list[AnyMessage] = [
        StreamStart(7, True),
        replace(ITEMS, xid=7),
        Insert(2, ("1", "a"), 7),
        StreamStop(),
        StreamCommit(7, 1, 2, 5),
    ]
    assert "PUB852" not in rules(*block)
    assert rules(*block, options=Options(proto_version=1))[0] == "PUB852"
    binary = transaction(ITEMS, Insert(2, (b"\0\0\0\1", "a")))
    assert not rules(*binary)
    assert rules(*binary, options=Options(binary=False)) == ["PUB852"]


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (replace(ITEMS, replica_identity="f"), "replica identity"),
        (replace(ITEMS, columns=(*ITEMS.columns, Column("more", TEXT))), 'has column "more"'),
        (replace(ITEMS, columns=ITEMS.columns[:1]), 'lacks column "name"'),
        (replace(ITEMS, columns=ITEMS.columns[::-1]), "another order"),
        (replace(ITEMS, columns=(Column("id", 20, key=True), ITEMS.columns[1])), "type 20"),
        (replace(ITEMS, columns=(Column("id", INT4), ITEMS.columns[1])), "replica identity"),
        (replace(ITEMS, name="others"), "not in the schema"),
    ],
)
def test_a_relation_that_differs_from_the_schema_is_reported(relation: Relation, text: str) -> None:
    messages = transaction(relation, Insert(2, ("1", "a")))
    first = findings(messages)[0]
    assert first.rule == "PUB853"
    assert text in first.message


def test_a_change_of_an_undescribed_relation_is_reported_once() -> None:
    assert rules(*transaction(Insert(2, ("1", "a")), Insert(2, ("2", "a")))) == ["PUB853"]


def test_a_type_must_be_described_before_its_relation() -> None:
    schema = "CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE t (m mood); CREATE PUBLICATION shop FOR TABLE t"
    relation = Relation(3, "public", "t", "d", (Column("m", 20000),))
    change = Insert(3, ("a",))
    assert not rules(*transaction(Type(20000, "public", "mood"), relation, change), schema=schema)
    assert rules(*transaction(relation, change), schema=schema) == ["PUB853"]
    assert rules(*transaction(Type(20000, "public", "temper"), relation, change), schema=schema)[0] == "PUB853"


def test_a_change_that_is_not_published_is_reported() -> None:
    schema = "CREATE TABLE items (id int PRIMARY KEY, name text); CREATE TABLE others (id int);"
    schema += "CREATE PUBLICATION shop FOR TABLE items WITH (publish = 'insert')"
    assert rules(*transaction(ITEMS, Delete(2, ("1", None), "K")), schema=schema) == ["PUB854"]
    assert rules(*transaction(ITEMS, Truncate((2,))), schema=schema) == ["PUB854"]
    others = Relation(3, "public", "others", "d", (Column("id", INT4),))
    assert rules(*transaction(others, Insert(3, ("1",))), schema=schema) == ["PUB854"]


def test_changes_of_a_partition_come_under_its_root() -> None:
    schema = """
        CREATE TABLE items (id int PRIMARY KEY, name text) PARTITION BY RANGE (id);
        CREATE TABLE items_1 PARTITION OF items FOR VALUES FROM (0) TO (100);
        CREATE PUBLICATION shop FOR TABLE items WITH (publish_via_partition_root = true)"""
    leaf = replace(ITEMS, oid=3, name="items_1")
    assert not rules(*transaction(ITEMS, leaf, Insert(2, ("1", "a"))), schema=schema)
    [finding] = findings(transaction(ITEMS, leaf, Insert(3, ("1", "a"))), schema)
    assert finding.rule == "PUB854"
    assert "public.items" in finding.message


@pytest.mark.parametrize(
    ("key", "bound", "inside", "outside"),
    [
        ("RANGE (id)", "FROM (0) TO (100)", ("99", "a"), ("100", "a")),
        ("RANGE (id)", "FROM (MINVALUE) TO (100)", ("-5", "a"), ("100", "a")),
        ("LIST (name)", "IN ('a', 'b')", ("1", "b"), ("1", "c")),
        ("LIST (name)", "IN ('a', NULL)", ("1", None), ("1", "b")),
    ],
)
def test_a_row_must_be_within_the_bounds_of_its_partition(
    key: str, bound: str, inside: tuple[str, str | None], outside: tuple[str, str | None]
) -> None:
    schema = f"""
        CREATE TABLE items (id int, name text) PARTITION BY {key};
        CREATE TABLE items_1 PARTITION OF items FOR VALUES {bound};
        CREATE PUBLICATION shop FOR TABLE items WITH (publish = 'insert')"""
    leaf = Relation(3, "public", "items_1", "d", (Column("id", INT4), Column("name", TEXT)))
    assert not rules(*transaction(leaf, Insert(3, inside)), schema=schema)
    assert rules(*transaction(leaf, Insert(3, outside)), schema=schema) == ["PUB855"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Insert(2, ("1",)), "has 1 values"),
        (Insert(2, ("1", None)), "NULL"),
        (Insert(2, ("one", "a")), "is not an integer"),
        (Insert(2, (UNCHANGED_TOAST, "a")), "unchanged"),
        (Insert(1, ("1", "eu", "abcdef")), "more than 5 characters"),
        (Update(2, ("1", "b"), ("1", None), "K"), "the key did not change"),
        (Update(2, ("2", "b"), ("1", "a"), "K"), "not in the replica identity"),
        (Update(2, ("2", "b"), (None, None), "K"), "no value"),
        (Update(1, ("1", "eu", None)), "FULL"),
        (Delete(2, ("1", None), "O"), "kind O"),
    ],
)
def test_a_row_that_cannot_be_one_of_its_table_is_reported(change: AnyMessage, text: str) -> None:
    first = findings(transaction(ITEMS, Insert(2, ("5", "a")), ORDERS, Insert(1, ("5", "eu", None)), change))[0]
    assert first.rule == "PUB855"
    assert text in first.message


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Insert(1, ("1", "us", None)), "a row that does not pass"),
        (Insert(1, ("1", None, None)), "NULL"),
        (Update(1, ("1", "us", None), ("1", "eu", None), "O"), "sent as a DELETE"),
        (Update(1, ("1", "eu", None), ("1", "us", None), "O"), "sent as an INSERT"),
        (Update(1, ("1", "us", None), ("2", "us", None), "O"), "an old and a new row"),
        (Delete(1, ("1", "us", None), "O"), "an old row that does not pass"),
    ],
)
def test_a_row_outside_the_filter_is_reported(change: AnyMessage, text: str) -> None:
    [finding] = findings(transaction(ORDERS, change))
    assert finding.rule == "PUB856"
    assert text in finding.message
    assert finding.publications == ("shop",)


def test_filters_of_several_publications_are_ored() -> None:
    schema = SCHEMA + "CREATE PUBLICATION more FOR TABLE orders WHERE (id < 10);"
    messages = transaction(ORDERS, Insert(1, ("1", "us", None)))
    assert findings(messages, schema)
    assert not findings(messages, schema, publications=("shop", "more"))


def test_known_faults_of_servers_are_named() -> None:
    stray = StreamAbort(7, 8)
    assert rules(stray) == ["PUB859"]
    assert rules(stray, options=Options(proto_version=1)) == ["PUB859"]
    assert rules(stray, major=17) == ["PUB851"]
    prepared: list[AnyMessage] = [
        BeginPrepare(0x1000, 0x1030, 5, 7, "gid"),
        ITEMS,
        Insert(2, ("1", "a")),
        Prepare(0x1000, 0x1030, 5, 7, "gid"),
        CommitPrepared(0x2000, 0x2030, 6, 7, "gid"),
    ]
    assert not rules(*prepared)
    assert set(rules(*prepared, options=Options(proto_version=1))) == {"PUB859"}


def test_a_filter_that_takes_long_is_evaluated_for_every_row() -> None:
    schema = SCHEMA.replace("(region = 'eu')", "(length(repeat(region, 500000)) + id % 1 <= 500000)")
    rows = [Insert(1, (str(number), "e", None)) for number in range(200)]
    outside = Insert(1, ("200", "eu", None))
    assert not rules(*transaction(ORDERS, *rows), schema=schema)
    assert rules(*transaction(ORDERS, *rows, outside), schema=schema) == ["PUB856"]


def test_a_short_old_row_of_a_filtered_table_is_reported() -> None:
    schema = SCHEMA.replace("items;", "items WHERE (id < 10);")
    [finding] = findings(transaction(ITEMS, Insert(2, ("1", "a")), Delete(2, (), "K")), schema)
    assert (finding.rule, finding.number) == ("PUB855", 4)


def test_changes_that_take_turns_are_checked_as_one_by_one() -> None:
    """Of three tables, one with replica identity FULL, which are described again in between."""
    schema = """
        CREATE TABLE a (id int PRIMARY KEY, b text); CREATE TABLE b (id int PRIMARY KEY, b numeric);
        CREATE TABLE c (id int, b jsonb[]); ALTER TABLE c REPLICA IDENTITY FULL;
        CREATE PUBLICATION p FOR TABLE a, c, b WHERE (id < 500);
    """
    relations = [
        Relation(1, "public", "a", "d", (Column("id", 23, key=True), Column("b", 25))),
        Relation(2, "public", "b", "d", (Column("id", 23, key=True), Column("b", 1700))),
        Relation(3, "public", "c", "f", (Column("id", 23, key=True), Column("b", 3807, key=True))),
    ]
    values: dict[int, Row] = {1: ("x", None), 2: ("1.50", "2.25", "NaN"), 3: ('{"1"}', '{"{\\"a\\": 2}",NULL}')}
    wrong: dict[int, Row] = {1: ("x", UNCHANGED_TOAST), 2: ("x", "1e"), 3: ('{"1","x"}', "{")}
    publisher, chance, number_of_findings = publisher_of(schema, ["p"]), random.Random(5), []
    for share in (0, 0.002, 0.02, 0.3):
        messages: list[AnyMessage] = [*relations]
        for _ in range(900):
            is_wrong, oid = chance.random() < share, chance.choice((1, 2, 3))
            row = (
                chance.choice(("1", "499", "500" if is_wrong else "2")),
                chance.choice((wrong if is_wrong else values)[oid]),
            )
            key, earlier_key = (row[0], None), ("499" if is_wrong else "3", None)
            kinds: tuple[AnyMessage, ...] = (
                *(Insert(oid, row), Update(oid, row), Update(oid, row, earlier_key, "K")),
                Delete(oid, key, "K"),
            )
            if oid == 3:
                kinds = (Insert(oid, row), Update(oid, row, row, "O"), Delete(oid, row, "O"))
            messages += [relations[oid - 1]] if chance.random() < 0.003 else []
            messages.append(chance.choice(kinds))
        frames = [
            Frame(0x1000 + place, 700, encode(message), Place(place, line=place))
            for place, message in enumerate(transaction(*messages, lsn=0x10000))
        ]
        one_by_one, at_once = Verifier(publisher), Verifier(publisher)
        expected = [finding for frame in frames for finding in one_by_one.check(frame)]
        assert list(at_once.check_many(frames)) == expected
        number_of_findings.append(sum(finding.rule == "PUB855" for finding in expected))
    assert number_of_findings[0] == 0 < number_of_findings[1] < number_of_findings[2] < number_of_findings[3]
