"""A database that a random script built, as pubcheck reads it from the server and as it replays the script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from psycopg.pq import TransactionStatus

from pubcheck import __version__
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Followed, Linter
from pubcheck.engine.unit import Unit
from pubcheck.live.connect import connect
from pubcheck.live.document import decode, encode, read_snapshot, source_of
from pubcheck.live.load import check
from pubcheck.source import Source
from tests.differential.compare import (
    ACCEPTED,
    answer_alone,
    predicted_answer,
    predicted_writes,
    without_roles,
    writes_asked,
)
from tests.differential.scripts import DATABASE
from tests.support.servers import Server, execute

OF_HISTORY: dict[str, str] = {
    "PUB104": "a name that is too long was cut when its statement ran",
    "PUB507": "a partition was created after a publication named the others",
    "PUB306": "the index of a replica identity was dropped",
    "PUB705": "a table left a publication",
    "PUB706": "a schema left a publication",
    "PUB707": "a column was added to a table with a column list",
    "PUB708": "a table left its schema, was attached or detached",
    "PUB709": "SET replaced the members of a publication",
    "PUB710": "a publication was dropped and created",
    "PUB711": "a publication was dropped and created",
    "PUB712": "a published table or column was renamed",
    "PUB713": "the type of a published column was renamed",
    "PUB811": "a publication did not exist for some time",
    "PUB813": "a table of a migration tool",
}
"""Rules whose findings need the statements that built a database, each with the reason."""
OF_ONE_PLACE = ("PUB602", "PUB603", "PUB607", "PUB608", "PUB609", "PUB803")
"""Rules that report once a place: a statement that names a parent and its children, a publication's first filter. In a
database every member has a place of its own, so that there may be more findings, and of other tables."""
OF_FIRST = ("PUB509",)
"""Rules that compare publications with the one whose statement comes first."""
_TEMPORARY = "pg_temp_<n>."
"""Temporary tables are those of a session, and not read."""


class Finding(Struct, frozen=True):
    """What a finding says, without its place."""

    rule: str
    certainty: str
    object: str | None
    operation: str | None
    publications: tuple[str, ...]
    server: str


class LiveComparison(Struct, frozen=True):
    """``missing`` and ``added``: findings of the script only, and of the server's catalogs only. ``writes`` are the
    number of write verdicts, ``wrong`` those that are not the server's."""

    missing: tuple[Finding, ...]
    added: tuple[Finding, ...]
    writes: int
    wrong: tuple[str, ...]
    findings: int
    round_trips: int
    script: str


def compare_live(server: Server, statements: Sequence[str]) -> LiveComparison:
    """Build a database with a script, and compare its catalogs with the script and with the server's own verdicts."""
    with without_roles(server), server.database() as name:
        texts = [statement.replace(DATABASE, name) for statement in statements]
        with server.connect(name) as conn:
            answers = [answer_alone(conn, statement) for statement in texts]
            lost = conn.info.transaction_status == TransactionStatus.INERROR or not execute(conn, "COMMIT").ok
        # A session keeps what it read of an index that was marked invalid by hand; another one reads it again.
        with server.connect(name) as conn:
            writes = list(writes_asked(conn))
        with connect(server.conninfo(name)) as connection:
            snapshot = read_snapshot(connection, __version__)
            round_trips = connection.round_trips
    if lost:
        # The last transaction fails as a whole, which the statements do not say.
        return LiveComparison((), (), 0, (), 0, round_trips, "")
    text = encode(snapshot)
    assert decode(text) == snapshot
    check(snapshot)
    script = ";\n".join(text if answer.ok else "SELECT 1" for text, answer in zip(texts, answers, strict=True))
    of_script = _followed(Source("script.sql", script), server.major, name)
    live = _followed(source_of("live", text.decode(), live=True), server.major, name)
    assert not live.result.faults, live.result.faults
    missing, added = _difference(of_script, live)
    wrong = tuple(_wrong_verdicts(live, writes))
    return LiveComparison(missing, added, len(writes), wrong, len(live.findings), round_trips, script)


def _followed(source: Source, major: int, database: str) -> Followed:
    config = Config(postgres=(major,), complete=True, database=database, select=("PUB",))
    return Linter(config).follow(Unit((source,)))


def _difference(script: Followed, live: Followed) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    theirs, ours = (dict.fromkeys(_findings(followed.findings)) for followed in (script, live))
    added = (row for row in ours if row not in theirs and row.rule not in OF_ONE_PLACE)
    return tuple(row for row in theirs if row not in ours), tuple(added)


def _findings(diagnostics: Sequence[Diagnostic]) -> Iterator[Finding]:
    for diagnostic in diagnostics:
        if diagnostic.rule not in OF_HISTORY and diagnostic.phase != "ddl":
            # The first object of several, and the order of publications, are those of the statements.
            answer = "" if diagnostic.server is None or diagnostic.also else predicted_answer(diagnostic)
            publications = () if diagnostic.rule in OF_FIRST else tuple(sorted(diagnostic.publications))
            objects = (None,) if diagnostic.rule in OF_ONE_PLACE else (diagnostic.object, *diagnostic.also)
            for name in objects:
                if name is None or not name.startswith(_TEMPORARY):
                    yield Finding(
                        diagnostic.rule, diagnostic.certainty, name, diagnostic.operation, publications, answer
                    )


def _wrong_verdicts(live: Followed, writes: Sequence[tuple[str, str, bool, bool, str, str]]) -> Iterator[str]:
    refused: dict[tuple[str, str], str] = {
        (diagnostic.object or "", diagnostic.operation or ""): predicted_answer(diagnostic)
        for diagnostic in live.findings
        if diagnostic.phase == "write" and diagnostic.server is not None and not diagnostic.after_count
    }
    predicted = predicted_writes(live.replays[0].session, refused)
    for table, operation, only, _, statement, answer in writes:
        mine = predicted.get((table, operation, only), ACCEPTED)
        if mine != answer:
            yield f"{statement}: server {answer}; pubcheck {mine}"
