"""The options of a run, from `[tool.pubcheck]`, pubcheck.toml and the command line, as one plain value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from pubcheck.diagnostics import SEVERITIES, Severity
from pubcheck.lazy_regex import lazy_compile

if TYPE_CHECKING:
    from pubcheck.consumers.profiles import ConsumerUse


class UnitConfig(Struct, frozen=True, kw_only=True):
    """A unit as the configuration says it outright, a `[[unit]]`.

    ``files`` are patterns or paths, relative to the configuration's folder, in the order in which they are run; a
    pattern's files in the order of their names. ``schema``: files that come before and are only followed: what concerns
    them alone is not reported. ``postgres``: the majors to check for, empty for those of the run.
    """

    name: str
    files: tuple[str, ...]
    schema: tuple[str, ...] = ()
    postgres: tuple[int, ...] = ()


class Config(Struct, frozen=True, kw_only=True):
    """Options of a run. ``postgres`` empty means: what a pg_dump header says, else the default major.

    ``include``, ``exclude`` and the patterns of ``per_file_ignores`` are those of .gitignore, relative to ``root``, the
    folder of the configuration ("" for the current one). ``force_exclude``: a file skipped in a folder is skipped too
    when it is given by name. ``ignore_comments``: whether comments in files ignore findings. ``extend_select`` adds to
    ``select``, or to the rules that are on by default. ``platform_publications`` and ``platform_tables`` are names, or
    patterns with `*`, of what exists without being made in the unit. ``consumers`` read publications of the unit.
    ``variables`` are psql's, as `-v name=value` sets them. ``max_statement_size``: bytes of a statement that is read.
    ``docs_url`` is where the pages of the rules are published, for reports that link to them. ``file`` is the file that
    the options are from.
    """

    postgres: tuple[int, ...] = ()
    complete: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    fail_on: Severity = "warning"
    fail_on_assumed: bool = False
    database: str = "postgres"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    ignore_comments: bool = True
    units: tuple[UnitConfig, ...] = ()
    platform_publications: tuple[str, ...] = ()
    platform_tables: tuple[str, ...] = ()
    consumers: tuple[ConsumerUse, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    max_statement_size: int = 32 << 20
    baseline: str = ""
    docs_url: str = ""
    root: str = ""
    file: str = ""

    def fails_run(self, severity: str, certainty: str) -> bool:
        """Return whether a finding makes the exit status 1: at least ``fail_on``, and certain or counted if assumed."""
        severe = severity in SEVERITIES[SEVERITIES.index(self.fail_on) :]
        return severe and (certainty == "certain" or self.fail_on_assumed)


class ConfigError(ValueError):
    """An option that cannot be followed. The message says what, where and what to write instead."""


ISOLATED = "--isolated"
"""Given as the path: no configuration file is read."""

CONFIG_FILES = ("pubcheck.toml", "pyproject.toml")
"""The names of configuration files; of two in a folder the first one counts."""


def load(start: str = ".", path: str | None = None) -> Config:
    """Return the options in ``path``, else in the nearest configuration at or above the folder ``start``, else the
    defaults. ``ISOLATED`` as the path means the defaults.

    A configuration is a `pubcheck.toml`, or a `pyproject.toml` with a table `[tool.pubcheck]`. Raises ConfigError.
    """
    if path == ISOLATED:
        return Config()
    if path is not None:
        return _read(path, table=os.path.basename(path) == "pyproject.toml") or Config()
    folder = os.path.abspath(start)
    while True:
        for name in CONFIG_FILES:
            candidate = os.path.join(folder, name)
            if name == "pubcheck.toml" and os.path.isdir(candidate):
                raise ConfigError(f"{candidate}: is a folder; the configuration must be a file")
            if os.path.isfile(candidate):
                config = _read(candidate, table=name == "pyproject.toml")
                if config is not None:
                    return config
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config()
        folder = parent


_TOOL_TABLE = lazy_compile(rb"""^[ \t]*\[{0,2}[ \t]*["']?tool["']?[ \t]*(?:\]|=|\.[ \t]*["']?pubcheck)""", re.MULTILINE)
"""How `[tool.pubcheck]` may be written: `[tool]`, `[[tool.pubcheck.unit]]`, `tool.pubcheck.select = ...`. A project
may also name pubcheck among its dependencies."""


def _read(path: str, *, table: bool) -> Config | None:
    """Return the options of one file; None for a pyproject.toml that says nothing of pubcheck."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    if table and not (b"pubcheck" in content and _TOOL_TABLE.search(content)):
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
    elif "pubcheck" in options.get("tool", ()):
        raise ConfigError(f"{path}: tool.pubcheck: in a file of this name the options must be outside any table")
    root = os.path.dirname(os.path.abspath(path))
    config = from_options(options, where=f"{path}: {'tool.pubcheck.' if table else ''}", folder=root)
    return msgspec.structs.replace(config, root=root, file=path)


