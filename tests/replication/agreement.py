"""Random schemas: what pg_publication_tables and a subscription's questions say, beside what pubcheck says.

`python -m tests.replication.agreement FIRST LAST [--major N]... [--ports FILE]` runs more seeds than the tests do.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import psycopg
from msgspec import Struct
from pglast.parser import ParseError

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.replication.subscription_set import publication_tables, subscribe_conflicts, tables_to_copy
from pubcheck.postgres.session import Session
from tests.differential.compare import without_roles
from tests.differential.scripts import DATABASE, Script
from tests.postgres.ddl.support import play
from tests.replication.trees import Trees
from tests.support.servers import Server, asked, execute, seeds_parser

TRANSACTION = ("BEGIN", "ROLLBACK", "COMMIT", "SAVEPOINT", "RELEASE")


class Agreement(Struct):
    """How many answers were compared, how many of them about partitions, and where they differ."""

    asked: int = 0
    of_partitions: int = 0
    conflicts: int = 0
    differences: list[str] = []


_LISTED = """
    SELECT schemaname || '.' || tablename, attnames::text[], rowfilter IS NOT NULL
    FROM pg_publication_tables WHERE pubname = %s
"""
_ASKED_FOR = """
    SELECT DISTINCT n.nspname || '.' || c.relname, gpt.attrs::text
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         JOIN (SELECT (pg_get_publication_tables(VARIADIC %s::text[])).*) gpt ON gpt.relid = c.oid
"""
_ASKED_FOR_15 = """
    SELECT DISTINCT schemaname || '.' || tablename, attnames::text FROM pg_publication_tables WHERE pubname = ANY (%s)
"""
_LISTS = """
    SELECT DISTINCT CASE WHEN array_length(gpt.attrs, 1) = c.relnatts THEN NULL ELSE gpt.attrs END::text
    FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname) gpt, pg_class c
    WHERE gpt.relid = %s::regclass AND c.oid = gpt.relid AND p.pubname = ANY (%s)
"""
_FILTERS = """
    SELECT DISTINCT pg_get_expr(gpt.qual, gpt.relid)
    FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname) gpt
    WHERE gpt.relid = %s::regclass AND p.pubname = ANY (%s)
"""


def agree(server: Server, statements: Sequence[str], seed: int, result: Agreement) -> None:
    """Play the statements on both sides; compare every publication and some subsets of several."""
    random = Random(seed)
    with without_roles(server), server.database() as name, server.connect(name) as conn:
        statements = [statement.replace(DATABASE, name) for statement in statements]
        session = Session(Catalog(server.major, name), complete=True)
        for text in statements:
            if "CREATE TABLE" in text and "pg_class" in text:
                # The columns of system catalogs are not followed.
                continue
            # What a table's rows refuse, a script does not say.
            if on_server(conn, text) != "refused by rows":
                with contextlib.suppress(ParseError):
                    play(session, text)
        for text in ("COMMIT", "RESET SESSION AUTHORIZATION", "RESET ROLE", "SET search_path = public"):
            execute(conn, text)
            play(session, text)
        catalog = session.catalog
        publications = sorted(catalog.publication_names)
        for publication in publications:
            _compare_listed(conn, catalog, publication, result)
        for _ in range(min(6, len(publications) * 2)):
            chosen = random.sample(publications, random.randint(1, min(4, len(publications))))
            _compare_asked(conn, catalog, chosen, result)


def on_server(conn: psycopg.Connection[Any], text: str) -> str:
    """Run one statement; a refused one leaves a transaction that it stands in as it was."""
    inside = conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    if not inside or text.split()[0] in TRANSACTION:
        answer = execute(conn, text)
    else:
        execute(conn, "SAVEPOINT guard")
        answer = execute(conn, text)
        execute(conn, "RELEASE guard" if answer.ok else "ROLLBACK TO guard")
    if answer.sqlstate is not None and answer.sqlstate.startswith("23"):
        return "refused by rows"
    return "accepted" if answer.ok else "refused"


def shown(catalog: Catalog, oid: int) -> str:
    relation = catalog.relations[oid]
    return f"{catalog.namespaces[relation.namespace].name}.{relation.name}"


def _compare_listed(conn: psycopg.Connection[Any], catalog: Catalog, publication: str, result: Agreement) -> None:
    theirs = {row[0]: (tuple(row[1] or ()), row[2]) for row in conn.execute(_LISTED, [publication]).fetchall()}
    rows = publication_tables(catalog, catalog.publication_names[publication])
    ours = {
        shown(catalog, row.relation): (
            tuple(catalog.relations[row.relation].columns[number - 1].name for number in row.columns),
            row.filter is not None,
        )
        for row in rows
    }
    result.asked += max(len(theirs), 1)
    result.of_partitions += sum(catalog.relations[row.relation].partition for row in rows)
    for table in sorted({*theirs, *ours}):
        if theirs.get(table) != ours.get(table):
            result.differences.append(f"{publication} {table}: server {theirs.get(table)}, pubcheck {ours.get(table)}")
    if len(rows) != len(ours):
        result.differences.append(f"{publication}: tables twice")


def _compare_asked(conn: psycopg.Connection[Any], catalog: Catalog, chosen: list[str], result: Agreement) -> None:
    """The tables that a subscription learns, the conflicts among them, and the filters of each one's copy."""
    oids = [catalog.publication_names[name] for name in chosen]
    fifteen = catalog.major.number == 15
    rows = conn.execute(_ASKED_FOR_15 if fifteen else _ASKED_FOR, [chosen]).fetchall()
    tables = [row[0] for row in rows]
    theirs = {table for table in tables if tables.count(table) > 1}
    copies = {shown(catalog, copied.relation): copied for copied in tables_to_copy(catalog, oids)}
    ours = {shown(catalog, conflict.relation) for conflict in subscribe_conflicts(catalog, oids)}
    result.asked += max(len(copies), 1)
    if set(tables) != set(copies):
        result.differences.append(f"{chosen}: tables {sorted(tables)}, pubcheck {sorted(copies)}")
        return
    for table, copy in copies.items():
        schema, name = shown(catalog, copy.relation).split(".", 1)
        quoted = psycopg.sql.Identifier(schema, name).as_string(conn)
        if fifteen and len(conn.execute(_LISTS, [quoted, chosen]).fetchall()) > 1:
            theirs.add(table)
        filters = [row[0] for row in conn.execute(_FILTERS, [quoted, chosen]).fetchall()]
        if (None not in filters) != bool(copy.filters):
            result.differences.append(f"{chosen} {table}: filters {filters}, pubcheck {len(copy.filters)}")
    result.conflicts += len(theirs)
    if theirs != ours:
        result.differences.append(f"{chosen}: conflicts {sorted(theirs)}, pubcheck {sorted(ours)}")


def scripts(seed: int) -> list[str]:
    """Every other seed is about partition trees."""
    return Trees(seed).statements if seed % 2 else Script(seed).statements


def main() -> int:
    options = seeds_parser("tests.replication.agreement", __doc__).parse_args()
    failed = 0
    with asked(options) as servers:
        for major in servers:
            result = Agreement()
            for seed in range(options.first, options.last):
                before = len(result.differences)
                agree(servers[major], scripts(seed), seed, result)
                for difference in result.differences[before:]:
                    print(f"[{seed}/{major}] {difference}", flush=True)
            failed += len(result.differences)
            print(
                f"{major}: {result.asked} answers, {result.of_partitions} of partitions,"
                f" {result.conflicts} conflicts, {len(result.differences)} differences"
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
