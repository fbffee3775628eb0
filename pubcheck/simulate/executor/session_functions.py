"""Functions that depend on the session or change something: sequences, messages, transaction ids, times, replication
origins (replication/logical/origin.c), advisory locks (utils/adt/lockfuncs.c).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any
from uuid import UUID

from msgspec import Struct

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.functions import Constant, placed
from pubcheck.postgres.primnodes import IMPLICIT, Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, StatementBuilder, Step
from pubcheck.simulate.executor.routines import routine_step
from pubcheck.simulate.executor.sequences import current_value, last_value, next_value, set_value
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import LogicalMessage, OriginChange


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


Function = Callable[..., Any]


def function_call(builder: StatementBuilder, expr: Expr) -> Step:
    """A call of any function."""
    if _is_random_times_zero(builder, expr):
        return lambda row: 0.0
    step = session_function(builder, expr)
    return builder.call(expr) if step is None else step


def _is_random_times_zero(builder: StatementBuilder, expr: Expr) -> bool:
    """Whether an expression is random() * 0: a usual way to write a volatile one whose value is known."""
    if builder.cache.proc(expr.functions[0]).name != "float8mul":
        return False
    others = [argument for argument in expr.args if not _is_random(builder, argument)]
    if len(others) != 1:
        return False
    factor = builder.build(others[0])
    return isinstance(factor, Constant) and factor.value == 0.0


def _is_random(builder: StatementBuilder, expr: Expr) -> bool:
    return expr.node == "FuncExpr" and not expr.args and builder.cache.proc(expr.functions[0]).name == "random"


def session_function(builder: StatementBuilder, expr: Expr) -> Step | None:
    """A call that has to be made each time, with the session; None for any other function."""
    proc = builder.cache.proc(expr.functions[0])
    session = builder.session
    if proc.oid >= FIRST_NORMAL_OID:
        return routine_step(builder, expr, proc)
    function = _FUNCTIONS.get(proc.name)
    if function is None:
        if proc.volatility == "v" or proc.name in _TIMES:
            raise NotFollowed(f"what {proc.name}() gives", expr.location if expr.location >= 0 else None)
        if proc.returns_set:
            raise NotFollowed(f"{proc.name}, which returns a set")
        return None
    arguments = [builder.build(argument) for argument in placed(builder.cache, expr)]
    strict, call = proc.strict, function

    def step(row: Any) -> Any:
        values = [argument(row) for argument in arguments]
        return None if strict and None in values else call(session, *values)

    return step


def value_function(builder: StatementBuilder, expr: Expr) -> Step:
    """CURRENT_USER and the like; of CURRENT_TIMESTAMP and the like the value is not known without a clock."""
    session = builder.session
    catalog = session.database.catalog
    name = expr.value
    if name in ("CURRENT_USER", "USER", "CURRENT_ROLE"):
        return lambda row: catalog.roles[catalog.settings["role"]].name
    if name == "SESSION_USER":
        return lambda row: catalog.roles[catalog.settings["session_authorization"]].name
    if name == "CURRENT_CATALOG":
        return lambda row: catalog.database
    if name == "CURRENT_SCHEMA":
        return lambda row: _current_schema(session)
    if name in _CURRENT and session.database.clock is not None and expr.typmod < 0:
        return _current(builder, _CURRENT[name])
    raise NotFollowed(f"what {name} gives")


def _current(builder: StatementBuilder, type_oid: int) -> Step:
    """The time of the transaction as another type."""
    scope = Scope(builder.session)
    session = builder.session
    held = Expr("Param", oids.TIMESTAMPTZ, [], value=lambda row: session.transaction_time())
    cast = coerce_to_target_type(scope, held, oids.TIMESTAMPTZ, type_oid, -1, "a", IMPLICIT, -1)
    assert cast is not None
    return builder.build(cast)


def _random(session: Backend) -> float:
    return _generator(session, "random()").random()


def _random_uuid(session: Backend) -> bytes:
    return UUID(int=_generator(session, "gen_random_uuid()").getrandbits(128), version=4).bytes


def _generator(session: Backend, name: str) -> Random:
    if session.database.random is None:
        raise NotFollowed(f"what {name} gives")
    return session.database.random


def _notify(session: Backend, *arguments: Any) -> str:
    return ""


def _current_schema(session: Backend) -> str | None:
    path = session.catalog_session.path
    names = session.database.catalog.namespaces
    return next((names[oid].name for oid in path if oid in names and names[oid].name != "pg_catalog"), None)


def _transaction_time(session: Backend) -> int:
    if session.database.clock is None:
        raise NotFollowed("what now() gives")
    return session.transaction_time()


def _clock_time(session: Backend) -> int:
    if session.database.clock is None:
        raise NotFollowed("what clock_timestamp() gives")
    return session.database.time()


def _transaction_id(session: Backend) -> int:
    """pg_current_xact_id: that of the top-level transaction, which is assigned now."""
    session.top_xid()
    return session.current.top


def _transaction_id_if_assigned(session: Backend) -> int | None:
    return session.current.top or None


def _emit_message(session: Backend, transactional: bool, prefix: str, content: str | bytes, flush: bool = False) -> int:
    data = content.encode() if isinstance(content, str) else content
    xid = session.xid() if transactional else session.current.levels[-1].xid
    record = session.append(
        LogicalMessage,
        len(prefix) + len(data) + 24,
        xid=xid,
        transactional=transactional,
        prefix=prefix,
        content=data,
        version=session.database.version(),
    )
    return record.end


def _trigger_depth(session: Backend) -> int:
    return session.trigger_depth


_TIMES = frozenset(
    ("now", "statement_timestamp", "transaction_timestamp", "clock_timestamp", "timeofday", "random", "pg_backend_pid")
)
_CURRENT = {
    "CURRENT_DATE": oids.DATE,
    "CURRENT_TIME": oids.TIMETZ,
    "CURRENT_TIMESTAMP": oids.TIMESTAMPTZ,
    "LOCALTIME": oids.TIME,
    "LOCALTIMESTAMP": oids.TIMESTAMP,
}
_FUNCTIONS: dict[str, Function] = {
    "currval": current_value,
    "lastval": last_value,
    "nextval": next_value,
    "now": _transaction_time,
    **FUNCTIONS,
    "clock_timestamp": _clock_time,
    "gen_random_uuid": _random_uuid,
    "pg_notify": _notify,
    "random": _random,
    "statement_timestamp": _transaction_time,
    "pg_current_xact_id": _transaction_id,
    "pg_current_xact_id_if_assigned": _transaction_id_if_assigned,
    "pg_logical_emit_message": _emit_message,
    "pg_trigger_depth": _trigger_depth,
    "pg_replication_origin_create": create_origin,
    "pg_replication_origin_drop": drop_origin,
    "pg_replication_origin_session_reset": reset_session,
    "pg_replication_origin_session_setup": setup_session,
    "pg_replication_origin_xact_reset": reset_transaction,
    "pg_replication_origin_xact_setup": advance_transaction,
    "setval": set_value,
    "transaction_timestamp": _transaction_time,
    "txid_current": _transaction_id,
}
