"""The filters of several publications for one table, in the document and on the page."""

from __future__ import annotations

import html
import re

from pubcheck.explain import render_html, render_text
from tests.explain.documents import document, explain

ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, region text, total integer NOT NULL CHECK (total >= 0));\n"


def publications(**filters: str) -> str:
    return "".join(
        f"CREATE PUBLICATION {name} FOR TABLE orders WHERE ({text}) WITH (publish = 'insert');\n"
        for name, text in filters.items()
    )


def test_each_set_of_publications_that_publish_a_row_together_is_a_region() -> None:
    unit = explain(ORDERS + publications(eu="region = 'EU'", others="region <> 'EU'", large="total > 1000"))
    (filters,) = unit.filters
    assert (filters.table, filters.publications) == ("public.orders", ("eu", "others", "large"))
    assert [(pair.first, pair.second, pair.kind) for pair in filters.pairs] == [
        ("eu", "others", "disjoint"),
        ("eu", "large", "overlapping"),
        ("others", "large", "overlapping"),
    ]
    assert filters.regions is not None
    regions = {region.publications: region.rows for region in filters.regions}
    sets = [("eu",), ("eu", "large"), ("others",), ("others", "large"), ("large",), ()]
    assert regions == dict.fromkeys(sets, "some")
    alone = next(region for region in filters.regions if region.publications == ())
    assert alone.example is not None
    assert [(value.column, value.sql) for value in alone.example] == [("region", "NULL"), ("total", "0")]
    assert filters.nulls == ("region",)


def test_the_filters_of_one_publication_are_not_compared() -> None:
    assert explain(ORDERS + publications(eu="region = 'EU'")).filters == ()


def test_what_is_not_decided_is_said() -> None:
    text = "".join(render_text.render(document(explain(ORDERS + publications(a="md5(region) = 'x'", b="total > 1")))))
    assert "whether a and b publish the same rows is not decided" in text


def drawing_of(**filters: str) -> list[tuple[list[str], str]]:
    """Return the bars through each region that the page draws, and its text; then the sentences below them."""
    page = "".join(render_html.render(document(explain(ORDERS + publications(**filters)))))
    figure = page[page.index('<figure class="regions">') :].partition("</figure>")[0]
    *regions, below = figure[figure.index("<ol>") :].split("</li>")
    bars = [re.findall(r'class="on">(\d)', part) for part in regions]
    return [*zip(bars, (text_of(part.partition("<div>")[2]) for part in regions), strict=True), ([], text_of(below))]


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", markup)).split())


def test_the_page_draws_a_bar_for_each_publication_through_the_regions_of_its_rows() -> None:
    assert drawing_of(eu="region = 'EU'", large="total > 5") == [
        (["1"], "only eu such as region = 'EU', total = 0"),
        (["1", "2"], "both overlap such as region = 'EU', total = 6"),
        (["2"], "only large such as region = '0', total = 6"),
        ([], "none of them gap such as region = '0', total = 0"),
        ([], ""),
    ]


def test_the_page_says_which_regions_have_no_rows() -> None:
    drawn = drawing_of(eu="region = 'EU'", others="region <> 'EU'", rest="region IS NULL")
    assert [bars for bars, _ in drawn] == [["1"], ["2"], ["3"], []]
    assert drawn[-1][1] == "No row is published twice. Every row is published by at least one of them."


def test_many_publications_are_drawn_if_they_share_few_rows() -> None:
    names = ("a", "b", "c", "d", "e", "f", "g")
    drawn = drawing_of(**{name: f"region = '{name}'" for name in names})
    assert [bars for bars, _ in drawn] == [[str(number + 1)] for number in range(len(names))] + [[], []]
    assert drawn[-1][1] == "No row is published twice."


def test_more_regions_than_a_reader_follows_are_not_listed() -> None:
    filters = {f"p{number}": f"total % {divisor} = 0" for number, divisor in enumerate((2, 3, 5, 7, 11))}
    unit = explain(ORDERS + publications(**filters))
    assert unit.filters[0].regions is None
    sentence = "The filters divide the rows in more than 16 ways, too many to list."
    assert sentence in "".join(render_text.render(document(unit)))
    assert sentence in "".join(render_html.render(document(unit)))
