"""Random scripts on real servers and on simulated ones: their streams must be the same."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence

import psycopg
from msgspec import Struct, field
from psycopg import sql

from pubcheck.simulate.not_followed import NotFollowed
from tests.streams.compare import difference, normaliser, recorded_rows
from tests.streams.scripts import Script
from tests.streams.simulated import Stream, simulate
from tests.streams.transactions import differing_transactions
from tests.support.recorded_streams import Capture, Recording, Step
from tests.support.servers import Answer, Server, asked, execute, seeds_parser

_SMALL = {"logical_decoding_work_mem": "64kB"}
_INTERNAL_ERROR = "XX000"


class Totals(Struct):
    """The comparison on one major. ``equal_transactions`` are those that agree in all compared streams of their script.
    Left out are the scripts on which the server crashed (``crashes``), and the streams that it stopped with an internal
    error, XX000 (``internal_errors``)."""

    scripts: int = 0
    equal_scripts: int = 0
    transactions: int = 0
    equal_transactions: int = 0
    streams: int = 0
    equal_streams: int = 0
    messages: Counter[str] = field(default_factory=Counter)
    not_followed: Counter[str] = field(default_factory=Counter)
    internal_errors: Counter[str] = field(default_factory=Counter)
    crashes: list[int] = field(default_factory=list)


def readings(script: Script, major: int) -> list[Capture]:
    """The ways in which each script is read."""
    both, single = script.publication_sets()
    base = {"publication_names": both, "messages": "on"}
    chosen: list[tuple[str, dict[str, str], dict[str, str], bool]] = [
        ("pgoutput", {"proto_version": "1", "publication_names": single}, {}, False),
        ("pgoutput", {"proto_version": "1", "binary": "on", **base}, {}, False),
        ("pgoutput", {"proto_version": "2", "streaming": "on", **base}, _SMALL, False),
        ("pgoutput", {"proto_version": "3", "two_phase": "on", "streaming": "on", **base}, _SMALL, True),
        ("test_decoding", {"skip-empty-xacts": "1"}, {}, False),
        # 18.4 dies where it streams with test_decoding and a subtransaction was rolled back.
        ("test_decoding", {"stream-changes": "1", "skip-empty-xacts": "1"}, _SMALL if major < 18 else {}, True),
    ]
    if major >= 16:
        chosen.append(("pgoutput", {"proto_version": "4", "streaming": "parallel", **base}, _SMALL, False))
    return [Capture(*parts, rows=[], notices=[], error=None) for parts in chosen]


def on_server(server: Server, script: Script) -> tuple[Recording, list[str | None]]:
    """Run a script on a server and record what its slots give, and the SQLSTATE of each step that is refused."""
    refusals: list[str | None] = []
    recording = Recording("random/seed", server.major, "functions", script.setup, script.steps)
    with server.database() as name, server.connect(name) as first, server.connect(name) as second:
        connections = {"a": first, "b": second}
        for step in script.setup:
            execute(first, step.sql)
        slots = {
            (plugin, two_phase): f"{name}_{plugin}_{two_phase:d}"[:63]
            for plugin in ("pgoutput", "test_decoding")
            for two_phase in (False, True)
        }
        for (plugin, two_phase), slot in slots.items():
            first.execute("SELECT pg_create_logical_replication_slot(%s, %s, false, %s)", [slot, plugin, two_phase])
        try:
            refusals += [_run(connections, step).sqlstate for step in script.steps]
            first.execute("CHECKPOINT")  # a message without a transaction is decoded once it is on disk
            for capture in readings(script, server.major):
                with server.connect(name) as reader:
                    recording.captures.append(read_slot(reader, slots[capture.plugin, capture.two_phase_slot], capture))
        finally:
            for connection in connections.values():
                connection.execute("ROLLBACK")
            for gid in first.execute("SELECT gid FROM pg_prepared_xacts WHERE database = %s", [name]).fetchall():
                execute(first, f"ROLLBACK PREPARED '{gid[0]}'")
            for slot in slots.values():
                first.execute("SELECT pg_drop_replication_slot(%s)", [slot])
    return recording, refusals


def _run(connections: Mapping[str, psycopg.Connection[object]], step: Step) -> Answer:
    return execute(connections[step.session], step.sql)


def read_slot(reader: psycopg.Connection[object], slot: str, capture: Capture) -> Capture:
    """Read a slot as a capture says, and return it with what came."""
    for name, value in capture.settings.items():
        reader.execute(sql.SQL("SET {} = {}").format(sql.Identifier(name), value))
    binary = capture.plugin == "pgoutput"
    options = [word for pair in capture.options.items() for word in pair]
    query = sql.SQL("SELECT lsn::text, xid::text, {} FROM {}({}, NULL, NULL, VARIADIC {}::text[])").format(
        sql.SQL("encode(data, 'hex')" if binary else "data"),
        sql.Identifier("pg_logical_slot_peek_binary_changes" if binary else "pg_logical_slot_peek_changes"),
        slot,
        options,
    )
    answer = execute(reader, query.as_string(reader))
    error = None if answer.ok else (str(answer.sqlstate), str(answer.message))
    return Capture(
        capture.plugin,
        capture.options,
        capture.settings,
        capture.two_phase_slot,
        [list(row) for row in answer.rows or ()],
        list(answer.notices),
        error,
    )


class _Agreement(Struct):
    """How one script's streams agree: the differences in words, and the transactions that differ."""

    texts: list[str] = field(default_factory=list)
    differing: set[int] = field(default_factory=set)
    equal_streams: int = 0


