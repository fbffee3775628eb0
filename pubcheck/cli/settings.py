"""`pubcheck lint --show-settings`: the options of a run as a configuration file has them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from pubcheck.config import OPTIONS, Config

_TABLES = ("per-file-ignores", "severity", "variables")
"""Options whose values are pairs of a key and a value."""


def render(config: Config) -> Iterator[str]:
    """Yield the settings as TOML, option by option: first those of the top level, then the tables."""
    yield f"# {f'from {config.file} and the command line' if config.file else 'the defaults and the command line'}\n"
    tables = []
    for key, field in OPTIONS.items():
        value = getattr(config, field)
        value = _plain(dict(value) if key in _TABLES else value)
        if value in ("", [], {}):
            yield f"# {key} is not set\n"
        elif isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], dict)):
            tables.append((key, value))
        else:
            yield f"{key} = {_value(value)}\n"
    for key, value in tables:
        for table in [value] if isinstance(value, dict) else value:
            yield f"\n{f'[{key}]' if table is value else f'[[{key}]]'}\n"
            yield from (f"{_key(name)} = {_value(item)}\n" for name, item in table.items() if item != [])


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Struct):
        fields = {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        return {"name" if name == "consumer" else name: item for name, item in fields.items()}
    return value


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    assert isinstance(value, bool | int | str)
    return json.dumps(value)  # TOML writes these as JSON does


def _key(name: str) -> str:
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name)
