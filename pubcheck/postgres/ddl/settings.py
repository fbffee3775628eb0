"""Settings of a session: SET, RESET, set_config(), transactions, DISCARD.

Follows utils/misc/guc_funcs.c (ExecSetVariableStmt), commands/variable.c (check_role, check_session_authorization),
utils/adt/varlena.c (SplitIdentifierString), access/transam/xact.c and commands/discard.c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pubcheck.postgres.catalog import SUPERUSER, TEMPORARY
from pubcheck.postgres.ddl.deletion import drop_at_commit, drop_temporary
from pubcheck.postgres.ddl.new_objects import truncate
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find, uncast
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import DEFAULT_PATH, MISSING_ROLE, READ_ONLY
from pubcheck.postgres.tokens import split_identifiers

_READ_ONLY = (READ_ONLY, "default_transaction_read_only")
_FOLLOWED = frozenset(("search_path", "role", "session_authorization"))

VALUES: dict[str, tuple[str, ...]] = {
    "allow_system_table_mods": ("on", "off"),
    "array_nulls": ("on", "off"),
    "bytea_output": ("hex", "escape"),
    "check_function_bodies": ("on", "off"),
    "datestyle": (),
    "default_text_search_config": (),
    "extra_float_digits": (),
    "intervalstyle": ("postgres", "postgres_verbose", "sql_standard", "iso_8601"),
    "lc_monetary": (),
    "lc_numeric": (),
    "lc_time": (),
    "quote_all_identifiers": ("on", "off"),
    "standard_conforming_strings": ("on", "off"),
    "timezone": (),
    "transform_null_equals": ("on", "off"),
    "xmlbinary": ("base64", "hex"),
    "xmloption": ("content", "document"),
}
"""The settings by which the server reads literals and expressions, with the values of an enumeration (a Boolean is on
or off).

