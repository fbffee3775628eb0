"""Replication slots that are older than the publications of their readers."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks import written
from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, order, quoted
from pubcheck.postgres.catalog.rows import Place, Publication


@finds("PUB715")
def slot_before_publication(context: RuleContext) -> Iterator[RuleFinding]:
    """A slot that is created before every publication of the files.

    pgoutput looks for its publications in the catalog as it was at each change (get_rel_sync_entry, under a historic
    snapshot), so changes between the two cannot be decoded.
    """
    publications = [row for row in context.catalog.publications.values() if row.place is not None and row.seen]
    for slot in context.once(written.slots):
        later = [row for row in publications if row.place is not None and order(slot) < order(row.place)]
        if not later or len(later) < len(publications):
            continue  # the slot may be for the publication before it
        first = later[0].place
        assert first is not None
        certain = written.writes_rows(context, slot, first)
        names = listed(quoted(row.name for row in later), "publication")
        yield RuleFinding(
            rule="PUB715",
            message=f"this replication slot is older than {names}: a change between the two cannot be decoded, "
            + (
                "and is left out with a warning"
                if context.catalog.major.skips_missing_publications
                else f'because publication "{later[0].name}" does not exist yet'
            ),
            help="create the publication before the slot",
            place=slot,
            certain=certain,
            assumptions=() if certain else ("whether rows change between the two",),
            related=first_places([(row.place, "created here") for row in later if row.place is not None]),
            publications=tuple(row.name for row in later),
        )


def slot_before(context: RuleContext, publication: Publication) -> Place | None:
    """Return a slot that is older than a publication."""
    place = publication.place
    if place is None:
        return None
    return next((slot for slot in context.once(written.slots) if order(slot) < order(place)), None)
