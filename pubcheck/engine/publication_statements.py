"""Which statements that do not parse are about publications."""

from __future__ import annotations

import itertools
import re

from pubcheck.checks.misspelt_names import misspelt_keyword
from pubcheck.postgres.parse import SyntaxRefused
from pubcheck.postgres.tokens import tokens

_INNER = (b"create", b"alter", b"drop")


_NO_OBJECT = (*_INNER, b"or", b"replace", b"temp", b"temporary", b"unlogged")
"""Words after CREATE, ALTER or DROP that leave open which kind of object follows."""


_BEFORE_PUBLICATION = {
    b"explain": _INNER,
    b"grant": (b"on",),
    b"prepare": _INNER,
    b"revoke": (b"on",),
    b"schema": _INNER,
}
"""The word before PUBLICATION in statements with another first word that are about one. CREATE SCHEMA is under
"schema"."""


_ROUTINE = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\b.*\batomic\b", re.IGNORECASE | re.DOTALL
)


def statement_in_body(text: str, refusal: SyntaxRefused) -> str:
    """Return the statement about a publication in a BEGIN ATOMIC body that does not parse, "" for other statements."""
    if _ROUTINE.match(text) is None:
        return ""
    from pubcheck.postgres.plpgsql.compile_errors import about_publication

    return about_publication(text, refusal.location)


def is_about_publications(text: str) -> bool:
    """Return whether a statement that does not parse is about publications.

    That is CREATE, ALTER, DROP or COMMENT ON PUBLICATION, a statement about a subscription, ALTER TABLE ... REPLICA
    IDENTITY, or another statement with such a one in a wrong place.
    """
    words = [token.lower() for _, token, _ in tokens(text[:1000].encode(errors="surrogatepass"))]
    if words[:3] == [b"comment", b"on", b"publication"]:
        return True
    if not words:
        return False
    if misspelt_keyword([word.decode(errors="replace") for word in words[:2]]) is not None:
        return True
    before = _BEFORE_PUBLICATION.get(words[0] if words[:2] != [b"create", b"schema"] else b"schema")
    if before is not None:
        return any(first in before and second == b"publication" for first, second in itertools.pairwise(words))
    if words[0] not in (b"create", b"alter", b"drop"):
        return False
    if words[:2] == [b"alter", b"table"]:
        return any(pair == (b"replica", b"identity") for pair in itertools.pairwise(words))
    if words[1:2] == [b"subscription"]:
        return words[3:4] != [b"on"]  # InfluxQL has some of its own
    first = next((word for word in words[1:] if word not in _NO_OBJECT), b"")
    return first == b"publication"
