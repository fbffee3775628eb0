"""The JSON Schema of a configuration accepts what pubcheck reads, and refuses what it refuses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pubcheck import config_schema
from pubcheck.config import OPTIONS, Config, ConfigError, from_options

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA = jsonschema.Draft7Validator(config_schema.schema())
PYPROJECT = jsonschema.Draft7Validator(config_schema.pyproject_schema())

EXAMPLES = [
    example
    for page in sorted(DOCS.glob("*.md"))
    for example in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    if not re.search(r"^(\[language|\[consumer\]|sources)", example, re.MULTILINE)  # others, and forms that exclude
]


def test_the_schema_is_one_and_has_the_options_that_are_read() -> None:
    jsonschema.Draft7Validator.check_schema(config_schema.schema())
    properties = config_schema.schema()["properties"]
    assert properties.keys() == OPTIONS.keys()
    for key, field in OPTIONS.items():
        default: Any = properties[key].get("default", [])
        if default:
            assert getattr(from_options({key: default}), field) == getattr(Config(), field)
        else:
            assert not getattr(Config(), field)


def test_the_documented_examples_are_valid() -> None:
    assert EXAMPLES
    for example in EXAMPLES:
        options = tomllib.loads(example)
        SCHEMA.validate(options)
        PYPROJECT.validate({"tool": {"pubcheck": options}})
        from_options(options)


@pytest.mark.parametrize(
    "text",
    [
        "select = 'no-replica-identity'",
        "select = ['all']\nignore = 'PUB1, PUB3'",
        "postgres = '15, 18'",
        "consumer = 'powersync'",
        "consumer = {app = 'sequin', 'w_*' = ['supabase-etl:bigquery']}",
        "variables = {port = 5432}",
        "max-statement-size = 1024",
    ],
)
def test_other_forms_are_valid(text: str) -> None:
    from_options(tomllib.loads(text))
    SCHEMA.validate(tomllib.loads(text.replace("'all'", "'ALL'")))


@pytest.mark.parametrize(
    "text",
    [
        "selct = ['PUB3']",
        "select = ['PUB3O1']",
        "postgres = 14",
        "fail-on = 'fatal'",
        "complete = 'yes'",
        "severity = {PUB301 = 'high'}",
        "consumer = 'powersink'",
        "docs-url = 'rules'",
        "max-statement-size = 'big'",
        "[[unit]]\nfiles = 'a.sql'",
        "[[unit]]\nname = 'a'\nfiles = 'a.sql'\nshema = 'b.sql'",
    ],
)
def test_a_typo_is_refused_as_pubcheck_refuses_it(text: str) -> None:
    options = tomllib.loads(text)
    with pytest.raises(ConfigError):
        from_options(options)
    assert not SCHEMA.is_valid(options)
    assert not PYPROJECT.is_valid({"tool": {"pubcheck": options}})
