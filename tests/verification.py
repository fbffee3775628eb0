"""`python -m tests.verification [--seeds N]` compares pubcheck with servers and writes the figures to
`docs/verification.json`, from which the documentation site shows them."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from pubcheck import __version__
from pubcheck.postgres.versions import MAJORS
from tests.conformance.judging import judge
from tests.conformance.totals import totals
from tests.differential.__main__ import KINDS
from tests.differential.compare import compare
from tests.streams.random_streams import Totals, compare_despite_crashes
from tests.support.cases import load
from tests.support.servers import Server, add_options, asked

FILE = Path(__file__).parents[1] / "docs" / "verification.json"


class Recorded(Struct, frozen=True):
    """The recorded answers of one major: cases that must agree, those with the server's verdict, those with its words
    and positions too, and errors that no server raises."""

    major: int
    cases: int
    verdicts: int
    texts: int
    invented: int


class Random(Struct, frozen=True):
    """Random scripts of one kind on one major: statements, and answers that differ; writes afterwards, those answered
    alike, and refusals that no server raises."""

    kind: str
    major: int
    scripts: int
    statements: int
    differences: int
    writes: int
    writes_alike: int
    invented: int


class Streams(Struct, frozen=True):
    """Random scripts whose streams a real and a simulated slot sent, and their transactions."""

    major: int
    scripts: int
    transactions: int
    transactions_alike: int
    messages: int


class Figures(Struct, frozen=True):
    """One run. ``versions`` are those of the servers, by major."""

    date: str
    pubcheck: str
    versions: Mapping[str, str]
    recorded: tuple[Recorded, ...]
    random: tuple[Random, ...]
    streams: tuple[Streams, ...]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.verification", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="random scripts of each kind, on each major (200)")
    add_options(parser)
    options = parser.parse_args()
    recorded = tuple(_recorded(major) for major in MAJORS)
    with asked(options) as servers:
        figures = Figures(
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            pubcheck=__version__,
            versions={str(major): _version(server) for major, server in servers.items()},
            recorded=recorded,
            random=tuple(_random(kind, server, options.seeds) for kind in KINDS for server in servers.values()),
            streams=tuple(_streams(server, options.seeds) for server in servers.values()),
        )
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=1) + b"\n")
    print(FILE)
    return 0


def _version(server: Server) -> str:
    with server.connect("postgres") as connection:
        row = connection.execute("SHOW server_version").fetchone()
    assert row is not None
    return str(row[0]).split()[0]


def _recorded(major: int) -> Recorded:
    counts = totals(major, [judge(case, major) for case in load() if major in case.answers])
    return Recorded(major, counts.covered, counts.agreed, counts.worded, counts.invented)


def _random(kind: str, server: Server, seeds: int) -> Random:
    results = [compare(server, KINDS[kind](seed).statements) for seed in range(seeds)]
    writes = [probe for result in results for probe in result.probes]
    return Random(
        kind=kind,
        major=server.major,
        scripts=seeds,
        statements=sum(result.judged for result in results),
        differences=sum(
            not difference.statement.startswith("(") for result in results for difference in result.differences
        ),
        writes=len(writes),
        writes_alike=sum(write.agrees for write in writes),
        invented=sum(not write.refused and not write.agrees for write in writes),
    )


def _streams(server: Server, seeds: int) -> Streams:
    counts = Totals()
    for seed in range(seeds):
        compare_despite_crashes(server, seed, counts)
    messages = sum(counts.messages.values())
    return Streams(server.major, counts.scripts, counts.transactions, counts.equal_transactions, messages)


if __name__ == "__main__":
    sys.exit(main())
