"""Files that a wheel holds compressed: large data, and the rules' pages and the files of consumers as one.

`hatch_build.py` writes the compressed files. A checkout has the files themselves.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from msgspec.json import decode

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def read_text(name: str, path: str) -> str:
    """Return the page of the rule or the file of the consumer of this name; in a checkout the file with ``path``.
    OSError without the file."""
    texts = _texts()
    if texts is not None:
        return texts[name]
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_data(path: str) -> bytes:
    """Return the content of a file, of which a wheel has PATH.xz. OSError without either."""
    content = _decompressed(f"{path}.xz", "lzma")
    if content is not None:
        return content
    with open(path, "rb") as file:
        return file.read()


@cache
def _texts() -> dict[str, str] | None:
    content = _decompressed(os.path.join(PACKAGE, "texts.bz2"), "bz2")
    return None if content is None else decode(content, type=dict[str, str])


def _decompressed(path: str, module: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    try:
        decompressed: bytes = import_module(module).decompress(content)
    except ImportError as error:
        raise OSError(f"this Python was built without {module}") from error
    return decompressed
