"""Connection strings as libpq reads them before it connects (interfaces/libpq/fe-connect.c: conninfo_parse)."""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.versions import Major

_ALWAYS = frozenset(
    (
        "application_name",
        "channel_binding",
        "client_encoding",
        "connect_timeout",
        "dbname",
        "fallback_application_name",
        "gssencmode",
        "gsslib",
        "host",
        "hostaddr",
        "keepalives",
        "keepalives_count",
        "keepalives_idle",
        "keepalives_interval",
        "krbsrvname",
        "options",
        "passfile",
        "password",
        "port",
        "replication",
        "requirepeer",
        "requiressl",
        "service",
        "ssl_max_protocol_version",
        "ssl_min_protocol_version",
        "sslcert",
        "sslcompression",
        "sslcrl",
        "sslcrldir",
        "sslkey",
        "sslmode",
        "sslpassword",
        "sslrootcert",
        "sslsni",
        "target_session_attrs",
        "tcp_user_timeout",
        "user",
    )
)
_FIRST_MAJOR: dict[str, int] = {
    **dict.fromkeys(("gssdelegation", "load_balance_hosts", "require_auth", "sslcertmode"), 16),
    "sslnegotiation": 17,
    **dict.fromkeys(("max_protocol_version", "min_protocol_version", "sslkeylogfile"), 18),
    **dict.fromkeys(("scram_client_key", "scram_server_key"), 18),
    **dict.fromkeys(("oauth_client_id", "oauth_client_secret", "oauth_issuer", "oauth_scope"), 18),
}
_URI = lazy_compile(r"postgres(?:ql)?://")
_SPACE = r"[ \t\n\r\f\v]"
_NAME = lazy_compile(rf"{_SPACE}*(?P<name>[^= \t\n\r\f\v]*){_SPACE}*(?P<equals>=?){_SPACE}*")
_VALUE = lazy_compile(r"'(?P<quoted>(?:[^'\\]|\\.)*+)(?P<end>'?)|(?:[^\\ \t\n\r\f\v]|\\.?)*+", re.DOTALL)


_PASSWORD = lazy_compile(r"(?:^|[\s?&])password\s*=\s*(?!''|[\s&]|$)|^postgres(?:ql)?://[^@/?:]*:[^@/?]+@")


def has_password(text: str) -> bool:
    """Return whether a connection string gives a password that is not empty."""
    return _PASSWORD.search(text) is not None


def is_connection_string(text: str) -> bool:
    """Return whether a text is a postgresql:// URI, or begins as ``keyword=value`` with a keyword that libpq has."""
    name = _NAME.match(text)
    assert name is not None  # it matches the empty text
    keyword = name["name"] in _ALWAYS or name["name"] in _FIRST_MAJOR
    return _URI.match(text) is not None or (keyword and name["equals"] == "=")


def complaint(text: str, major: Major) -> str | None:
    """Return libpq's error for a connection string; None if it accepts the string, and for URIs."""
    if _URI.match(text):
        return None
    pos, end = 0, len(text.rstrip(" \t\n\r\f\v"))
    while pos < end:
        name = _NAME.match(text, pos)
        assert name is not None
        if not name["equals"]:
            return f'missing "=" after "{name["name"]}" in connection info string\n'
        value = _VALUE.match(text, name.end())
        assert value is not None
        if value["quoted"] is not None and not value["end"]:
            return "unterminated quoted string in connection info string\n"
        option = name["name"]
        if option not in _ALWAYS and not (option in _FIRST_MAJOR and major.includes(_FIRST_MAJOR[option])):
            return f'invalid connection option "{option}"\n'
        pos = value.end()
    return None
