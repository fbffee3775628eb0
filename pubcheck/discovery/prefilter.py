"""Select the files of a corpus that may have findings: cheaply, and erring only by keeping too many.

A file of SQL is kept if it names a publication, a subscription or a replica identity anywhere, in any case, and
contains a statement: the statement may be built at run time, or by psql. A program is read by `pubcheck lint` only if
CREATE [OR REPLACE], ALTER or DROP precedes PUBLICATION or SUBSCRIPTION with whitespace between them, and PUBLICATION
occurs anywhere, as it does in every CREATE SUBSCRIPTION. So a program is kept for that, or for a replica identity.

If a comment or a psql command comes between those words, it is enough that PUBLICATION occurs anywhere. So no pattern
has to look for the end of a comment, and the search takes linear time. Python's `re` and Java's regular expressions,
which Spark's `rlike` uses, read the patterns alike.
"""

from __future__ import annotations

from pubcheck.discovery.file_types import SUFFIXES
from pubcheck.lazy_regex import lazy_compile

_BREAK = r"\s*(?:--|/\*|\\)"
WORD = r"(?i)publication"
_OBJECTS = r"\s+(?:publication|subscription)"
STATEMENT = (
    rf"(?i)(?:alter|drop)(?:{_BREAK}|{_OBJECTS})"
    rf"|create(?:{_BREAK}|{_OBJECTS}|\s+or(?:{_BREAK}|\s+replace(?:{_BREAK}|\s+publication)))"
)
IDENTITY = r"(?i)replica[^A-Za-z0-9_;]*(?:--|/\*|\\|identity)"
NAMED = r"(?i)publication|subscription"
ACTIONS = r"(?i)create|alter|drop|execute|comment|\\g?set"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# The search is in lower case: it finds the same, because in bytes only ASCII letters have a case, and is five times as
# fast as one that ignores case.
_STATEMENT, _IDENTITY, _DONE = (
    lazy_compile(pattern.removeprefix("(?i)").encode()) for pattern in (STATEMENT, IDENTITY, ACTIONS)
)


def may_publish(content: bytes, lower: bytes | None = None) -> bool:
    """Return whether a file may hold a statement about a publication or a subscription as it is written; ``lower``
    is its content in lower case. Of UTF-16 with a mark that is not known."""
    lower = content.lower() if lower is None else lower
    return content.startswith(UTF16_MARKS) or (b"publication" in lower and _STATEMENT.search(lower) is not None)


def may_matter(path: str, content: bytes, lower: bytes | None = None, *, publishes: bool | None = None) -> bool:
    """Return whether a file may have a finding, by the end of its path and by ``may_publish``."""
    lower = content.lower() if lower is None else lower
    if _in_utf16(content) or (b"replica" in lower and _IDENTITY.search(lower) is not None):
        return True
    if not path.lower().endswith(SUFFIXES):
        return may_publish(content, lower) if publishes is None else publishes
    return (b"publication" in lower or b"subscription" in lower) and _DONE.search(lower) is not None


def _in_utf16(content: bytes) -> bool:
    """Return whether the beginning is a byte order mark, or one of the first two bytes alone is a NUL."""
    return content.startswith(UTF16_MARKS) or (len(content) > 1 and (content[0] == 0) != (content[1] == 0))
