"""What 19beta3 showed of pg_publication and its views after the statements of a case is what the catalog holds."""

from __future__ import annotations

import json
import re

import pytest

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Publication, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, published_sequences, route
from tests.postgres.ddl.support import fold
from tests.support.cases import Case, load

Rows = list[list[object]]
OPTIONS = "SELECT puballtables, puballsequences, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot"
MEMBERS = "SELECT prrelid::regclass::text, prexcept,"
TABLES = "SELECT schemaname, tablename, attnames::text, rowfilter FROM pg_publication_tables WHERE pubname = 'p'"
SEQUENCES = "SELECT schemaname, sequencename FROM pg_publication_sequences WHERE pubname = 'p'"
CASES = [
    case
    for case in load()
    if case.id.startswith("v19-")
    and case.answers[19].ok
    and any(query.startswith((OPTIONS, MEMBERS, TABLES, SEQUENCES)) for query in case.then)
]
BEYOND = {
    "v19-alter-rename-with-exclusions": "asks for another publication",
    "v19-ddl-drop-owned": "needs a role that the runs had made",
    "v19-except-temp-shadows-qualified": "regclass writes the schema of a hidden table",
    "v19-syn-except-quoted": "regclass writes quotes",
    "v19-syn-in-do-block": "needs a block to run",
    "v19-syn-in-do-block-execute": "needs a block to run",
}
"""Cases that ask for what these tests do not have."""


def shown(catalog: Catalog, query: str) -> Rows | None:
    """The answer to a query; None for a query of another kind."""
    oid = catalog.publication_names.get("p")
    publication = catalog.publications[oid] if oid is not None else None
    if query.startswith(OPTIONS):
        return [] if publication is None else [options(publication)]
    if query.startswith(MEMBERS):
        return [] if publication is None else sorted(members(catalog, publication), key=str)
    if query.startswith(TABLES):
        tables = catalog.relations.values() if publication is not None else ()
        return sorted(
            [schema(catalog, row), row.name] for row in tables if publication and listed(catalog, publication, row)
        )
    if query.startswith(SEQUENCES):
        sequences = published_sequences(catalog) if publication is not None and publication.all_sequences else ()
        return sorted([schema(catalog, row), row.name] for row in sequences)
    return None


def options(row: Publication) -> list[object]:
    return [row.all_tables, row.all_sequences, row.insert, row.update, row.delete, row.truncate, row.via_root]


def members(catalog: Catalog, publication: Publication) -> Rows:
    excluded = [catalog.publication_exclusions[oid].relation for oid in catalog.exclusions_of.get(publication.oid)]
    named = [catalog.publication_rels[oid].relation for oid in catalog.members_of.get(publication.oid)]
    return [[regclass(catalog, oid), True] for oid in excluded] + [[regclass(catalog, oid), False] for oid in named]


def listed(catalog: Catalog, publication: Publication, row: Relation) -> bool:
    if not is_publishable(row) or (row.kind == "p" and not publication.via_root):
        return False
    arrival = route(catalog, publication, row)
    return arrival is not None and arrival.arrives_as == row.oid


def schema(catalog: Catalog, row: Relation) -> str:
    return catalog.namespaces[row.namespace].name


def regclass(catalog: Catalog, oid: int) -> str:
    row = catalog.relations[oid]
    return row.name if schema(catalog, row) == "public" else f"{schema(catalog, row)}.{row.name}"


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in BEYOND], ids=lambda case: case.id)
def test_the_catalog_is_that_of_the_server(case: Case) -> None:
    script = [*case.setup, case.statement]
    for query, answer in zip(case.then, case.answers[19].then, strict=True):
        if re.match("(?i)select", query) is None:
            script.append(query)
            continue
        catalog = fold(";\n".join(script).replace("@@DB@@", "postgres"), 19).catalog
        held = shown(catalog, query)
        if held is not None and answer.ok:
            rows = [json.loads(row) for row in answer.rows or ()]
            width = 7 if query.startswith(OPTIONS) else 2
            assert held == sorted((row[:width] for row in rows), key=str), query
