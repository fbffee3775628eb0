"""Ways around functions, operators and collations that are not built in, and settings that functions look at."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.remedies.filter_rewrites.context import Proposal, RewriteContext, Rewriters, name_of
from pubcheck.checks.remedies.filter_rewrites.filter_source import Site
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.identifiers import identifier, quote_literal
from pubcheck.postgres.oids import TEXT, VARCHAR
from pubcheck.postgres.parse import Node

_TEXTS = (TEXT, VARCHAR)
_CONFIGURED = {
    "to_tsvector": 1,
    "to_tsquery": 1,
    "plainto_tsquery": 1,
    "phraseto_tsquery": 1,
    "websearch_to_tsquery": 1,
}
"""Functions that take a text search configuration before so many arguments."""
_ENGLISH = "this uses the text search configuration english: write the intended one"


def _built_in_operator(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """The operator of pg_catalog in the place of one that hides it, or the built-in function behind it."""
    body = site.body
    if w.refusal.key != "filter-user-operator" or body["kind"] not in ("AEXPR_OP", "AEXPR_LIKE", "AEXPR_ILIKE"):
        return
    operator = w.state.cache.operator(w.refusal.oid)
    start, end = w.text.extent(site.node)
    text, location = w.text.text, body.get("location", -1)
    if len(body["name"]) == 1 and text[location:].startswith(operator.name.encode()):
        after = location + len(operator.name.encode())
        new = text[start:location] + f"OPERATOR(pg_catalog.{operator.name})".encode() + text[after:end]
        yield Proposal(new.decode(), f"this is the operator {operator.name} of pg_catalog")
    if 0 < operator.function < FIRST_NORMAL_OID and "lexpr" in body:
        name = w.state.cache.proc(operator.function).name
        yield Proposal(f"{name}({w.source(body['lexpr'])}, {w.source(body['rexpr'])})", safe=True)


def _built_in_function(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """The function of pg_catalog in the place of one that hides it."""
    if w.refusal.key == "filter-user-function" and len(site.body["funcname"]) == 1:
        name = name_of(site.body, "funcname")
        yield Proposal(f"pg_catalog.{w.source(site.node)}", f"this is the function {name} of pg_catalog")


def _built_in_collation(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    if w.refusal.key == "filter-user-collation":
        argument = w.operand(site.body["arg"])
        yield Proposal(f'{argument} COLLATE "C"', "strings are then ordered by their bytes")


def _literal_as_text(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``region || 1``."""
    body = site.body
    if body["kind"] != "AEXPR_OP" or name_of(body) != "||" or "lexpr" not in body:
        return
    for side in ("lexpr", "rexpr"):
        constant = body[side].get("A_Const", {})
        number = constant.get("ival", {}).get("ival", 0) if "ival" in constant else constant.get("fval", {}).get("fval")
        if number is not None:
            yield Proposal(w.replaced(site.node, (body[side], quote_literal(str(number)))), safe=True)


def _concatenated(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``concat(a, b)`` of texts, which leaves out NULL."""
    args = site.body.get("args", [])
    if name_of(site.body, "funcname") != "concat" or not any(w.type(argument) in _TEXTS for argument in args):
        return
    parts = [_present(w, argument) for argument in args]
    if all(parts):
        yield Proposal(" || ".join(part or "" for part in parts), safe=True, parentheses=True)


def _present(w: RewriteContext, argument: Node) -> str | None:
    if "A_Const" in argument and "sval" in argument["A_Const"]:
        return w.source(argument)
    return f"coalesce({w.source(argument)}, '')" if w.type(argument) in _TEXTS else None


def _configured(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``to_tsvector(note)``: with a configuration."""
    name, args = name_of(site.body, "funcname"), site.body.get("args", [])
    if _CONFIGURED.get(name) == len(args):
        yield Proposal(w.replaced(site.node, (args[0], f"'english', {w.source(args[0])}")), _ENGLISH)


def _searched(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``note @@ 'late'``: what the operator does by itself, with a configuration."""
    body = site.body
    if body["kind"] != "AEXPR_OP" or name_of(body) != "@@" or "lexpr" not in body:
        return
    if w.type(body["lexpr"]) not in _TEXTS:
        return
    changes = [(body["lexpr"], f"to_tsvector('english', {w.source(body['lexpr'])})")]
    if w.type(body["rexpr"]) in (*_TEXTS, 0):
        changes.append((body["rexpr"], f"plainto_tsquery('english', {w.source(body['rexpr'])})"))
    yield Proposal(w.replaced(site.node, *changes), _ENGLISH)


def _column_name_in_quotes(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``user = 'x'`` where the table has a column of that name, which is a reserved word."""
    name = w.source(site.node).lower()
    if w.state.relation.column(name) is not None:
        yield Proposal(f'"{name}"', f"without quotes, {identifier(name).strip(chr(34)).upper()} asks for the session")


REWRITERS: Rewriters = {
    "A_Expr": (_built_in_operator, _literal_as_text, _searched),
    "CollateClause": (_built_in_collation,),
    "FuncCall": (_built_in_function, _concatenated, _configured),
    "SQLValueFunction": (_column_name_in_quotes,),
}
