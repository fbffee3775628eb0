"""All recorded streams of pgoutput (corpus/streams): every message of every major and version of the protocol."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pubcheck.stream import Decoder, encode, fields
from tests.messages.mutate import KINDS, run
from tests.support.recorded_streams import FOLDER, recordings_in

PATHS = sorted(FOLDER.glob("*pgoutput-*.jsonl.gz"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_recorded_message_is_encoded_to_the_same_bytes(path: Path) -> None:
    kinds: Counter[int] = Counter()
    for recording in recordings_in(path):
        for capture in recording.captures:
            decoder, cutter = Decoder(), Decoder("parallel" if capture.options.get("streaming") == "parallel" else "on")
            for _, _, data in capture.rows:
                message = bytes.fromhex(data)
                kinds[message[0]] += 1
                decoded = decoder.decode(message)
                assert encode(decoded) == message, (recording.name, data)
                if len(message) != 25 or message[:1] != b"A":
                    assert cutter.decode_first(message) == (decoded, len(message)), (recording.name, data)
    assert kinds.keys() <= set(KINDS)


def test_the_recordings_have_messages_of_every_kind() -> None:
    kinds = {
        data[:2]
        for path in PATHS
        for recording in recordings_in(path)
        for capture in recording.captures
        for *_, data in capture.rows
    }
    assert kinds == {f"{kind:02x}" for kind in KINDS}


def test_the_fields_of_recorded_messages_are_explained() -> None:
    for recording in recordings_in(FOLDER / "pgoutput-18.jsonl.gz"):
        for capture in recording.captures:
            decoder = Decoder()
            for _, _, data in capture.rows[:50]:
                message = bytes.fromhex(data)
                decoder.decode(message)
                in_block = decoder.in_block and message[:1] in b"RYIUDTM"
                assert sum(field.end - field.start for field in fields(message, in_block=in_block)) <= len(message)


def test_damaged_messages_are_decoded_or_malformed() -> None:
    """`python -m tests.messages.mutate 1000000` damages a million."""
    recorded = [
        bytes.fromhex(data)
        for recording in recordings_in(PATHS[0])
        for capture in recording.captures
        for *_, data in capture.rows
    ]
    outcomes = run(20_000, recorded)
    assert outcomes["Malformed"] > 10_000
    assert len(outcomes) > 10