Their values are kept as text. datestyle is the style and the order, "ISO, DMY"; one of them is missing if the unit has
not set it ("ISO", "DMY"). timezone is as written: also a number of hours, or INTERVAL '...'.
"""
_TRIGGERS = {"event_triggers": ("on", "off"), "session_replication_role": ("origin", "replica", "local")}
"""The settings that decide whether event triggers fire. Only superusers set them."""
_KEPT = {**VALUES, **_TRIGGERS}
_SHOWN = {"datestyle": "DateStyle", "intervalstyle": "IntervalStyle", "timezone": "TimeZone"}
_TRUTHS = ("true", "t", "on", "yes", "1")
_TRUE, _FALSE = ("true", "yes"), ("false", "no")
_STYLES = {"iso": "ISO", "sql": "SQL", "german": "German"}
_ORDERS = {"ymd": "YMD", "dmy": "DMY", "mdy": "MDY", "us": "MDY"}


def set_variable(session: Session, node: Node) -> None:
    """SET and RESET of search_path, role, session_authorization and of those in _KEPT; others change nothing here.

    Raises ServerError 22023, 42501, 42704 and 0A000.
    """
    kind, local = node["kind"], node.get("is_local", False)
    if kind == "VAR_RESET_ALL":
        _reset_all(session)
        return
    if kind == "VAR_SET_MULTI":
        _set_characteristics(session, node.get("args", ()), local=node["name"] == "TRANSACTION")
        return
    name = node.get("name", "").lower()
    if name in _READ_ONLY:
        _set_read_only(session, node, local=local or name == READ_ONLY)
        return
    if _is_unknown(session, name):
        raise ServerError("42704", f'unrecognized configuration parameter "{name}"')
    if name in _TRIGGERS and not session.superuser():
        raise ServerError("42501", f'permission denied to set parameter "{name}"')
    if name in _KEPT and kind != "VAR_SET_CURRENT":
        value = session.starting.get(name)
        if kind == "VAR_SET_VALUE":
            arguments = [_text(argument) for argument in node["args"]]
            if len(arguments) > 1 and name != "datestyle":
                raise ServerError("22023", f"SET {name} takes only one argument")
            value = _value(session, name, ", ".join(arguments))
            off = name == "standard_conforming_strings" and value == "off"
            if off and session.catalog.major.standard_strings_only:
                raise ServerError("0A000", "non-standard string literals are not supported")
        session.set(name, value, local=local)
    if name not in _FOLLOWED:
        return
    if kind == "VAR_SET_CURRENT":
        session.set(name, session.setting(name), local=local)
    elif kind != "VAR_SET_VALUE":
        _reset(session, name, local)
    else:
        values = [_text(argument) for argument in node["args"]]
        if name == "search_path":
            _set_path(session, values, local)
        else:
            _set_role(session, name, values[0], local)


def _is_unknown(session: Session, name: str) -> bool:
    major = session.catalog.major
    return (name == "escape_string_warning" and major.standard_strings_only) or (
        name == "event_triggers" and not major.event_triggers_setting
    )


def _set_characteristics(session: Session, options: Sequence[Node], *, local: bool = True) -> None:
    """READ ONLY and READ WRITE of BEGIN, SET TRANSACTION and SET SESSION CHARACTERISTICS."""
    for item in options:
        option = item.get("DefElem", {})  # that of SET TRANSACTION SNAPSHOT is a constant
        if option.get("defname") == READ_ONLY:
            _set_read_only(session, {"kind": "VAR_SET_VALUE", "args": [option["arg"]]}, local=local)


def _set_read_only(session: Session, node: Node, *, local: bool) -> None:
    """default_transaction_read_only; ``local``: of this transaction alone. Raises ServerError 22023."""
    value = False
    if node["kind"] == "VAR_SET_VALUE":
        value = _boolean("default_transaction_read_only", _text(node["args"][0])) == "on"
    if local or session.transaction is None:
        session.set(READ_ONLY, value, local=local)
    else:
        # This applies to later transactions: the current one stays as it is.
        session.catalog.settings.put(READ_ONLY, session.setting(READ_ONLY))
        session.catalog.settings.put(f"session {READ_ONLY}", value)


def keep_default(session: Session, node: Node) -> None:
    """ALTER DATABASE and ALTER ROLE ... SET: for later connections."""
    role = session.role_spec(node["role"]).name if "role" in node else ""
    database: str = node.get("dbname") or node.get("database", "")
    session.defaults.append((database, role, node["setstmt"]))


def connect(session: Session, node: Node) -> None:
    """Start a new connection outside of a transaction, as node["user"] or, if that is "", as the current user."""
    user: str = node["user"] or session.catalog.roles[session.setting("session_authorization")].name
    if node["user"]:
        # The settings of the first connection were those of its own user.
        session.starting, session.user = {"search_path": DEFAULT_PATH}, ""
    discard(session, {"target": "DISCARD_ALL"})
    _set_role(session, "session_authorization", user, local=False)
    for database, role, statement in session.defaults:
        if database in ("", session.catalog.database) and role in ("", user):
            with suppress(ServerError):  # a warning
                set_variable(session, statement)


def start_connection(session: Session, texts: Mapping[str, str]) -> None:
    """Begin the connection with settings as pg_settings shows them. Those that this major does not allow are left
    out."""
    settings: dict[str, Any] = {}
    for name, text in texts.items():
        with suppress(ServerError):
            if name == "search_path":
                settings[name] = _path(listed(text))
            elif name in VALUES:
                settings[name] = _value(session, name, text)
    session.start_with(settings)


def set_statement(name: str, text: str) -> Node:
    """Return the VariableSetStmt that gives a setting the value that pg_db_role_setting has."""
    values = listed(text) if name == "search_path" else [text]
    arguments = [{"A_Const": {"sval": {"sval": value}}} for value in values]
    return {"kind": "VAR_SET_VALUE", "name": name, "args": arguments}


def _reset_all(session: Session) -> None:
    """RESET ALL; role and session_authorization are GUC_NO_RESET_ALL."""
    session.set("search_path", session.starting["search_path"])
    if session.setting(READ_ONLY) and session.transaction is None:
        session.set(READ_ONLY, False)
    for name in _KEPT:
        if session.setting(name) != session.starting.get(name):
            session.set(name, session.starting.get(name))


def _value(session: Session, name: str, text: str) -> str | None:
    """The text of a setting as it is kept. Raises ServerError 22023."""
    if name == "datestyle":
        return _date_style(session.setting(name), text)
    allowed, word = _KEPT[name], text.lower()
    if not allowed or word in allowed:
        return word if allowed else text
    if allowed == ("on", "off") and word:
        return _boolean(name, word)
    raise ServerError("22023", f'invalid value for parameter "{_SHOWN.get(name, name)}": "{text}"')


def _boolean(name: str, text: str) -> str:
    """parse_bool: any prefix that says which, as "on" or "off". Raises ServerError 22023."""
    prefix = text.lower()
    if prefix and (any(word.startswith(prefix) for word in _TRUE) or prefix in ("on", "1")):
        return "on"
    if prefix and (any(word.startswith(prefix) for word in _FALSE) or prefix in ("off", "of", "0")):
        return "off"
    raise ServerError("22023", f'parameter "{name}" requires a Boolean value')


def _date_style(current: str | None, text: str) -> str | None:
    """check_datestyle: style and order, each kept where the text does not say it; None for DEFAULT.

    Raises ServerError 22023.
    """
    held = (current or "").split(", ")
    style = next((word for word in held if word in ("ISO", "SQL", "German", "Postgres")), "")
    order = next((word for word in held if word in ("YMD", "DMY", "MDY")), "")
    said_style, said_order = "", ""
    for name in listed(text, "DateStyle"):
        word = name.lower()
        if word == "default":
            # The server's own, where nothing else was said.
            style, order = said_style, said_order
            continue
        new_style = "Postgres" if word.startswith("postgres") else _STYLES.get(word, "")
        new_order = "DMY" if word.startswith("euro") else "MDY" if word.startswith("noneuro") else _ORDERS.get(word, "")
        wrong = (new_style and said_style not in ("", new_style)) or (new_order and said_order not in ("", new_order))
        if wrong or not (new_style or new_order):
            raise ServerError("22023", f'invalid value for parameter "DateStyle": "{text}"')
        style, said_style = new_style or style, new_style or said_style
        order, said_order = new_order or order, new_order or said_order
        if word == "german" and not said_order:
            order = "DMY"
    return ", ".join(part for part in (style, order) if part) or None


def _text(argument: Node) -> str:
    """A SET's value as text (flatten_set_variable_args)."""
    if "TypeCast" in argument:
        # Only SET TIME ZONE INTERVAL '...' has one.
        return f"INTERVAL '{_text(argument['TypeCast']['arg'])}'"
    constant: dict[str, Any] = argument.get("A_Const", {})
    if "ival" in constant:
        return str(constant["ival"].get("ival", 0))
    if "fval" in constant:
        return str(constant["fval"].get("fval", ""))
    return str(constant.get("sval", {}).get("sval", ""))


