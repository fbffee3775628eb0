"""Plays the corpus' cases of phase `subscribe`: a publisher and a subscriber, two databases of one server.

The slot is made beforehand (`create_slot = false`), because CREATE SUBSCRIPTION within one server would wait
for itself.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from tests.support.cases import After, Case, Recorded, Subscriber
from tests.support.recording import after, recorded, rows_of
from tests.support.servers import Answer, Server, execute, prepare

PATIENCE = 30.0
"""Seconds that workers may take to do what a case expects."""


def play_subscription(server: Server, case: Case, sub: Subscriber) -> Recorded:
    """The subscriber's answer to the subscription, what arrived, and the answer to `alter`.

    Raises SetupFailed when a statement of either side's setup, or a later one on the publisher, is refused.
    """
    with (
        server.database() as publisher_name,
        server.database() as subscriber_name,
        server.connect(publisher_name) as publisher,
        server.connect(subscriber_name) as subscriber,
        _slot(publisher, publisher_name),
        no_subscription_left(subscriber),
    ):
        prepare(publisher, [_placed(statement, server, publisher_name) for statement in case.setup])
        prepare(subscriber, sub.setup)
        publisher.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [publisher_name])
        statement = sub.statement.replace("@@CONN@@", server.conninfo(publisher_name))
        server_answer = execute(subscriber, statement.replace("@@SLOT@@", publisher_name))
        answer = recorded(server_answer, publisher_name)
        if not server_answer.ok:
            return answer
        synced = _until(lambda: _copied(subscriber)) if sub.wait_sync else None
        prepare(publisher, sub.pub_sql)
        altered: After | None = None
        if sub.alter:
            altered = after(execute(subscriber, sub.alter), publisher_name)
            if sub.alter_sync:
                _until(lambda: _copied(subscriber))
        arrived = None
        if sub.query:
            arrived = rows_of(_arrived(subscriber, sub, sub.query))
        return Recorded(ok=True, notices=answer.notices, synced=synced, subscriber_rows=arrived, alter=altered)


def _placed(statement: str, server: Server, database: str) -> str:
    """Return a statement of the setup with the port and the database of the publisher, for a server of postgres_fdw."""
    return statement.replace("@@PORT@@", str(server.port)).replace("@@DB@@", database)


def _arrived(subscriber: psycopg.Connection[Any], sub: Subscriber, query: str) -> Answer:
    answer = execute(subscriber, query)

    def as_expected() -> bool:
        nonlocal answer
        answer = execute(subscriber, query)
        return rows_of(answer) == sub.expect

    if sub.expect is not None:
        _until(as_expected)
    return answer


def _copied(subscriber: psycopg.Connection[Any]) -> bool:
    """Whether every table's initial copy has ended (pg_subscription_rel: s synchronized, r ready)."""
    row = subscriber.execute("SELECT bool_and(srsubstate IN ('s', 'r')) FROM pg_subscription_rel").fetchone()
    return row is not None and row[0] is not False


def _until(happened: Callable[[], bool]) -> bool:
    """Asks again until it is so or PATIENCE ends: the workers tell nobody when they have done something."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@contextlib.contextmanager
def _slot(publisher: psycopg.Connection[Any], database: str) -> Iterator[None]:
    """Afterwards no slot is left, neither the case's nor a copy's: they would keep the database alive."""
    try:
        yield
    finally:

        def dropped() -> bool:
            publisher.execute(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = %s", [database]
            )
            with contextlib.suppress(psycopg.errors.ObjectInUse):
                publisher.execute(
                    "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s",
                    [database],
                )
                return True
            return False

        _until(dropped)


@contextlib.contextmanager
def no_subscription_left(subscriber: psycopg.Connection[Any]) -> Iterator[None]:
    """Afterwards the connection's database has no subscription, which would keep it from being dropped."""
    try:
        yield
    finally:
        if subscriber.info.transaction_status is not TransactionStatus.IDLE:
            # Also of a transaction in a role that may not look at subscriptions.
            subscriber.execute("ROLLBACK")
        for (name,) in subscriber.execute(
            "SELECT subname FROM pg_subscription WHERE subdbid ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())"
        ).fetchall():
            for end in ("ALTER SUBSCRIPTION {} DISABLE", "ALTER SUBSCRIPTION {} SET (slot_name = NONE)"):
                subscriber.execute(sql.SQL(end).format(sql.Identifier(name)))
            subscriber.execute(sql.SQL("DROP SUBSCRIPTION {}").format(sql.Identifier(name)))
