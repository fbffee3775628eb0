"""Which worker of xdist has which tests, and in which order: a file is a unit, those that share a session of Spark are
one, and the units that take longest come first. xdist itself begins with those that have most tests, so that the few
long tests of Spark would be left to the end, when a worker that has none left waits for the others."""

from __future__ import annotations

from collections import Counter

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

LONG = ("spark", "slow", "server", "browser")
"""The markers of tests that are not quick, longest first."""
OWN_JAVA = ("test_clusters.py", "test_quiet.py")
"""Files of Spark's tests that do not use the common session: any worker can have them."""


def longest_first(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """Return what hands out files in the order of the collection, which `sort` has made."""
    config.option.loadscopereorder = False
    scheduling = LoadFileScheduling(config, log)
    file_of = scheduling._split_scope

    def unit_of(nodeid: str) -> str:
        # To start a session, and run its first job, takes half a minute of a core.
        file: str = file_of(nodeid)
        folder, _, name = file.rpartition("/")
        return folder if folder == "tests/spark" and name not in OWN_JAVA else file

    scheduling._split_scope = unit_of
    return scheduling


def sort(items: list[pytest.Item]) -> None:
    """Bring the files with the longest tests to the front, among them those with most tests; the order inside a file
    remains."""
    tests = Counter(map(_file, items))
    ranks: dict[str, int] = {}
    for item in items:
        markers = [number for number, name in enumerate(LONG) if item.get_closest_marker(name)]
        rank = min(markers, default=len(LONG))
        ranks[_file(item)] = min(rank, ranks.get(_file(item), rank))
    items.sort(key=lambda item: (ranks[_file(item)], -tests[_file(item)]))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
