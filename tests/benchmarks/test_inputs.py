"""The inputs of the benchmarks are what they claim to be; here they are small."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Result, Unit
from pubcheck.source import Source
from tests.benchmarks.dimensions import DIMENSIONS
from tests.benchmarks.dimensions.parts import Dimension
from tests.benchmarks.growth import exponent
from tests.benchmarks.schema import dump, published
from tests.benchmarks.shapes import SHAPES, not_sql, one_list_of_strangers


def lint(sql: str) -> Result:
    return Linter(Config(complete=True)).lint(Unit((Source("schema.sql", sql),)))


def test_a_dump_is_the_same_every_time_and_of_the_size_that_the_limits_speak_of() -> None:
    assert dump(50) == dump(50)
    assert 41_000 < lint(dump(500)).statements * 10 < 43_000


def test_the_publications_are_what_the_limits_speak_of() -> None:
    text = published(5_000)
    assert text.count("CREATE PUBLICATION") == 200
    assert text.count("FOR ALL TABLES") == 5
    assert text.count("ADD TABLES IN SCHEMA app;") == 5
    assert text.count("ADD TABLE ONLY") == 1900
    assert text.count("WHERE (((") == 400
    assert "CREATE PUBLICATION" not in published(5_000, cut=True)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_statement_of_a_shape_is_followed(shape: Callable[[int], str]) -> None:
    result = lint(shape(100))
    refused = [finding for finding in result.diagnostics if finding.phase == "ddl" and finding.severity == "error"]
    assert result.statements >= 1
    assert not refused or shape in (not_sql, one_list_of_strangers)


def test_every_dimension_has_a_name_of_its_own() -> None:
    names = [dimension.name for dimension in DIMENSIONS]
    assert len(names) == len({*names})


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda dimension: dimension.name)
def test_an_input_grows_in_its_dimension(dimension: Dimension) -> None:
    small, large = (len(str(dimension.make(size))) for size in (64, 512))
    assert large > small


def test_the_exponent_is_the_slope_of_the_upper_doublings() -> None:
    assert exponent({size: size * 0.01 for size in (1, 2, 4, 8, 16, 32)}) == pytest.approx(1)
    assert exponent({1: 1, 2: 1, 4: 1, 8: 4, 16: 16, 32: 64}) == pytest.approx(2)
    assert exponent({8: 10}) == 0
