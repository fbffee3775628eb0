"""The snippets of docs/editors.md start the server for SQL files, and the extension for VS Code is built."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import lupa
import pytest
from playwright.sync_api import Browser, Page, TimeoutError

from pubcheck.discovery.file_types import SUFFIXES
from tests.support import vscode

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
PAGE = (ROOT / "docs" / "editors.md").read_text()
SERVER = ["pubcheck", "server"]
MISTAKE = ".squiggly-error"


def snippet(heading: str, language: str) -> str:
    section = PAGE.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    (text,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(text)


def test_the_snippet_for_neovim() -> None:
    lua = lupa.LuaRuntime()
    lua.execute(
        "started = {}; vim = {lsp = {config = function(n, c) configured = c end, enable = function(n) on = n end}}"
    )
    lua.execute(snippet("Neovim", "lua"))
    variables = lua.globals()
    assert (list(variables.configured.cmd.values()), variables.on) == (SERVER, "pubcheck")
    assert "sql" in list(variables.configured.filetypes.values())
    assert "pubcheck.toml" in list(variables.configured.root_markers.values())


def test_the_snippet_for_helix() -> None:
    options = tomllib.loads(snippet("Helix", "toml"))
    server = options["language-server"]["pubcheck"]
    assert [server["command"], *server["args"]] == SERVER
    assert options["language"] == [{"name": "sql", "language-servers": ["pubcheck"]}]


def test_the_snippet_for_zed() -> None:
    options = json.loads(snippet("Zed", "json"))
    assert "pubcheck" in options["languages"]["SQL"]["language_servers"]
    binary = options["lsp"]["pubcheck"]["binary"]
    assert [binary["path"], *binary["arguments"]] == SERVER


def test_the_snippet_for_emacs() -> None:
    (form,) = expressions(snippet("Emacs", "elisp"))
    assert form[:2] == ["with-eval-after-load", ["quote", "eglot"]]
    assert form[2] == ["add-to-list", ["quote", "eglot-server-programs"], ["quote", ["sql-mode", ".", *SERVER]]]


def expressions(text: str) -> list[Any]:
    """Read expressions of Lisp: lists as lists, a quoted one as (quote it), a dotted pair of a list with its dot."""
    tokens = re.findall(r"""[()']|"(?:[^"\\]|\\.)*"|[^\s()'"]+""", text)

    def read() -> Any:
        token = tokens.pop(0)
        if token == "'":
            return ["quote", read()]
        if token != "(":
            return token.strip('"')
        items: list[Any] = []
        while tokens[0] != ")":
            item = read()
            # (a . (b c)) is (a b c); the dot is kept to show the pair.
            items += item if items[-1:] == ["."] and isinstance(item, list) else [item]
        tokens.pop(0)
        return items

    forms = []
    while tokens:
        forms.append(read())
    return forms


# Visual Studio Code.


