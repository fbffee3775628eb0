"""The hooks of MkDocs: they add the generated pages, put them into the navigation and adapt links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site import commands, configuration, consumers, licences, repository, rules, verification
from tools.site.links import SiteLinks
from tools.site.pages import Generated

ROOT = Path(__file__).parents[2]
ASSETS = Path(__file__).parent / "assets"

_UNUSED = "assets/javascripts/lunr/"
"""The theme's support for searching in other languages."""

_links = SiteLinks()
_pages: dict[str, Generated] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    _pages.clear()
    for module in (rules, consumers, commands, configuration, verification, licences, repository):
        _pages.update({page.path: page for page in module.pages(ROOT)})
    config.markdown_extensions.append(_links)  # type: ignore[arg-type]  # Markdown takes instances too
    config.nav = _with_generated(config.nav or [])
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for file in list(files):
        if file.src_uri.startswith(_UNUSED) or file.src_uri.endswith(".map"):
            files.remove(file)
    for page in _pages.values():
        files.append(File.generated(config, page.path, content=page.text))
    for asset in ASSETS.iterdir():
        files.append(File.generated(config, f"assets/{asset.name}", content=asset.read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    path = page.file.src_uri
    _links.source = _pages[path].source if path in _pages else f"docs/{path}"
    return markdown


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    # The theme gives its search the role of a dialog, and no name.
    return output.replace('class="md-search"', 'class="md-search" aria-label="Search"', 1)


def _with_generated(items: list[Any]) -> list[Any]:
    """Return the navigation with `folder/` replaced by the generated pages in that folder."""
    filled: list[Any] = []
    for item in items:
        if isinstance(item, Mapping):
            filled.append(
                {title: below if isinstance(below, str) else _with_generated(below) for title, below in item.items()}
            )
        elif item.endswith("/"):
            filled += _folder(item)
        else:
            filled.append(item)
    return filled


def _folder(folder: str) -> list[Any]:
    """Return the navigation of a folder's pages, those of one section together."""
    entries: list[Any] = []
    sections: dict[str, list[Any]] = {}
    for page in _pages.values():
        if not page.path.startswith(folder):
            continue
        entry = {page.title: page.path}
        if not page.section:
            entries.append(entry)
        else:
            if page.section not in sections:
                sections[page.section] = []
                entries.append({page.section: sections[page.section]})
            sections[page.section].append(entry)
    return entries
