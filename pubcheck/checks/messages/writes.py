"""The texts of the write-phase rules: headline, secondary spans, remedies with their costs."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.checks.history.migration_tool_tables import maker
from pubcheck.checks.remedies.remedy import Remedy
from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.identifiers import identifier
from pubcheck.postgres.replication.replica_identity import replica_identity
from pubcheck.postgres.session import Session

_VERB = {"update": "UPDATE of", "delete": "DELETE from"}


def headline(catalog: Catalog, refusal: Refusal) -> str:
    """Return one sentence: the statement that will fail, and why."""
    name = catalog.relations[refusal.relation].name
    return f"{_VERB[refusal.operation]} {name} will fail: {reason(catalog, refusal)}"


def reason(catalog: Catalog, refusal: Refusal) -> str:
    """Return why a write is refused."""
    publication = catalog.publications[refusal.publication].name
    if refusal.rule in ("PUB301", "PUB304"):
        return (
            f'the row filter of publication "{publication}" reads "{refusal.column}", '
            "which is not in the replica identity"
        )
    if refusal.rule == "PUB406":
        if refusal.column:
            return (
                f'the column list of publication "{publication}" leaves out "{refusal.column}", '
                "which is in the replica identity"
            )
        return f'publication "{publication}" has a column list, and the replica identity is FULL'
    if refusal.rule == "PUB303":
        return (
            f'the replica identity has the generated column "{refusal.column}", '
            f'which publication "{publication}" does not publish'
        )
    return f'publication "{publication}" publishes the table, which has no replica identity'


def help_text(session: Session, refusal: Refusal, remedies: Sequence[Remedy]) -> str:
    """Return the help: one line with the goal, then one line for each remedy, the best first."""
    catalog = session.catalog
    relation = catalog.relations[refusal.relation]
    column = identifier(refusal.column)
    if refusal.rule in ("PUB301", "PUB304"):
        headline = f"put {column} into the replica identity, or publish without it"
    elif refusal.rule == "PUB406":
        added = next((remedy.lists for remedy in remedies if remedy.lists), ())
        headline = f"put {', '.join(map(identifier, added))} into the column list, or publish otherwise"
        if not added:
            headline = f"choose a replica identity without {column}, or publish otherwise"
        if not refusal.column:
            headline = "FULL allows no column list: choose another identity, or drop the list"
    elif refusal.rule == "PUB303":
        held = relation.column(refusal.column)
        stored = held is not None and held.generated == "s"
        headline = f"take {column} out of the replica identity, or publish it"
        if not stored:
            headline = f"take {column}, which is never published, out of the replica identity"
    else:
        headline = "give the table a replica identity, or publish only inserts"
        if relation.identity == "i":
            headline = (
                "the index that REPLICA IDENTITY names was dropped or cannot be used: choose another index, or publish "
                "only inserts"
            )
        elif relation.identity == "n":
            headline = "the replica identity is NOTHING: choose another, or publish only inserts"
    if not relation.seen:
        headline += " (preferably a unique index over NOT NULL columns, chosen with REPLICA IDENTITY USING INDEX)"
    lines = [f"- {'; '.join(remedy.statements)}  ({remedy.cost}{_remaining(refusal, remedy)})" for remedy in remedies]
    made_by = maker(relation) if refusal.rule == "PUB302" else None
    notes = [made_by] if made_by is not None else []
    if not lines:
        return "\n".join([f"{headline}; no single standard change fixes this", *notes])
    return "\n".join([f"{headline}; the best first:" if len(lines) > 1 else f"{headline}:", *lines, *notes])


def _remaining(refusal: Refusal, remedy: Remedy) -> str:
    """Return the note that a remedy for this cause leaves the other causes."""
    ended = {"table": refusal.total, "publication": refusal.of_publication, "cause": 1}[remedy.ends]
    remaining = refusal.total - ended
    if not remaining:
        return ""
    return f"; {remaining} other cause{'s remain' if remaining > 1 else ' remains'}"


def identity_text(catalog: Catalog, relation: int) -> str:
    """The table's side of the matter, for its secondary span."""
    row = catalog.relations[relation]
    identity = replica_identity(catalog, row)
    if identity.full:
        return "the replica identity is FULL"
    if not identity.index:
        if row.identity == "n":
            return "the replica identity is NOTHING"
        return "it has no replica identity" if identity.known else "its replica identity is unknown here"
    names = ", ".join(row.columns[number - 1].name for number in catalog.indexes[identity.index].keys)
    return f"the key is ({names})" if row.identity == "d" else f"the replica identity is ({names})"
