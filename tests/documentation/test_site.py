"""The documentation site: it is whole, its links lead somewhere, it loads nothing from elsewhere, all can read it."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from pubcheck.cli.app import cli
from pubcheck.consumers import NAMES
from pubcheck.rulebook import RULES
from tests.support.axe import serious_violations
from tools.site.links import linked_file, site_path
from tools.site.pages import escape, fence
from tools.site.rules import families

PROJECT = Path(__file__).parents[2]


def test_every_rule_has_a_subject_in_the_concepts() -> None:
    assert families((PROJECT / "docs" / "concepts.md").read_text()).keys() == RULES.keys()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. The build is strict: it fails for a link or an anchor that leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "tools.site", str(folder)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address under which the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def visit(browser: Browser, address: str, width: int, scheme: str) -> Iterator[Page]:
    """A page that fails the test for an error in its scripts and for a request to another host."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(address) else complaints.append(request.url))
    yield page
    context.close()
    assert not complaints


@pytest.mark.slow
def test_every_rule_consumer_and_command_has_a_page(site: Path) -> None:
    pages = [f"rules/{code}" for code in RULES] + [f"consumers/{key}" for key in NAMES]
    pages += [f"commands/{name}" for name in cli.list_commands(None)]  # type: ignore[arg-type]  # is not used
    assert [page for page in pages if not (site / page / "index.html").is_file()] == []
    assert "via-root-off-with-filters" in (site / "rules" / "index.html").read_text()
    assert "--unsafe-fixes" in (site / "commands" / "lint" / "index.html").read_text()


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere_and_show_code_as_code(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\shref="(?:https?:)?//')
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert not loaded.search(text), path
        visible = re.sub(r"<pre.*?</pre>|<code.*?</code>", "", text, flags=re.DOTALL)
        assert "```" not in visible, path


@pytest.mark.slow
def test_the_licences_of_what_the_site_contains_are_in_it(site: Path) -> None:
    text = (site / "licences" / "index.html").read_text()
    for words in ("Martin Donath", "GNU GENERAL PUBLIC LICENSE", "Font Awesome", "Pictogrammers"):
        assert words in text
    scripts = files("material") / "templates" / "assets" / "javascripts"
    maps = [
        path for folder in (scripts, scripts / "workers") for path in folder.iterdir() if path.name.endswith(".map")
    ]
    sources = "".join(path.read_text() for path in maps)
    libraries = set(re.findall(r"node_modules/((?:@[\w-]+/)?[\w.-]+)/", sources))
    assert libraries
    assert [library for library in libraries if f'<h2 id="{library}"' not in text] == []


@pytest.mark.slow
def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    """Under the settings of the site, without its hooks and theme."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Start\n\n[no file](missing.md) [no anchor](#missing)\n")
    program = f"""
import logging
from mkdocs.commands.build import build
from mkdocs.config import load_config
logging.basicConfig(level=logging.WARNING)
build(load_config({str(PROJECT / "mkdocs.yml")!r}, docs_dir={str(docs)!r}, site_dir={str(tmp_path / "site")!r},
    theme="mkdocs", hooks=[], watch=[], nav=["index.md"], extra_css=[], extra_javascript=[]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1
    assert "'missing.md'" in done.stderr
    assert "'#missing'" in done.stderr


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_pages_have_no_serious_violation_and_fit_their_width(
    browser: Browser, address: str, width: int, scheme: str
) -> None:
    for page in visit(browser, address, width, scheme):
        for path in ("", "rules/", "rules/PUB301/", "commands/lint/"):
            page.goto(address + path)
            assert serious_violations(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.browser
def test_search_finds_a_rule(browser: Browser, address: str) -> None:
    for page in visit(browser, address, 1400, "light"):
        page.goto(address)
        page.get_by_placeholder("Search").fill("via-root-off-with-filters")
        expect(page.locator(".md-search-result__link").first).to_have_attribute("href", re.compile("rules/PUB503/"))


@pytest.mark.browser
def test_the_index_of_the_rules_is_filtered(browser: Browser, address: str) -> None:
    for page in visit(browser, address, 1400, "light"):
        page.goto(f"{address}rules/")
        expect(page.locator("#rule-filter output")).to_have_text(f"{len(RULES)} of {len(RULES)} rules")
        page.get_by_role("combobox", name="Severity").select_option("error")
        page.get_by_role("combobox", name="Phase").select_option("write")
        shown = page.locator(".rules tbody tr:visible")
        codes = [rule.code for rule in RULES.values() if (rule.severity, rule.phase) == ("error", "write")]
        assert [text[:6] for text in shown.all_inner_texts()] == codes
        page.get_by_role("combobox", name="PostgreSQL").select_option("15")
        codes = [code for code in codes if 15 in RULES[code].postgres]
        assert [text[:6] for text in shown.all_inner_texts()] == codes
        page.get_by_role("searchbox", name="Words").fill("partition filter")
        assert [text[:6] for text in shown.all_inner_texts()] == ["PUB304"]
        expect(page.get_by_role("heading", name="Reading files")).to_be_hidden()


@pytest.mark.parametrize(
    ("link", "source", "file"),
    [
        ("../rules/PUB301-a-b.md#why", "docs/units.md", ("rules/PUB301-a-b.md", "why")),
        ("../docs/units.md", "rules/PUB301-a-b.md", ("docs/units.md", "")),
        ("../ci/gitlab.yml", "docs/ci.md", ("ci/gitlab.yml", "")),
        ("#here", "docs/ci.md", None),
        ("https://example.com/a.md", "docs/ci.md", None),
        ("/rules/PUB301.md", "docs/ci.md", None),
    ],
)
def test_links_to_files_of_the_repository(link: str, source: str, file: tuple[str, str] | None) -> None:
    assert linked_file(link, source) == file


def test_files_of_the_repository_have_pages_in_the_site() -> None:
    assert site_path("rules/PUB301-a-b.md") == "rules/PUB301.md"
    assert site_path("docs/units.md") == "units.md"
    assert site_path("CHANGELOG.md") == "changelog.md"
    assert site_path("ci/gitlab.yml") == "repository/ci-gitlab.yml.md"


def test_plain_text_stays_what_it_is_in_markdown() -> None:
    from markdown import markdown

    text = "a_b_c *d* `e` <f> [g](h) # & &amp; \\"
    shown = markdown(escape(text))
    assert "<em>" not in shown
    assert "<code>" not in shown
    assert "<a" not in shown
    assert "&lt;f" in shown or "&#60;f" in shown
    assert fence("sql", "```\n").startswith("````sql\n")
