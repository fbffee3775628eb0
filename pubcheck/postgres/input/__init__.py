"""Input functions of PostgreSQL's types: the server reads constants while it analyses an expression.

``read`` returns the value that the server's input function reads from a text, or raises the server's error. Modules
are imported when the first literal of their kind is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import EXTENSION, TYPE
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.versions import BY_NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable


FIRST_DAY, END_DAY = -2451545, 2147483494 - 2451545
"""The first day that a date can hold, and the first one that it cannot, in days since 2000 (IS_VALID_DATE)."""
FIRST_TIMESTAMP, END_TIMESTAMP = -211813488000000000, 9223371331200000000
"""The same of a timestamp, in microseconds since 2000 (IS_VALID_TIMESTAMP)."""
SPACE = " \t\n\v\f\r"
"""The spaces of isspace() in the C locale; input functions read bytes, so that other spaces do not count."""


def after_blanks(text: str, pos: int) -> int:
    """Return the first position from ``pos`` on that is not a space."""
    while pos < len(text) and text[pos] in SPACE:
        pos += 1
    return pos


def input_error(
    sqlstate: str,
    message: str,
    detail: str | None = None,
    hint: str | None = None,
    *,
    key: str = "literal",
    **arguments: str,
) -> ServerError:
    """Return the error of an input function; the caller that knows the literal's place adds it."""
    return ServerError(sqlstate, message, key=key, detail=detail, hint=hint, location=None, culprit=None, **arguments)


INVALID_SYNTAX = 'invalid input syntax for type {type}: "{text}"'


def invalid(type_name: str, text: str) -> ServerError:
    """22P02, the error of most input functions."""
    return input_error("22P02", INVALID_SYNTAX, key="literal-syntax", type=type_name, text=text)


def out_of_range(type_name: str, text: str) -> ServerError:
    return input_error("22003", f'value "{text}" is out of range for type {type_name}')


_MODULES = {
    "numbers": "INT2 INT4 INT8 OID XID CID XID8 OID8 INT2VECTOR OIDVECTOR NUMERIC FLOAT4 FLOAT8 MONEY",
    "strings": "TEXT UNKNOWN CSTRING REFCURSOR VARCHAR BPCHAR NAME BOOL CHAR BYTEA BIT VARBIT UUID PG_LSN TID "
    "PG_SNAPSHOT TXID_SNAPSHOT",
    "network": "INET CIDR MACADDR MACADDR8",
    "documents": "JSON JSONB XML",
    "jsonpath": "JSONPATH",
    "geometry": "POINT LSEG PATH BOX POLYGON LINE CIRCLE",
    "textsearch": "TSVECTOR TSQUERY",
    "reg_types": "ACLITEM REGPROC REGPROCEDURE REGOPER REGOPERATOR REGCLASS REGTYPE REGCONFIG REGDICTIONARY "
    "REGNAMESPACE REGROLE REGCOLLATION REGDATABASE",
    "datetime": "DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ INTERVAL",
}
"""The modules that have the reader of types, read_int2 and so on, under the names of ``oids``."""
_HOMES = {
    getattr(oids, name): f"{module}:read_{name.lower()}" for module, names in _MODULES.items() for name in names.split()
}
_READERS: Deferred[int, Any] = Deferred("pubcheck.postgres.input", _HOMES)
_READERS_OF_KINDS: Deferred[str, Any] = Deferred(
    "pubcheck.postgres.input",
    {
        "c": "containers:read_composite",
        "d": "containers:read_domain",
        "e": "containers:read_enum",
        "m": "containers:read_multirange",
        "r": "containers:read_range",
        "array": "arrays:read_array",
        "extension": "contrib:read_contrib",
    },
)
"""The readers by pg_type.typtype, and those of arrays and of types of extensions."""
_OF_PARTS, _OF_RANGES = frozenset("cde"), frozenset("mr")

_WITHOUT_INPUT = {
    194: "pg_node_tree", 3361: "pg_ndistinct", 3402: "pg_dependencies", 5017: "pg_mcv_list", 3642: "gtsvector",
    4600: "pg_brin_bloom_summary", 4601: "brin_minmax_multi_summary", 32: "pg_ddl_command",
    269: "table_am_handler", 325: "index_am_handler", 2276: "any", 2277: "anyarray", 2279: "trigger",
    2280: "language_handler", 2281: "internal", 2283: "anyelement", 2776: "anynonarray", 3115: "fdw_handler",
    3310: "tsm_handler", 3500: "anyenum", 3831: "anyrange", 3838: "event_trigger", 4537: "anymultirange",
    4538: "anycompatiblemultirange", 5077: "anycompatible", 5078: "anycompatiblearray",
    5079: "anycompatiblenonarray", 5080: "anycompatiblerange",
}  # fmt: skip
"""Types whose input function always refuses (pseudotypes.c and the like)."""

_GTSVECTOR = 3642


class InputContext:
    """The context of reading a literal, besides its text.

    ``major`` is the server's. ``setting`` gives a run-time parameter, None where the unit does not set it. ``cache`` is
    the SysCache, whose ``session`` reg* types look names up in. ``frozen`` collects the causes that fixed the value
    when it was read: "now", "zone" (TimeZone), "datestyle" (DateStyle).
    """

    __slots__ = ("cache", "frozen", "major", "setting")

    def __init__(self, major: int, cache: Any, setting: Callable[[str], Any] = lambda name: None) -> None:
        self.major = BY_NUMBER[major]
        self.cache = cache
        self.setting = setting
        self.frozen: set[str] = set()

    def read(self, type_oid: int, text: str, typmod: int = -1) -> Any:
        """``read`` in this context, for the parts of a value."""
        return read(self, type_oid, text, typmod)


def read(context: InputContext, type_oid: int, text: str, typmod: int = -1) -> Any:
    """Return the value that the type's input function reads from a text, in this package's own form.

    Raises ServerError, without location, where the server does, and Unknowable.
    """
    if type_oid not in _HOMES:
        return _read_other(context, type_oid, text, typmod)
    return _READERS[type_oid](context, text, typmod)


def _read_other(context: InputContext, type_oid: int, text: str, typmod: int) -> Any:
    if type_oid in _WITHOUT_INPUT:
        if type_oid == _GTSVECTOR and not context.major.input_refused_by_name:
            raise input_error("0A000", "gtsvector_in not implemented")
        raise input_error("0A000", f"cannot accept a value of type {_WITHOUT_INPUT[type_oid]}")
    if type_oid == oids.VOID:
        return None
    if type_oid == oids.RECORD:
        raise input_error("0A000", "input of anonymous composite types is not implemented")
    cache = context.cache
    row = cache.type(type_oid)
    if row.kind in _OF_PARTS:
        return _READERS_OF_KINDS[row.kind](context, row, text)
    if row.kind in _OF_RANGES:
        return _READERS_OF_KINDS[row.kind](context, row, text, typmod)
    element = cache.element_type(type_oid)
    if element:
        return _READERS_OF_KINDS["array"](context, element, text, typmod)
    if any(how == EXTENSION for _, (_, _, how) in cache.catalog.dependencies.get((TYPE, type_oid))):
        return _READERS_OF_KINDS["extension"](context, row, text)
    raise Unknowable(f"the input function of type {row.name}")
