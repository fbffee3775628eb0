"""The corpus' subscriptions: what CREATE SUBSCRIPTION refuses for column lists, and the rows that the copy brings."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pubcheck.postgres.replication.subscription_set import subscribe_conflicts, tables_to_copy
from tests.postgres.ddl.support import fold
from tests.replication.decoding import Publisher, value
from tests.support.cases import Case, Recorded, load

CASES = [case for case in load() if case.sub is not None and case.id != "v19-sub-server-no-connection"]
"""Subscriptions that the server refuses for column lists alone, or accepts."""
COPIES = [
    case
    for case in CASES
    if case.sub is not None
    and case.sub.wait_sync
    and case.sub.query
    and not case.sub.pub_sql
    and not case.id.startswith("v19-")
]
"""Those of 19 ask with queries that the tests' own SQL does not have."""


def asked(case: Case) -> list[str]:
    assert case.sub is not None
    match = re.search(r"PUBLICATION ([\w, ]+) WITH", case.sub.statement)
    assert match is not None
    return match.group(1).split(", ")


def accepted(case: Case) -> list[tuple[int, Recorded]]:
    """The answers of the majors that accept the statements before the subscription."""
    return [(major, answer) for major, answer in case.answers.items() if answer.at != "setup"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_conflicts_of_column_lists_are_those_of_the_server(case: Case) -> None:
    assert case.sub is not None
    for major, answer in accepted(case):
        for script, side in (
            (case.setup, answer),
            ((*case.setup, *case.sub.pub_sql), answer.alter if case.sub.alter else None),
        ):
            if side is not None:
                catalog = fold(";".join(script), major).catalog
                oids = [catalog.publication_names[name] for name in asked(case) if name in catalog.publication_names]
                conflicts = [conflict.server.message for conflict in subscribe_conflicts(catalog, oids)]
                assert conflicts == ([side.message] if side.sqlstate == "0A000" else []), major


@pytest.mark.parametrize("case", COPIES, ids=lambda case: case.id)
def test_the_copy_brings_the_rows_that_it_brought_to_the_subscriber(case: Case) -> None:
    assert case.sub is not None
    for major, answer in accepted(case):
        publisher, subscriber = Publisher(major), Publisher(major)
        for text in case.setup:
            publisher.run(text)
        for text in case.sub.setup:
            subscriber.run(text)
        copy(publisher, subscriber, asked(case))
        assert queried(subscriber, case.sub.query or "") == [json.loads(row) for row in answer.subscriber_rows or ()]


def copy(publisher: Publisher, subscriber: Publisher, publications: list[str]) -> None:
    """The initial copy."""
    catalog = publisher.catalog
    for copied_table in tables_to_copy(catalog, [catalog.publication_names[name] for name in publications]):
        source = catalog.relations[copied_table.relation]
        target = table_of(subscriber, catalog.namespaces[source.namespace].name, source.name)
        for oid in catalog.descendants(source.oid) if source.kind == "p" else [source.oid]:
            leaf = catalog.relations[oid]
            for row in publisher.rows.get(oid, ()):
                named = {column.name: row[column.number] for column in leaf.live()}
                if not copied_table.filters or any(
                    value(condition.tree, named) is True for _, condition in copied_table.filters
                ):
                    names = [source.columns[number - 1].name for number in copied_table.columns]
                    new = dict.fromkeys(column.name for column in target.live())
                    subscriber.store(target, {**new, **{name: named[name] for name in names}})


def table_of(side: Publisher, schema: str, name: str) -> Any:
    relation = side.session.find_relation({"schemaname": schema, "relname": name})
    assert relation is not None
    return relation


def queried(side: Publisher, query: str) -> list[list[Any]]:
    """The two queries that the cases have."""
    match = re.fullmatch(r"SELECT (\*|tableoid::regclass::text, id, k) FROM ([\w.]+) ORDER BY 1(, 2)?", query)
    assert match is not None, query
    *schema, name = match.group(2).split(".")
    root = table_of(side, schema[0] if schema else "public", name)
    rows = []
    for oid in side.catalog.descendants(root.oid):
        leaf = side.catalog.relations[oid]
        shown = side.shown(oid).removeprefix("public.")
        for row in side.rows.get(oid, ()):
            named = {column.name: row[column.number] for column in leaf.live()}
            rows.append(
                [named[column.name] for column in root.live()]
                if match.group(1) == "*"
                else [shown, named["id"], named["k"]]
            )
    return sorted(rows, key=lambda row: row[: 2 if match.group(3) else 1])
