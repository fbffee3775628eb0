"""The literals of the recorded streams' INSERTs, read and written: as text and in binary what the server sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.input import InputContext, read
from pubcheck.postgres.output import OutputContext, binary_send, has_send, text_output, to_client
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.session import Session
from pubcheck.stream import Decoder
from pubcheck.stream.messages import Insert
from tests.differential.evaluation.run import opened
from tests.support.recorded_streams import FOLDER, Capture, Recording, recordings
from tests.support.servers import MAJORS


@pytest.mark.parametrize("major", MAJORS)
def test_recorded_values_are_written_as_the_server_sent_them(major: int) -> None:
    compared = 0
    for recording in recordings(FOLDER, {major}, "type"):
        if recording.kind != "functions":
            continue
        session = opened(major, ";\n".join(step.sql for step in recording.setup) + ";")
        rows = list(inserted(recording))
        for capture in recording.captures:
            if capture.plugin != "pgoutput" or capture.error is not None:
                continue
            for number, type_oid, server, ours in compared_values(session, capture, rows):
                compared += 1
                assert ours == server, (recording.name, capture.title, rows[number], type_oid)
    assert compared > 400


def inserted(recording: Recording) -> Iterator[list[str | None]]:
    """The rows of the INSERTs with VALUES, as texts; stops where a value is more than a literal."""
    for step in recording.steps:
        parsed = parse(step.sql)
        if parsed is None or parsed[0] != "InsertStmt":
            continue
        for row in parsed[1]["selectStmt"]["SelectStmt"]["valuesLists"]:
            texts = [literal(item) for item in row["List"]["items"]]
            if any(text is NotImplemented for text in texts):
                return
            yield texts


def literal(node: Node) -> Any:
    """The text of a constant, None for NULL, NotImplemented for anything else."""
    if "A_Expr" in node and "lexpr" not in node["A_Expr"]:
        return "-" + literal(node["A_Expr"]["rexpr"])
    if "A_Const" not in node:
        return NotImplemented
    constant = node["A_Const"]
    if "ival" in constant:
        return str(constant["ival"].get("ival", 0))
    if "boolval" in constant:
        return "true" if constant["boolval"].get("boolval") else "false"
    for kind in ("fval", "sval", "bsval"):
        if kind in constant:
            return constant[kind].get(kind, "")
    return None


def compared_values(
    session: Session, capture: Capture, rows: list[list[str | None]]
) -> Iterator[tuple[int, int, bytes | None, bytes | None]]:
    """The values of a capture's inserts: row number, type, what the server sent, and what pubcheck writes."""
    major, cache = session.catalog.major.number, session.syscache
    context = OutputContext(major, cache, capture.settings.get)
    relation = session.find_unqualified("t")
    assert relation is not None
    decoder, number = Decoder(), 0
    for _, _, data in capture.rows:
        message = decoder.decode(bytes.fromhex(data))
        if not isinstance(message, Insert) or number >= len(rows):
            continue
        for column, text, sent in zip(relation.columns, rows[number], message.new, strict=True):
            # The CHECK constraints of a domain are not the input function's.
            base, typmod = cache.base_type(column.type, column.typmod)
            value = None if text is None else read(InputContext(major, cache), base, text, typmod)
            server = sent.encode(errors="surrogateescape") if isinstance(sent, str) else sent
            assert server is None or isinstance(server, bytes)
            if value is None:
                ours = None
            elif capture.options.get("binary") and has_send(context, column.type):
                ours = binary_send(context, column.type, value)
                server = with_our_oids(server, ours)
            else:
                ours = to_client(context, text_output(context, column.type, value))
            yield number, column.type, server, ours
        number += 1


def with_our_oids(server: bytes | None, ours: bytes) -> bytes | None:
    """What the server sent with the oids of user types as they are here; the server's are others."""
    if server is None:
        return None
    for start in range(len(ours) - 3):
        oid, theirs = (int.from_bytes(data[start : start + 4], "big") for data in (ours, server))
        if oid in range(FIRST_NORMAL_OID, FIRST_NORMAL_OID + 100) and theirs in range(FIRST_NORMAL_OID, 1 << 16):
            server = server[:start] + ours[start : start + 4] + server[start + 4 :]
    return server
