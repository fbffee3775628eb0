"""Tables, columns, keys and indexes, as pubcheck's catalog has them after the files of a unit and as a server does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pubcheck.config import Config
from pubcheck.discovery.file_types import File
from pubcheck.discovery.read import read_unit
from pubcheck.engine.unit import Unit
from pubcheck.engine.unit_run import Run
from pubcheck.lexing.items import PsqlCommand
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.source import Source
from tests.support.servers import Server, execute

COLUMNS = (
    "SELECT format('%s.%s %s%s%s%s', c.relname, attname, format_type(atttypid, NULL), CASE WHEN attnotnull THEN"
    " ' not null' END, CASE WHEN attgenerated <> '' THEN ' generated' END, CASE WHEN attidentity <> '' THEN"
    " ' identity' END) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relkind IN ('r', 'p') AND"
    " c.oid >= 16384 AND attnum > 0 AND NOT attisdropped ORDER BY 1"
)
INDEXES = (
    "SELECT format('%s(%s)%s%s%s', t.relname, (SELECT string_agg(coalesce(attname::text, '?'), ',' ORDER BY n) FROM"
    " unnest(indkey::int2[]) WITH ORDINALITY AS k (attnum, n) LEFT JOIN pg_attribute a ON a.attrelid = indrelid AND"
    " a.attnum = k.attnum), CASE WHEN indisprimary THEN ' primary' END, CASE WHEN indisunique THEN ' unique' END, CASE"
    " WHEN indpred IS NOT NULL THEN ' partial' END) FROM pg_index JOIN pg_class t ON t.oid = indrelid WHERE"
    " t.oid >= 16384 AND t.relkind IN ('r', 'p') ORDER BY 1"
)
CONSTRAINTS = (
    "SELECT format('%s %s %s', conrelid::regclass, contype, CASE contype WHEN 'f' THEN confrelid::regclass::text ||"
    " ' ' || confdeltype::text END) FROM pg_constraint WHERE conrelid >= 16384 AND"
    " contype IN ('f', 'c', 'u', 'p') ORDER BY 1"
)

QUERIES = {"columns": COLUMNS, "indexes": INDEXES, "constraints": CONSTRAINTS}


def sources(folder: Path, names: Sequence[str], view: str, label: str = "") -> tuple[Source, ...]:
    files = tuple(File(str(folder / name), f"{label}{name}", view=view) for name in names)
    return read_unit(files, (18,)).sources


def followed(unit: tuple[Source, ...], major: int = 18) -> Run:
    """A unit, followed to its end."""
    run = Run(Config(postgres=(major,)), Unit(unit))
    run.findings()
    return run


def statements(unit: Sequence[Source]) -> list[str]:
    """What is sent to the server."""
    return [item.sent() for source in unit for item in Splitter(source) if not isinstance(item, PsqlCommand)]


def answered(server: Server, sent: Sequence[str]) -> Mapping[str, list[str]]:
    """What the queries above answer when a server was sent statements, all of which it takes."""
    with server.database() as name, server.connect(name) as conn:
        for statement in sent:
            answer = execute(conn, statement)
            assert answer.ok, (statement, answer)
        answers = {name: execute(conn, query) for name, query in QUERIES.items()}
    assert all(answer.ok for answer in answers.values()), answers
    return {name: sorted(str(row[0]).strip() for row in answer.rows or ()) for name, answer in answers.items()}


def facts(run: Run) -> Mapping[str, list[str]]:
    """What the queries above answer, of pubcheck's catalog."""
    catalog: Catalog = run.databases.replays[0].catalog
    session = run.databases.replays[0].session
    tables = {row.oid: row for row in catalog.relations.values() if row.kind in "rp" and row.oid >= FIRST_NORMAL_OID}
    columns, indexes, constraints = [], [], []
    for row in tables.values():
        for column in row.live():
            kind = format_type(session, column.type)
            flags = f"{' not null' * column.not_null}{' generated' * bool(column.generated)}"
            columns.append(f"{row.name}.{column.name} {kind}{flags}{' identity' * bool(column.identity)}")
    for index in catalog.indexes.values():
        if index.table in tables:
            table = tables[index.table]
            keys = ",".join(table.columns[key - 1].name if key else "?" for key in (*index.keys, *index.included))
            flags = f"{' primary' * index.primary}{' unique' * index.unique}{' partial' * index.partial}"
            indexes.append(f"{table.name}({keys}){flags}")
    for constraint in catalog.constraints.values():
        if constraint.relation in tables and constraint.kind in "fcup":
            other = catalog.relations[constraint.references].name if constraint.kind == "f" else ""
            action = f"{other} {constraint.on_delete}" if other else ""
            constraints.append(f"{_name(tables[constraint.relation].name)} {constraint.kind} {action}".strip())
    return {"columns": sorted(columns), "indexes": sorted(indexes), "constraints": sorted(constraints)}


def identifying(columns: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """All but indexes that are not unique: they decide about no identity."""
    return {**columns, "indexes": [index for index in columns["indexes"] if " unique" in index]}


def _name(name: str) -> str:
    return name if re.fullmatch("[a-z_][a-z0-9_]*", name) else f'"{name}"'
