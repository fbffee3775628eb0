"""The three forms of an explanation: text, JSON under its schema, and the page, which a real browser opens."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from playwright.sync_api import Page, expect

import pubcheck
from pubcheck.explain import render_html, render_json, render_text
from pubcheck.explain.document import Explanation
from pubcheck.explain.render_html import draw
from tests.explain.documents import document, explain
from tests.explain.test_explain import everything
from tests.support.axe import serious_violations
from tests.support.browser import CONTRAST
from tests.support.screenshots import large_schema, odd_schema

SHIPPED = Path(pubcheck.__file__).parent / "explain" / "explain.schema.json"
SHOP = Path(__file__).parents[2] / "corpus" / "samples" / "shop.sql"


@pytest.fixture(scope="module")
def whole() -> Explanation:
    return document(everything(), explain("SELECT 1;\n"))


@pytest.fixture(scope="module")
def large() -> Explanation:
    """5,000 tables, 200 publications."""
    tables = "".join(f"CREATE TABLE t{n} (id int PRIMARY KEY, x int);\n" for n in range(5000))
    few = "".join(
        f"CREATE PUBLICATION few{n} FOR TABLE "
        + ", ".join(f"t{(n * 26 + k) % 5000}{f' WHERE (id > {n})' if n < 40 else ''}" for k in range(10))
        + ";\n"
        for n in range(190)
    )
    many = "".join(
        f"CREATE PUBLICATION schema{n} FOR TABLES IN SCHEMA public;\nCREATE PUBLICATION all{n} FOR ALL TABLES;\n"
        for n in range(5)
    )
    return document(explain(tables + few + many))


# --- Text ---------------------------------------------------------------------------------------------------------


def test_text_says_what_a_subscriber_sees(whole: Explanation) -> None:
    text = "".join(render_text.render(whole))
    for part in (
        "Publication filtered (tables by name)",
        "arrives as      public.r",
        "no match: id = ",
        "an INSERT",
        "is published as",
        "UPDATE and DELETE, by the publisher",
        "decoding stops with ERROR 22012: division by zero",
        "never published public.r2: unlogged",
        "publication same has a filter that means the same",
        "One subscription to filtered, listed",
        "nothing: it has no members",
        "Not in this explanation",
    ):
        assert part in text
    assert all(len(line) <= 160 for line in text.splitlines())
    assert not re.search("[\x00-\x08\x0b-\x1f\u2028]", text)


def test_text_on_a_terminal_says_the_same(whole: Explanation) -> None:
    plain = "".join(render_text.render(whole))
    rich = re.sub(r"\x1b\[[0-9;]*m", "", "".join(render_text.render_rich(whole, width=140)))
    words = [set(re.findall(r"\w+", text)) for text in (plain, rich)]
    assert words[0] == words[1]


def test_5000_tables_stay_readable(large: Explanation) -> None:
    text = "".join(render_text.render(large))
    block = text[text.index("Publication all0") : text.index("Publication schema1")]
    assert "public.t0, public.t1, public.t2 and 4,997 more (5,000 tables)" in block
    assert len(block.splitlines()) < 20


def test_no_publication_is_said() -> None:
    text = "".join(render_text.render(document(explain("CREATE TABLE t (a int);\n"))))
    assert "No publication found in 1 statement of 1 file (PostgreSQL 18)." in text


# --- JSON ---------------------------------------------------------------------------------------------------------


def test_json_is_valid_under_the_schema_that_ships(whole: Explanation, large: Explanation) -> None:
    schema: dict[str, Any] = json.loads(SHIPPED.read_text())
    for explanation in (whole, large, document()):
        value = json.loads("".join(render_json.render(explanation)))
        jsonschema.validate(value, schema)
        assert len(value["units"]) == len(explanation.units)
    assert value["schema_version"] == 1


def test_the_schema_is_that_of_the_document() -> None:
    assert render_json.schema() == SHIPPED.read_bytes(), "python -m pubcheck.explain.render_json writes it again"


def test_json_names_every_table(large: Explanation) -> None:
    value = json.loads("".join(render_json.render(large)))
    (unit,) = value["units"]
    assert len(unit["tables"]) == 5000
    everything = next(row for row in unit["publications"] if row["name"] == "all0")
    assert [len(answer["tables"]) for answer in everything["answers"]] == [5000]


# --- The page -----------------------------------------------------------------------------------------------------


_TEXT_FITS = """() => [...document.querySelectorAll(".drawing .pill")].every((pill) => {
  const [outer, inner] = [pill.querySelector("rect").getBBox(), pill.querySelector("text").getBBox()];
  return inner.x + inner.width <= outer.x + outer.width;
})"""


_BEHIND_PILLS = """() => {
  const pills = [...document.querySelectorAll(".drawing .pill rect")].map((pill) => pill.getBBox());
  let behind = 0;
  for (const path of document.querySelectorAll(".drawing .ribbon path"))
    for (let at = 0; at < path.getTotalLength(); at += 4) {
      const { x, y } = path.getPointAtLength(at);
      behind += pills.some((pill) =>
        x > pill.x + 3 && x < pill.x + pill.width - 3 && y > pill.y && y < pill.y + pill.height);
    }
  return behind;
}"""
"""JavaScript: points of ribbons that pills hide."""


def show(page: Page, explanation: Explanation, folder: Path, docs_url: str = "") -> None:
    path = folder / "page.html"
    path.write_text("".join(render_html.render(explanation, docs_url)))
    page.goto(path.as_uri())


@pytest.mark.browser
def test_the_page_holds_what_the_document_says(page: Page, whole: Explanation, tmp_path: Path) -> None:
    show(page, whole, tmp_path)
    assert page.title() == "What subscribers see: a.sql, a.sql"
    unit = whole.units[0]
    named = page.locator(".publication:not(.together, .compared) > summary h2").all_inner_texts()
    assert named == [row.name for row in unit.publications]
    assert page.locator(".together").count() == 2
    assert page.locator(".compared .regions").count() == len(unit.filters)
    cells = page.locator("#u0-p0 .matrix").first.locator("tbody td strong").all_inner_texts()
    assert cells == ["nothing", "INSERT", "DELETE", "UPDATE"]
    assert page.locator(".told li").count() == len([finding for finding in unit.findings if finding.severity != "note"])
    assert page.get_by_text("No publication is made here.").count() == 1


@pytest.mark.browser
def test_the_drawing_shows_all_and_nothing_lies_over_another(page: Page, tmp_path: Path) -> None:
    shop = document(explain(SHOP.read_text()))
    show(page, shop, tmp_path)
    assert page.locator(".drawing .box").count() == 5
    assert page.locator(".drawing .pill").count() == 5, "a publication has one pill for tables with the same filter"
    assert page.locator(".drawing .leaf.lost").text_content() == "orders_rest"
    for kind in ("box", "pill", "card"):
        places = [
            box
            for rectangle in page.locator(f".drawing .{kind} > rect:first-of-type").all()
            if (box := rectangle.bounding_box())
        ]
        places.sort(key=lambda box: box["y"])
        for above, below in pairwise(places):
            assert above["y"] + above["height"] <= below["y"]
        for text in page.locator(f".drawing .{kind} text").all():
            inner, outer = text.bounding_box(), page.locator(".drawing").bounding_box()
            assert inner is not None
            assert outer is not None
            assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    assert page.evaluate(_TEXT_FITS)
    assert page.evaluate(_BEHIND_PILLS) == 0


@pytest.mark.browser
def test_keyboard_and_screen_reader(page: Page, whole: Explanation, tmp_path: Path) -> None:
    show(page, whole, tmp_path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#u0-p1 > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#u0-p1").get_attribute("open") is None
    link = page.locator(".drawing a.box").nth(1)
    link.focus()
    assert "pointed" in (page.locator(".drawing").get_attribute("class") or "")
    page.keyboard.press("Enter")
    target = (link.get_attribute("href") or "")[1:]
    expect(page.locator(f"#{target}")).to_have_attribute("open", "")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    tree = page.locator("body").aria_snapshot()
    assert 'link "filtered ' in tree
    assert 'heading "filtered" [level=2]' in tree
    assert "DELETE" in tree
    unnamed = page.evaluate(
        "[...document.querySelectorAll('a, button, input, summary')].filter(each =>"
        " !(each.textContent.trim() || each.labels?.length || each.ariaLabel)).length"
    )
    assert unnamed == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.browser
@pytest.mark.parametrize("text", [None, large_schema(), odd_schema()], ids=["everything", "large", "odd"])
def test_dark_and_light_can_be_read(page: Page, whole: Explanation, tmp_path: Path, text: str | None) -> None:
    show(page, whole if text is None else document(explain(text)), tmp_path)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    light = page.evaluate(CONTRAST)
    assert serious_violations(page) == []
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    dark = page.evaluate(CONTRAST)
    assert serious_violations(page) == []
    assert light["background"] != dark["background"]
    assert not light["poor"]
    assert not dark["poor"]
    assert page.evaluate(_BEHIND_PILLS) == 0


@pytest.mark.browser
def test_rules_are_on_the_page_and_sql_is_copied(page: Page, whole: Explanation, tmp_path: Path) -> None:
    show(page, whole, tmp_path)
    page.evaluate("document.execCommand = () => { window.copied = document.activeElement.value; return true; }")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    remedy = page.locator(".remedy").first
    remedy.get_by_role("button", name="Copy this SQL").click()
    expect(remedy.get_by_role("button")).to_have_text("Copied")
    copied = page.evaluate("window.copied")
    assert copied == remedy.locator("code").text_content()
    assert re.match(r"(ALTER|CREATE) .*;$", copied)
    links = "[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.getAttribute('href').slice(1))"
    assert page.evaluate(f"{links}.filter(name => !document.getElementById(name))") == []
    link = page.locator(".box a.rule").first
    link.click()
    rule = page.locator(f"#{link.text_content()}")
    expect(rule).to_have_attribute("open", "")
    assert "How to fix" in rule.inner_text()
    show(page, whole, tmp_path, "https://example.com/{code}-{name}.html")
    expect(page.locator(".box a.rule", has_text="PUB301").first).to_have_attribute(
        "href", "https://example.com/PUB301-filter-column-outside-replica-identity.html"
    )
    assert page.locator(".page").count() == 0


@pytest.mark.browser
def test_5000_tables_are_found_and_drawn_in_a_few_cards(page: Page, large: Explanation, tmp_path: Path) -> None:
    show(page, large, tmp_path)
    assert page.locator(".publication").count() == 200
    assert page.locator(".publication[open]").count() == 0
    assert page.locator(".drawing .card").count() <= 30
    assert page.locator(".drawing .box").count() <= 16
    page.locator("#find").fill("few99")
    expect(page.locator("#found")).to_have_text("1 of 200")
    page.locator("#find").fill("public.t4999")
    expect(page.locator("#found")).to_have_text("10 of 200")
    assert page.locator(".publication:not(.gone)").count() >= 2
    assert page.locator(".publication.gone").count() > 100
    page.keyboard.press("Escape")
    assert page.locator(".publication.gone").count() == 0


@pytest.mark.browser
def test_a_narrow_window_is_not_scrolled_sideways(page: Page, whole: Explanation, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    show(page, whole, tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator("figure.scroll").first).to_have_class("scroll more-right")
    page.locator("figure.scroll").first.evaluate("figure => { figure.scrollLeft = 9999; }")
    expect(page.locator("figure.scroll").first).to_have_class("scroll more-left")
    heads = page.locator(".matrix").first.locator("th")
    assert [" ".join(head.inner_text().split()) for head in heads.all()] == [
        "new row does not match",
        "new row matches",
        "old row does not match",
        "old row matches",
    ]
    assert all(head.is_visible() for head in heads.all())


def test_names_and_filters_cannot_leave_their_place(whole: Explanation) -> None:
    text = "".join(render_html.render(whole))
    assert "<script>alert" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u2028-\u202e\u2066-\u2069]", text)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert text.count("<script>") == 1
    assert "src=" not in text
    own, _, rules = text.partition('<section class="pages"')
    assert not re.search(r"href=\"(?!#)", own)
    assert "http" not in re.sub(r"http-equiv", "", own)
    assert not re.search(r'(?<!<a rel="noreferrer" )href="(?!#)', rules)


def test_a_drawing_of_nothing_is_empty() -> None:
    assert draw(explain("SELECT 1;\n"), 0) == ""
