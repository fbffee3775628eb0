"""The texts of the write-phase rules: headline, secondary spans, remedies with their costs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pubcheck.checks.history.migration_tool_tables import maker
from pubcheck.checks.remedies.remedy import Remedy
from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.diagnostics import Fix, RefusedWriteText, RemedyText
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.replication.publication_lookup import replica_identity
from pubcheck.postgres.tokens import identifier

_VERB = {"update": "UPDATE of", "delete": "DELETE from"}
_FILTER = 'the row filter of publication "{publication}" reads "{column}", which is not in the replica identity'
_REASONS = {
    "PUB301": _FILTER,
    "PUB302": 'publication "{publication}" publishes the table, which has no replica identity',
    "PUB303": 'the replica identity has the generated column "{column}", which publication "{publication}" does not '
    "publish",
    "PUB304": _FILTER,
    "PUB406": 'the column list of publication "{publication}" leaves out "{column}", which is in the replica identity',
}
"""Why a write is refused, by rule."""
_LIST_UNDER_FULL = 'publication "{publication}" has a column list, and the replica identity is FULL'
"""The reason of PUB406 where no column is left out."""


def text(catalog: Catalog, refusal: Refusal) -> RefusedWriteText:
    """Return the statement that will fail, and why."""
    name = catalog.relations[refusal.relation].name
    return RefusedWriteText(f"{_VERB[refusal.operation]} {name}", reason(catalog, refusal))


def reason(catalog: Catalog, refusal: Refusal) -> str:
    """Return why a write is refused."""
    publication = catalog.publications[refusal.publication].name
    no_column = refusal.rule == "PUB406" and not refusal.column
    template = _LIST_UNDER_FULL if no_column else _REASONS[refusal.rule]
    return template.format(publication=publication, column=refusal.column)


def with_help(
    write: RefusedWriteText, catalog: Catalog, refusal: Refusal, remedies: Sequence[Remedy], fixes: Sequence[Fix]
) -> RefusedWriteText:
    """Return the texts with the help: the goal, and the remedies, the best first."""
    relation = catalog.relations[refusal.relation]
    goal = _goal(relation, refusal, remedies)
    lines = [
        RemedyText("; ".join(remedy.statements), f"{remedy.cost}{_remaining(refusal, remedy)}") for remedy in remedies
    ]
    made_by = maker(relation) if refusal.rule == "PUB302" else None
    applied = [number for number, remedy in enumerate(remedies) for fix in fixes if fix.statements == remedy.statements]
    return replace(
        write,
        goal=f"{goal}{'; the best first:' if len(lines) > 1 else ':' if lines else _NONE}",
        remedies=tuple(lines),
        notes=() if made_by is None else (made_by,),
        applied=next(iter(applied), None),
        appends=any(fix.appends for fix in fixes),
    )


_NONE = "; no single standard change fixes this"


def _goal(relation: Relation, refusal: Refusal, remedies: Sequence[Remedy]) -> str:
    """Return what has to be changed, in one line."""
    column = identifier(refusal.column)
    if refusal.rule in ("PUB301", "PUB304"):
        goal = f"put {column} into the replica identity, or publish without it"
    elif refusal.rule == "PUB406":
        added = next((remedy.lists for remedy in remedies if remedy.lists), ())
        goal = f"put {', '.join(map(identifier, added))} into the column list, or publish otherwise"
        if not added:
            goal = f"choose a replica identity without {column}, or publish otherwise"
        if not refusal.column:
            goal = "FULL allows no column list: choose another identity, or drop the list"
    elif refusal.rule == "PUB303":
        held = relation.column(refusal.column)
        stored = held is not None and held.generated == "s"
        goal = f"take {column} out of the replica identity, or publish it"
        if not stored:
            goal = f"take {column}, which is never published, out of the replica identity"
    else:
        goal = "give the table a replica identity, or publish only inserts"
        if relation.identity == "i":
            goal = (
                "the index that REPLICA IDENTITY names was dropped or cannot be used: choose another index, or publish "
                "only inserts"
            )
        elif relation.identity == "n":
            goal = "the replica identity is NOTHING: choose another, or publish only inserts"
    if not relation.seen:
        goal += " (preferably a unique index over NOT NULL columns, chosen with REPLICA IDENTITY USING INDEX)"
    return goal


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