def from_options(
    options: Mapping[str, object], base: Config | None = None, where: str = "", folder: str = ""
) -> Config:
    """``base`` with the options of a file or a command line over it.

    Keys are spelled with hyphens, as on the command line. ``where`` begins every message of the ConfigError that is
    raised for an unknown key, a wrong type, a major that is not supported or a code that no rule has. Paths of
    consumers are relative to ``folder``.
    """
    changes: dict[str, object] = {}
    for key, value in options.items():
        reader = _READERS.get(key)
        if reader is None:
            raise ConfigError(f"{where}{key}: there is no such option{suggestion(key, _READERS)}")
        if key == "consumer":
            changes["consumers"] = _read_value(lambda value: _read_consumers(value, folder), value, f"{where}{key}")
        else:
            changes[OPTIONS[key]] = _read_value(reader, value, f"{where}{key}")
    return msgspec.structs.replace(base or Config(), **changes)


class _NestedError(ConfigError):
    """An error further inside of a value: ``str`` of it begins with the rest of the key."""


def _read_value(reader: Callable[[object], object], value: object, key: str) -> object:
    try:
        return reader(value)
    except _NestedError as error:
        raise ConfigError(f"{key}{error}") from None
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None


def suggestion(name: str, choices: Iterable[str]) -> str:
    """Return the hint after an unknown word: the nearest known word, else all of them."""
    words = list(choices)
    return near_word(name, words) or f"; there are {', '.join(words)}"


def near_word(name: str, choices: Iterable[str]) -> str:
    """Return the hint after an unknown word that is probably misspelt, "" if no known word is similar."""
    from difflib import SequenceMatcher, get_close_matches

    words = list(choices)
    near = get_close_matches(name, words, 9) or get_close_matches(name.replace("_", "-"), words, 1)
    if not near:
        return ""
    # Of equally good ones that which begins alike: a rule's family is in its first digit.
    best = max(near, key=lambda word: (SequenceMatcher(a=word, b=name).ratio(), word[:4] == name[:4]))
    return f"; did you mean {best}?"


def read_majors(value: object) -> tuple[int, ...]:
    """Majors from `16`, `[15, 18]` or `"15,18"`, ascending. Raises ConfigError for what is none or is not supported."""
    from pubcheck.postgres.versions import DEFAULT_MAJOR, MAJORS

    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    majors = set()
    for item in items:
        text = str(item).strip()
        if not text.isascii() or not text.isdigit() or isinstance(item, bool):
            raise ConfigError(f"a PostgreSQL major must be a number such as {DEFAULT_MAJOR}, not {text!r}")
        if int(text) not in MAJORS:
            have = ", ".join(map(str, MAJORS))
            raise ConfigError(
                f"PostgreSQL {text} is not supported: pubcheck has no grammar and no recorded answers for it;"
                f" supported versions are {have}"
            )
        majors.add(int(text))
    if not majors:
        raise ConfigError("at least one major is needed")
    return tuple(sorted(majors))


