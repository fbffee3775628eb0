"""Folders of texts, such as the pages of the rules. A wheel holds each folder as one file, in 40 % of the space.

`hatch_build.py` writes these files. A checkout has none: there the texts are read one by one.
"""

from __future__ import annotations

import os
from functools import cache

from msgspec.json import decode

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def read_text(bundle: str, folder: str, filename: str) -> str:
    """Return the text of a file of a bundle, which is ``folder`` in a checkout. OSError without the file there."""
    texts = _texts(bundle)
    if texts is not None:
        return texts[filename]
    with open(os.path.join(folder, filename), encoding="utf-8") as file:
        return file.read()


@cache
def _texts(bundle: str) -> dict[str, str] | None:
    try:
        with open(os.path.join(PACKAGE, f"{bundle}.bz2"), "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    try:
        from bz2 import decompress
    except ImportError as error:
        raise OSError("this Python was built without bz2") from error
    return decode(decompress(content), type=dict[str, str])
