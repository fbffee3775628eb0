"""The filters of several publications for one table, in the document and on the page."""

from __future__ import annotations

from pubcheck.explain import render_html, render_text
from tests.explain.documents import document, explain

ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, region text, total integer NOT NULL CHECK (total >= 0));\n"


def publications(**filters: str) -> str:
    return "".join(
        f"CREATE PUBLICATION {name} FOR TABLE orders WHERE ({text}) WITH (publish = 'insert');\n"
        for name, text in filters.items()
    )


def test_each_set_of_publications_is_a_region() -> None:
    unit = explain(ORDERS + publications(eu="region = 'EU'", others="region <> 'EU'", large="total > 1000"))
    (filters,) = unit.filters
    assert (filters.table, filters.publications) == ("public.orders", ("eu", "others", "large"))
    assert [(pair.first, pair.second, pair.kind) for pair in filters.pairs] == [
        ("eu", "others", "disjoint"),
        ("eu", "large", "overlapping"),
        ("others", "large", "overlapping"),
    ]
    regions = {region.publications: region.rows for region in filters.regions}
    assert regions[("eu", "others")] == regions[("eu", "others", "large")] == "none"
    assert regions[("large",)] == regions[()] == "some"
    alone = next(region for region in filters.regions if region.publications == ())
    assert alone.example is not None
    assert [(value.column, value.sql) for value in alone.example] == [("region", "NULL"), ("total", "0")]
    assert filters.nulls == ("region",)


def test_the_filters_of_one_publication_are_not_compared() -> None:
    assert explain(ORDERS + publications(eu="region = 'EU'")).filters == ()


def test_what_is_not_decided_is_said() -> None:
    text = "".join(render_text.render(document(explain(ORDERS + publications(a="md5(region) = 'x'", b="total > 1")))))
    assert "whether a and b publish the same rows is not decided" in text


def test_the_page_has_a_dot_for_each_publication_of_a_region() -> None:
    page = "".join(
        render_html.render(document(explain(ORDERS + publications(eu="region = 'EU'", others="region <> 'EU'"))))
    )
    table = page[page.index('<table class="regions">') : page.index("</table>", page.index('<table class="regions">'))]
    assert table.count("<tr") == 5
    assert table.count('class="dot on"') == 4