def read_codes(value: object) -> tuple[str, ...]:
    """Codes of rules or beginnings of codes, from a list of texts or texts joined by commas; the name of a rule means
    its its code. Raises ConfigError."""
    from pubcheck import rulebook

    items = [value] if isinstance(value, str) else _texts(value, "codes")
    codes = [part.strip() for item in items for part in item.split(",") if part.strip()]
    for index, code in enumerate(codes):
        codes[index] = "PUB" if code.upper() == "ALL" else code.upper()
        if not rulebook.is_selector(codes[index]):
            named = rulebook.find(code)
            if named is None:
                raise ConfigError(f"no rule has the code {code}{near_rule(code)}")
            codes[index] = named.code
    if items and not codes:
        raise ConfigError("names no rule; `pubcheck rules` lists them")
    return tuple(codes)


def near_rule(word: str) -> str:
    """Return the hint after a word that is neither the code nor the name of a rule."""
    from pubcheck import rulebook

    if word[:3].upper() == "PUB" or word[:1].isdigit():
        # A code of an unknown family is not a misspelling of a code of another family.
        code = word.upper() if word[:3].upper() == "PUB" else f"PUB{word}"
        hint = near_word(code, [known for known in rulebook.RULES if known[3] == code[3:4]])
    else:
        names = [rule.name for rule in rulebook.RULES.values()]
        begun = [name for name in names if len(word) > 3 and name.startswith(word.lower())]
        hint = f"; did you mean {' or '.join(begun[:3])}?" if begun else near_word(word.lower(), names)
    return hint or "; `pubcheck rules` lists them"


def _read_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"must be true or false, not {_kind(value)}")
    return value


def _read_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"must be a text, not {_kind(value)}")
    return value


def _read_url(value: object) -> str:
    url = _read_text(value)
    scheme, colon, rest = url.partition("://")
    fields = url.replace("{code}", "").replace("{name}", "")
    if (
        not colon
        or not rest
        or not scheme.isalpha()
        or not (url.isascii() and url.isprintable())
        or any(sign in fields for sign in ' {}<>"')
    ):
        raise ConfigError(f"must be an address such as https://example.com/rules/{{code}}, not {value!r}")
    return url


_SIZE = lazy_compile(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)


def read_size(value: object) -> int:
    """Return a number of bytes, such as 512K or "32M". Raises ConfigError."""
    match = _SIZE.fullmatch(str(value)) if not isinstance(value, bool) else None
    if match is None:
        raise ConfigError(f"{value!r} is not a size; write bytes, or such as 512K, 32M, 2G")
    return int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ")


def _read_severity(value: object) -> Severity:
    for severity in SEVERITIES:
        if value == severity:
            return severity
    raise ConfigError(f"must be one of {', '.join(SEVERITIES)}, not {value!r}")


def _texts(value: object, of: str) -> list[str]:
    """Return the value as a list of strings. Raise ConfigError, which calls the items ``of``."""
    if not isinstance(value, list | tuple):
        raise ConfigError(f"must be a list of {of}, not {_kind(value)}")
    for number, item in enumerate(value, 1):
        if not isinstance(item, str) or not item:
            raise ConfigError(f"must be a list of {of}, and its item {number} is {_kind(item)}")
    return list(value)


def _patterns(of: str) -> Callable[[object], tuple[str, ...]]:
    return lambda value: tuple([value] if isinstance(value, str) and value else _texts(value, of))


def _ignore_pattern(pattern: str) -> str:
    """Return a pattern of .gitignore as it is. Raises ConfigError for one that is not valid."""
    if pattern.strip("!/ ") and not any(sign in pattern for sign in "[\\"):
        return pattern
    from pubcheck.gitignore import problem_of

    problem = problem_of(pattern)
    if problem is not None:
        raise ConfigError(f"{pattern!r} is not a valid pattern: {problem}")
    return pattern


def _read_ignore_patterns(value: object) -> tuple[str, ...]:
    return tuple(map(_ignore_pattern, _patterns("patterns")(value)))


def _table(value: object, of: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"must be a table of {of}, not {_kind(value)}")
    return value


