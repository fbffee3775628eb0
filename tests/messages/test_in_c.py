"""The readers in C return what those in Python return, of any bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubcheck.stream import UNCHANGED_TOAST, AnyMessage, Decoder, Delete, Insert, StreamStart, decode, encode, whole
from tests.messages import generating
from tests.messages.in_python import compare, decoder_in_python, outcome, recorded
from tests.support.recorded_streams import FOLDER

pytestmark = pytest.mark.usefixtures("compiled")
NEW = b"I\0\0\0\1N"
SPECIAL = {
    "empty": b"",
    "unknown kind": b"z\0\0\0\1",
    "kind alone": b"I",
    "no columns": NEW + b"\0\0",
    "bytes after no columns": NEW + b"\0\0n",
    "cut number of columns": NEW + b"\0",
    "more columns than bytes": NEW + b"\xff\xff" + b"n" * 100,
    "most columns": NEW + b"\xff\xff" + b"n" * 0xFFFF,
    "length over the end": NEW + b"\0\1t\0\0\0\2a",
    "negative length": NEW + b"\0\1t\xff\xff\xff\xffa",
    "lowest length": NEW + b"\0\1b\x80\0\0\0a",
    "zero bytes": NEW + b"\0\1t\0\0\0\3a\0b",
    "not UTF-8": NEW + b"\0\2t\0\0\0\2\xff\xfet\0\0\0\3\xed\xa0\x80",
    "binary": NEW + b"\0\2b\0\0\0\2\0\xffb\0\0\0\0",
    "unknown value": NEW + b"\0\1x",
    "old row of an insert": b"I\0\0\0\1K\0\1n",
    "delete of a new row": b"D\0\0\0\1N\0\1n",
    "update without a new row": b"U\0\0\0\1K\0\1n",
    "update with two old rows": b"U\0\0\0\1K\0\1nK\0\1n",
    "unknown identity": b"R\0\0\0\1a\0b\0x\0\0",
    "name without an end": b"R\0\0\0\1a\0b",
    "more columns of a relation than bytes": b"R\0\0\0\1a\0b\0d\xff\xff" + bytes(400),
    "column without a name": b"R\0\0\0\1\0\0d\0\1\1\0\0\0\0\x19\xff\xff\xff\xff",
    "unknown flag of a column": b"R\0\0\0\1a\0b\0d\0\1\2c\0\0\0\0\x19\xff\xff\xff\xff",
    "largest numbers": b"B" + b"\xff" * 20,
    "flags of a commit": b"C\1" + bytes(24),
}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("in_block", [False, True])
def test_special_bytes(kind: type[bytes | bytearray | memoryview[int]], in_block: bool) -> None:
    for name, data in SPECIAL.items():
        if kind is memoryview and name == "binary":
            continue  # the readers in Python return views, whose addresses differ
        for end in range(len(data) + 1) if len(data) < 50 else [len(data) - 1, len(data)]:
            decoders = Decoder(), decoder_in_python()
            for decoder in decoders if in_block else ():
                decoder.decode(encode(StreamStart(7, True)))
            of_c, of_python = (outcome(decoder, kind(data[:end])) for decoder in decoders)
            assert of_c == of_python, (name, end)


def test_damaged_messages() -> None:
    """`python -m tests.messages.in_python 1000000` compares a million."""
    counts = compare(5_000, recorded(FOLDER / "pgoutput-18.jsonl.gz"), seed=0)
    assert len(counts) > 10
    assert 2_000 < counts["malformed"] < 4_800


@given(st.lists(generating.changes | generating.changes_in_block | generating.others, max_size=20))
def test_streams(messages: list[AnyMessage]) -> None:
    decoders = Decoder(), decoder_in_python()
    for message in messages:
        of_c, of_python = (outcome(decoder, encode(message)) for decoder in decoders)
        assert of_c == of_python


def test_nothing_stays_behind() -> None:
    """References that are taken and not given back keep blocks of memory."""
    decoder = Decoder()
    some = [data[:end] for data in SPECIAL.values() if len(data) < 100 for end in range(len(data) + 1)]
    shared = (None, UNCHANGED_TOAST, Insert, Delete, "K")

    def decode_all() -> tuple[int, list[int]]:
        for data in some * 4:
            outcome(decoder, data)
        return sys.getallocatedblocks(), [sys.getrefcount(one) for one in shared]

    decode_all()
    blocks, references = decode_all()
    blocks_after, references_after = decode_all()
    assert blocks_after - blocks < 100
    assert all(after - before < 100 for before, after in zip(references, references_after, strict=True))


def test_readers_of_an_older_source_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "_readers.c"
    source.write_text("/* another one */")
    monkeypatch.setattr(whole, "_SOURCES", [source])
    with pytest.warns(UserWarning, match=r"_readers\.c has changed: python hatch_build\.py compiles it again"):
        assert whole._compiled() is None


def test_only_some_of_these_decoders_use_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "COMPILED", SimpleNamespace(read=lambda data: "in C", read_in_block=None))
    decode._state.cache_clear()
    decoders = Decoder(), decoder_in_python()
    assert [decoder.decode(NEW + b"\0\0") for decoder in decoders] == ["in C", Insert(1, ())]
    decode._state.cache_clear()
