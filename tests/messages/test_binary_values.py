"""Binary values as texts, against what servers sent for the same values as text."""

from __future__ import annotations

from collections import Counter

from pubcheck.stream import Decoder, Delete, Insert, Relation, Update
from pubcheck.stream.render.events import text_of
from tests.support.recorded_streams import FOLDER, Capture, recordings_in


def values(capture: Capture) -> list[tuple[int, str | bytes]]:
    """Return the values of a capture with the OIDs of their types, in order."""
    decoder = Decoder()
    result: list[tuple[int, str | bytes]] = []
    for _, _, data in capture.rows:
        message = decoder.decode(bytes.fromhex(data))
        if isinstance(message, Insert | Update | Delete):
            relation = decoder.relation(message.relation)
            assert isinstance(relation, Relation)
            for row in (getattr(message, "old", None), getattr(message, "new", None)):
                for value, column in zip(row or (), relation.columns if row else (), strict=True):
                    if isinstance(value, str | bytes):
                        result.append((column.type_oid, value))
    return result


def test_the_text_of_a_binary_value_is_what_the_server_sends_as_text() -> None:
    compared: Counter[int] = Counter()
    for recording in recordings_in(FOLDER / "pgoutput-18.jsonl.gz"):
        if not recording.name.startswith("type/") or recording.name.startswith("type/setting"):
            continue  # settings change the style of texts
        captures = {
            capture.options.get("binary", "off"): capture
            for capture in recording.captures
            if capture.plugin == "pgoutput" and not {"streaming", "two_phase"} & capture.options.keys()
        }
        if captures.keys() < {"on", "off"} or recording.name == "type/aclitem_array":
            continue  # decoding in binary ends with an error
        for (oid, value), (_, text) in zip(values(captures["on"]), values(captures["off"]), strict=True):
            if isinstance(value, bytes) and (shown := text_of(value, oid)) is not None:
                assert shown == text, (recording.name, oid)
                compared[oid] += 1
    assert compared.keys() >= {16, 21, 23, 701, 1082, 1083, 1114, 1700, 2950, 3802}


def test_other_bytes_are_no_value() -> None:
    for oid in (16, 20, 21, 23, 26, 701, 1082, 1083, 1114, 1184, 1700, 2950, 3802, 99999):
        assert text_of(b"\x07\x01\x02", oid) is None
    assert text_of(b"\0\1\x7f\xff\0\0\0\0\0\1", 1700) is None
