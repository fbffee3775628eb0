"""Findings about the time after CREATE PUBLICATION: one function a rule, run once over a unit's final state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from pubcheck.checks.context import CHECKS as CHECKS
from pubcheck.checks.context import Check, RuleContext, RuleFinding
from pubcheck.consumers import implied_by
from pubcheck.faults import Faults
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Filter, Relation
from pubcheck.postgres.oids import INT2, INT4, INT8, TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts

_INTEGERS, _STRINGS = frozenset((INT2, INT4, INT8)), frozenset((TEXT, VARCHAR))
_EQUAL = frozenset(("=", "<>"))
_ORDERED = _EQUAL | {"<", ">", "<=", ">="}
_LARGEST = 30_000
"""An integer that has others above and below it in every integer type."""


def is_usual(catalog: Catalog, relation: Relation, condition: Filter) -> bool:
    """Return whether a filter compares columns of a table without CHECK constraints with constants, each column once.

    The rules about what filters can be true for and how they fail take a while to load, and find nothing about such a
    filter alone.
    """
    if condition.expr is None or not isinstance(condition.tree, dict) or not relation.seen or relation.partition:
        return False
    if any(catalog.constraints[oid].kind == "c" for oid in catalog.constraints_of.get(relation.oid)):
        return False
    names = [_compared(relation, comparison.get("A_Expr", {})) for comparison in conjuncts(condition.tree)]
    return None not in names and len(set(names)) == len(names)


def _compared(relation: Relation, comparison: Node) -> str | None:
    """Return the column of a comparison that some values of its type meet and others do not, or None."""
    if comparison.get("kind") != "AEXPR_OP" or not comparison.keys() >= {"lexpr", "rexpr"}:
        return None
    operator = comparison["name"][-1]["String"]["sval"]
    fields = comparison["lexpr"].get("ColumnRef", {}).get("fields", ())
    name: str | None = fields[-1].get("String", {}).get("sval") if len(fields) == 1 else None
    column = relation.column(name) if name is not None else None
    constant = comparison["rexpr"].get("A_Const", {})
    if column is None or column.generated:
        return None
    if column.type in _INTEGERS:
        known = "ival" in constant and operator in _ORDERED and abs(constant["ival"].get("ival", 0)) <= _LARGEST
    else:
        known = column.type in _STRINGS and column.typmod < 0 and "sval" in constant and operator in _EQUAL
    return name if known else None


def _filters(context: RuleContext) -> bool:
    return any(entry.filter is not None for entry in context.catalog.publication_rels.values())


def _unusual_filters(context: RuleContext) -> bool:
    """Whether a filter may fail, or be true for every row or for none."""
    return context.once(_has_unusual_filters)


def _has_unusual_filters(context: RuleContext) -> bool:
    catalog = context.catalog
    return any(
        entry.filter is not None and not is_usual(catalog, catalog.relations[entry.relation], entry.filter)
        for entry in catalog.publication_rels.values()
    )


def _several(context: RuleContext) -> bool:
    """Whether a row can reach a subscriber in two ways."""
    catalog = context.catalog
    return len(catalog.publications) > 1 or bool(catalog.publication_namespaces)


def _partitions(context: RuleContext) -> bool:
    """Whether there are partitioned tables, partitions or children, or have been."""
    rows = context.catalog.relations.values()
    return bool(context.history.detached) or any(row.kind == "p" or row.partition or row.parents for row in rows)


def _identity_indexes(context: RuleContext) -> bool:
    return any(row.identity == "i" for row in context.catalog.relations.values())


def _subscribers(context: RuleContext) -> bool:
    """Whether something can go wrong between publications, or for a subscription."""
    catalog = context.catalog
    return bool(catalog.subscriptions or context.history.publication_events) or len(catalog.publications) > 1


def _tables_to_come(context: RuleContext) -> bool:
    """Whether a table that is created later can be published."""
    catalog = context.catalog
    return bool(catalog.publication_namespaces) or any(row.all_tables for row in catalog.publications.values())


def has_readers(context: RuleContext) -> bool:
    """Whether any publication may have a known consumer."""
    if context.consumers or context.commented:
        return True
    return any(implied_by(row.name) is not None for row in context.catalog.publications.values())


def _server(context: RuleContext) -> bool:
    return context.facts is not None


def _readers(context: RuleContext) -> bool:
    return context.once(has_readers)


MODULES: Mapping[str, Callable[[RuleContext], bool]] = {
    "consumers.demand_rules": _readers,
    "consumers.member_demands": _readers,
    "consumers.publication_demands": _readers,
    "consumers.table_demands": _readers,
    "history.all_tables": lambda context: bool(context.history.all_tables),
    "history.cascades": lambda context: bool(context.refused),
    "history.published_tables": lambda context: bool(
        context.history.changed_types or context.history.renamed or _identity_indexes(context)
    ),
    "history.migration_tool_tables": _tables_to_come,
    "history.recreated": lambda context: bool(context.history.events.former),
    "history.slots": lambda context: any("pg_create_logical_replication_slot" in text for text in context.texts),
    "history.unpublished": lambda context: context.history.anything_unpublished,
    "running_server.replication": _server,
    "running_server.statistics": lambda context: context.statistics is not None,
    "silent.filter_logic": lambda context: _unusual_filters(context) or (_filters(context) and _subscribers(context)),
    "silent.filters": lambda context: _filters(context) or _partitions(context),
    "silent.overlapping_publications": lambda context: _filters(context) and _several(context),
    "silent.partition_identity": _partitions,
    "silent.partitions": _partitions,
    "silent.publication_scope": lambda context: True,
    "silent.truncate": lambda context: any(row.kind == "f" for row in context.catalog.constraints.values()),
    "silent.unlisted": lambda context: bool(context.catalog.publication_rels) or _partitions(context),
    "subscribe.filter_errors": _unusual_filters,
    "subscribe.subscriptions": _subscribers,
}
"""The modules of checks, each with what the final state must hold so that one of its checks can find something.

Most units need few of them, and loading all of them takes longer than linting a small file.
"""


def load(module: str) -> None:
    """Import a module of checks, which enters its checks in ``CHECKS``."""
    import_module(f"{__package__}.{module}")


def load_all() -> None:
    """Import all modules of checks."""
    for module in MODULES:
        load(module)


def run_final_state_rules(context: RuleContext, codes: frozenset[str], faults: Faults) -> Iterator[RuleFinding]:
    """Yield the findings of the rules with these codes, rule by rule."""
    for module, can_find in MODULES.items():
        if can_find(context):
            load(module)
    for code, check in sorted(CHECKS.items()):
        if code in codes:
            yield from _run(check, context, faults)


_ATTEMPTS = 20
"""Publications and members at which a rule may fail before it is given up for the unit."""


def _run(check: Check, context: RuleContext, faults: Faults) -> list[RuleFinding]:
    """Return the findings of a rule. If it fails at a publication or a member, it runs again without that row."""
    findings: list[RuleFinding] = []
    context.left_out.clear()
    while len(context.left_out) < _ATTEMPTS:
        findings.clear()
        context.at = None
        try:
            findings.extend(check(context))
        except Exception as error:
            subject = context.visited()
            faults.report(error, subject.place if subject is not None else None)
            if subject is not None:
                context.left_out.add(id(subject))
                continue
        break
    return findings
