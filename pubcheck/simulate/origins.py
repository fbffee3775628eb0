"""Replication origins: a session uses one to mark its changes as another server's (replication/logical/origin.c)."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.log import OriginChange


def _named(session: Backend, name: str) -> int | None:
    return next((number for number, known in session.database.log.origins.items() if known == name), None)


def _require(session: Backend, name: str) -> int:
    number = _named(session, name)
    if number is None:
        raise ServerError("42704", f'replication origin "{name}" does not exist')
    return number


def _log(session: Backend, number: int, name: str | None) -> None:
    """Log the write into the catalog of origins, which decoding sees as part of a transaction."""
    session.append(OriginChange, 60, number=number, name=name)


def create_origin(session: Backend, name: str) -> int:
    """pg_replication_origin_create: the lowest number that is free. It is a row of a catalog, so it needs an id."""
    if name.startswith("pg_") or name in ("any", "none"):
        detail = 'Origin names "any", "none", and names starting with "pg_" are reserved.'
        if not session.database.catalog.major.origin_filter:
            detail = 'Origin names starting with "pg_" are reserved.'
        raise ServerError("42939", f'replication origin name "{name}" is reserved', detail=detail)
    origins = session.database.log.origins
    if _named(session, name) is not None:
        raise ServerError(
            "23505",
            'duplicate key value violates unique constraint "pg_replication_origin_roname_index"',
            detail=f"Key (roname)=({name}) already exists.",
        )
    number = next(number for number in range(1, 1 << 16) if number not in origins)
    _log(session, number, name)
    origins[number] = name
    return number


def drop_origin(session: Backend, name: str) -> None:
    number = _require(session, name)
    if any(other.origin == number for other in session.database.sessions.values()):
        raise ServerError("55006", f"could not drop replication origin with ID {number}, in use by PID")
    _log(session, number, None)
    del session.database.log.origins[number]


def setup_session(session: Backend, name: str, pid: int = 0) -> None:
    number = _require(session, name)
    if session.origin:
        raise ServerError("55000", "cannot setup replication origin when one is already setup")
    session.origin = number


def reset_session(session: Backend) -> None:
    if not session.origin:
        raise ServerError("55000", "no replication origin is configured")
    session.origin = 0
    session.origin_lsn = session.origin_time = 0


def advance_transaction(session: Backend, lsn: int, time: int) -> None:
    """pg_replication_origin_xact_setup; what it sets stays for later transactions."""
    if not session.origin:
        raise ServerError("55000", "no replication origin is configured")
    session.origin_lsn, session.origin_time = lsn, time


def reset_transaction(session: Backend) -> None:
    session.origin_lsn = session.origin_time = 0
