"""What tests of `explain` share: documents of SQL texts, and the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support.browser import browser as running_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless browser. One that cannot be had is a failure."""
    with running_browser() as found:
        yield found
