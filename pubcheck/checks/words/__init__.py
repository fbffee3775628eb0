"""The server's refusals in plain words, one module a family."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.words import columns, filters, identity, later, members, relations, statements, subscriptions
from pubcheck.checks.words.shape import Words

WORDS: Mapping[str, tuple[Words, ...]] = {
    **statements.WORDS,
    **relations.WORDS,
    **members.WORDS,
    **filters.WORDS,
    **identity.WORDS,
    **columns.WORDS,
    **later.WORDS,
    **subscriptions.WORDS,
}
"""By rule of the specification, the words for each of its answers; the first that matches is used."""
