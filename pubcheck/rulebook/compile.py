"""The generated index of the rules, and the address of their pages."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable

from pubcheck.rulebook import Rule
from pubcheck.rulebook.pages import Page, PageError, read_pages


def index_source(pages: Iterable[Page], address: str = "") -> str:
    """Return the Python source of `_index.py` for these pages, which the project publishes at ``address``."""
    rows = "".join(
        f"    ({', '.join(repr(getattr(page.rule, field)) for field in Rule.__struct_fields__)}),\n" for page in pages
    )
    return (
        '"""Generated from rules/*.md by `python -m pubcheck.rulebook compile`; edit the pages."""\n\n'
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


def main(arguments: list[str]) -> int:
    """`compile` writes the index of a checkout's pages; 2 for anything else, or a page that breaks the format."""
    if arguments != ["compile"]:
        print("usage: python -m pubcheck.rulebook compile", file=sys.stderr)
        return 2
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        pages = read_pages(os.path.join(os.path.dirname(package), "rules"))
    except PageError as error:
        print(error, file=sys.stderr)
        return 2
    with open(os.path.join(os.path.dirname(package), "pyproject.toml"), encoding="utf-8") as file:
        address = published_address(file.read())
    with open(os.path.join(package, "rulebook", "_index.py"), "w", encoding="utf-8", newline="\n") as file:
        file.write(index_source(pages, address))
    print(f"{len(pages)} rules")
    return 0
