"""EXCEPT and ALL SEQUENCES of 19 in the three forms of an explanation."""

from __future__ import annotations

import json

import jsonschema
import pytest

from pubcheck.explain import render_html, render_json, render_text
from pubcheck.explain.document import Explanation
from pubcheck.explain.render_html import draw
from tests.explain.documents import document, explain, publication
from tests.explain.test_reports import SHIPPED

SQL = """
CREATE TABLE t (id serial PRIMARY KEY, a int);
CREATE TABLE audit (id int PRIMARY KEY, a int);
CREATE TABLE pt (id int PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE p1 PARTITION OF pt FOR VALUES IN (1);
CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE audit, pt), ALL SEQUENCES;
CREATE PUBLICATION s FOR ALL SEQUENCES;
"""


@pytest.fixture(scope="module")
def whole() -> Explanation:
    return document(explain(SQL, postgres=19), postgres=19)


def test_the_document_names_what_is_left_out_and_the_sequences(whole: Explanation) -> None:
    (unit,) = whole.units
    both = publication(unit, "p")
    assert (both.kind, both.excluded, both.sequences) == (
        "all tables",
        ("public.audit", "public.pt"),
        ("public.t_id_seq",),
    )
    assert [name for answer in both.answers for name in answer.tables] == ["public.t"]
    alone = publication(unit, "s")
    assert (alone.kind, alone.answers, alone.sequences) == ("all sequences", (), ("public.t_id_seq",))


def test_text_page_and_json_show_them(whole: Explanation) -> None:
    text = "".join(render_text.render(whole))
    assert "not published   public.audit, public.pt (EXCEPT)" in text
    assert "sequences       public.t_id_seq" in text
    page = "".join(render_html.render(whole))
    assert "Not published (EXCEPT)" in page
    data = json.loads("".join(render_json.render(whole)))
    jsonschema.validate(data, json.loads(SHIPPED.read_text()))


def test_the_drawing_has_cards_for_tables_that_are_left_out(whole: Explanation) -> None:
    picture = draw(whole.units[0], 0)
    assert "public.audit" in picture
    assert "not in p" in picture
    assert "all tables but 2" in picture
