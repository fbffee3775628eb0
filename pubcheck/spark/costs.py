"""The cost of linting, in bytes to read, and the share of one Spark task."""

from __future__ import annotations

import math

_FILE = 4096
"""The cost of a file in addition to its bytes."""
SMALL = 1 << 20
"""The cost of the smallest task, and the most that is added to a task without asking whether it has room."""
_PART = 24 << 20
"""The cost of a task: about two seconds of linting. That is much more than the tenth of a second that Spark takes
for a task, and short enough that the last task does not delay the end."""
_FEWEST_PARTS, _MOST_PARTS = 12, 20_000


def cost(size: int, files: int) -> int:
    """Return the cost of a number of files with a total of bytes."""
    return size + files * _FILE


def part(whole: int) -> int:
    """Return the cost of each task, if tasks share the whole."""
    return max(min(_PART, math.ceil(whole / _FEWEST_PARTS)), SMALL, math.ceil(whole / _MOST_PARTS))


def tasks(whole: int) -> int:
    """Return the number of tasks that share the whole cost."""
    return math.ceil(whole / part(whole))
