from __future__ import annotations

from collections.abc import Iterator

import pytest

from pubcheck.stream.whole import COMPILED
from tests.messages.in_python import in_python


@pytest.fixture(scope="module", params=["in C", "in Python"])
def each_implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a test with the readers in C, and again without them."""
    if request.param == "in Python":
        with in_python():
            yield
    elif COMPILED is None:
        pytest.skip("python hatch_build.py compiles the readers in C")
    else:
        yield
