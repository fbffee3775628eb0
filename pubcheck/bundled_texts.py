"""Files that a wheel holds compressed: large data, and folders of texts, such as the rules' pages, as one file each.

`hatch_build.py` writes the compressed files. A checkout has the files themselves.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from msgspec.json import decode

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def read_text(bundle: str, key: str, path: str) -> str:
    """Return a text of a bundle, or of the file with ``path`` in a checkout. OSError without the file there."""
    texts = _texts(bundle)
    if texts is not None:
        return texts[key]
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
def _texts(bundle: str) -> dict[str, str] | None:
    content = _decompressed(os.path.join(PACKAGE, f"{bundle}.bz2"), "bz2")
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
