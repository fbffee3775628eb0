"""What all tests share: the marker `quick`, the servers, the corpus, the browser, and the numbers of conformance in
the summary."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.support.cases import Case, load
from tests.support.scheduling import LONG, longest_first, sort
from tests.support.servers import Servers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

# Whether a machine is slow is no property of what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not any(item.get_closest_marker(name) for name in LONG):
            item.add_marker(pytest.mark.quick)
    sort(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from the tests themselves, which are many and stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return longest_first(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The running servers by major, started when the first is asked for. One that cannot be had is a failure."""
    with Servers() as running:
        yield running


@pytest.fixture(scope="session")
def corpus() -> list[Case]:
    """All cases with the answers that servers gave."""
    return load()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser. One that cannot be had is a failure. While there is one, no test of this process can run an
    event loop of its own: it ends with its file."""
    from tests.support.browser import browser as running_browser

    with running_browser() as installed:
        yield installed


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test for an error in its scripts and for any request."""
    context = browser.new_context(viewport={"width": 1240, "height": 900}, color_scheme="light")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    context.close()
    assert not complaints
    assert all(url.startswith("file:") for url in asked)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == "conformance"
    ]
    if lines:
        terminalreporter.section("conformance with recorded answers")
        for line in sorted(lines):
            terminalreporter.write_line(line)
