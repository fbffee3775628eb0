"""What publications, members and tables there are, as a server says it and as pubcheck's catalog has it."""

from __future__ import annotations

import re

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog

QUERY = (
    "SELECT 'publication ' || quote_ident(pubname) || ' ' || concat(puballtables, pubinsert, pubupdate, pubviaroot)"
    " FROM pg_publication UNION ALL SELECT format('member %I of %s', pubname, prrelid::regclass)"
    " || CASE WHEN prqual IS NULL THEN '' ELSE ' filtered' END || coalesce(' ' || prattrs::text, '')"
    " FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid"
    " UNION ALL SELECT format('schema %I of %I', pubname, nspname) FROM pg_publication_namespace"
    " JOIN pg_publication p ON p.oid = pnpubid JOIN pg_namespace n ON n.oid = pnnspid"
    " UNION ALL SELECT format('table %s %s', oid::regclass, relreplident) FROM pg_class"
    " WHERE relkind = 'r' AND oid >= 16384 ORDER BY 1"
)
"""What ``shown`` says, asked of a server; the cases of corpus/cases/plpgsql.toml ask it too."""


def shown(catalog: Catalog) -> set[str]:
    """A catalog's publications, members and tables in the words of QUERY."""
    lines: set[str] = set()
    for publication in catalog.publications.values():
        flags = (publication.all_tables, publication.insert, publication.update, publication.via_root)
        lines.add(f"publication {_quoted(publication.name)} {''.join('ft'[flag] for flag in flags)}")
        for oid in catalog.members_of.get(publication.oid):
            entry = catalog.publication_rels[oid]
            filtered = " filtered" if entry.filter is not None else ""
            columns = f" {' '.join(map(str, entry.columns))}" if entry.columns is not None else ""
            lines.add(f"member {_quoted(publication.name)} of {_name(catalog, entry.relation)}{filtered}{columns}")
        for oid in catalog.schemas_of.get(publication.oid):
            schema = catalog.namespaces[catalog.publication_namespaces[oid].namespace].name
            lines.add(f"schema {_quoted(publication.name)} of {_quoted(schema)}")
    for row in catalog.relations.values():
        if row.kind == "r" and row.oid >= FIRST_NORMAL_OID:
            lines.add(f"table {_name(catalog, row.oid)} {row.identity}")
    return lines


def _name(catalog: Catalog, oid: int) -> str:
    """regclass with the default search path."""
    row = catalog.relations[oid]
    schema = catalog.namespaces[row.namespace].name
    return _quoted(row.name) if schema == "public" else f"{_quoted(schema)}.{_quoted(row.name)}"


def _quoted(name: str) -> str:
    return name if re.fullmatch("[a-z_][a-z0-9_]*", name) else f'"{name}"'