def _set_path(session: Session, schemas: list[str], local: bool) -> None:
    session.set("search_path", _path(schemas), local=local)


def _path(schemas: list[str]) -> tuple[str, ...]:
    # An empty name is how an empty path is written; no schema can have it.
    return tuple(truncate(schema) for schema in schemas if schema)


def _role(session: Session, name: str) -> int:
    """check_role: a role that does not exist is a value that the setting cannot have."""
    try:
        return session.role_named(name).oid
    except ServerError as error:
        error.sqlstate = "22023"
        raise


def _set_role(session: Session, name: str, role: str, local: bool) -> None:
    """SET ROLE asks what the session's user may be; SET SESSION AUTHORIZATION what its authenticated user is.

    A whole unit that did not create the role does not say whether the server refuses it: nothing is held against such
    a role, so that it makes no difference except for "$user" and for DROP OWNED. The session's role stays what it is.
    """
    if name == "session_authorization":
        oid = _role(session, role)
        user = session.catalog.roles[SUPERUSER]
        if _perhaps_missing(session, oid, local):
            return
        if oid != user.oid and not user.superuser:
            raise ServerError("42501", f'permission denied to set session authorization "{role}"')
        session.set(name, oid, local=local)
        _become(session, oid, local)
        return
    user = session.catalog.roles[session.setting("session_authorization")]
    if role == "none":
        _become(session, user.oid, local)
        return
    oid = _role(session, role)
    if _perhaps_missing(session, oid, local):
        return
    if not session.member_of(oid, user):
        raise ServerError("42501", f'permission denied to set role "{role}"')
    _become(session, oid, local)


def _become(session: Session, role: int, local: bool) -> None:
    session.set("role", role, local=local)
    session.set(MISSING_ROLE, 0, local=local)


def _perhaps_missing(session: Session, role: int, local: bool) -> bool:
    if session.complete and not session.catalog.roles[role].seen:
        session.set(MISSING_ROLE, role, local=local)
        return True
    return False


def _reset(session: Session, name: str, local: bool) -> None:
    if name == "search_path":
        session.set(name, session.starting[name], local=local)
        return
    if name == "session_authorization":
        session.set(name, SUPERUSER, local=local)
    _become(session, session.setting("session_authorization"), local)


def select(session: Session, node: Node) -> None:
    """SELECT: set_config() in the select list, as in pg_dump's output, and SELECT INTO; other functions are not
    followed.

    Raises ServerError 22023, 42501, and those of CREATE TABLE AS.
    """
    if "larg" in node or "intoClause" in node:
        from pubcheck.postgres.ddl.views import select_into

        if select_into(session, node):
            return
    called = "fromClause" in node
    for _, call in find(node.get("targetList"), "FuncCall"):
        path = [part["String"]["sval"] for part in call["funcname"]]
        if path[-1] == "set_config" and path[0] in ("set_config", "pg_catalog"):
            _set_config(session, call.get("args", []))
        elif path[0] != "pg_catalog":
            called = True
    if called:
        from pubcheck.postgres.ddl.functions import run_called_functions

        run_called_functions(session, node)


