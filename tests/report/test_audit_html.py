"""The report of an audit: a page that says what its document says, and obeys nothing of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from pubcheck.report import audit_html
from pubcheck.report.audit_html import Audit, RuleChange
from tests.report.audits import audit, nothing
from tests.support.axe import serious_violations
from tests.support.browser import CONTRAST

_HIDDEN_TEXTS = """[...document.querySelectorAll("#rules td, #listing td, #reasons td, #worst td, #changes td")]
  .filter((cell) => cell.getBoundingClientRect().right > innerWidth).map((cell) => cell.textContent)"""


def rendered(document: Audit) -> str:
    return "".join(audit_html.render(document))


def test_names_and_messages_cannot_leave_their_place() -> None:
    text = rendered(audit())
    assert "<script>alert" not in text
    assert text.count("<script>") == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u2028-\u202e\u2066-\u2069]", text)
    assert "$x^2$" in text
    assert "#010101" in text
    assert not re.search(r"<(script|img|iframe|link|object|embed)[^>]*\b(src|href|data)=", text)
    assert not re.search(r"url\(|@import", text)


def test_the_same_document_gives_the_same_page() -> None:
    assert rendered(audit()) == rendered(audit())


def test_of_more_rules_than_a_plot_can_show_the_table_has_all() -> None:
    document = audit()
    many = tuple(replace(document.rules[0], code=f"PUB{n}", certain=n) for n in range(300, 360))
    changes = tuple(RuleChange(f"PUB{n}", n, 1, 0) for n in range(300, 360))
    assert document.change is not None
    text = rendered(replace(document, rules=many, change=replace(document.change, rules=changes)))
    assert "the first 20 of 60" in text
    assert text.count('<th scope="row">PUB3') + text.count("</a></th>") >= 120


def test_where_nothing_is_that_is_said() -> None:
    text = rendered(nothing())
    for part in ("Nothing was found.", "There is none.", "Nothing was quarantined."):
        assert part in text
    assert "Since the run before" not in text


def show(page: Page, document: Audit, folder: Path) -> None:
    path = folder / "report.html"
    path.write_text(rendered(document))
    page.goto(path.as_uri())


def cells(page: Page, table: str) -> list[list[str]]:
    return [row.locator("th, td").all_inner_texts() for row in page.locator(f"#{table} tbody tr").all()]


@pytest.mark.browser
def test_the_page_shows_the_numbers_of_the_document(page: Page, tmp_path: Path) -> None:
    document = audit()
    show(page, document, tmp_path)
    cards = page.locator(".card b").all_inner_texts()
    assert cards == ["1,000", "1,500", "123,456", "800", "1,244", "7", "61"]
    assert page.locator(".card.error small").inner_text() == "+29 since r2"
    assert page.locator(".card.warning small").inner_text() == "−2 since r2"
    assert cells(page, "ends") == [
        ["units", "1,400", "90", "10", "1,500"],
        ["files", "2,800", "180", "20", "3,000"],
    ]
    assert [[row[0], *row[4:7]] for row in cells(page, "rules")] == [
        ["PUB301", "1,200", "34", "300"],
        ["PUB209", "10", "0", "9"],
        ["PUB603", "7", "0", "7"],
        ["PUB107", "0", "60", "40"],
        ["PUB999", "1", "0", "1"],
    ]
    assert cells(page, "changes")[0] == ["PUB301", "filter-column-outside-replica-identity", "34", "5", "1,200"]
    assert "34 new, 7 gone, 1,217 the same" in page.locator("#change .lead").inner_text()
    assert "not comparable" in page.locator("#change .lead").inner_text()
    assert cells(page, "features")[0] == ["FOR ALL TABLES", "300", "37.5%", "290"]
    assert cells(page, "operations")[1] == ["UPDATE", "50", "5", "45", "0"]
    assert [row[0] for row in cells(page, "reasons")] == ["crashed", "not-text"]
    assert cells(page, "runs")[0] == ["r3", "1,500", "1,244", "7", "61"]
    assert len(cells(page, "worst")) == 30
    assert [row[:3] for row in cells(page, "listing")][1::3] == [
        ["PUB301", "error", "assumed"],
        ["PUB603", "warning", "certain"],
        ["PUB107", "note", "assumed"],
    ]
    assert "10 of 1,312 findings" in page.locator("#list .lead").inner_text()


@pytest.mark.browser
def test_plots_are_as_long_as_their_numbers_and_have_names(page: Page, tmp_path: Path) -> None:
    show(page, audit(), tmp_path)
    names = page.locator("svg.plot").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert len(names) == len(set(names)) == 11
    bars = page.locator("svg.plot").nth(1).locator(".bar")
    assert [title.split(": ")[1] for title in bars.locator("title").all_text_contents()] == [
        "1,200 certain",
        "34 assumed",
        "10 certain",
    ]
    widths = [box["width"] for bar in bars.all() if (box := bar.locator("path").bounding_box())]
    assert widths[0] / widths[1] == pytest.approx(1200 / 34, rel=0.02)
    outside = page.evaluate(
        """[...document.querySelectorAll("svg.plot text")].filter((text) => {
          const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
          return inner.left < outer.left - 1 || inner.right > outer.right + 1 ||
            inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
        }).map((text) => text.textContent)"""
    )
    assert outside == []


@pytest.mark.browser
def test_a_rule_leads_to_its_page(page: Page, tmp_path: Path) -> None:
    show(page, audit(), tmp_path)
    assert page.locator(".page").count() == 4, "the rules of this version"
    page.locator("#rules a").first.click()
    expect(page.locator("#PUB301")).to_have_attribute("open", "")
    expect(page.locator("#PUB301 > summary")).to_be_focused()
    assert "Column used in the publication WHERE expression" in page.locator("#PUB301").inner_text()
    assert page.locator("#PUB301 pre").count() > 3
    links = "[...document.querySelectorAll('a[href^=\"#\"]')].map(each => each.getAttribute('href').slice(1))"
    assert page.evaluate(f"{links}.filter(name => !document.getElementById(name))") == []


@pytest.mark.browser
def test_tables_are_sorted_and_searched(page: Page, tmp_path: Path) -> None:
    show(page, audit(), tmp_path)
    head = page.locator("#worst thead th", has_text="Warnings")
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert [row[3] for row in cells(page, "worst")][:3] == ["28", "27", "26"]
    page.keyboard.press("Enter")
    assert [row[3] for row in cells(page, "worst")][:3] == ["0", "1", "2"]
    page.locator("#find").fill("shop-17")
    expect(page.locator("#found")).to_have_text(re.compile(r"^1 of \d+ rows$"))
    page.keyboard.press("Escape")
    assert page.locator(".gone").count() == 0
    page.locator("select[data-column='1']").select_option("error")
    expect(page.locator("#listed")).to_have_text("4 of 10")
    page.locator("select[data-column='2']").select_option("assumed")
    page.locator("select[data-column='0']").select_option("PUB209")
    expect(page.locator("#listing tbody tr:visible")).to_have_count(1)
    page.get_by_label("Search").fill("shop-1")
    expect(page.locator("#listed")).to_have_text("0 of 10")


@pytest.mark.browser
def test_dark_light_and_narrow_can_be_read(page: Page, tmp_path: Path) -> None:
    show(page, audit(), tmp_path)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    light = page.evaluate(CONTRAST)
    assert serious_violations(page) == []
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(CONTRAST)
    assert serious_violations(page) == []
    assert light["background"] != dark["background"]
    assert not light["poor"]
    assert not dark["poor"]
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(_HIDDEN_TEXTS) == [], "rows are not blank: their texts are in the window"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    unnamed = page.evaluate(
        "[...document.querySelectorAll('a, button, input, summary')].filter(each =>"
        " !(each.textContent.trim() || each.labels?.length || each.ariaLabel)).length"
    )
    assert unnamed == 0
