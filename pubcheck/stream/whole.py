"""Reads messages that are all of their data: the frequent ones by `_readers.c` where it is compiled, the others, and
those that it does not accept, by `readers`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeAlias
from zlib import crc32

from pubcheck.stream.messages import AnyMessage
from pubcheck.stream.readers import Reader

WholeReader: TypeAlias = Callable[[bytes], AnyMessage]

_SOURCES = sorted(Path(__file__).parent.glob("_*.[ch]"))
"""Only a checkout has them. A wheel has what was compiled from them."""


def _compiled() -> ModuleType | None:
    try:
        import pubcheck.stream._readers as readers
    except ImportError:
        return None
    if _SOURCES and crc32(b"".join(map(Path.read_bytes, _SOURCES))) != readers.SOURCE_CHECKSUM:
        names = " or ".join(source.name for source in _SOURCES)
        warnings.warn(f"{names} has changed: python hatch_build.py compiles it again", stacklevel=2)
        return None
    return readers


COMPILED = _compiled()
_KINDS_IN_C = frozenset(b"BCRIUD")


def whole_reader(kind: int, read: Reader, *, in_block: bool) -> WholeReader:
    """Return a reader of messages of a kind. It raises one of `FAULTS` for other bytes, as ``read`` does."""

    def read_whole(data: bytes) -> AnyMessage:
        message, end = read(data, 1)
        if end != len(data):
            raise ValueError
        return message

    if COMPILED is None or kind not in _KINDS_IN_C:
        return read_whole
    read_in_c = COMPILED.read_in_block if in_block else COMPILED.read
    return lambda data: read_in_c(data) or read_whole(data)
