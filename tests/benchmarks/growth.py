"""How CPU time grows with the input, dimension by dimension: `python -m tests.benchmarks.growth [WORD...]` measures
those whose names hold one of the words, all without words.

The exponent is the slope of time over size on a logarithmic scale: 1 is linear, 2 is quadratic. Each size is linted
by a process that is forked from this one, which has loaded what the dimension needs.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from math import inf, log
from pathlib import Path

from pubcheck import cli
from pubcheck.cli import app
from tests.benchmarks.dimensions import DIMENSIONS
from tests.benchmarks.dimensions.parts import Dimension
from tests.benchmarks.row import Row, table

LIMIT = 1.2
DOUBLINGS = 5
_FITTED = 3
"""The doublings at the upper end that the exponent is taken from: below, fixed costs blur it."""
_FLOOR = 0.02
"""Seconds that the smallest size takes at least: with less, noise would be measured."""
_BOUND = 6
"""Seconds of CPU time after which a process is ended."""
_MEMORY = 8 << 30
"""Bytes that a process may have."""


class Failed(Exception):
    """A process ended in another way than by reporting findings."""


def growth(words: Sequence[str] = ()) -> Iterator[Row]:
    """The exponent of CPU time over the size of the input, per dimension, over 5 doublings."""
    for dimension in DIMENSIONS:
        if not words or any(word in dimension.name for word in words):
            try:
                yield _row(dimension)
            except Failed as failure:
                yield Row(dimension.name, str(failure), inf, LIMIT, "")


def _row(dimension: Dimension) -> Row:
    with input_of(dimension, 1) as path, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        app.run([*dimension.command, path])  # the processes that are forked from here have it loaded
    first = _smallest(dimension, _seconds(dimension, 1))
    loading: dict[int, float] = {}
    measured: dict[int, float] = {}
    for _ in range(3):  # other processes only add time: where the exponent is near the limit, the least of three
        for doubling in range(DOUBLINGS + 1):
            size = first << doubling
            # Where there is a largest size, the smallest one takes no time that can be measured.
            times = max(4, 1 << DOUBLINGS - doubling) if dimension.most else 1
            if times not in loading:
                loading[times] = _seconds(dimension, 1, times)
            seconds = max((_seconds(dimension, size, times) - loading[times]) / times, 0.0001)
            measured[size] = min(seconds, measured.get(size, inf), _BOUND)
            if seconds > _BOUND:
                break
        if not LIMIT < exponent(measured) < 1.4:
            break
    last = max(measured)
    ended = ", ended there" if measured[last] == _BOUND else ""
    sizes = f"{first:,}: {measured[first]:.2f} s, {last:,}: {measured[last]:.2f} s{ended}"
    return Row(dimension.name, sizes, exponent(measured), LIMIT, "")


def _smallest(dimension: Dimension, loading: float) -> int:
    """The size to begin with: one that takes long enough to be measured."""
    most = dimension.most >> DOUBLINGS if dimension.most else sys.maxsize
    size = min(16, most)
    while size < most and (seconds := _seconds(dimension, size) - loading) < _FLOOR:
        size *= 2 if seconds > _FLOOR / 8 else 8
    return min(size, most)


def exponent(measured: dict[int, float]) -> float:
    """The slope of the line through the upper points, by least squares; 0 of a single point."""
    points = [(log(size), log(seconds)) for size, seconds in sorted(measured.items())][-_FITTED - 1 :]
    middle = sum(x for x, _ in points) / len(points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * y for x, y in points) / spread if spread else 0.0


def _seconds(dimension: Dimension, size: int, repeats: int = 1) -> float:
    """User CPU of a process that reads the input of that size so often; inf of one that had to be ended."""
    with input_of(dimension, size) as path:
        return _measured([*dimension.command, path], repeats)


@contextmanager
def input_of(dimension: Dimension, size: int) -> Iterator[str]:
    """The path of the file, or of the folder, that holds the input of that size."""
    made = dimension.make(size)
    if isinstance(made, str) and "PUBLICATION" not in made:
        made = f"CREATE PUBLICATION empty;\n{made}"  # without any, the statements are not followed
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ({dimension.file: made} if isinstance(made, str) else made).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield str(path) if isinstance(made, str) else folder


def _measured(arguments: list[str], repeats: int) -> float:
    child = os.fork()
    if child == 0:
        _run(arguments, repeats)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in (-signal.SIGKILL, -signal.SIGXCPU):
        return inf
    if code not in (0, 1):
        raise Failed(f"exit status {code} after {usage.ru_utime:.1f} s and {usage.ru_maxrss >> 10} MB")
    return usage.ru_utime


def _run(arguments: list[str], repeats: int) -> None:
    """What such a process does; ends it."""
    resource.setrlimit(resource.RLIMIT_CPU, (_BOUND, _BOUND))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.argv = ["pubcheck", *arguments]
    try:
        for _ in range(repeats - 1):
            app.run(arguments)
        cli.main()
    finally:
        os._exit(2)


if __name__ == "__main__":
    sys.exit(1 if table(growth(sys.argv[1:])) else 0)
