"""Paths as users write them, and as Hadoop reads them."""

from __future__ import annotations

import os
import re

_FILE = re.compile(r"file:(//)?(?=/)")
_WILDCARD = re.compile(r"[\\\[\]{}*?]")


def without_trailing_separators(path: str) -> str:
    """Return a path as it appears in labels."""
    return path.rstrip("/" + os.sep) or path


def local_path(path: str) -> str:
    """Return a path of this machine without the scheme `file:`; any other one as it is."""
    scheme = _FILE.match(path)
    return path[scheme.end() :] if scheme else path


def hadoop_path(path: str) -> str:
    """Return a path whose colon does not end a scheme unless a slash follows it. To Hadoop the text before the first
    colon is a scheme unless it has a slash, and a leading `./` is lost when Hadoop adds a name to a path."""
    return os.path.abspath(path) if re.match(r"[^/:]*:(?!/)", path) else path


def exactly(path: str) -> dict[str, str]:
    """Return the options with which Spark reads one path, given by ``hadoop_path``, as it is and not as a pattern. A
    pattern with escapes would do where no name next to it has a colon, which Hadoop then takes for a URI."""
    return {"__globPaths__": "false"} if _WILDCARD.search(path) else {}


def literal(path: str) -> str:
    """Return a pattern that only matches this path."""
    return _WILDCARD.sub(r"\\\g<0>", hadoop_path(path))
