"""Messages decoded at once are those that are decoded one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    Column,
    Commit,
    Decoder,
    Delete,
    Insert,
    Malformed,
    Relation,
    StreamStart,
    StreamStop,
    Update,
    encode,
)
from pubcheck.stream.many import usual_changes
from tests.messages import generating
from tests.messages.mutate import damaged, decoded

ALIKE: dict[str, Sequence[AnyMessage]] = {
    "a text": [Insert(16384, (str(number),)) for number in range(50)],
    "texts": [Insert(16384, (str(number), "x" * number, "")) for number in range(50)],
    "NULL": [Insert(16384, (str(number), None, None)) for number in range(50)],
    "no columns": [Insert(16384, ())] * 5,
    "texts that are not ASCII": [Insert(16384, (str(number), "é", None, "ж" * number)) for number in range(50)],
    "updates": [Update(16384, (str(number), UNCHANGED_TOAST, "x")) for number in range(50)],
    "keys": [Delete(16384, (str(number), None), "K") for number in range(50)],
    "keys that were changed": [Update(16384, ("0", "x"), (str(number), None), "K") for number in range(50)],
    "rows before and after": [Update(16384, ("0", None), (str(number), "x"), "O") for number in range(50)],
    "old rows": [Delete(16384, (str(number), "n"), "O") for number in range(50)],
}


def one_by_one(messages: Sequence[bytes]) -> list[AnyMessage | str]:
    decoder = Decoder()
    return [shown(decoded(decoder, data)) for data in messages]


def at_once(messages: Sequence[bytes]) -> list[AnyMessage | str]:
    return [shown(message) for message in Decoder().decode_many(messages)]


def shown(message: AnyMessage | Malformed) -> AnyMessage | str:
    return str(message) if isinstance(message, Malformed) else message


@pytest.mark.parametrize("messages", ALIKE.values(), ids=ALIKE)
def test_changes_of_one_kind_of_one_relation_are_read_at_once(messages: Sequence[AnyMessage]) -> None:
    assert usual_changes([encode(message) for message in messages]) == messages


def test_changes_of_several_relations_are_read_at_once_in_their_places() -> None:
    messages: list[AnyMessage] = []
    for number in range(40):
        row = (str(number), None if number % 3 else "x" * number)
        changes = (
            Insert(1, row),
            Update(0xFFFFFFFF, (*row, UNCHANGED_TOAST)),
            Update(2, row, (row[0], "x"), "O"),
            Delete(3, (row[0], None), "K"),
        )
        messages += [Begin(number, 0, 7), *changes, Commit(number, number, 0)]
    expected = [None if isinstance(message, Begin | Commit) else message for message in messages]
    assert usual_changes([encode(message) for message in messages]) == expected
    assert list(Decoder().decode_many(map(encode, messages))) == messages


def test_a_relation_is_known_after_its_message_was_yielded() -> None:
    messages: list[AnyMessage] = []
    for name in ("first", "second"):
        messages += [
            Relation(1, "public", "t", "d", (Column(name, 25),)),
            *[Insert(1, (str(number),)) for number in range(9)],
        ]
    decoder = Decoder()
    names = [
        [*(decoder.row(1, message.new) or ())]
        for message in decoder.decode_many(map(encode, messages))
        if isinstance(message, Insert)
    ]
    assert names == [["first"]] * 9 + [["second"]] * 9


@given(st.lists(generating.changes | generating.others, max_size=20))
def test_messages_of_all_kinds_are_decoded_in_their_order(messages: list[AnyMessage]) -> None:
    data = [encode(message) for message in messages]
    assert at_once(data) == one_by_one(data)


@given(st.lists(generating.changes_in_block, min_size=1, max_size=20))
def test_messages_of_a_streamed_block_are_decoded_with_their_transaction(messages: list[AnyMessage]) -> None:
    data = [encode(StreamStart(7, True)), *map(encode, messages), encode(StreamStop()), encode(Insert(1, ("1",)))]
    assert at_once(data) == one_by_one(data)


@pytest.mark.parametrize("messages", ALIKE.values(), ids=ALIKE)
def test_damaged_messages_among_others_are_what_they_are_alone(messages: Sequence[AnyMessage]) -> None:
    chance = random.Random(0)
    recorded = [encode(message) for message in messages]
    for _ in range(400):
        some = chance.sample(recorded, 3)
        for _ in range(chance.choice((1, 1, 2))):
            place = chance.randrange(3)
            some[place] = some[place][:6] + damaged(some[place][6:], chance, chance.choice(recorded))
        assert at_once(some) == one_by_one(some), [data.hex() for data in some]


@pytest.mark.parametrize(
    "rows",
    [
        (b"\0\1t\0\0\0\1", b"\0\1t\0\0\0\1a"),  # a length that the start of the next row could continue
        (b"\0\1t\0\0\0", b"\0\1t\0\0\0\1a"),
        (b"\0\1t\0\0", b"\0\1t\0\0\0\1a"),
        (b"\0\1t\0\0\0\6", b"\0\1nnn", b"\0\1t\0\0\0\1a"),
        (b"\0\2t\0\0\0\1a", b"\0\1t\0\0\0\1a"),  # a row that lacks a column
        (b"\0\1t\0\0\0\1an", b"\0\1t\0\0\0\1a"),  # a row with a column too many
        (b"\0\1t\0\0\0\1at\0\0\0\1b", b"\0\1t\0\0\0\1a"),
        (b"\0\1t\0\0\0\1a\xdd\0\0\0\0", b"\0\1t\0\0\0\1a"),
        (b"\0\1t\0\0\0\1a\xdc\0\1n", b"\0\1t\0\0\1\xddn"),
        (b"\0\1\xa1at\0\0", b"\0\1t\0\0\0\1a"),
        (b"\0\1t\0\0\0t\0\0" + b"a" * 114, b"\0\1t\0\0\0\1a"),
        (b"\0\1t\0\0\0t\0\0" + b"a" * 114 + b"n" * 104, b"\0\1t\0\0\0\1a"),  # 0xda instead of t, a length
        (b"\0\1t\0\0\0t\0\0" + b"a" * 114 + b"n" * 92, b"\0\1t\0\0\0\1a"),
        (b"\0t\0\0" + b"n" * 218, b"\0\1t\0\0\0\1a"),
        (b"\0t\0\0" + b"n" * 214, b"\0\1t\0\0\0\1a"),
        (b"t\0\0" + b"n" * 300, b"\0\1t\0\0\0\1a"),
    ],
    ids=repr,
)
def test_a_malformed_row_takes_nothing_from_the_next_one(rows: Sequence[bytes]) -> None:
    messages = [b"I\0\0\x40\0N" + row for row in rows]
    assert at_once(messages) == one_by_one(messages)
