"""The input function of each type, and the context that it reads in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubcheck.postgres.catalog import EXTENSION, TYPE
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.common import input_error
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.versions import BY_NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable

_HOMES: dict[int, str] = {
    oid: home
    for home, oids in {
        "numbers:read_int2": (21,),
        "numbers:read_int4": (23,),
        "numbers:read_int8": (20,),
        "numbers:read_oid": (26,),
        "numbers:read_xid": (28,),
        "numbers:read_cid": (29,),
        "numbers:read_xid8": (5069,),
        "numbers:read_oid8": (6437,),
        "numbers:read_int2vector": (22,),
        "numbers:read_oidvector": (30,),
        "numbers:read_numeric": (1700,),
        "numbers:read_float4": (700,),
        "numbers:read_float8": (701,),
        "numbers:read_money": (790,),
        "strings:read_bool": (16,),
        # text, unknown, cstring, refcursor
        "strings:read_text": (25, 705, 2275, 1790),
        "strings:read_varchar": (1043,),
        "strings:read_bpchar": (1042,),
        "strings:read_name": (19,),
        "strings:read_char": (18,),
        "strings:read_bytea": (17,),
        "strings:read_bit": (1560,),
        "strings:read_varbit": (1562,),
        "strings:read_uuid": (2950,),
        "strings:read_pg_lsn": (3220,),
        "strings:read_tid": (27,),
        "strings:read_pg_snapshot": (5038, 2970),
        "network:read_inet": (869,),
        "network:read_cidr": (650,),
        "network:read_macaddr": (829,),
        "network:read_macaddr8": (774,),
        "json:read_json": (114,),
        "json:read_jsonb": (3802,),
        "jsonpath:read_jsonpath": (4072,),
        "xml:read_xml": (142,),
        "geometry:read_point": (600,),
        "geometry:read_lseg": (601,),
        "geometry:read_path": (602,),
        "geometry:read_box": (603,),
        "geometry:read_polygon": (604,),
        "geometry:read_line": (628,),
        "geometry:read_circle": (718,),
        "textsearch:read_tsvector": (3614,),
        "textsearch:read_tsquery": (3615,),
        "reg_types:read_aclitem": (1033,),
        "reg_types:read_regproc": (24,),
        "reg_types:read_regprocedure": (2202,),
        "reg_types:read_regoper": (2203,),
        "reg_types:read_regoperator": (2204,),
        "reg_types:read_regclass": (2205,),
        "reg_types:read_regtype": (2206,),
        "reg_types:read_regconfig": (3734,),
        "reg_types:read_regdictionary": (3769,),
        "reg_types:read_regnamespace": (4089,),
        "reg_types:read_regrole": (4096,),
        "reg_types:read_regcollation": (4191,),
        "reg_types:read_regdatabase": (6490,),
        "datetime:read_date": (1082,),
        "datetime:read_time": (1083,),
        "datetime:read_timetz": (1266,),
        "datetime:read_timestamp": (1114,),
        "datetime:read_timestamptz": (1184,),
        "datetime:read_interval": (1186,),
    }.items()
    for oid in oids
}
_READERS: Deferred[int, Any] = Deferred("pubcheck.postgres.input", _HOMES)
_READERS_OF_KINDS: Deferred[str, Any] = Deferred(
    "pubcheck.postgres.input",
    {
        "c": "composite:read_composite",
        "d": "composite:read_domain",
        "e": "composite:read_enum",
        "m": "ranges:read_multirange",
        "r": "ranges:read_range",
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

_VOID = 2278
_GTSVECTOR = 3642
_RECORD = 2249


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
    if type_oid == _VOID:
        return None
    if type_oid == _RECORD:
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
