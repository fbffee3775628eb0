"""The licences of what the built site contains: pubcheck's own text, and the theme with its script and icons."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from tools.site.pages import Generated, fence, table

_DISTRIBUTIONS = {
    "mkdocs-material": "templates, style sheets and scripts of every page",
    "mkdocs": "the index for the search",
    "pymdown-extensions": "the markup of code",
    "Pygments": "the markup of coloured code",
}
_ICONS = {"material": "icons of the pages", "octicons": "icons of the pages", "fontawesome": "icons of the pages"}
"""The sets of icons from which the theme takes those on a page."""
BUNDLED = Path(__file__).parent / "bundled_licences"
"""The licences of the libraries in the theme's scripts, which its package does not contain, by the library's name."""


def pages(root: Path) -> Iterator[Generated]:
    """Yield the one page."""
    rows, texts = [], []
    for name, use in _DISTRIBUTIONS.items():
        installed = distribution(name)
        rows.append((f"{name} {installed.version}", use))
        texts += [f"## {name}\n", *(fence("text", text) for text in _licences(name))]
    for name, use in _ICONS.items():
        rows.append((f"icons: {name}", use))
        folder = files("material") / "templates" / ".icons" / name
        texts += [f"## Icons: {name}\n"]
        texts += [
            fence("text", licence.read_text()) for licence in folder.iterdir() if licence.name.startswith("LICENSE")
        ]
    for file in sorted(BUNDLED.iterdir()):
        rows.append((file.stem, "part of the theme's scripts"))
        texts += [f"## {file.stem}\n", fence("text", file.read_text())]
    texts += ["## pubcheck\n", fence("text", (root / "LICENSE").read_text())]
    head = "# Licences\n\nThe site shows pubcheck's documentation, and contains parts of these works:\n\n"
    yield Generated(
        "licences.md",
        head + table(("Work", "What the site contains of it"), rows) + "\n" + "\n".join(texts),
        "Licences",
    )


def _licences(name: str) -> Iterator[str]:
    """Yield the texts of the licences of an installed distribution."""
    installed = distribution(name)
    for path in installed.files or ():
        if path.name.upper().startswith(("LICENSE", "LICENCE", "NOTICE", "COPYING")) and ".dist-info" in path.parts[0]:
            yield path.read_text()
