from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from pubcheck.stream.whole import COMPILED
from tests.messages.in_python import in_python


@pytest.fixture(scope="session")
def compiled() -> None:
    """Skips a test where the readers in C cannot be compiled. Where they can, they have to be there."""
    if COMPILED is None:
        if shutil.which("cc") is None or os.environ.get("PUBCHECK_PURE", "0") != "0":
            pytest.skip("there is no C compiler, or PUBCHECK_PURE is set")
        pytest.fail("python hatch_build.py compiles the readers in C")


@pytest.fixture(scope="module", params=["in C", "in Python"])
def each_implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a test with the readers in C, and again without them."""
    if request.param == "in Python":
        with in_python():
            yield
    else:
        request.getfixturevalue("compiled")
        yield
