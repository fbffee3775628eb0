"""Advisory locks (utils/adt/lockfuncs.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from pubcheck.simulate.backend import Backend
from pubcheck.simulate.not_followed import NotFollowed


class Held(Struct, eq=False):
    """A lock that a session has; ``transaction`` is None for one that lasts until it is unlocked."""

    key: tuple[int, ...]
    session: Backend
    transaction: Any
    shared: bool

    @property
    def lasts(self) -> bool:
        if self.transaction is None:
            return self.session.database.sessions.get(self.session.name) is self.session
        return self.session.transaction is self.transaction


def _take(session: Backend, key: tuple[int, ...], *, shared: bool, by_transaction: bool) -> bool:
    """Take a lock. False if another session has one that excludes it."""
    locks = session.database.advisory_locks
    locks[:] = [held for held in locks if held.lasts]
    if any(held.key == key and held.session is not session and not (shared and held.shared) for held in locks):
        return False
    locks.append(Held(key, session, session.transaction if by_transaction else None, shared))
    return True


def _lock(*, shared: bool, by_transaction: bool) -> Callable[..., str]:
    def lock(session: Backend, *key: int) -> str:
        if not _take(session, key, shared=shared, by_transaction=by_transaction):
            raise NotFollowed("the statement waits for another transaction")
        return ""

    return lock


def _try(*, shared: bool, by_transaction: bool) -> Callable[..., bool]:
    def attempt(session: Backend, *key: int) -> bool:
        return _take(session, key, shared=shared, by_transaction=by_transaction)

    return attempt


def _unlock(*, shared: bool) -> Callable[..., bool]:
    def unlock(session: Backend, *key: int) -> bool:
        locks = session.database.advisory_locks
        for number, held in enumerate(locks):
            if (held.key, held.session, held.shared, held.transaction) == (key, session, shared, None):
                del locks[number]
                return True
        return False  # with a warning

    return unlock


def _unlock_all(session: Backend) -> str:
    locks = session.database.advisory_locks
    locks[:] = [held for held in locks if held.session is not session or held.transaction is not None]
    return ""


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "pg_advisory_unlock": _unlock(shared=False),
    "pg_advisory_unlock_all": _unlock_all,
    "pg_advisory_unlock_shared": _unlock(shared=True),
}
for _middle, _by_transaction in (("", False), ("_xact", True)):
    for _suffix, _shared in (("", False), ("_shared", True)):
        _kind = {"shared": _shared, "by_transaction": _by_transaction}
        FUNCTIONS[f"pg_advisory{_middle}_lock{_suffix}"] = _lock(**_kind)
        FUNCTIONS[f"pg_try_advisory{_middle}_lock{_suffix}"] = _try(**_kind)
