"""Texts in the client's encoding (utils/mb/mbutils.c: pg_server_to_client)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.errors import ServerError, Unknowable

if TYPE_CHECKING:
    from pubcheck.postgres.output.dispatch import OutputContext

_CODECS = {
    "utf8": "utf-8", "unicode": "utf-8", "sqlascii": "utf-8", "latin1": "latin-1", "iso88591": "latin-1",
    "latin2": "iso8859-2", "iso88592": "iso8859-2", "latin3": "iso8859-3", "iso88593": "iso8859-3",
    "latin4": "iso8859-4", "iso88594": "iso8859-4", "latin5": "iso8859-9", "iso88599": "iso8859-9",
    "latin6": "iso8859-10", "iso885910": "iso8859-10", "latin7": "iso8859-13", "iso885913": "iso8859-13",
    "latin8": "iso8859-14", "iso885914": "iso8859-14", "latin9": "iso8859-15", "iso885915": "iso8859-15",
    "latin10": "iso8859-16", "iso885916": "iso8859-16", "iso88595": "iso8859-5", "iso88596": "iso8859-6",
    "iso88597": "iso8859-7", "iso88598": "iso8859-8", "koi8r": "koi8-r", "koi8": "koi8-r", "koi8u": "koi8-u",
    "win866": "cp866", "win874": "cp874", "win1250": "cp1250", "win1251": "cp1251", "win1252": "cp1252",
    "win1253": "cp1253", "win1254": "cp1254", "win1255": "cp1255", "win1256": "cp1256", "win1257": "cp1257",
    "win1258": "cp1258",
}  # fmt: skip
"""The Python codec of an encoding, by its name without the characters that the server ignores. Multibyte encodings
are not supported."""


def encoder(context: OutputContext) -> Callable[[str], bytes]:
    """Return the conversion of a text to the client's encoding.

    It raises ServerError 22P05 for characters that this encoding does not have, and Unknowable for an encoding that is
    not followed.
    """
    setting: Any = context.setting("client_encoding")
    name = "".join(char for char in str(setting or "UTF8") if char.isalnum())
    codec = _CODECS.get(name.lower().replace("windows", "win"))
    if codec == "utf-8":
        return _utf8
    if codec is None:
        return _ascii(str(setting))

    def encode(text: str) -> bytes:
        try:
            return text.encode(codec)
        except UnicodeEncodeError as error:
            sequence = " ".join(f"0x{byte:02x}" for byte in _utf8(text[error.start]))
            raise ServerError(
                "22P05",
                f'character with byte sequence {sequence} in encoding "UTF8" has no equivalent in encoding "'
                f'{name.upper()}"',
                key="row-error",
            ) from None

    return encode


def to_client(context: OutputContext, text: str) -> bytes:
    """Return a text in the client's encoding. Raises as ``encoder`` says."""
    return encoder(context)(text)


def _utf8(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _ascii(encoding: str) -> Callable[[str], bytes]:
    def encode(text: str) -> bytes:
        if not text.isascii():
            raise Unknowable(f"the encoding {encoding}")
        return text.encode()

    return encode
