"""Pages for files of the repository outside `docs/`: the changelog, and each file that a page links to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.site.links import linked_file, site_path
from tools.site.pages import Generated, fence

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_LANGUAGES = {".json": "json", ".yml": "yaml", ".py": "python", ".sql": "sql", ".sh": "sh", ".toml": "toml"}


def pages(root: Path) -> Iterator[Generated]:
    """Yield the changelog, then the files that are linked to, in the order of their names."""
    yield Generated("changelog.md", (root / "CHANGELOG.md").read_text(), "Changelog", source="CHANGELOG.md")
    sources = [root / "CHANGELOG.md", *(root / "docs").glob("*.md"), *(root / "rules").glob("*.md")]
    targets = (
        linked_file(link, source.relative_to(root).as_posix())
        for source in sources
        for link in _LINK.findall(source.read_text())
    )
    files = {target[0] for target in targets if target is not None}
    for file in sorted(files):
        path = site_path(file)
        if path.startswith("repository/") and (root / file).is_file():
            language = _LANGUAGES.get(Path(file).suffix, "dockerfile" if Path(file).name == "Dockerfile" else "text")
            text = f"# {file}\n\nThis file of the repository:\n\n{fence(language, (root / file).read_text())}"
            yield Generated(path, text, file, "Files")