def _set_config(session: Session, arguments: list[Node]) -> None:
    if len(arguments) != 3:
        return
    name, value, local = (constant(argument) for argument in arguments)
    name = name.lower() if isinstance(name, str) else name
    if name is None:
        session.blind = True  # any setting, so perhaps the path
    if name in _KEPT:
        # A value that was worked out at run time is as unknown as one that was never said.
        new_value = _value(session, str(name), value) if isinstance(value, str) else None
        session.set(str(name), new_value, local=local is True or str(local).lower() in _TRUTHS)
    if name not in _FOLLOWED:
        return
    if not isinstance(value, str) or local is None:
        # A path that was worked out at run time: what follows may be made and found anywhere.
        session.blind = True
        return
    is_local = local is True or str(local).lower() in _TRUTHS
    if name == "search_path":
        _set_path(session, listed(value), is_local)
    else:
        _set_role(session, name, value, is_local)


def constant(node: Node) -> str | bool | None:
    """The text or truth value that is written down, through casts; None for anything else."""
    constant = uncast(node).get("A_Const")
    if constant is None or constant.get("isnull"):
        return None
    if "boolval" in constant:
        return bool(constant["boolval"].get("boolval", False))
    return str(constant["sval"].get("sval", "")) if "sval" in constant else None


def listed(text: str, parameter: str = "search_path") -> list[str]:
    """Return the names of a list such as search_path. Raises ServerError 22023."""
    identifiers = split_identifiers(text)
    if identifiers is None:
        raise ServerError("22023", f'invalid value for parameter "{parameter}": "{text}"')
    return identifiers


# Transactions.


def transaction(session: Session, node: Node) -> None:
    """BEGIN, COMMIT, ROLLBACK, savepoints. Raises ServerError 25P01 and 3B001 as the server does."""
    kind, chain = node["kind"].removeprefix("TRANS_STMT_"), node.get("chain", False)
    if session.held is not None:
        if kind == "ROLLBACK_PREPARED" and node["gid"] == session.held:
            session.rollback()
            return
        session.commit()
    inside = session.transaction is not None and not session.implicit
    name = node.get("savepoint_name", "")
    if kind in ("BEGIN", "START"):
        session.begin(pretended=node.get("pretended", False), implicit=node.get("implicit", False))
        session.begun = session.begun or session.place(0)
        _set_characteristics(session, node.get("options", ()))
    elif kind in ("COMMIT", "ROLLBACK"):
        if chain and not inside:
            raise ServerError("25P01", f"{kind} AND CHAIN can only be used in transaction blocks")
        read_only = session.setting(READ_ONLY)
        if kind == "COMMIT":
            _commit(session)
        else:
            session.rollback()
        if chain:
            session.begin()
            session.begun = session.place(0)
            if read_only:
                session.set(READ_ONLY, True, local=True)
    elif kind == "PREPARE":
        # A script that prepares a transaction and goes on means to commit it.
        if inside:
            session.held = node["gid"]
    elif kind == "ROLLBACK_PREPARED":
        session.note_unknown_effect(None)  # the changes that it takes away are not known any more
    elif kind in ("SAVEPOINT", "RELEASE", "ROLLBACK_TO"):
        if not inside:
            words = {"SAVEPOINT": "SAVEPOINT", "RELEASE": "RELEASE SAVEPOINT", "ROLLBACK_TO": "ROLLBACK TO SAVEPOINT"}
            raise ServerError("25P01", f"{words[kind]} can only be used in transaction blocks")
        if kind == "SAVEPOINT":
            session.savepoint(name)
        elif not (session.release(name) if kind == "RELEASE" else session.rollback_to(name)):
            raise ServerError("3B001", f'savepoint "{name}" does not exist')


def _commit(session: Session) -> None:
    """COMMIT; temporary tables made ON COMMIT DROP go."""
    if TEMPORARY in session.catalog.namespaces:
        drop_at_commit(session)
    session.commit()


def discard(session: Session, node: Node) -> None:
    """DISCARD ALL or TEMP: remove temporary objects and settings (DiscardAll). Raises ServerError 25001."""
    target = node.get("target")
    if target not in ("DISCARD_ALL", "DISCARD_TEMP"):
        return
    if target == "DISCARD_ALL":
        session.refuse_in_transaction("DISCARD ALL")
        _reset(session, "session_authorization", local=False)
        _reset_all(session)
        session.prepared.clear()
    if TEMPORARY in session.catalog.namespaces:
        drop_temporary(session)
