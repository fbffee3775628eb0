"""Random writes to random partition trees: what servers decode for several publications, beside what pubcheck says.

`python -m tests.replication.streams FIRST LAST [--major N]... [--ports FILE]` runs more seeds than the tests do.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

import psycopg
from msgspec import Struct, field
from psycopg import sql

from tests.replication.decoding import Publisher, Stopped
from tests.replication.trees import Trees
from tests.support.pgoutput import describe
from tests.support.servers import Answer, Server, asked, execute, seeds_parser

_REFUSED_WRITE = ("55000", "42P10")


class Streams(Struct):
    """How many streams and changes were compared, how many streams stopped with an error, and the differences."""

    streams: int = 0
    stopped: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def stream(server: Server, seed: int, result: Streams) -> None:
    """One schema with its writes; each of some subsets of its publications decodes all of them."""
    trees = Trees(seed)
    setup, writes = trees.statements + trees.identities(), trees.dml()
    random = Random(seed)
    with server.database() as name, server.connect(name) as conn:
        accepted = [text for text in setup if execute(conn, text).ok]
        conn.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [name])
        try:
            answers = [execute(conn, text) for text in writes]
            publications = [row[0] for row in conn.execute("SELECT pubname FROM pg_publication ORDER BY 1")]
            for _ in range(min(8, 2 * len(publications))):
                chosen = random.sample(publications, random.choice((1, 1, 2, 2, 3)) if len(publications) > 2 else 1)
                theirs = _on_server(conn, name, chosen)
                ours = _predicted(server.major, accepted, list(zip(writes, answers, strict=True)), chosen, result)
                _compare(f"{','.join(chosen)}", theirs, ours, result)
        finally:
            conn.execute("SELECT pg_drop_replication_slot(%s)", [name])


def _on_server(conn: psycopg.Connection[object], slot: str, chosen: list[str]) -> list[str]:
    asked = sql.SQL(
        "SELECT encode(data, 'hex') FROM pg_logical_slot_peek_binary_changes({slot}, NULL, NULL,"
        " 'proto_version', '1', 'publication_names', {publications})"
    ).format(slot=slot, publications=",".join(chosen))
    answer = execute(conn, asked.as_string(conn))
    if answer.rows is None:
        return [f"ERROR {answer.sqlstate} {answer.message}"]
    return describe(bytes.fromhex(str(row[0])) for row in answer.rows)


def _predicted(
    major: int, setup: list[str], writes: list[tuple[str, Answer]], chosen: list[str], result: Streams
) -> list[str]:
    publisher = Publisher(major, tuple(chosen))
    for text in setup:
        publisher.run(text)
    publisher.decoding = True
    for text, answer in writes:
        if not answer.ok and answer.sqlstate not in _REFUSED_WRITE:
            continue
        try:
            publisher.run(text)
        except Stopped as stopped:
            if stopped.at is not None:
                return [f"ERROR {stopped.sqlstate} {stopped.message}"]
            if answer.ok or answer.message != stopped.message:
                result.differences.append(f"{text}: {answer.message}, pubcheck {stopped.message}")
        else:
            if not answer.ok:
                result.differences.append(f"{text}: {answer.message}, pubcheck accepts")
    return publisher.changes


def _compare(subject: str, theirs: list[str], ours: list[str], result: Streams) -> None:
    result.streams += 1
    result.stopped += any(line.startswith("ERROR") for line in theirs)
    result.changes.update(line.split()[0] for line in theirs)
    if theirs != ours:
        place = next((number for number, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), -1)
        sides = f"server {theirs[place:][:1]}, pubcheck {ours[place:][:1]}"
        result.differences.append(f"{subject}: {len(theirs)} and {len(ours)} changes, at {place} {sides}")


def main() -> int:
    options = seeds_parser("tests.replication.streams", __doc__).parse_args()
    failed = 0
    with asked(options) as servers:
        for major in servers:
            result = Streams()
            for seed in range(options.first, options.last):
                before = len(result.differences)
                stream(servers[major], seed, result)
                for difference in result.differences[before:]:
                    print(f"[{seed}/{major}] {difference}", flush=True)
            failed += len(result.differences)
            print(f"{major}: {result.streams} streams, {result.stopped} stopped, {dict(result.changes)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