def test_the_extension_is_activated_for_the_files_that_the_server_reads() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    languages = manifest["contributes"]["configuration"]["properties"]["pubcheck.languages"]["default"]
    assert {f"onLanguage:{language}" for language in languages} < set(manifest["activationEvents"])
    assert {suffix.strip(".").replace("psql", "sql").replace("pgsql", "sql") for suffix in SUFFIXES} <= set(languages)
    source = "".join(file.read_text() for file in (EXTENSION / "src").glob("*.ts"))
    registered = set(re.findall(r'registerCommand\("([^"]+)"', source))
    assert registered == {command["command"] for command in manifest["contributes"]["commands"]}
    for name in manifest["contributes"]["configuration"]["properties"]:
        key = name.removeprefix("pubcheck.")
        assert key.startswith("trace.") or f'"{key}"' in source  # the client itself reads the trace
    assert not list(EXTENSION.glob("package-lock.json"))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension, type-checked and packaged. Without a lock file, for that would name the host of a registry; the
    versions are exact."""
    copy = tmp_path_factory.mktemp("extension") / "vscode"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    shutil.copy(ROOT / "LICENSE", copy)
    python = {**os.environ, "PYTHONPATH": str(ROOT)}
    schema = [sys.executable, "-m", "pubcheck", "schema", "-o", "pubcheck.schema.json"]
    subprocess.run(schema, cwd=copy, env=python, check=True)
    for command in (
        ("install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"),
        ("run", "check"),
        ("run", "package"),
    ):
        done = subprocess.run(["npm", *command], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
    (path,) = copy.glob("*.vsix")
    return path


@pytest.mark.slow
def test_the_package_of_the_extension_holds_what_it_needs(package: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        files = {name for name in archive.namelist() if name.startswith("extension/")}
        bundle = archive.read("extension/dist/extension.js").decode()
    assert {name.lower().removeprefix("extension/") for name in files} == {
        *("package.json", "readme.md", "license.txt", "pubcheck.schema.json", "dist/extension.js")
    }
    assert "pubcheck.restart" in bundle
    assert package.stat().st_size < 300_000


def go_to(page: Page, place: str) -> None:
    """Move the cursor to LINE:COLUMN."""
    open_input(page, "Control+G")
    page.keyboard.type(place)
    page.keyboard.press("Enter")


def open_input(page: Page, key: str) -> None:
    """Open the line at the top, which takes commands and places, by a key.

    What is typed earlier goes to the file. The line closes again when something that is still opening takes the focus,
    so the key is pressed until the line stays.
    """
    line = page.locator(".quick-input-box input").first
    for _ in range(10):
        page.keyboard.press(key)
        with suppress(TimeoutError):
            line.wait_for(timeout=3_000)
            page.wait_for_timeout(200)
        if line.is_visible():
            return
    raise AssertionError(f"the editor does not open its line for {key}")


@pytest.fixture
def page(package: Path, tmp_path: Path, browser: Browser) -> Iterator[Page]:
    """An editor with the extension, in which a schema with a mistake is opened and its finding is shown."""
    project = tmp_path / "project"
    project.mkdir()
    table = "CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL);\n"
    (project / "schema.sql").write_text(table + "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'EU');\n")
    options = {"pubcheck.interpreter": sys.executable, "files.defaultLanguage": "sql"}
    environment = {"PYTHONPATH": str(ROOT)}
    with (
        vscode.serving(package, options, tmp_path / "editor", environment) as address,
        browser.new_context(viewport={"width": 1400, "height": 900}) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.goto(f"{address}?folder={project}")
        page.get_by_role("button", name="Yes, I trust the authors").click()
        page.get_by_role("treeitem", name="schema.sql").dblclick()
        page.locator(MISTAKE).first.wait_for()
        yield page


@pytest.mark.slow
@pytest.mark.browser
def test_the_editor_shows_findings_as_one_types(page: Page) -> None:
    """In a file, and in a buffer that was never saved; a hover describes a publication, and a quick fix is applied."""
    mistakes = page.locator(MISTAKE)
    page.locator(".statusbar-item", has_text="pubcheck").first.wait_for()
    go_to(page, "2:20")
    page.keyboard.press("Control+K")
    page.keyboard.press("Control+I")
    page.locator(".monaco-hover", has_text="publication eu publishes INSERT, UPDATE, DELETE, TRUNCATE").wait_for()
    page.keyboard.press("Escape")
    go_to(page, "2:48")
    page.keyboard.press("Control+.")
    page.locator(".action-widget").get_by_text("Append CREATE UNIQUE INDEX").first.wait_for()
    page.keyboard.press("Enter")
    mistakes.first.wait_for(state="detached")
    text = page.locator(".view-lines").inner_text().replace("\xa0", " ")
    assert "REPLICA IDENTITY USING INDEX orders_identity;" in text
    open_input(page, "F1")
    page.keyboard.type("New Untitled Text File")
    page.get_by_role("option", name="New Untitled Text File").first.wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Untitled-1").wait_for()
    page.keyboard.insert_text("CREATE PUBLICATION none FOR TABLES IN SCHEMA pg_catalog;")
    mistakes.first.wait_for()


def to_schema(page: Page, closing: str = "") -> None:
    """Turn to the schema's file, after closing the page in front, and wait until it takes what is typed."""
    if closing:
        tab = page.get_by_role("tab", name=closing)
        tab.click(button="middle")
        tab.wait_for(state="detached")
    page.get_by_role("tab", name="schema.sql").click()
    page.locator(".monaco-editor.focused").first.wait_for()


def run_command(page: Page, title: str) -> None:
    open_input(page, "F1")
    page.keyboard.type(f"pubcheck: {title}")
    page.get_by_role("option", name=f"pubcheck: {title}").first.wait_for()
    page.keyboard.press("Enter")


@pytest.mark.slow
@pytest.mark.browser
def test_every_command_of_the_extension(page: Page) -> None:
    """The rule at the cursor and one that is chosen, `explain` with the unsaved text, the restart and the output."""
    mistakes = page.locator(MISTAKE)
    shown = page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")

    run_command(page, "Restart Server")
    mistakes.first.wait_for(state="detached")
    mistakes.first.wait_for()

    run_command(page, "Show Output")
    page.locator(".panel .output-view, .panel .composite.title", has_text="Output").first.wait_for()
    to_schema(page)

    go_to(page, "2:48")
    run_command(page, "Show Rule Page")
    page.get_by_role("tab", name="PUB301").wait_for()
    shown.get_by_role("heading", name="What happens").wait_for()

    to_schema(page, closing="PUB301")
    go_to(page, "1:1")
    run_command(page, "Show Rule Page")
    listed = page.locator(".quick-input-list .monaco-list-row")
    listed.filter(has_text="PUB001").wait_for()
    page.keyboard.type("PUB404")
    listed.filter(has_text="PUB404").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="PUB404").wait_for()

    to_schema(page, closing="PUB404")
    go_to(page, "3:1")
    page.keyboard.insert_text("CREATE PUBLICATION not_saved FOR TABLE orders;")
    run_command(page, "Explain This Schema")
    page.get_by_role("tab", name="pubcheck explain").wait_for()
    shown.locator("body").get_by_text("not_saved").locator("visible=true").first.wait_for()
