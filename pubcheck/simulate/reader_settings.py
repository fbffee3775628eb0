"""The settings of the session that reads a slot: which of them change a stream, and the values that they may have."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.postgres.ddl.settings import VALUES
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.input.datetime_fields import Fault
from pubcheck.postgres.input.zones import named
from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.slot import work_mem
from pubcheck.simulate.not_followed import NotFollowed

_OTHERS = ("client_encoding", "search_path")


def refuse_settings(settings: Mapping[str, str], major: int) -> None:
    """Raise ServerError for a value that a server refuses, and NotFollowed for a setting that changes no stream."""
    for name, value in settings.items():
        _refuse(name.lower(), value, major)


def _refuse(name: str, value: str, major: int) -> None:
    if name == "logical_decoding_work_mem":
        work_mem(value)
    elif name == "debug_logical_replication_streaming":
        if value.lower() not in ("buffered", "immediate"):
            raise _invalid(name, value)
    elif name == "timezone":
        if not value[:1].isalpha():
            return  # a number of hours, or a rule of POSIX
        try:
            named(Database(major).session().inputs, value.lower())
        except Fault:
            raise _invalid("TimeZone", value) from None
    elif name in VALUES:
        quoted = value.replace("'", "''")
        Database(major).session().run(f"SET {name} = '{quoted}'")
    elif name not in _OTHERS:
        raise NotFollowed(f"the setting {name} changes nothing in a stream")


def _invalid(name: str, value: str) -> ServerError:
    return ServerError("22023", f'invalid value for parameter "{name}": "{value}"')
