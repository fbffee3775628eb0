"""The generated index of the rules, and the address of their pages: ``python -m tools.rulebook.compile``."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable

from pubcheck.bundled_texts import PACKAGE
from pubcheck.rulebook import Rule
from tools.rulebook.pages import Page, PageError, read_pages

PROJECT = os.path.dirname(PACKAGE)


def index_source(pages: Iterable[Page], address: str = "") -> str:
    """Return the Python source of `_index.py` for these pages, which the project publishes at ``address``."""
    rows = "".join(
        f"    ({', '.join(repr(getattr(page.rule, field)) for field in Rule.__struct_fields__)}),\n" for page in pages
    )
    return (
        '"""Generated from rules/*.md by `python -m tools.rulebook.compile`; edit the pages."""\n\n'
        "from typing import Any\n\n"
        f'ADDRESS = "{address}"\n'
        '"""Where the project publishes the pages, with {code} for the code of a rule; "" if it does not."""\n\n'
        f"# {', '.join(Rule.__struct_fields__)}\n"
        f"ROWS: tuple[tuple[Any, ...], ...] = (\n{rows})\n"
    )


def published_address(pyproject: str) -> str:
    """Return the address of the rules' pages by the metadata of the project, the text of its `pyproject.toml`."""
    documentation: str = tomllib.loads(pyproject)["project"].get("urls", {}).get("Documentation", "")
    return f"{documentation.rstrip('/')}/rules/{{code}}/" if documentation else ""


def main() -> int:
    """Write the index of the pages; 2 if a page breaks the format."""
    try:
        pages = read_pages(os.path.join(PROJECT, "rules"))
    except PageError as error:
        print(error, file=sys.stderr)
        return 2
    with open(os.path.join(PROJECT, "pyproject.toml"), encoding="utf-8") as file:
        address = published_address(file.read())
    with open(os.path.join(PACKAGE, "rulebook", "_index.py"), "w", encoding="utf-8", newline="\n") as file:
        file.write(index_source(pages, address))
    print(f"{len(pages)} rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
