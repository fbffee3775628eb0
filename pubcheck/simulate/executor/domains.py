"""The constraints of domains (utils/adt/domains.c: domain_check_input)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, OTHER, PG_CATALOG, TYPE
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import StatementBuilder, Step, compile_expression
from pubcheck.simulate.not_followed import NotFollowed

Check = Callable[[Any], None]


def domain_check(session: Backend, oid: int) -> Check | None:
    """The check of a domain's NOT NULL and CHECK constraints; None where it has none. Raises NotFollowed."""
    cache, catalog = session.catalog_session.syscache, session.database.catalog
    tests: list[Check] = []
    shown = cache.format_type(oid)
    row = cache.type(oid)
    while row.kind == "d":
        if row.not_null:
            tests.append(_not_null(shown))
        if row.oid < FIRST_NORMAL_OID and row.checked:
            raise NotFollowed(f"the constraints of {shown}")
        names = []
        for key, _, _ in catalog.dependents.get((TYPE, row.oid)):
            other = catalog.others.get(key[1]) if key[0] == OTHER else None
            if other is not None and other.kind == "constraint" and other.namespace == row.oid:
                names.append((other.name, catalog.definitions[("domain check", other.oid)]))
        checks = [_check(session, row.base, row.typmod, shown, name, tree) for name, tree in sorted(names)]
        tests = checks + tests
        row = cache.type(row.base)
    if not tests:
        return None

    def check(value: Any) -> None:
        for test in tests:
            test(value)

    return check


def _not_null(name: str) -> Check:
    def test(value: Any) -> None:
        if value is None:
            raise ServerError("23502", f"domain {name} does not allow null values")

    return test


def _check(session: Backend, base: int, typmod: int, domain: str, name: str, tree: Any) -> Check:
    column = Column(1, "value", base, typmod=typmod, collation=session.catalog_session.syscache.type(base).collation)
    p = parse_state(session.catalog_session, Relation(0, "", PG_CATALOG, "r", 0, columns=(column,), seen=True))
    expr = coerce_to_boolean(p, p.transform(tree), "CHECK")
    assign_collations(p, expr)
    holds = compile_expression(session, None, expr)

    def test(value: Any) -> None:
        if holds({1: value}) is False:
            raise ServerError("23514", f'value for domain {domain} violates check constraint "{name}"')

    return test


def to_domain(builder: StatementBuilder, expr: Expr) -> Step:
    """CoerceToDomain: a value of the base type, checked."""
    inner = builder.build(expr.args[0])
    check = domain_check(builder.session, expr.type)
    if check is None:
        return inner
    checked = check

    def step(row: Any) -> Any:
        value = inner(row)
        checked(value)
        return value

    return step
