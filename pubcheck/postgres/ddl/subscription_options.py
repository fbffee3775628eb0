"""WITH options of a subscription (commands/subscriptioncmds.c: parse_subscription_options), and the rights to create,
change and own one.

Before 16 only superusers have them. Roles that the unit did not create are assumed to be superusers, as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog.rows import Role, Subscription
from pubcheck.postgres.conninfo import has_password
from pubcheck.postgres.errors import NO_CREATE_IN_DATABASE, NO_SET_ROLE, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import truth, value_text
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import ascii_lower
from pubcheck.postgres.versions import Major

KEY = "subscription"
_NOT_BOOLEAN = "subscription-option-not-boolean"

_ALTERABLE = frozenset(("binary", "disable_on_error", "slot_name", "streaming", "synchronous_commit"))
SUPPORTED: Mapping[str, frozenset[str]] = {
    "create": frozenset((*_ALTERABLE, "connect", "copy_data", "create_slot", "enabled", "two_phase")),
    "alter": _ALTERABLE,
    "publications": frozenset(("copy_data", "refresh")),
    "refresh": frozenset(("copy_data",)),
    "enabled": frozenset(("enabled",)),
    "skip": frozenset(("lsn",)),
}
"""The options of each statement on every major."""
_OF_EXTENSIONS = "citus_"
"""The prefix of options that an extension removes before the server sees them. Other extensions may do the same."""
_COMMITS = ("local", "remote_write", "remote_apply", "on", "off", "true", "false", "yes", "no", "1", "0")
_SLOT_LENGTH = 64

_TEMPLATES = frozenset("${}<>@%:#[]")

Options = dict[str, Any]
"""The values of options: texts, truth values, and None for a slot_name of NONE."""


def is_abbreviation(text: str) -> bool:
    """Return whether a text in quotes looks like a placeholder that is filled in before it is run."""
    return not _TEMPLATES.isdisjoint(text)


def parse_options(session: Session, nodes: Iterable[Node], about: str) -> Options:
    """Return the options, read from left to right. Raises ServerError at the first that the server refuses."""
    major = session.catalog.major
    supported = SUPPORTED[about]
    if about in ("create", "alter"):
        supported |= major.subscription_options
    if about == "alter" and major.alters_two_phase:
        supported |= {"two_phase"}
    options: Options = {}
    for item in nodes:
        element = item["DefElem"]
        name, location = element["defname"], element.get("location", 0)
        try:
            if name not in supported:
                if session.extensions or name.startswith(_OF_EXTENSIONS):
                    session.assume("whether an extension adds this parameter")
                message = 'unrecognized subscription parameter: "{option}"'
                raise ServerError("42601", message, key="subscription-option", option=name)
            if name in options:
                # errorConflictingDefElem; the only option error with a position.
                raise ServerError("42601", "conflicting or redundant options", key=KEY, location=location)
            options[name] = _VALUES.get(name, _boolean)(name, element.get("arg"), major)
        except ServerError as error:
            if error.culprit is None:
                error.culprit = location
            raise
    return options


def exclude(options: Options) -> None:
    """Raise ServerError 42601 for contradictory options in CREATE SUBSCRIPTION, and set the implied defaults."""
    if not options.setdefault("connect", True):
        for name in ("enabled", "create_slot", "copy_data"):
            if options.setdefault(name, False):
                raise _exclusive("connect = false", name)
    options.setdefault("enabled", True)
    options.setdefault("create_slot", True)


def exclude_without_slot(options: Options, option_names: Iterable[str]) -> None:
    """Raise ServerError 42601 for options that exclude slot_name = NONE; ``option_names`` are those written."""
    if "slot_name" not in options or options["slot_name"] is not None:
        return
    for name in ("enabled", "create_slot"):
        if options.get(name):
            if name in option_names:
                raise _exclusive("slot_name = NONE", name)
            message = "subscription with slot_name = NONE must also set {option}"
            raise ServerError("42601", message, key="option-without-slot", option=f"{name} = false")


def _exclusive(first: str, name: str) -> ServerError:
    message = "{one} and {other} are mutually exclusive options"
    return ServerError("42601", message, key="exclusive-options", one=first, other=f"{name} = true")


# Values.


def _boolean(name: str, arg: Node | None, major: Major) -> bool:
    value = truth(arg)
    if value is None:
        raise ServerError("42601", "{option} requires a Boolean value", key=_NOT_BOOLEAN, option=name)
    return value


def _text(name: str, arg: Node | None) -> str:
    if arg is None:
        raise ServerError("42601", f"{name} requires a parameter", key=KEY)
    return value_text(arg)


def _streaming(name: str, arg: Node | None, major: Major) -> object:
    """defGetStreamingMode."""
    if not major.parallel_streaming:
        return _boolean(name, arg, major)
    if arg is not None and "Integer" not in arg and ascii_lower(value_text(arg)) == "parallel":
        return "parallel"
    value = truth(arg)
    if value is None:
        message = '{option} requires a Boolean value or "parallel"'
        raise ServerError("42601", message, key=_NOT_BOOLEAN, option=name)
    return value


def _slot_name(name: str, arg: Node | None, major: Major) -> str | None:
    """ReplicationSlotValidateName."""
    slot = _text(name, arg)
    if slot == "none":
        return None
    if is_abbreviation(slot):
        return slot
    if not slot:
        raise ServerError("42602", f'replication slot name "{slot}" is too short', key=KEY)
    if len(slot.encode()) >= _SLOT_LENGTH:
        raise ServerError("42622", f'replication slot name "{slot}" is too long', key=KEY)
    if not all("a" <= char <= "z" or "0" <= char <= "9" or char == "_" for char in slot):
        raise ServerError(
            "42602",
            f'replication slot name "{slot}" contains invalid character',
            key=KEY,
            hint="Replication slot names may only contain lower case letters, numbers, and the underscore character.",
        )
    return slot


def _synchronous_commit(name: str, arg: Node | None, major: Major) -> str:
    value = _text(name, arg)
    if ascii_lower(value) not in _COMMITS:
        raise ServerError(
            "22023",
            f'invalid value for parameter "{name}": "{value}"',
            key=KEY,
            hint="Available values: local, remote_write, remote_apply, on, off.",
        )
    return value


def _origin(name: str, arg: Node | None, major: Major) -> str:
    value = _text(name, arg)
    if ascii_lower(value) not in ("none", "any"):
        raise ServerError("22023", f'unrecognized origin value: "{value}"', key=KEY)
    return value


def _retention(name: str, arg: Node | None, major: Major) -> int:
    """defGetInt32."""
    if arg is None or "Integer" not in arg:
        raise ServerError("42601", f"{name} requires an integer value", key=KEY)
    value: int = arg["Integer"].get("ival", 0)
    if value < 0:
        raise ServerError("22023", f'option "{name}" cannot be negative', key=KEY)
    return value


def _timeout(name: str, arg: Node | None, major: Major) -> str:
    """A number of milliseconds, or of a unit (parse_int); -1 means the setting of that name."""
    value = _text(name, arg)
    if _DURATION.fullmatch(value) is None:
        raise ServerError("22023", f'invalid value for parameter "{name}": "{value}"', key=KEY)
    return value


def _lsn(name: str, arg: Node | None, major: Major) -> str:
    """pg_lsn_in: two numbers of up to eight hexadecimal digits."""
    value = _text(name, arg)
    if value == "none":
        return value
    digits = value.split("/")
    if len(digits) != 2 or not all(0 < len(part) <= 8 and set(part) <= _HEXADECIMAL for part in digits):
        raise ServerError("22P02", f'invalid input syntax for type pg_lsn: "{value}"', key=KEY)
    if not any(int(part, 16) for part in digits):
        raise ServerError("22023", f"invalid WAL location (LSN): {value}", key=KEY)
    return value


_DURATION = lazy_compile(r"\s*(?:-1|\+?[0-9.]+\s*(?:us|ms|s|min|h|d)?)\s*", re.ASCII)
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_VALUES: Mapping[str, Callable[[str, Node | None, Major], object]] = {
    "lsn": _lsn,
    "max_retention_duration": _retention,
    "origin": _origin,
    "slot_name": _slot_name,
    "streaming": _streaming,
    "synchronous_commit": _synchronous_commit,
    "wal_receiver_timeout": _timeout,
}


_KEY = "permission"
_HINT = "Subscriptions with the password_required option set to false may only be created or modified by the superuser."


def refuse_creation(session: Session, password_required: bool) -> None:
    """CreateSubscription. Raises ServerError 42501."""
    if session.superuser():
        return
    if not session.catalog.major.subscription_rights:
        raise ServerError("42501", "must be superuser to create subscriptions", key=_KEY)
    needed = session.role_named("pg_create_subscription")
    if not session.has_privileges_of(needed.oid):
        raise ServerError(
            "42501",
            "permission denied to create subscription",
            key=_KEY,
            detail='Only roles with privileges of the "pg_create_subscription" role may create subscriptions.',
        )
    _require_database(session)
    refuse_without_password(session, password_required)


def refuse_without_password(session: Session, password_required: bool) -> None:
    """Raise ServerError 42501 for a role other than a superuser without a password."""
    if not password_required and not session.superuser():
        raise ServerError("42501", "password_required=false is superuser-only", key=_KEY, hint=_HINT)


def require_password(session: Session, connection: str, owner: Role, password_required: bool) -> None:
    """libpqrcv_check_conninfo: the connection string of an owner that is not a superuser. Raises ServerError 2F003."""
    if not session.catalog.major.subscription_rights or owner.superuser or not owner.seen or not password_required:
        return
    if not has_password(connection):
        raise ServerError(
            "2F003",
            "password is required",
            key=_KEY,
            detail="Non-superusers must provide a password in the connection string.",
        )


def refuse_renaming(session: Session) -> None:
    """Raise ServerError 42501: RENAME TO needs CREATE on the database, from 16 on."""
    if session.catalog.major.subscription_rights:
        _require_database(session)


def refuse_owner(session: Session, row: Subscription, new: Role) -> None:
    """AlterSubscriptionOwner_internal, once the current owner is checked. Raises ServerError 42501."""
    if not session.catalog.major.subscription_rights:
        if new.seen and not new.superuser:
            raise ServerError(
                "42501",
                f'permission denied to change owner of subscription "{row.name}"',
                key=_KEY,
                hint="The owner of a subscription must be a superuser.",
            )
        return
    refuse_without_password(session, row.password_required)
    if not session.member_of(new.oid):
        raise ServerError("42501", NO_SET_ROLE, key="set-role", role=new.name)
    _require_database(session)


def _require_database(session: Session) -> None:
    if not session.may_create_in_database():
        catalog = session.catalog
        session.assume_database()
        raise ServerError("42501", NO_CREATE_IN_DATABASE, key="create-in-database", database=catalog.database)
