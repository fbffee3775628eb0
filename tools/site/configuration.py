"""The page of the configuration's options, from their JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pubcheck.config_schema import schema
from tools.site.pages import Generated, escape

_Schema = Mapping[str, Any]
_TYPES = {
    "boolean": "`true` or `false`",
    "string": "text",
    "integer": "number",
    "number": "number",
    "array": "list",
    "object": "table",
}
_NAMED = {
    "code-list": "codes or names of rules, or beginnings of codes",
    "majors": "version, or list of versions",
    "consumer": "consumer",
    "consumers": "see [Consumers](../consumers.md#who-reads-what)",
    "unit": "table, see [below](#tables-unit)",
}
"""How the values are called that have a definition of their own."""
_LISTED = 8
"""Up to so many values are listed."""


def pages(root: Path) -> Iterator[Generated]:
    """Yield the one page."""
    document = schema()
    parts = [
        "# All options\n",
        "Each option of `pubcheck.toml`, or of the table `[tool.pubcheck]` in `pyproject.toml`. "
        "[Configuration](../configuration.md) has an example. `pubcheck schema` prints the JSON Schema.\n",
    ]
    parts += [_option("##", key, form) for key, form in document["properties"].items()]
    parts.append("## Tables [[unit]]\n")
    parts += [_option("###", key, form) for key, form in document["definitions"]["unit"]["properties"].items()]
    yield Generated("configuration/options.md", "\n".join(parts), "All options")


def _option(level: str, key: str, form: _Schema) -> str:
    default = form.get("default")
    shown = f"; default: `{json.dumps(default)}`" if default not in (None, "", [], {}) else ""
    return f"{level} {key}\n\n{escape(form['description'])}\n\nValue: {_value(form)}{shown}\n"


def _value(form: _Schema) -> str:
    """Return the form of a value in words."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        return _NAMED.get(name) or _value(schema()["definitions"][name])
    if "allOf" in form:
        return _value(form["allOf"][0])
    if "enum" in form:
        values = [f"`{json.dumps(value)}`" for value in form["enum"][:_LISTED]]
        return ", ".join(values)
    if "anyOf" in form and form["anyOf"][-1] == {"type": "array", "items": form["anyOf"][0]}:
        return f"{_value(form['anyOf'][0])}; or a list of such"
    if "anyOf" in form:
        return ", or ".join(dict.fromkeys(_value(option) for option in form["anyOf"]))
    if form.get("type") == "array":
        return f"list; each item: {_value(form['items'])}"
    if isinstance(form.get("additionalProperties"), Mapping):
        return f"table; each value: {_value(form['additionalProperties'])}"
    types = form["type"] if isinstance(form["type"], list) else [form["type"]]
    return " or ".join(_TYPES[type_name] for type_name in types)
