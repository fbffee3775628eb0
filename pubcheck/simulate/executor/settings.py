"""SET and RESET: settings that rows depend on; others are the catalog session's, or have no effect here."""

from __future__ import annotations

from pubcheck.postgres import oids
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.ddl.settings import VALUES, constant, listed
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.transaction_blocks import set_characteristics

ROLE = "session_replication_role"
_OF_CATALOG_SESSION = frozenset(
    (*VALUES, "default_transaction_read_only", "role", "search_path", "session_authorization", "transaction_read_only")
)
_NO_EFFECT = frozenset(
    (
        "application_name", "client_min_messages", "commit_delay", "commit_siblings", "deadlock_timeout",
        "default_table_access_method", "default_tablespace", "effective_cache_size", "escape_string_warning",
        "idle_in_transaction_session_timeout", "idle_session_timeout", "lock_timeout", "log_duration",
        "log_min_duration_statement", "log_min_error_statement", "log_min_messages", "log_statement",
        "maintenance_work_mem", "row_security", "statement_timeout", "synchronous_commit", "temp_buffers",
        "temp_tablespaces", "track_activities", "track_counts", "track_io_timing", "transaction_timeout",
        "vacuum_cost_delay", "vacuum_cost_limit", "wal_compression",
    )
)  # fmt: skip
"""Settings that change neither rows nor what is read or refused; timeouts too, for nothing takes time here."""


def set_variable(session: Backend, node: Node) -> Result:
    """SET and RESET. Raises NotFollowed for a setting whose effect is not known here."""
    kind, name = node["kind"], node.get("name", "").lower()
    if kind == "VAR_SET_MULTI":
        if name != "transaction":
            raise NotFollowed("SET SESSION CHARACTERISTICS")
        set_characteristics(session, {"options": node.get("args", ())})
    elif kind == "VAR_RESET_ALL":
        session.catalog_session.set(ROLE, None)
    elif name == ROLE:
        _set_replication_role(session, node)
    elif name == "client_encoding":
        if kind == "VAR_SET_VALUE" and _word(node).replace("-", "").lower() not in ("utf8", "unicode"):
            raise NotFollowed(f"the client encoding {_word(node)}")
    elif name not in _OF_CATALOG_SESSION and name not in _NO_EFFECT and "." not in name:
        raise NotFollowed(f"the effect of SET {name}")
    apply(session.catalog_session, "VariableSetStmt", node)
    return NOTHING


def set_config(session: Backend, target: Node) -> Result | None:
    """set_config() of constants: SET, whose value it returns. None for any other expression."""
    call = target.get("FuncCall", {})
    path = [part["String"]["sval"] for part in call.get("funcname", ())]
    if path[-1:] != ["set_config"] or path[:-1] not in ([], ["pg_catalog"]) or len(call.get("args", ())) != 3:
        return None
    name, value, local = map(constant, call["args"])
    if not isinstance(name, str) or not isinstance(value, str) or not isinstance(local, bool):
        return None
    words = listed(value) if name.lower() == "search_path" else [value]
    arguments = [{"A_Const": {"sval": {"sval": word}}} for word in words or [""]]
    set_variable(session, {"kind": "VAR_SET_VALUE", "name": name, "args": arguments, "is_local": local})
    return Result(("set_config",), (oids.TEXT,), ((value,),), 1)


def _set_replication_role(session: Backend, node: Node) -> None:
    value = None
    if node["kind"] == "VAR_SET_VALUE":
        value = _word(node).lower()
        if value not in ("origin", "replica", "local"):
            raise ServerError("22023", f'invalid value for parameter "{ROLE}": "{_word(node)}"')
    session.catalog_session.set(ROLE, value, local=node.get("is_local", False))


def _word(node: Node) -> str:
    constant = node["args"][0]["A_Const"]
    return str(constant["sval"]["sval"]) if "sval" in constant else ""


def is_replica(session: Backend) -> bool:
    """Whether only triggers that are ENABLE REPLICA or ENABLE ALWAYS fire."""
    return bool(session.catalog_session.setting(ROLE) == "replica")


def set_constraints(session: Backend, node: Node) -> Result:
    """SET CONSTRAINTS: IMMEDIATE also checks what was deferred (AfterTriggerSetState)."""
    transaction, deferred = session.current, node.get("deferred", False)
    names = [item["RangeVar"]["relname"] for item in node.get("constraints", ())]
    for name in names:
        _refuse_not_deferrable(session, name)
    if transaction.implicit:
        return NOTHING  # a warning: it can only be used in transaction blocks
    transaction.timings = {**transaction.timings, **dict.fromkeys(names, deferred)} if names else {"": deferred}
    if not deferred:
        session.run_deferred(names)
    return NOTHING


def _refuse_not_deferrable(session: Backend, name: str) -> None:
    catalog = session.database.catalog
    deferrable = [row.deferrable for row in catalog.constraints.values() if row.name == name]
    triggers = [row.oid for row in catalog.others.values() if row.kind == "trigger" and row.name == name]
    nodes = [catalog.definitions[("trigger", oid)] for oid in triggers]
    deferrable += [node.get("deferrable", False) for node in nodes if node.get("isconstraint")]
    if not deferrable:
        raise ServerError("42704", f'constraint "{name}" does not exist')
    if not any(deferrable):
        raise ServerError("42809", f'constraint "{name}" is not deferrable')
