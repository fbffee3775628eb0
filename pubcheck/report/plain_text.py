"""The text of a finding in formats that have one field for text."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from pubcheck.findings import Entry
from pubcheck.report.text import answer


def paragraphs(entry: Entry) -> Iterator[str]:
    """Return the paragraphs below a finding's message: the server's answer, the claim about a
    consumer, the certainty, the help. Each may have
    several lines."""
    if entry.server is not None:
        yield answer(entry.server)
    if entry.consumer is not UNSET:
        claim = entry.consumer
        if claim.message:
            yield f"{claim.consumer}: {claim.message}"
        yield f"Claim {claim.claim} ({claim.evidence}{', inferred' if claim.inferred else ''}), {claim.source}"
    if entry.certainty == "assumed":
        yield f"Assumed: it rests on {'; '.join(entry.assumptions)}." if entry.assumptions else "Assumed."
    if entry.help:
        yield f"Help: {entry.help}"


def described(entry: Entry) -> str:
    """Return the message and all that is to be read below it."""
    listed = "" if entry.database_object is UNSET else f"{entry.database_object}: "
    return "\n".join([listed + entry.message, *paragraphs(entry)])
