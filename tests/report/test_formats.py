"""The formats for machines: each held to a golden file, to its standard where there is a schema, to hostile text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pubcheck import __version__, findings
from pubcheck.diagnostics import Diagnostic, Edit, Fix, Span
from pubcheck.findings import Report, Resolver
from pubcheck.report import FOR_PEOPLE, FORMATS, render
from pubcheck.rulebook import RULES, page, summary
from pubcheck.source import Source
from tests.report.samples import ORDERS, diagnostic, famous, reported, span

HERE = Path(__file__).parent
SARIF = jsonschema.Draft4Validator(json.loads((HERE / "sarif-schema-2.1.0.json").read_text()))
MACHINES = [name for name in FORMATS if name not in FOR_PEOPLE]


def rendered(report: Report, name: str) -> str:
    return "".join(render(report, name))


RESTS_ON = ("table public.t, which these files do not create",)


def several() -> Report:
    """An error with a related place, a warning with a fix that spans lines, a note that is assumed, in two files."""
    other = Source("db/10% off, a:b & <c>.sql", 'SELECT 1;\nALTER PUBLICATION "é"\n  ADD TABLE t;\n')
    fix = Fix("leave it out", "safe", (Edit(span(other, 'ALTER PUBLICATION "é"\n  ADD TABLE t;'), ""),))
    return reported(
        famous(),
        diagnostic(span(other, '"é"\n  ADD'), rule="PUB107", severity="warning", message="one\ntwo", fixes=(fix,)),
        diagnostic(span(other, "t;"), severity="note", certainty="assumed", message='a "note"', assumptions=RESTS_ON),
    )


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("text", "json")])
def test_golden_file(name: str) -> None:
    golden = (HERE / "golden" / f"{name}.txt").read_text()
    text = rendered(several(), name)
    if name == "sarif":  # the pages of the rules, which change, stand in it
        parsed = json.loads(text)
        for rule in parsed["runs"][0]["tool"]["driver"]["rules"]:
            assert rule["help"].pop("text") == rule["help"].pop("markdown") != ""
            assert rule.pop("fullDescription")["text"] != ""
        text = json.dumps(parsed, indent=1, ensure_ascii=False) + "\n"
    assert text.replace(__version__, "VERSION") == golden


@pytest.mark.parametrize("report", [several(), reported()], ids=["findings", "none"])
def test_sarif_is_valid_under_the_schema_of_oasis(report: Report) -> None:
    SARIF.validate(json.loads(rendered(report, "sarif")))


def rules_of(report: Report) -> dict[str, Any]:
    return {rule["id"]: rule for rule in json.loads(rendered(report, "sarif"))["runs"][0]["tool"]["driver"]["rules"]}


def test_the_rules_of_sarif_say_what_they_are_without_front_matter() -> None:
    rule = rules_of(several())["PUB301"]
    assert rule["help"]["markdown"].startswith("# filter-column-outside-replica-identity (PUB301)\n")
    assert rule["fullDescription"]["text"].startswith("`CREATE PUBLICATION` succeeds. From then on every `UPDATE`")
    assert "\n" not in rule["fullDescription"]["text"]
    assert "helpUri" not in rule


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_a_description_for_sarif(code: str) -> None:
    assert not page(code).startswith("---")
    assert summary(code).endswith((".", ":")) or "." in summary(code)


def test_the_rules_of_sarif_say_how_bad_and_how_sure_their_findings_are() -> None:
    def properties(*finding: Diagnostic) -> tuple[str, str]:
        rule = rules_of(reported(*finding))["PUB301"]["properties"]
        return rule["problem.severity"], rule["precision"]

    certain, assumed = (
        diagnostic(span(ORDERS, "region"), certainty=certainty, severity=severity)
        for certainty, severity in (("certain", "note"), ("assumed", "warning"))
    )
    assert properties(certain) == ("recommendation", "very-high")
    assert properties(assumed) == ("warning", "medium")
    assert properties(certain, assumed) == ("warning", "high")
    assert properties(famous(), assumed) == ("error", "high")


@pytest.mark.parametrize(
    ("docs_url", "expected"),
    [
        ("https://example.com/rules/", "https://example.com/rules/PUB301"),
        ("https://example.com/{code}-{name}.md", f"https://example.com/PUB301-{RULES['PUB301'].name}.md"),
    ],
)
def test_rules_are_linked_where_the_configuration_says(docs_url: str, expected: str) -> None:
    linked = findings.report(Resolver(docs_url=docs_url).findings([famous()]), [18], 1, 1)
    assert rules_of(linked)["PUB301"]["helpUri"] == expected
    SARIF.validate(json.loads(rendered(linked, "sarif")))
    assert json.loads(rendered(linked, "json"))["diagnostics"][0]["url"] == expected


def test_without_a_configured_address_rules_are_linked_where_the_project_publishes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = findings.report(Resolver().findings([famous()]), [18], 1, 1)
    monkeypatch.setattr(findings, "ADDRESS", "https://example.com/rules/{code}/")
    linked = findings.report(Resolver().findings([famous()]), [18], 1, 1)
    assert rules_of(linked)["PUB301"]["helpUri"] == "https://example.com/rules/PUB301/"
    assert "helpUri" not in rules_of(plain)["PUB301"]
    assert json.loads(rendered(plain, "json"))["diagnostics"][0]["url"] is None


@pytest.mark.parametrize("format_", ["text", "concise"])
def test_a_terminal_opens_the_page_of_a_rule_by_its_code(format_: str) -> None:
    linked = findings.report(Resolver(docs_url="https://example.com/{code}").findings([famous()]), [18], 1, 1)
    hyperlink = "\x1b]8;;https://example.com/PUB301\x1b\\PUB301\x1b]8;;\x1b\\"
    assert f"error[{hyperlink}]" in "".join(render(linked, format_, color=True))
    assert "\x1b]8" not in "".join(render(linked, format_))
    assert "\x1b]8" not in "".join(render(reported(famous()), format_, color=True))


def test_a_finding_of_sarif_keeps_its_fingerprint_when_lines_are_put_before_it() -> None:
    below = Source(ORDERS.label, "-- a comment\n" + ORDERS.text)
    moved = structs.replace(famous(), span=span(below, "region", nth=1), related=(), statement=None)
    prints = [
        json.loads(rendered(reported(finding), "sarif"))["runs"][0]["results"][0]["partialFingerprints"]
        for finding in (famous(), moved)
    ]
    assert prints[0] == prints[1]


def test_two_findings_that_are_alike_have_different_fingerprints() -> None:
    twice = reported(diagnostic(span(ORDERS, "region")), diagnostic(span(ORDERS, "region", nth=1)))
    assert len({issue["fingerprint"] for issue in json.loads(rendered(twice, "gitlab"))}) == 2


def test_nothing_found_is_a_whole_document_in_every_format() -> None:
    empty = {name: rendered(reported(), name) for name in MACHINES}
    assert json.loads(empty["gitlab"]) == []
    assert json.loads(empty["sarif"])["runs"][0]["results"] == []
    assert (empty["jsonl"], empty["github"], empty["azure"]) == ("", "", "")
    assert yaml.safe_load(empty["yaml"])["diagnostics"] == []
    assert json.loads(empty["rdjson"])["diagnostics"] == []
    assert ElementTree.fromstring(empty["checkstyle"]).findall("file") == []
    assert [case.get("name") for case in ElementTree.fromstring(empty["junit"]).iter("testcase")] == ["no findings"]


def test_a_comment_of_markdown_calls_nobody_and_refers_to_no_issue() -> None:
    """Hosts link names behind @ and numbers behind # also where a backslash escapes them, but not across a comment."""
    report = reported(diagnostic(span(ORDERS, "orders"), message='table "@someone" #12, a @> b'))
    text = rendered(report, "markdown")
    assert "@<!-- -->someone" in text
    assert "#<!-- -->12" in text
    assert "a @\\> b" in text


