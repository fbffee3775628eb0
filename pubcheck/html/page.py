"""What the HTML pages have in common: a head and an end, with the style and the scripts written into them.

`page.js` is every page's: its tools, and dark or light.
"""

from __future__ import annotations

import os


def head(title: str, *styles: str) -> str:
    """The page up to its body. ``title`` is escaped; ``styles`` are files beside this one."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Whatever stands in a name or a filter, the page fetches nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline';"
        " script-src 'unsafe-inline'\">\n"
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n"
        f"<style>\n{''.join(map(_file, styles))}</style>\n</head>\n<body>\n"
    )


def end(script: str) -> str:
    """The end of the page; ``script`` is a file beside this one."""
    return f"<script>\n{_file('page.js')}{_file(script)}</script>\n</body>\n</html>\n"


def _file(name: str) -> str:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read()
