"""The generated index of the rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from pubcheck.rulebook import Rule
from pubcheck.rulebook.pages import Page, PageError, read_pages


def index_source(pages: Iterable[Page]) -> str:
    """Return the Python source of `_index.py` for these pages."""
    rows = "".join(
        f"    ({', '.join(repr(getattr(page.rule, field)) for field in Rule.__struct_fields__)}),\n" for page in pages
    )
    return (
        '"""Generated from rules/*.md by `python -m pubcheck.rulebook compile`; edit the pages."""\n\n'
        "from typing import Any\n\n"
        f"# {', '.join(Rule.__struct_fields__)}\n"
        f"ROWS: tuple[tuple[Any, ...], ...] = (\n{rows})\n"
    )


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
    with open(os.path.join(package, "rulebook", "_index.py"), "w", encoding="utf-8", newline="\n") as file:
        file.write(index_source(pages))
    print(f"{len(pages)} rules")
    return 0
