"""Texts in the client's encoding (utils/mb/mbutils.c: pg_server_to_client)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.errors import ServerError, Unknowable

if TYPE_CHECKING:
    from pubcheck.postgres.output.dispatch import OutputContext

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
