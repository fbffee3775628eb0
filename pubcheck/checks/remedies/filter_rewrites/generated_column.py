"""The last remedy: a stored generated column holds what the filter may not, and the filter reads the column."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.checks.remedies.filter_rewrites.filter_source import (
    Proposal,
    RewriteContext,
    Rewriters,
    Site,
    StoredColumn,
    Text,
    name_of,
)
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import BOOL, TEXT, VARCHAR
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.postgres.tokens import identifier, quote_literal

_C = 950
"""The oid of collation "C" (catalog/pg_collation.dat)."""
_MAX_LABELS = 12
_NEVER = frozenset(
    ("SubLink", "SQLValueFunction", "Param", "NextValueExpr", "CurrentOfExpr", "SetToDefault", "MergeSupportFunc")
)
_NOTE = "the new column rewrites the table; where updates or deletes are published it must be in the replica identity"
_EQUALITIES = frozenset(("=", "<>"))


def _stored(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """A node that is immutable as a whole, in a column of its own."""
    expr = w.expr(site.node)
    if expr is None or not _takes_columns(w):
        return
    if expr.node == "Var":
        yield from _of_column(w, site, expr)
        return
    if 0 < expr.type < FIRST_NORMAL_OID and w.state.cache.type(expr.type).kind != "p" and _immutable(w, expr):
        yield _proposal(w, expr, _unqualified(w, site), expr.type, expr.typmod)


def _stored_concatenation(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``region || number``, which is immutable once the number is made a text by a cast."""
    body = site.body
    if body["kind"] != "AEXPR_OP" or name_of(body) != "||" or "lexpr" not in body or not _takes_columns(w):
        return
    for side in ("lexpr", "rexpr"):
        if w.type(body[side]) not in (TEXT, VARCHAR, 0):
            text = w.replaced(site.node, (body[side], f"{w.operand(body[side])}::text"))
            if "." in text:
                return  # a qualified name, perhaps, which ALTER TABLE does not know
            expr = w.expr(Text(text.encode()).tree)
            if expr is not None and expr.type == TEXT and _immutable(w, expr):
                yield _proposal(w, expr, text, TEXT, -1)


def _of_column(w: RewriteContext, site: Site, expr: Expr) -> Iterator[Proposal]:
    """An enum as text, a domain as what it is over, a column with another collation."""
    column = next((column for column in w.state.relation.columns if column.number == expr.value), None)
    if column is None or column.generated:
        return
    cache = w.state.cache
    row = cache.type(expr.type)
    source = identifier(column.name)
    if row.kind == "e" and 0 < len(row.labels) <= _MAX_LABELS and _by_equality(site):
        branches = " ".join(f"WHEN {quote_literal(label)} THEN {quote_literal(label)}" for label in row.labels)
        case = f"CASE {source} {branches} END"
        # The unit may have an = of its own.
        generated = w.expr(Text(case.encode()).tree)
        if generated is not None and _immutable(w, generated):
            yield _proposal(w, expr, case, TEXT, -1)
    elif row.kind == "d":
        base, typmod = cache.base_type(expr.type)
        if base < FIRST_NORMAL_OID:
            yield _proposal(w, expr, f"{source}::{cache.format_type(base, typmod)}", base, typmod)
    elif expr.type < FIRST_NORMAL_OID and column.collation >= FIRST_NORMAL_OID:
        yield _proposal(w, expr, f'{source} COLLATE "C"', expr.type, expr.typmod, collate=True)


def _takes_columns(w: RewriteContext) -> bool:
    """Return whether columns can be added to the table itself."""
    relation = w.state.relation
    return relation.seen and not relation.partition and not relation.of_type


def _unqualified(w: RewriteContext, site: Site) -> str:
    """The text of a node with columns named plainly, as in ALTER TABLE."""
    changes = [
        (inner.node, identifier(name_of(inner.body, "fields")))
        for inner in w.text.sites
        if inner.kind == "ColumnRef" and len(inner.body["fields"]) > 1 and _is_in(inner, site)
    ]
    return w.replaced(site.node, *changes)


def _is_in(inner: Site, outer: Site) -> bool:
    site: Site | None = inner
    while site is not None and site.node is not outer.node:
        site = site.parent
    return site is not None


def _by_equality(site: Site) -> bool:
    """Return whether a column is only compared for equality, where its labels are as good as itself."""
    parent = site.parent
    while parent is not None and parent.kind == "TypeCast":
        parent = parent.parent
    if parent is None or parent.kind == "NullTest":
        return parent is not None
    if parent.kind != "A_Expr" or parent.body["kind"] not in ("AEXPR_OP", "AEXPR_IN", "AEXPR_DISTINCT"):
        return False
    return name_of(parent.body) in _EQUALITIES


def _immutable(w: RewriteContext, expr: Expr) -> bool:
    """Return whether an expression can generate a column: immutable, of this row's plain columns."""
    cache = w.state.cache
    columns = {column.number: column for column in w.state.relation.columns}
    reads = False
    try:
        for node in nodes(expr):
            if node.node in _NEVER or node.node.startswith(("Json", "Xml")):
                return False
            if node.node == "Var":
                column = columns.get(node.value)
                if column is None or column.generated:
                    return False
                reads = True
            functions = node.functions
            if node.node == "CoerceViaIO":
                if node.args[0].node == "Const":
                    return False  # it is worked out at once, and may fail
                functions = (cache.io_functions(node.args[0].type)[1], cache.io_functions(node.type)[0])
            if any(not oid or cache.proc(oid).volatility != "i" for oid in functions):
                return False
    except Unknowable:
        return False
    return reads


def _proposal(w: RewriteContext, expr: Expr, source: str, oid: int, typmod: int, *, collate: bool = False) -> Proposal:
    relation, cache = w.state.relation, w.state.cache
    number = next(node.value for node in nodes(expr) if node.node == "Var")
    base = next(column.name for column in relation.columns if column.number == number)
    kind = "matches" if oid == BOOL else re.sub(r"\W+", "_", cache.format_type(oid)).strip("_")
    name = _new_name(w, f"{base}_{kind}")
    row = Column(
        max(column.number for column in relation.columns) + 1,
        name,
        oid,
        generated="s",
        typmod=typmod,
        collation=_C if collate else cache.type(oid).collation,
    )
    written = f"{cache.format_type(oid, typmod)}{' COLLATE ' + chr(34) + 'C' + chr(34) if collate else ''}"
    table = w.state.session.qualified(relation)
    statement = (
        f"ALTER TABLE {'.'.join(map(identifier, table.split('.', 1)))} ADD COLUMN {identifier(name)} {written} "
        f"GENERATED ALWAYS AS ({' '.join(source.split())}) STORED;"
    )
    return Proposal(identifier(name), _NOTE, column=StoredColumn(statement, row))


def _new_name(w: RewriteContext, preferred: str) -> str:
    names = {column.name for column in w.state.relation.columns}
    return next(name for name in (preferred, *(f"{preferred}{n}" for n in range(2, 100))) if name not in names)


REWRITERS: Rewriters = {"A_Expr": (_stored_concatenation,), "*": (_stored,)}
