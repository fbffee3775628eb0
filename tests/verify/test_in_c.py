"""Streams checked with the module in C have the findings that they have without it."""

from __future__ import annotations

import gc
import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from pubcheck.stream import UNCHANGED_TOAST, AnyMessage, Column, Delete, Insert, Relation, Update, encode, whole
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify import Options, Publisher, Verifier, publisher_of, verifier
from pubcheck.verify.in_c import InC
from pubcheck.verify.usual_changes import ColumnForm, Settler
from tests.benchmarks import verifying
from tests.messages.in_python import in_python
from tests.messages.mutate import damaged
from tests.support.recorded_streams import FOLDER
from tests.verify.inject import FAULTS, LOCALE, Cannot, Editor, samples
from tests.verify.test_verify import transaction
from tests.verify.usual_in_python import compare

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lets streams be checked in C from their fourth message on, and counts the changes that need nothing else."""
    counts, take_changes = Counter[str](), InC.take_changes

    def take(in_c: InC, frames: list[Frame], start: int) -> tuple[int, bool]:
        count, is_certain = take_changes(in_c, frames, start)
        counts["certain" if is_certain else "left to Python"] += count
        return count, is_certain

    monkeypatch.setattr(InC, "take_changes", take)
    monkeypatch.setattr(verifier, "_LONG", 0)
    monkeypatch.setattr(verifier, "_AT_ONCE", 3)
    return counts


def findings(publisher: Publisher, frames: Sequence[Frame], *options: Any) -> tuple[list[Any], list[Any]]:
    """Return the findings with the module in C and without it."""
    in_c = Verifier(publisher, *options)
    with in_python():
        without = Verifier(publisher, *options)
        expected = [*without.check_many(frames), *without.end()]
    return [*in_c.check_many(frames), *in_c.end()], expected


def test_usual_changes_are_counted_as_in_python() -> None:
    """`python -m tests.verify.usual_in_python 1000000` compares more."""
    counts = compare(4_000, seed=0)
    assert sum(counts.values()) - counts[0] > 300
    assert max(counts) > 2


def test_findings_of_damaged_recordings(taken: Counter[str]) -> None:
    chance, number = random.Random(4), 0
    recorded = samples(FOLDER, "pgoutput-17.jsonl.gz")
    chosen = [stream for stream in recorded if sum(frame.data[:1] == b"I" for frame in stream.frames) > 10]
    chosen = [stream for stream in chosen if all(frame.data[:1] != b"S" for frame in stream.frames)]
    for attempt in range(300):
        stream = chance.choice(chosen)
        editor = Editor(stream, chance)
        try:
            FAULTS[attempt % len(FAULTS)](editor)
        except (Cannot, IndexError):
            continue
        frames = list(editor.frames())
        place = chance.randrange(len(frames))
        lsn, xid, data, _ = frames[place]
        frames[place] = chance.choice((
            frames[place],
            frames[place]._replace(data=damaged(data, chance, chance.choice(frames).data)),
            frames[place]._replace(lsn=chance.choice((None, 0, 1, (lsn or 0) + 8, 1 << 64, -1))),
            frames[place]._replace(xid=chance.choice((None, 0, 1, (xid or 0) + 1, -1))),
        ))  # fmt: skip
        in_c, expected = findings(stream.publisher, frames, stream.options, LOCALE)
        assert in_c == expected, stream.title
        number += len(expected)
    assert number > 200
    assert taken["certain"] > 500


SCHEMA = """
CREATE TABLE t (a int PRIMARY KEY, b text, c jsonb, d xml, e numeric(5, 2) NOT NULL, f int[][]);
CREATE TABLE u (a int NOT NULL, b text); ALTER TABLE u REPLICA IDENTITY FULL;
CREATE PUBLICATION p FOR TABLE t WHERE (a < 900 AND a > 0), u;
CREATE PUBLICATION q FOR TABLE t WHERE (a = 950);
"""
TYPES = (23, 25, 3802, 142, 1700, 1007)
T = Relation(1, "public", "t", "d", tuple(
    Column(name, oid, (5 << 16 | 2) + 4 if name == "e" else -1, key=name == "a")
    for name, oid in zip("abcdef", TYPES, strict=True)
))  # fmt: skip
U = Relation(2, "public", "u", "f", (Column("a", 23, key=True), Column("b", 25, key=True)))
ROW = ("1", "x\0é", '{"a": 1}', "<a/>", "1.50", "{{1},{2}}")
KEY = ("2", *[None] * 5)
RIGHT: tuple[AnyMessage, ...] = (
    *(Insert(1, ROW), Insert(1, ("899", None, None, None, "-1.50", None))),
    *(Update(1, ROW), Update(1, ("7", UNCHANGED_TOAST, UNCHANGED_TOAST, None, "1.50", UNCHANGED_TOAST))),
    *(Update(1, ROW, KEY, "K"), Delete(1, KEY, "K"), Insert(2, ("1", None)), Delete(2, ("1", "x"), "O")),
    Update(2, ("1", UNCHANGED_TOAST), ("2", "x"), "O"),
)
WRONG: tuple[AnyMessage, ...] = (
    *(Insert(1, ("x", *ROW[1:])), Insert(1, ("900", *ROW[1:])), Insert(1, (None, *ROW[1:])), Insert(1, ROW[:5])),
    *(Insert(1, (*ROW[:5], "{{1},{2,3}}")), Insert(1, (*ROW[:4], None, None)), Insert(1, (UNCHANGED_TOAST, *ROW[1:]))),
    *(Insert(1, (*ROW[:2], "{", *ROW[3:])), Insert(1, (*ROW[:3], "<a>", *ROW[4:]))),
    *(Update(1, ROW, ("1", *KEY[1:]), "K"), Update(1, ROW, (*KEY[:5], "x"), "K")),
    *(Update(1, ROW, ROW, "O"), Update(1, ("900", *ROW[1:]), KEY, "K")),
    *(Update(1, ROW, ("900", *KEY[1:]), "K"), Delete(1, KEY[1:] + KEY[:1], "K"), Delete(1, ("900", *KEY[1:]), "K")),
    *(Update(2, ("1", "x")), Update(2, ("1", "x"), ("1", UNCHANGED_TOAST), "O"), Delete(2, ("1", "x"), "K")),
    *(Update(2, (None, "x"), ("1", "x"), "O"), Insert(1, (b"\0\1", *ROW[1:])), Insert(3, ("1",))),
)  # fmt: skip


@pytest.mark.parametrize("publications", [["p"], ["p", "q"]])
def test_each_wrong_change_is_found_among_right_ones(publications: list[str], taken: Counter[str]) -> None:
    publisher = publisher_of(SCHEMA, publications)
    for number, wrong in enumerate((None, *WRONG)):
        messages = [T, Insert(1, ROW), U, Insert(2, ("1", "x")), *RIGHT * 2]
        if wrong is not None:
            messages.insert(-5, wrong)
        frames = [Frame(None, None, encode(one), Place(1)) for one in transaction(*messages)]
        in_c, expected = findings(publisher, frames, Options(), LOCALE)
        assert in_c == expected, wrong
        assert bool(expected) == (wrong is not None), wrong
        assert number or taken["certain"] == len(frames) - 8
    assert taken["certain"] > len(WRONG) * 10
    assert taken["left to Python"] > 0


def test_usual_streams_need_no_python(taken: Counter[str]) -> None:
    """Only transactions, descriptions and the first messages are decoded."""
    inserts = "WITH (publish = 'insert')"
    by_schema = {
        f"{verifying.TABLE} CREATE PUBLICATION p FOR TABLE t": verifying.kinds_in_turns(9),
        f"{verifying.TABLE} CREATE PUBLICATION p FOR TABLE t WHERE (a >= 0) {inserts}": verifying.frames(99),
    }
    for name in verifying.VALUES:
        schema = f"CREATE TABLE t (c0 {name}); CREATE PUBLICATION p FOR TABLE t {inserts}"
        by_schema[schema] = verifying.typed_frames([name], 99)
    for schema, stream in by_schema.items():
        frames = list(stream)
        taken.clear()
        assert findings(publisher_of(schema, ["p"]), frames, Options(), LOCALE) == ([], []), schema
        changes = sum(frame.data[:1] in (b"I", b"U", b"D") for frame in frames)
        assert taken["certain"] >= changes - 3, schema


INVALID: tuple[Any, ...] = (
    *(None, (), ((),), ((((),), None),), (((("t", b"", None, None),), None),), (((("t", 1, None, None),), None),)),
    *((((None, None, None, None),), None), ([], None)),
    (((("t", bytes([255]) * 256 + b"\0\0" * 600, None, None),), None),) * 3,
    (((("t", bytes(256) + b"\0\1\2\3", None, None),), None),),
)


@pytest.mark.parametrize("form", INVALID)
def test_forms_that_are_none(form: Any) -> None:
    assert whole.COMPILED is not None
    with pytest.raises((TypeError, ValueError)):
        whole.COMPILED.form(form)


def test_nothing_stays_behind() -> None:
    """References that are taken and not given back keep blocks of memory."""
    assert whole.COMPILED is not None
    module, settler = whole.COMPILED, Settler((), (), None)
    frames = [Frame(5, 7, encode(Insert(1, ("12345", None))), Place(1))] * 50 + [Frame(5, 7, b"I", Place(1))]

    def count_all() -> list[int]:
        for _ in range(200):
            texts: list[Any] = []
            form = (((ColumnForm("t", None, [], texts), ColumnForm("n")), settler),)
            with pytest.raises(TypeError):
                module.form((form[0], None))
            assert module.count_usual(frames, 1, {b"I\0\0\0\1N": module.form(form)}, 7, 0, 9, []) == (49, 5)
            assert len(texts) == 49
        gc.collect()
        return [sys.getallocatedblocks(), sys.getrefcount(None), sys.getrefcount(settler)]

    counts = [count_all() for _ in range(6)]
    # What is kept is kept each time; other parts of the process may take blocks now and then.
    for kind in zip(*counts, strict=True):
        assert min(after - before for before, after in pairwise(kind)) < 100


def test_many_unusual_changes_are_left_to_python(taken: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for usual ones among them takes time."""
    monkeypatch.setattr(verifier, "_AT_ONCE", 100)
    schema = "CREATE TABLE t (c0 timestamptz); CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert')"
    inserts = [Insert(1, ("infinity",)) for _ in range(298)]
    messages = transaction(Relation(1, "public", "t", "d", (Column("c0", 1184),)), *inserts)
    frames = [Frame(None, None, encode(one), Place(1)) for one in messages]
    calls: list[int] = []
    take_changes = InC.take_changes

    def take(in_c: InC, frames: list[Frame], start: int) -> tuple[int, bool]:
        calls.append(start)
        return take_changes(in_c, frames, start)

    monkeypatch.setattr(InC, "take_changes", take)
    assert findings(publisher_of(schema, ["p"]), frames, Options(), LOCALE) == ([], [])
    assert taken["certain"] == 0
    assert 10 < len(calls) < 50
