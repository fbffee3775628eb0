"""The output and send function of each type, and the context that they write in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog import EXTENSION, TYPE
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.versions import BY_NUMBER

Writer = Callable[[Any], str]
Sender = Callable[[Any], bytes]

_HOMES: dict[str, tuple[int, ...]] = {
    # int2, int4, int8, oid, xid, cid, xid8
    "numbers:int2": (21,),
    "numbers:int4": (23,),
    "numbers:int8": (20, 5069),
    "numbers:oid": (26, 28, 29),
    "numbers:numeric": (1700,),
    "numbers:float4": (700,),
    "numbers:float8": (701,),
    "numbers:money": (790,),
    # text, varchar, bpchar, name, unknown, cstring, refcursor, json
    "strings:text": (25, 1043, 1042, 19, 705, 2275, 1790, 114),
    "strings:bool": (16,),
    "strings:char": (18,),
    "strings:bytea": (17,),
    "strings:bit": (1560, 1562),
    "strings:uuid": (2950,),
    "strings:pg_lsn": (3220,),
    "strings:tid": (27,),
    "strings:pg_snapshot": (5038, 2970),
    "strings:xml": (142,),
    "strings:void": (2278,),
    "network:inet": (869,),
    "network:cidr": (650,),
    "network:macaddr": (829, 774),
    "documents:jsonb": (3802,),
    "documents:jsonpath": (4072,),
    "datetime:date": (1082,),
    "datetime:time": (1083,),
    "datetime:timetz": (1266,),
    "datetime:timestamp": (1114,),
    "datetime:timestamptz": (1184,),
    "intervals:interval": (1186,),
    "arrays:vector": (22, 30),
    "geometry:point": (600,),
    "geometry:lseg": (601,),
    "geometry:path": (602,),
    "geometry:box": (603,),
    "geometry:polygon": (604,),
    "geometry:line": (628,),
    "geometry:circle": (718,),
    "textsearch:tsvector": (3614,),
    "textsearch:tsquery": (3615,),
    "reg_types:aclitem": (1033,),
    "reg_types:regproc": (24,),
    "reg_types:regprocedure": (2202,),
    "reg_types:regoper": (2203,),
    "reg_types:regoperator": (2204,),
    "reg_types:regclass": (2205,),
    "reg_types:regtype": (2206,),
    "reg_types:regconfig": (3734,),
    "reg_types:regdictionary": (3769,),
    "reg_types:regnamespace": (4089,),
    "reg_types:regrole": (4096,),
    "reg_types:regcollation": (4191,),
}
_WRITERS: Deferred[int, Any] = Deferred(
    "pubcheck.postgres.output", {oid: f"{home}_out" for home, oids in _HOMES.items() for oid in oids}
)
_SENDERS: Deferred[int, Any] = Deferred(
    "pubcheck.postgres.output", {oid: f"{home}_send" for home, oids in _HOMES.items() for oid in oids}
)
_OF_KINDS = {
    "c": "containers:record",
    "e": "containers:enum",
    "m": "containers:multirange",
    "r": "containers:range",
    "array": "arrays:array",
    "extension": "contrib:contrib",
}
"""The output functions by pg_type.typtype, and those of arrays and of types of extensions."""
_WRITERS_OF_KINDS: Deferred[str, Any] = Deferred(
    "pubcheck.postgres.output", {kind: f"{home}_out" for kind, home in _OF_KINDS.items()}
)
_SENDERS_OF_KINDS: Deferred[str, Any] = Deferred(
    "pubcheck.postgres.output", {kind: f"{home}_send" for kind, home in _OF_KINDS.items()}
)

_WITHOUT_SEND = {1033: "aclitem"}


class OutputContext:
    """What the text of a value depends on, apart from the value.

    ``major`` is the server's. ``cache`` is the SysCache of the session that reads: reg* types show names by its search
    path. ``setting`` gives that session's run-time parameters as text, None for the default: datestyle, timezone,
    intervalstyle, extra_float_digits, bytea_output, quote_all_identifiers, lc_monetary, client_encoding. A context
    reads each setting once: after a SET another context is needed.
    """

    __slots__ = ("_senders", "_writers", "cache", "major", "setting")

    def __init__(self, major: int, cache: Any, setting: Callable[[str], Any] = lambda name: None) -> None:
        self.major = BY_NUMBER[major]
        self.cache = cache
        self.setting = setting
        self._writers: dict[int, Writer] = {}
        self._senders: dict[int, Sender] = {}

    def writer(self, type_oid: int) -> Writer:
        """``writer`` in this context, made once."""
        function = self._writers.get(type_oid)
        if function is None:
            function = self._writers[type_oid] = writer(self, type_oid)
        return function

    def sender(self, type_oid: int) -> Sender:
        """``sender`` in this context, made once."""
        function = self._senders.get(type_oid)
        if function is None:
            function = self._senders[type_oid] = sender(self, type_oid)
        return function


def text_output(context: OutputContext, type_oid: int, value: Any) -> str:
    """Return the text of a value that is not NULL, as the type's output function writes it.

    Raises Unknowable for types and values whose text is not followed, and ServerError where the server fails.
    """
    return context.writer(type_oid)(value)


def binary_send(context: OutputContext, type_oid: int, value: Any) -> bytes:
    """Return the bytes of a value that is not NULL, as the type's send function writes them. Raises as text_output."""
    return context.sender(type_oid)(value)


def has_send(context: OutputContext, type_oid: int) -> bool:
    """Whether a type has a send function; a value of one without is sent as text in binary mode too."""
    return context.cache.base_type(type_oid)[0] not in _WITHOUT_SEND


def writer(context: OutputContext, type_oid: int) -> Writer:
    """Return the output function of a type in a context. Raises Unknowable for a type that is not followed."""
    function: Writer = _made(context, type_oid, _WRITERS, _WRITERS_OF_KINDS)
    return function


def sender(context: OutputContext, type_oid: int) -> Sender:
    """Return the send function of a type in a context. Raises Unknowable, and ServerError 42883 if it has none."""
    if not has_send(context, type_oid):
        name = context.cache.format_type(context.cache.base_type(type_oid)[0])
        raise ServerError("42883", f"no binary output function available for type {name}", key="row-error")
    function: Sender = _made(context, type_oid, _SENDERS, _SENDERS_OF_KINDS)
    return function


def _made(context: OutputContext, type_oid: int, makers: Deferred[int, Any], of_kinds: Deferred[str, Any]) -> Any:
    cache = context.cache
    type_oid, _ = cache.base_type(type_oid)
    try:
        maker = makers[type_oid]
    except KeyError:
        pass
    else:
        return maker(context, type_oid)
    row = cache.type(type_oid)
    if row.kind in _OF_KINDS:
        return of_kinds[row.kind](context, row)
    if cache.element_type(type_oid):
        return of_kinds["array"](context, cache.element_type(type_oid))
    if any(how == EXTENSION for _, (_, _, how) in cache.catalog.dependencies.get((TYPE, type_oid))):
        return of_kinds["extension"](context, row)
    raise Unknowable(f"values of type {cache.format_type(type_oid)} as text")