def _read_per_file_ignores(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    entries = _table(value, "patterns and the codes to ignore in the files that they match")
    return tuple((_ignore_pattern(key), _inside(read_codes, codes, key)) for key, codes in entries.items())


def _read_severities(value: object) -> tuple[tuple[str, Severity], ...]:
    return tuple(
        (code, _inside(_read_severity, severity, key))
        for key, severity in _table(value, "codes and severities").items()
        for code in _inside(read_codes, key, key)
    )


def _read_variables(value: object) -> tuple[tuple[str, str], ...]:
    variables = []
    for key, text in _table(value, "names and values").items():
        if not isinstance(text, str | int | float) or isinstance(text, bool):
            raise _NestedError(f".{key}: must be a text, not {_kind(text)}")
        variables.append((key, str(text)))
    return tuple(variables)


def _read_units(value: object) -> tuple[UnitConfig, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"must be written [[unit]], once for each unit; it is {_kind(value)}")
    units, names = [], set()
    for number, table in enumerate(value, 1):
        where = f" {number}"
        if not isinstance(table, Mapping):
            raise _NestedError(f"{where}: must be a table, not {_kind(table)}")
        fields: dict[str, Any] = {}
        for key, option in table.items():
            reader = _UNIT_READERS.get(key)
            if reader is None:
                raise _NestedError(f"{where}: {key}: there is no such option{suggestion(key, _UNIT_READERS)}")
            try:
                fields[key] = reader(option)
            except ConfigError as error:
                raise _NestedError(f"{where}: {key}: {error}") from None
        if not fields.get("files"):
            raise _NestedError(f"{where}: files: must name the files of the unit, in the order in which they are run")
        if "name" not in fields:
            raise _NestedError(f"{where}: name: is missing: every [[unit]] needs one")
        unit = UnitConfig(**fields)
        if unit.name in names:
            raise _NestedError(f"{where}: name: another unit is already called {unit.name!r}")
        names.add(unit.name)
        units.append(unit)
    return tuple(units)


def _read_consumers(value: object, folder: str = "") -> tuple[ConsumerUse, ...]:
    from pubcheck.consumers.profiles import UnknownName, WrongValue, uses_of

    try:
        return uses_of(value, folder)
    except UnknownName as error:
        raise ConfigError(f"{error}{error.hint}") from None
    except WrongValue as error:
        raise ConfigError(str(error)) from None


_T = TypeVar("_T")


def _inside(reader: Callable[[object], _T], value: object, key: str) -> _T:
    """Read a value of a table with ``reader``, and report its error under that key."""
    try:
        return reader(value)
    except ConfigError as error:
        shown = key if key.replace("-", "").replace("_", "").isalnum() else f'"{key}"'
        raise _NestedError(f".{shown}: {error}") from None


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return "an empty text" if value == "" else kinds.get(type(value), "that")


_READERS: Mapping[str, Callable[[object], object]] = {
    "postgres": read_majors,
    "complete": _read_bool,
    "select": read_codes,
    "ignore": read_codes,
    "extend-select": read_codes,
    "per-file-ignores": _read_per_file_ignores,
    "severity": _read_severities,
    "fail-on": _read_severity,
    "fail-on-assumed": _read_bool,
    "database": _read_text,
    "include": _read_ignore_patterns,
    "exclude": _read_ignore_patterns,
    "respect-gitignore": _read_bool,
    "force-exclude": _read_bool,
    "ignore-comments": _read_bool,
    "unit": _read_units,
    "platform-publications": _patterns("names"),
    "platform-tables": _patterns("names"),
    "consumer": _read_consumers,
    "variables": _read_variables,
    "max-statement-size": read_size,
    "baseline": _read_text,
    "docs-url": _read_url,
}
"""Every option by its key, with what reads its value and raises ConfigError."""

_FIELDS: Mapping[str, str] = {"unit": "units", "consumer": "consumers"}
"""The fields of options whose keys are not theirs."""

OPTIONS: Mapping[str, str] = {key: _FIELDS.get(key) or key.replace("-", "_") for key in _READERS}
"""The field of every option by its key."""

_UNIT_READERS: Mapping[str, Callable[[object], object]] = {
    "name": _read_text,
    "files": _patterns("files"),
    "schema": _patterns("files"),
    "postgres": read_majors,
}
"""Every option of a `[[unit]]`."""
