"""The JSON Schema of a configuration, with which editors complete and check `pubcheck.toml`.

`pubcheck schema` prints it. Each option has its value's form and a description; `tests/test_config_schema.py` checks
that these are the options that `pubcheck.config` reads, and their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pubcheck.consumers import NAMES
from pubcheck.diagnostics import SEVERITIES
from pubcheck.postgres.versions import MAJORS
from pubcheck.rulebook import RULES

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_TEXT: Schema = {"type": "string", "minLength": 1}
_BOOL: Schema = {"type": "boolean"}
_SIZE: Schema = {"type": "string", "pattern": r"^\s*\d+\s*([KMGTkmgt]?([iI]?[bB])?)\s*$"}
_SEVERITY: Schema = {"enum": list(SEVERITIES)}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _one_or_more(item: Schema) -> Schema:
    return {"anyOf": [item, {"type": "array", "items": item}]}


_MAJORS_: Schema = _reference("majors")
_CODES: Schema = _reference("codes")
_TEXTS: Schema = _one_or_more(_TEXT)

_OPTIONS: Mapping[str, tuple[Schema, object, str]] = {
    "postgres": (
        _MAJORS_,
        None,
        "PostgreSQL versions to check. Without it: the version in a pg_dump header, else 18.",
    ),
    "complete": (_BOOL, False, "Whether the input is a complete database: anything missing from it does not exist."),
    "select": (_CODES, [], "Rules to report. Without it: all rules that are on by default."),
    "ignore": (_CODES, [], "Rules not to report. If select and ignore both match, the longer code decides."),
    "extend-select": (_CODES, [], "Rules to report as well."),
    "per-file-ignores": (
        {"type": "object", "additionalProperties": _CODES},
        {},
        "Rules not to report in files that match a pattern, as in .gitignore.",
    ),
    "severity": (
        {"type": "object", "propertyNames": _reference("code-list"), "additionalProperties": _SEVERITY},
        {},
        "Severities other than the rules' own.",
    ),
    "fail-on": (_SEVERITY, "warning", "Lowest severity that fails a run."),
    "fail-on-assumed": (_BOOL, False, "Whether assumed findings fail a run too."),
    "database": (_TEXT, "postgres", "Name of the database, for names of three parts and GRANT ... ON DATABASE."),
    "include": (_TEXTS, [], "More files to read: patterns as in .gitignore, relative to the configuration."),
    "exclude": (_TEXTS, [], "Files to skip: patterns as in .gitignore, relative to the configuration."),
    "respect-gitignore": (_BOOL, True, "Whether to skip files that Git ignores."),
    "force-exclude": (_BOOL, False, "Whether to skip excluded files that are given by name; the pre-commit hook does."),
    "ignore-comments": (_BOOL, True, "Whether comments in files ignore findings."),
    "unit": (
        {"type": "array", "items": _reference("unit")},
        [],
        "A unit: the files that build one database, in their order.",
    ),
    "platform-publications": (
        _TEXTS,
        [],
        "Publications that your platform or ORM creates. They are never reported as missing.",
    ),
    "platform-tables": (_TEXTS, [], "Tables that your platform or ORM creates. They are never reported as missing."),
    "consumer": (_reference("consumers"), [], "Who reads the publications."),
    "variables": (
        {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
        {},
        "psql variables, as with -v.",
    ),
    "max-statement-size": (
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                _SIZE,
            ]
        },
        "32M",
        "Largest statement to read. Larger ones are skipped and reported (PUB006); COPY data is not limited.",
    ),
    "baseline": (_TEXT, "", "File of known findings, which are not reported again, relative to the configuration."),
    "docs-url": (
        {"type": "string", "pattern": "^[A-Za-z]+://."},
        "",
        "Address of your copy of the rule pages, for links in reports; {code} and {name} are replaced.",
    ),
}
"""Every option with the form of its value, its default (None: no fixed one) and its description."""

_UNIT: Mapping[str, tuple[Schema, str]] = {
    "name": (_TEXT, "Name of the unit."),
    "files": (_TEXTS, "Patterns or paths, relative to the configuration, in the order in which they are run."),
    "schema": (_TEXTS, "Files that are replayed first and not reported on."),
    "postgres": (_MAJORS_, "PostgreSQL versions to check this unit for."),
}

_CONSUMER: Mapping[str, tuple[Schema, str]] = {
    "name": (_reference("consumer"), "The consumer."),
    "modes": (_TEXTS, "Settings, destinations and versions on which demands depend."),
    "publications": (_TEXTS, "Names or patterns of the publications that it reads."),
    "tables": (_TEXTS, "Names or patterns of the tables that it reads."),
}


def schema() -> Schema:
    """Return the schema of `pubcheck.toml`; the table `tool.pubcheck` of `pyproject.toml` has the same."""
    properties = {key: _property(form, text, default) for key, (form, default, text) in _OPTIONS.items()}
    return {
        "$schema": _DRAFT,
        "title": "pubcheck configuration",
        "description": "pubcheck.toml, or the table tool.pubcheck of pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "definitions": {
            "code": _code(),
            "code-list": {"anyOf": [_reference("code"), {"type": "string", "pattern": ","}]},
            "codes": _one_or_more(_reference("code-list")),
            "majors": _majors(),
            "consumer": {"anyOf": [{"enum": list(NAMES)}, {"type": "string", "pattern": "[:=]|\\.toml$"}]},
            "consumers": _consumers(),
            "unit": _table(_UNIT, ("name", "files")),
        },
    }


def pyproject_schema() -> Schema:
    """Return the schema of a `pyproject.toml` as far as it is about pubcheck."""
    options = schema()
    definitions = options.pop("definitions")
    tool = {"type": "object", "properties": {"pubcheck": {key: options[key] for key in options if key != "$schema"}}}
    return {"$schema": _DRAFT, "type": "object", "properties": {"tool": tool}, "definitions": definitions}


def _property(form: Schema, text: str, default: object) -> Schema:
    # Next to a reference other keys are ignored in this draft, so the reference is one of a list of forms.
    described: Schema = {"allOf": [form]} if "$ref" in form else dict(form)
    described["description"] = text
    return described if default is None else {**described, "default": default}


def _table(keys: Mapping[str, tuple[Schema, str]], required: tuple[str, ...]) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {key: _property(form, text, None) for key, (form, text) in keys.items()},
    }


def _code() -> Schema:
    """Return the forms of a rule: its code, the beginning of codes, or its name."""
    families = sorted({code[:length] for code in RULES for length in (3, 4, 5)})
    names = [rule.name for rule in RULES.values()]
    return {"enum": ["ALL", *families, *RULES, *names]}


def _majors() -> Schema:
    number: Schema = {"enum": list(MAJORS)}
    alternatives = "|".join(map(str, MAJORS))
    text: Schema = {"type": "string", "pattern": rf"^\s*({alternatives})\s*(,\s*({alternatives})\s*)*$"}
    return {"anyOf": [number, text, {"type": "array", "items": {"anyOf": [number, text]}, "minItems": 1}]}


def _consumers() -> Schema:
    name = _reference("consumer")
    return {
        "anyOf": [
            name,
            {"type": "object", "additionalProperties": _one_or_more(name)},
            {"type": "array", "items": {"anyOf": [name, _table(_CONSUMER, ("name",))]}},
        ]
    }
