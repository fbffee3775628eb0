"""Output functions of PostgreSQL's types: values as text, and in the binary format of send functions.

``pubcheck.postgres.input`` is the inverse, ``pubcheck.postgres.datum`` describes the values. Modules are imported when
the first value of their kind is written. A text is sent in the client's encoding (utils/mb/mbutils.c:
pg_server_to_client).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import EXTENSION, TYPE
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.versions import BY_NUMBER

Writer = Callable[[Any], str]
Sender = Callable[[Any], bytes]


class TypeOutput(NamedTuple):
    """What makes the output and the send function of a type, for a context and the type's oid.

    Of a kind of types they are made for the type's row, of arrays for the type of the elements.
    """

    writer: Callable[[OutputContext, Any], Writer]
    sender: Callable[[OutputContext, Any], Sender] | None = None
    """None of a type without a send function."""


def fixed(write: Writer, send: Sender) -> TypeOutput:
    """Return the output of a type whose values look the same in every context."""
    return TypeOutput(lambda context, type_oid: write, lambda context, type_oid: send)


def packed(write: Writer, layout: str) -> TypeOutput:
    """Return the output of a type of numbers, which are sent in a layout of ``struct``."""
    return fixed(write, Struct(layout).pack)


_MODULES = {
    "numbers": "INT2 INT4 INT8 OID XID CID XID8 NUMERIC FLOAT4 FLOAT8 MONEY POINT LSEG PATH BOX POLYGON LINE CIRCLE",
    "strings": "TEXT VARCHAR BPCHAR NAME UNKNOWN CSTRING REFCURSOR JSON BOOL CHAR BYTEA BIT VARBIT UUID PG_LSN TID "
    "PG_SNAPSHOT TXID_SNAPSHOT XML VOID INET CIDR MACADDR MACADDR8 JSONB JSONPATH TSVECTOR TSQUERY",
    "datetime": "DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ INTERVAL",
    "containers": "INT2VECTOR OIDVECTOR",
    "names": "ACLITEM REGPROC REGPROCEDURE REGOPER REGOPERATOR REGCLASS REGTYPE REGCONFIG REGDICTIONARY "
    "REGNAMESPACE REGROLE REGCOLLATION",
}
"""The modules that have the ``TypeOutput`` of types, under the names of ``oids``."""
_HOMES = {getattr(oids, name): f"{module}:{name}" for module, names in _MODULES.items() for name in names.split()}
_OUTPUTS: Deferred[int, TypeOutput] = Deferred("pubcheck.postgres.output", _HOMES)
_OF_KINDS = {"c": "RECORD", "e": "ENUM", "m": "MULTIRANGE", "r": "RANGE"}
"""Those of other types by pg_type.typtype, in the module ``containers``."""
_OUTPUTS_OF_KINDS: Deferred[str, TypeOutput] = Deferred(
    "pubcheck.postgres.output",
    {"array": "containers:ARRAY", **{kind: f"containers:{name}" for kind, name in _OF_KINDS.items()}},
)


_OF_EXTENSIONS: Deferred[str, Callable[[Type], TypeOutput]] = Deferred(
    "pubcheck.postgres.output", {"output": "strings:output_of"}
)


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
    return bool(context.cache.base_type(type_oid)[0] != oids.ACLITEM)


def writer(context: OutputContext, type_oid: int) -> Writer:
    """Return the output function of a type in a context. Raises Unknowable for a type that is not followed."""
    output, subject = _output_of(context, type_oid)
    return output.writer(context, subject)


def sender(context: OutputContext, type_oid: int) -> Sender:
    """Return the send function of a type in a context. Raises Unknowable, and ServerError 42883 if it has none."""
    output, subject = _output_of(context, type_oid)
    if output.sender is None:
        name = context.cache.format_type(context.cache.base_type(type_oid)[0])
        raise ServerError("42883", f"no binary output function available for type {name}", key="row-error")
    return output.sender(context, subject)


def _output_of(context: OutputContext, type_oid: int) -> tuple[TypeOutput, Any]:
    """Return the output of a type, and what its functions are made for."""
    cache = context.cache
    type_oid, _ = cache.base_type(type_oid)
    if type_oid in _HOMES:
        return _OUTPUTS[type_oid], type_oid
    row = cache.type(type_oid)
    if row.kind in _OF_KINDS:
        return _OUTPUTS_OF_KINDS[row.kind], row
    element = cache.element_type(type_oid)
    if element:
        return _OUTPUTS_OF_KINDS["array"], element
    if any(how == EXTENSION for _, (_, _, how) in cache.catalog.dependencies.get((TYPE, type_oid))):
        return _OF_EXTENSIONS["output"](row), row
    raise Unknowable(f"values of type {cache.format_type(type_oid)} as text")


_CODECS = {
    "UTF8": "utf-8", "SQL_ASCII": "utf-8", "LATIN1": "latin-1", "LATIN2": "iso8859-2", "LATIN3": "iso8859-3",
    "LATIN4": "iso8859-4", "LATIN5": "iso8859-9", "LATIN6": "iso8859-10", "LATIN7": "iso8859-13",
    "LATIN8": "iso8859-14", "LATIN9": "iso8859-15", "LATIN10": "iso8859-16", "ISO_8859_5": "iso8859-5",
    "ISO_8859_6": "iso8859-6", "ISO_8859_7": "iso8859-7", "ISO_8859_8": "iso8859-8", "KOI8R": "koi8-r",
    "KOI8U": "koi8-u", "WIN866": "cp866", "WIN874": "cp874", "WIN1250": "cp1250", "WIN1251": "cp1251",
    "WIN1252": "cp1252", "WIN1253": "cp1253", "WIN1254": "cp1254", "WIN1255": "cp1255", "WIN1256": "cp1256",
    "WIN1257": "cp1257", "WIN1258": "cp1258", "EUC_CN": "gb2312",
}  # fmt: skip
"""Python's codec of an encoding. Of other encodings, all multibyte ones, the codecs differ from the server's tables."""
_ALIASES = {
    "abc": "WIN1258", "alt": "WIN866", "iso88591": "LATIN1", "iso885910": "LATIN6", "iso885913": "LATIN7",
    "iso885914": "LATIN8", "iso885915": "LATIN9", "iso885916": "LATIN10", "iso88592": "LATIN2", "iso88593": "LATIN3",
    "iso88594": "LATIN4", "iso88599": "LATIN5", "koi8": "KOI8R", "tcvn": "WIN1258", "tcvn5712": "WIN1258",
    "unicode": "UTF8", "vscii": "WIN1258", "win": "WIN1251",
}  # fmt: skip
_NAMES = {"".join(filter(str.isalnum, name)).lower(): name for name in _CODECS} | _ALIASES


def client_encoding(context: OutputContext) -> str:
    """The name of the client's encoding as the server shows it; of one that is not followed as it was set."""
    setting = str(context.setting("client_encoding") or "UTF8")
    plain = "".join(filter(str.isalnum, setting)).lower().replace("windows", "win")
    return _NAMES.get(plain, setting)