def compare_seed(server: Server, seed: int, totals: Totals) -> list[str]:
    """Compare one script. Return what differs. Raises OperationalError if the server crashes."""
    script = Script(seed)
    recording, refusals = on_server(server, script)
    totals.scripts += 1
    totals.transactions += script.transactions
    for capture in list(recording.captures):
        if capture.error is not None and capture.error[0] == _INTERNAL_ERROR:
            recording.captures.remove(capture)
            totals.internal_errors[re.sub(r'"[^"]*"|\d+', "…", capture.error[1])] += 1
    totals.streams += len(recording.captures)
    try:
        simulated: list[str | None] = []
        streams = simulate(recording, simulated)
    except NotFollowed as reason:
        totals.not_followed[reason.reason] += 1
        return [f"not followed: {reason}"]
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return [f"internal error: {type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"]
    refused = [place for place, pair in enumerate(zip(refusals, simulated, strict=True)) if pair[0] != pair[1]]
    agreement = _agreement(recording, streams)
    for capture in recording.captures:
        totals.messages[capture.plugin] += len(capture.rows)
    totals.equal_streams += agreement.equal_streams
    differing = max(len(agreement.differing), len({script.transaction_of[place] for place in refused}))
    totals.equal_transactions += script.transactions - min(differing, script.transactions)
    totals.equal_scripts += not differing
    return [
        f"{script.steps[place].session}: {script.steps[place].sql[:150]}:"
        f" server {refusals[place]}, simulated {simulated[place]}"
        for place in refused[:1]
    ] + agreement.texts


def _agreement(recording: Recording, streams: Sequence[Stream]) -> _Agreement:
    agreement = _Agreement()
    others = 0
    for capture, stream in zip(recording.captures, streams, strict=True):
        text = difference(capture, stream, "functions").text
        if text is None:
            agreement.equal_streams += 1
            continue
        differing, other = differing_transactions(recorded_rows(capture, "functions"), stream.rows, normaliser(capture))
        agreement.differing |= differing
        others = max(others, other, 1)
        agreement.texts.append(f"{capture.title}: {text}")
    agreement.differing |= {-number for number in range(1, others - len(agreement.differing) + 1)}
    return agreement


def main(arguments: list[str]) -> int:
    options = seeds_parser("tests.streams random", __doc__).parse_args(arguments)
    failed = False
    with asked(options) as servers:
        for major in servers:
            totals = Totals()
            for seed in range(options.first, options.last):
                for text in compare_despite_crashes(servers[major], seed, totals):
                    failed = True
                    print(f"[{seed}/{major}] {text}", flush=True)
            _report(major, totals)
    return 1 if failed else 0


def compare_despite_crashes(server: Server, seed: int, totals: Totals) -> list[str]:
    """Compare one script, once more if the server crashes: 18.4 does so now and then while it streams."""
    for last in (False, True):
        try:
            return compare_seed(server, seed, totals)
        except psycopg.OperationalError as error:
            line = str(error).splitlines()[0]
            print(f"[{seed}/{server.major}] the server ended the connection: {line}", flush=True)
            _clean_up(server)
            if last:
                totals.crashes.append(seed)
    return []


def _report(major: int, totals: Totals) -> None:
    share = totals.equal_transactions / totals.transactions if totals.transactions else 1
    print(
        f"{major}: {totals.equal_transactions} of {totals.transactions} transactions ({share:.3%}),"
        f" {totals.equal_scripts} of {totals.scripts} scripts and {totals.equal_streams} of {totals.streams} streams"
        f" are equal; messages {dict(totals.messages)}",
        flush=True,
    )
    for reason, count in totals.not_followed.most_common(10):
        print(f"    not followed, {count} scripts: {reason}")
    for message, count in totals.internal_errors.items():
        print(f"    not compared: {count} streams that the server stopped with the internal error: {message}")
    if totals.crashes:
        print(f"    not compared: the server crashed on the seeds {', '.join(map(str, totals.crashes))}", flush=True)


def _clean_up(server: Server) -> None:
    """Wait until a server that crashed is back, and drop what a script left."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with server.connect() as admin:
                query = "SELECT slot_name, database FROM pg_replication_slots WHERE NOT active"
                left = admin.execute(query).fetchall()
                for slot, _ in left:
                    admin.execute("SELECT pg_drop_replication_slot(%s)", [slot])
                for gid, name in admin.execute("SELECT gid, database FROM pg_prepared_xacts").fetchall():
                    with server.connect(name) as owner:
                        execute(owner, f"ROLLBACK PREPARED '{gid}'")
                for name in {name for _, name in left}:
                    server.drop_database(admin, name)
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
