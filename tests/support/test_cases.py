"""The corpus' files are read strictly and written back as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import CASES, Case, Recorded, load, read, render, write
from tests.support.servers import MAJORS

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
SQLS = st.lists(TEXT, max_size=3).map(tuple)
ANSWERS = st.builds(Recorded, ok=st.booleans(), message=st.none() | TEXT, notices=SQLS, position=st.none() | st.just(7))


@pytest.mark.parametrize("path", sorted(CASES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_file_is_written_as_it_stands(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    write(read(copy), tmp_path)
    assert copy.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


@given(setup=SQLS, statement=TEXT, note=TEXT, fixture=SQLS, answers=st.dictionaries(st.sampled_from((15, 18)), ANSWERS))
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    setup: tuple[str, ...],
    statement: str,
    note: str,
    fixture: tuple[str, ...],
    answers: dict[int, Recorded],
) -> None:
    case = Case(id="c", rule="f", phase="ddl", note=note, setup=setup, statement=statement, answers=answers)
    path = tmp_path_factory.getbasetemp() / "f.toml"
    path.write_text(render([case], {"w": fixture}), encoding="utf-8", newline="")
    assert read(path) == [case]


def test_equal_answers_stand_once_with_their_majors() -> None:
    answers = {15: Recorded(ok=True), 16: Recorded(ok=False, sqlstate="42P10"), 17: Recorded(ok=True)}
    text = render([Case(id="c", rule="f", phase="ddl", statement="SELECT", answers=answers)], {})
    assert text.count("[[case.answer]]") == 2
    assert "postgres = [15, 17]" in text


def test_a_misspelt_field_is_an_error_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text('[[case]]\nid = "c"\nphase = "ddl"\nstatment = "SELECT"\n')
    with pytest.raises(ValueError, match=r"f\.toml: .*statment"):
        read(path)


def test_a_case_is_found_by_id_family_and_both(corpus: list[Case]) -> None:
    assert [case.id for case in load("ri-gen-pk-update")] == ["ri-gen-pk-update"]
    assert {case.rule for case in load("ri-generated")} == {"ri-generated"}
    assert [case.id for case in load("ri-generated/ri-gen-pk-u*")] == ["ri-gen-pk-update"]
    assert len({case.id for case in corpus}) == len(corpus)


def test_every_case_of_the_corpus_has_its_answers(corpus: list[Case]) -> None:
    assert [case.id for case in corpus if not set(case.answers) <= set(case.postgres)] == []
    assert [case.id for case in corpus if set(case.postgres) & set(MAJORS) - set(case.answers)] == []
