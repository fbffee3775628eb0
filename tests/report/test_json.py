"""The JSON report: its fields and order, compared with the schema that ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import structs

import pubcheck
from pubcheck import findings
from pubcheck.diagnostics import Edit, Fix, ServerAnswer, Span, StatementRef
from pubcheck.report.json import render
from pubcheck.source import Source
from tests.report.samples import ORDERS, diagnostic, famous, reported, span

SCHEMA: dict[str, Any] = json.loads((Path(pubcheck.__file__).parent / "report" / "schema.json").read_text())


def parsed(report: findings.Report) -> dict[str, Any]:
    """The document as a reader gets it, valid under the schema."""
    value: dict[str, Any] = json.loads("".join(render(report)))
    jsonschema.validate(value, SCHEMA)
    return value


def test_the_document_of_the_famous_error() -> None:
    assert parsed(reported(famous())) == {
        "pubcheck": pubcheck.__version__,
        "schema_version": 1,
        "postgres": [18],
        "files": 1,
        "statements": 2,
        "diagnostics": [
            {
                "rule": "PUB301",
                "name": "filter-column-outside-replica-identity",
                "phase": "write",
                "severity": "error",
                "certainty": "certain",
                "postgres": [18],
                "message": "every UPDATE of public.orders will be refused",
                "help": "choose a replica identity that holds region",
                "path": "db/schema.sql",
                "line": 6,
                "column": 47,
                "end_line": 6,
                "end_column": 53,
                "related": [
                    {
                        "path": "db/schema.sql",
                        "line": 2,
                        "column": 5,
                        "end_line": 2,
                        "end_column": 7,
                        "message": "the key is (id)",
                    }
                ],
                "statement": {"index": 1, "line": 6},
                "object": "public.orders",
                "publication": "eu",
                "publications": ["eu"],
                "operation": "update",
                "server": {
                    "sqlstate": "42P10",
                    "message": 'cannot update table "orders"',
                    "detail": "Column used in the publication WHERE expression is not part of the replica identity.",
                    "hint": None,
                    "position": None,
                },
                "notices": [],
                "fixes": [],
                "url": None,
                "after": [],
                "after_count": 0,
                "assumptions": [],
            }
        ],
    }


def test_a_report_without_findings_is_a_whole_document() -> None:
    assert parsed(reported())["diagnostics"] == []


def test_nothing_is_required_of_a_diagnostic_but_its_place() -> None:
    entry = parsed(reported(diagnostic(Span(Source("a.sql", ""), 0, 0))))["diagnostics"][0]
    assert (entry["line"], entry["column"], entry["statement"], entry["server"]) == (1, 1, None, None)


def test_only_a_statement_inside_another_one_has_embedded() -> None:
    inner = diagnostic(span(ORDERS, "eu"), statement=StatementRef(ORDERS, 1, 0, (0, 2)))
    assert parsed(reported(inner))["diagnostics"][0]["statement"] == {"index": 1, "line": 1, "embedded": [0, 2]}


def test_edits_of_a_fix_have_places() -> None:
    fix = Fix("write it so", "unsafe", (Edit(span(ORDERS, "region", nth=1), "id"),))
    edit = parsed(reported(structs.replace(famous(), fixes=(fix,))))["diagnostics"][0]["fixes"][0]["edits"][0]
    assert edit == {"path": "db/schema.sql", "line": 6, "column": 47, "end_line": 6, "end_column": 53, "text": "id"}


def test_columns_count_code_points_whatever_they_take_on_screen() -> None:
    source = Source("a.sql", "SELECT 1;\r\n\t'日本 👩‍👧' x")
    entry = parsed(reported(diagnostic(span(source, "x"))))["diagnostics"][0]
    assert (entry["line"], entry["column"]) == (2, 11)


def test_order_is_path_line_column_rule() -> None:
    first, second = Source("a.sql", "one two\nthree"), Source("b.sql", "one")
    unsorted = [
        diagnostic(span(second, "one")),
        diagnostic(span(first, "three")),
        diagnostic(span(first, "two"), rule="PUB401"),
        diagnostic(span(first, "two"), rule="PUB107"),
        diagnostic(span(first, "one")),
    ]
    diagnostics = parsed(reported(*unsorted))["diagnostics"]
    assert [(finding["path"], finding["line"], finding["column"], finding["rule"]) for finding in diagnostics] == [
        ("a.sql", 1, 1, "PUB301"),
        ("a.sql", 1, 5, "PUB107"),
        ("a.sql", 1, 5, "PUB401"),
        ("a.sql", 2, 1, "PUB301"),
        ("b.sql", 1, 1, "PUB301"),
    ]


@pytest.mark.parametrize(
    ("record", "definition"),
    [
        (findings.Entry, SCHEMA["$defs"]["diagnostic"]),
        (findings.Related, SCHEMA["$defs"]["diagnostic"]["properties"]["related"]["items"]),
        (findings.Statement, SCHEMA["$defs"]["diagnostic"]["properties"]["statement"]["anyOf"][1]),
        (ServerAnswer, SCHEMA["$defs"]["diagnostic"]["properties"]["server"]["anyOf"][1]),
        (findings.FixEntry, SCHEMA["$defs"]["diagnostic"]["properties"]["fixes"]["items"]),
    ],
)
def test_the_schema_describes_every_field_in_the_order_in_which_it_is_written(
    record: type, definition: dict[str, Any]
) -> None:
    assert list(definition["properties"]) == list(record.__struct_fields__)  # type: ignore[attr-defined]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
