"""Dimensions in which time once grew by the square: how many functions are called grows as the input does."""

from __future__ import annotations

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from types import FrameType

import pytest

from pubcheck.cli import app
from tests.benchmarks.dimensions import DIMENSIONS
from tests.benchmarks.growth import LIMIT, input_of

pytestmark = pytest.mark.slow

_BY_NAME = {dimension.name: dimension for dimension in DIMENSIONS}
_SIZE = 100


@pytest.mark.parametrize(
    "name",
    [
        "CHECK constraints of one table",
        "CHECK constraints, explained",
        "columns added to a published table",
        "columns added beside a column list",
        "columns added in one statement",
        "explained: AND in OR, nested",
        "hash partitions",
        "indexes without names",
        "partitions published each",
        "roles dropped",
        "roles in roles",
    ],
)
def test_the_calls_grow_as_the_input_does(name: str) -> None:
    _calls(name, 1)  # loads what is needed
    small, middle, large = (_calls(name, size) for size in (_SIZE, 2 * _SIZE, 4 * _SIZE))
    # Where a limit of work is reached, the calls need not grow at all.
    assert large - middle < 2**LIMIT * max(middle - small, small)


def _calls(name: str, size: int) -> int:
    """How many functions are called for an input, whatever else the machine does."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    dimension = _BY_NAME[name]
    with input_of(dimension, size) as path, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        former = sys.getprofile()
        sys.setprofile(count)
        try:
            app.run([*dimension.command, path])
        finally:
            sys.setprofile(former)
    return calls