def test_an_absolute_path_is_a_file_uri_and_a_relative_one_stays_relative() -> None:
    def uri(label: str) -> str:
        report = reported(diagnostic(Span(Source(label, ""), 0, 0)))
        result = json.loads(rendered(report, "sarif"))["runs"][0]["results"][0]
        return str(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

    assert uri("/db/a b.sql") == "file:///db/a%20b.sql"
    assert uri("db/a#1.sql") == "db/a%231.sql"
    assert uri("a:b.sql") == "a%3Ab.sql"  # a URI would take "a" for a scheme


@settings(max_examples=40)
@given(st.text(), st.text(min_size=1), st.text())
def test_no_text_breaks_a_format(path: str, text: str, message: str) -> None:
    finding: Diagnostic = diagnostic(Span(Source(path, text), 0, len(text)), message=message, help=text)
    report = reported(finding, finding)
    SARIF.validate(json.loads(rendered(report, "sarif")))
    assert [issue["location"]["path"] for issue in json.loads(rendered(report, "gitlab"))] == [path, path]
    assert [json.loads(line)["message"] for line in rendered(report, "jsonl").split("\n")[:-1]] == [message, message]
    assert yaml.safe_load(rendered(report, "yaml")) == json.loads(rendered(report, "json"))
    assert len(list(ElementTree.fromstring(rendered(report, "junit")).iter("failure"))) == 2
    assert len(list(ElementTree.fromstring(rendered(report, "checkstyle")).iter("error"))) == 2
    assert [
        issue["message"].startswith(message) for issue in json.loads(rendered(report, "rdjson"))["diagnostics"]
    ] == [True] * 2
    assert [line[:22] for line in re.split(r"[\r\n]", rendered(report, "azure"))] == ["##vso[task.logissue ty"] * 2 + [
        ""
    ]
    assert all(line.count("]") == 1 for line in rendered(report, "azure").split("\n")[:-1])
    commands = re.split(r"[\r\n]", rendered(report, "github"))
    assert [command[:8] for command in commands] == ["::error ", "::error ", ""]
    assert "\x1b" not in rendered(report, "github")
    assert rendered(report, "concise").count("\n") == 3
