"""Which files may hold a publication: cheap, and wrong only in keeping too many.

Kept is what has, in any case, CREATE [OR REPLACE], ALTER or DROP before PUBLICATION with whitespace between them. Where
a comment or a psql command comes in between, it is enough that the word PUBLICATION stands anywhere: so no pattern has
to look for a comment's end, and the search takes linear time. UTF-16 is always kept. Python's `re` and Java's regular
expressions, which Spark's `rlike` uses, read the two patterns alike.
"""

from __future__ import annotations

import re

_BREAK = r"\s*(?:--|/\*|\\)"
WORD = r"(?i)publication"
STATEMENT = (
    rf"(?i)(?:alter|drop)(?:{_BREAK}|\s+publication)"
    rf"|create(?:{_BREAK}|\s+publication|\s+or(?:{_BREAK}|\s+replace(?:{_BREAK}|\s+publication)))"
)
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# In Python only the first flag of a pattern may say (?i), and it holds for all of it, as in Java.
_statement = re.compile(STATEMENT.encode()).search


def may_publish(content: bytes, lower: bytes | None = None) -> bool:
    """Whether a file may hold a statement about a publication; ``lower`` is its content in lower case."""
    # Far faster than the pattern, and finds the same: in bytes only ASCII letters have a case.
    return content.startswith(UTF16_MARKS) or (
        b"publication" in (content.lower() if lower is None else lower) and _statement(content) is not None
    )