def encoder(context: OutputContext) -> Callable[[str], bytes]:
    """Return the conversion of a text to the client's encoding.

    It raises ServerError 22P05 for characters that this encoding does not have, and Unknowable for an encoding that is
    not followed.
    """
    name = client_encoding(context)
    codec = _CODECS.get(name)
    if codec == "utf-8":
        return _utf8
    if codec is None:
        return _ascii(name)

    def encode(text: str) -> bytes:
        try:
            return text.encode(codec)
        except UnicodeEncodeError as error:
            sequence = " ".join(f"0x{byte:02x}" for byte in _utf8(text[error.start]))
            raise ServerError(
                "22P05",
                f'character with byte sequence {sequence} in encoding "UTF8" has no equivalent in encoding "{name}"',
                key="row-error",
            ) from None

    return encode


def to_client(context: OutputContext, text: str) -> bytes:
    """Return a text in the client's encoding. Raises as ``encoder`` says."""
    return encoder(context)(text)


def text_sender(
    write: Callable[[Any], str] = str, version: bytes = b""
) -> Callable[[OutputContext, object], Callable[[Any], bytes]]:
    """Return what makes the send function of a type that is sent as text, behind the ``version`` of its format."""

    def maker(context: OutputContext, type_oid: object) -> Callable[[Any], bytes]:
        encode = encoder(context)
        return lambda value: version + encode(write(value))

    return maker


def _utf8(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _ascii(encoding: str) -> Callable[[str], bytes]:
    def encode(text: str) -> bytes:
        if not text.isascii():
            raise Unknowable(f"the encoding {encoding}")
        return text.encode()

    return encode
