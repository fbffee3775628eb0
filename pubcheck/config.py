"""What a run is told: the options of `[tool.pubcheck]`, pubcheck.toml and the command line, as one plain value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from pubcheck.diagnostics import SEVERITIES, Severity


class Config(Struct, frozen=True, kw_only=True):
    """Options of a run. ``postgres`` empty means: what a pg_dump header says, else the default major."""

    postgres: tuple[int, ...] = ()
    complete: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Severity = "warning"
    fail_on_assumed: bool = False
    database: str = "postgres"


class ConfigError(ValueError):
    """An option that cannot be followed. The message says what, where and what to write instead."""


def load(start: str = ".", path: str | None = None) -> Config:
    """The options in ``path``, else in the nearest configuration at or above the folder ``start``, else the defaults.

    A configuration is a `pubcheck.toml`, or a `pyproject.toml` with a table `[tool.pubcheck]`. Raises ConfigError.
    """
    if path is not None:
        return _read(path, table=os.path.basename(path) == "pyproject.toml") or Config()
    folder = os.path.abspath(start)
    while True:
        for name in ("pubcheck.toml", "pyproject.toml"):
            candidate = os.path.join(folder, name)
            if os.path.isfile(candidate):
                found = _read(candidate, table=name == "pyproject.toml")
                if found is not None:
                    return found
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config()
        folder = parent


def _read(path: str, *, table: bool) -> Config | None:
    """The options of one file; None for a pyproject.toml that says nothing of pubcheck."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    if table and b"pubcheck" not in content:
        return None  # most projects: spares the import of the TOML parser
    import tomllib

    try:
        options = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    if table:
        tools = options.get("tool", {})
        if not isinstance(tools, dict) or "pubcheck" not in tools:
            return None
        options = tools["pubcheck"]
        if not isinstance(options, dict):
            raise ConfigError(f"{path}: tool.pubcheck must be a table")
    return from_options(options, where=f"{path}: {'tool.pubcheck.' if table else ''}")


def from_options(options: Mapping[str, object], base: Config | None = None, where: str = "") -> Config:
    """``base`` with the options of a file or a command line over it.

    Keys are spelled with hyphens, as on the command line. ``where`` begins every message of the ConfigError that is
    raised for an unknown key, a wrong type, a major that is not supported or a code that no rule has.
    """
    changes: dict[str, object] = {}
    for key, value in options.items():
        reader = _READERS.get(key)
        if reader is None:
            raise ConfigError(f"{where}{key}: there is no such option{suggestion(key, _READERS)}")
        try:
            changes[key.replace("-", "_")] = reader(value)
        except ConfigError as error:
            raise ConfigError(f"{where}{key}: {error}") from None
    return msgspec.structs.replace(base or Config(), **changes)


def suggestion(given: str, known: Iterable[str]) -> str:
    """What to say after an unknown word: the nearest known one, else all of them."""
    from difflib import SequenceMatcher, get_close_matches

    words = list(known)
    near = get_close_matches(given, words, 9) or get_close_matches(given.replace("_", "-"), words, 1)
    if not near:
        return f"; there are {', '.join(words)}"
    # Of equally good ones that which begins alike: a rule's family is in its first digit.
    best = max(near, key=lambda word: (SequenceMatcher(a=word, b=given).ratio(), word[:4] == given[:4]))
    return f"; did you mean {best}?"


def read_majors(value: object) -> tuple[int, ...]:
    """Majors from `16`, `[15, 18]` or `"15,18"`, ascending. Raises ConfigError for what is none or is not supported."""
    from pubcheck.postgres.versions import MAJORS

    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    majors = set()
    for item in items:
        text = str(item).strip()
        if not text.isascii() or not text.isdigit() or isinstance(item, bool):
            raise ConfigError(f"a PostgreSQL major must be a number such as {MAJORS[-1]}, not {text!r}")
        if int(text) not in MAJORS:
            have = ", ".join(map(str, MAJORS))
            raise ConfigError(
                f"PostgreSQL {text} is not supported: its grammar and what its servers answer have not been recorded;"
                f" there are {have}"
            )
        majors.add(int(text))
    if not majors:
        raise ConfigError("at least one major is needed")
    return tuple(sorted(majors))


def read_codes(value: object) -> tuple[str, ...]:
    """Codes of rules or beginnings of codes, from a list of texts or texts joined by commas. Raises ConfigError."""
    from pubcheck import rulebook

    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"must be a list of codes, not {_kind(value)}")
    codes = [part.strip() for item in value for part in item.split(",") if part.strip()]
    for index, code in enumerate(codes):
        codes[index] = code.upper()
        if not rulebook.is_selector(codes[index]):
            named = rulebook.find(code)
            hint = f"; select by code: {named.code}" if named else suggestion(code.upper(), rulebook.RULES)
            if not named and ", PUB" in hint:
                hint = "; `pubcheck rules` lists them"
            raise ConfigError(f"no rule has the code {code}{hint}")
    return tuple(codes)


def _read_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"must be true or false, not {_kind(value)}")
    return value


def _read_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"must be a text, not {_kind(value)}")
    return value


def _read_severity(value: object) -> Severity:
    for severity in SEVERITIES:
        if value == severity:
            return severity
    raise ConfigError(f"must be one of {', '.join(SEVERITIES)}, not {value!r}")


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return kinds.get(type(value), "that")


_READERS = {
    "postgres": read_majors,
    "complete": _read_bool,
    "select": read_codes,
    "ignore": read_codes,
    "fail-on": _read_severity,
    "fail-on-assumed": _read_bool,
    "database": _read_text,
}
"""Every option by its key, with what reads its value and raises ConfigError."""
