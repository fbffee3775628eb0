"""Ways around functions, operators, casts and other parts of row filters that are not built in or not immutable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.checks.remedies.filter_rewrites.filter_source import (
    Proposal,
    RewriteContext,
    Rewriters,
    Site,
    items,
    name_of,
    plain_string,
    string,
)
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.oids import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    JSONB,
    NUMERIC,
    TEXT,
    TEXT_ARRAY,
    UUID,
    VARCHAR,
    XML,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.tokens import identifier, quote_literal

# Functions, operators and collations that are not built in, and settings that functions look at.

_TEXTS = frozenset((TEXT, VARCHAR))
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


NAME_REWRITERS: Rewriters = {
    "A_Expr": (_built_in_operator, _literal_as_text, _searched),
    "CollateClause": (_built_in_collation,),
    "FuncCall": (_built_in_function, _concatenated, _configured),
    "SQLValueFunction": (_column_name_in_quotes,),
}


# Ways around casts through text, casts of arrays, subscripts, domains and named arguments.

_VARCHAR_ARRAY = 1015
_INTEGERS = frozenset((INT2, INT4, INT8))
_FROM_JSONB = frozenset((INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8, BOOL))
"""The types to which jsonb has a conversion function."""


def _list_of_varchar(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``vc IN (...)``: with text on the left the list is one of texts."""
    left = site.body["lexpr"]
    if w.type(left) == VARCHAR:
        yield Proposal(w.replaced(site.node, (left, f"{w.operand(left)}::text")), safe=True)


def _array_of_varchar(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``x = ANY (varchar[])``."""
    left, right = site.body["lexpr"], site.body["rexpr"]
    if w.type(right) != _VARCHAR_ARRAY:
        return
    if "TypeCast" in right and string(right) is not None:
        yield Proposal(w.replaced(site.node, (right, quote_literal(string(right) or ""))), safe=True)
    if "TypeCast" in right:
        yield Proposal(w.replaced(site.node, (right, f"{w.operand(right['TypeCast']['arg'])}::text[]")), safe=True)
    operator = name_of(site.body)
    if (site.body["kind"], operator) in (("AEXPR_OP_ANY", "="), ("AEXPR_OP_ALL", "<>")):
        contains = f"{w.operand(right)} @> ARRAY[{w.source(left)}]::varchar[]"
        negation = "NOT " if operator == "<>" else ""
        note = "@> ignores elements that are NULL, where = ANY gives NULL"
        yield Proposal(negation + contains, note, parentheses=True)


def _compared_as_text(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``number::text = '1'``: compared in the column's own type."""
    for cast, literals in _cast_and_literals(site.body):
        inner = cast["TypeCast"]["arg"]
        own = w.type(inner)
        if w.type(cast) not in _TEXTS or not own or own in _TEXTS:
            continue
        texts = [plain_string(literal) for literal in literals]
        if not all(isinstance(text, str) and _plain_value(own, text) for text in texts):
            continue
        changes = [(cast, w.source(inner))]
        if own in _INTEGERS:
            changes += [(literal, text or "") for literal, text in zip(literals, texts, strict=True)]
        safe = own in _INTEGERS or own == UUID
        note = "" if safe else "texts that differ can be the same value"
        yield Proposal(w.replaced(site.node, *changes), note, safe)


def _plain_value(own: int, text: str) -> bool:
    """Return whether a text is a value as the server would write it, so that comparing values is comparing texts."""
    if own in _INTEGERS:
        return re.fullmatch(r"0|-?[1-9]\d{0,17}", text) is not None
    if own == UUID:
        return re.fullmatch(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", text) is not None
    if own == DATE:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
    return own == NUMERIC and re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _text_compared_as_other(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``region::integer = 5``: compared as the text that it is."""
    for cast, literals in _cast_and_literals(site.body):
        inner = cast["TypeCast"]["arg"]
        if w.type(inner) not in _TEXTS or w.type(cast) in (*_TEXTS, 0):
            continue
        changes = [(cast, w.source(inner))]
        for literal in literals:
            if string(literal) is None:
                constant = literal.get("A_Const", {})
                if "ival" not in constant:
                    break
                changes.append((literal, quote_literal(str(constant["ival"].get("ival", 0)))))
            elif "TypeCast" in literal:
                changes.append((literal, quote_literal(string(literal) or "")))
        else:
            note = "other spellings of the same value ('05' for 5) are then different texts"
            yield Proposal(w.replaced(site.node, *changes), note)


def _cast_and_literals(body: Node) -> Iterator[tuple[Node, list[Node]]]:
    """A cast that is compared with literals for equality, and these."""
    if name_of(body) not in ("=", "<>") or "lexpr" not in body:
        return
    for side, opposite in (("lexpr", "rexpr"), ("rexpr", "lexpr")):
        if "TypeCast" in body[side] and string(body[side]) is None:
            literals = items(body[opposite])
            if all("A_Const" in literal or string(literal) is not None for literal in literals):
                yield body[side], literals


def _from_jsonb(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``(doc ->> 'n')::int``: jsonb itself is converted by functions."""
    arrow = site.body["arg"]
    if "A_Expr" not in arrow or arrow["A_Expr"]["kind"] != "AEXPR_OP":
        return
    operator, location = name_of(arrow["A_Expr"]), arrow["A_Expr"]["location"]
    if operator in ("->>", "#>>") and w.type(arrow["A_Expr"]["lexpr"]) == JSONB and w.type(site.node) in _FROM_JSONB:
        start, end = w.text.extent(site.node)
        text = w.text.text
        if text[location : location + 3] == operator.encode():
            new = (text[start:location] + operator[:-1].encode() + text[location + 3 : end]).decode()
            yield Proposal(
                new, 'a value that is a JSON string, as in {"n": "1"}, then causes an error when the row is published'
            )


def _subscripts_of_jsonb(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    steps = site.body["indirection"]
    if w.type(site.body["arg"]) != JSONB or not all("A_Indices" in step for step in steps):
        return
    keys = [step["A_Indices"].get("uidx") for step in steps]
    if any(step["A_Indices"].get("is_slice") for step in steps) or not all(keys):
        raise ValueError("a slice")
    # In an array a subscript '0' is the first element, and -> '0' is nothing.
    safe = all(re.match(r"[-+\s]*\d", string(key) or "0") is None for key in keys)
    path = "".join(f" -> {w.operand(key)}" for key in keys)
    yield Proposal(f"{w.operand(site.body['arg'])}{path}", safe=safe, parentheses=True)


def _domain(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """A cast to a domain: to what the domain is over."""
    cache = w.state.cache
    oid = w.type(site.node)
    if oid and cache.type(oid).kind == "d":
        base, typmod = cache.base_type(oid)
        target = cache.format_type(base, typmod)
        yield Proposal(f"{w.operand(site.body['arg'])}::{target}", "the domain's constraints are then not checked")


def _xml(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    if w.type(site.node) == XML and w.type(site.body["arg"]) in _TEXTS:
        yield Proposal(f"XMLPARSE(CONTENT {w.source(site.body['arg'])})")


def _own_array_type(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """A cast of a whole array, where texts will do."""
    if w.type(site.node) == TEXT_ARRAY and w.type(site.body["arg"]) == _VARCHAR_ARRAY and site.parent is not None:
        yield Proposal(w.source(site.body["arg"]))


def _named_arguments(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``f(days => 1)``: by position. Gaps are filled where the defaults are known."""
    expr = w.expr(site.node)
    if expr is None or len(expr.functions) != 1:
        return
    proc = w.state.cache.proc(expr.functions[0])
    names = [name for name, mode in zip(proc.argument_names, proc.modes or ("i",) * 99, strict=False) if mode in "ib"]
    texts: dict[int, str] = {}
    for number, argument in enumerate(site.body.get("args", ())):
        named = argument.get("NamedArgExpr")
        if named is None:
            texts[number] = w.source(argument)
        else:
            texts[names.index(named["name"])] = w.source(named["arg"])
    fill = "0" if proc.name == "make_interval" else None
    arguments = [texts.get(number, fill) for number in range(max(texts) + 1)]
    if any(argument is None for argument in arguments):
        raise ValueError("a default that is not known")
    start, _ = w.text.extent(site.node)
    first = w.text.text.index(b"(", start)
    written = ", ".join(argument or "" for argument in arguments)
    yield Proposal(f"{w.text.text[start:first].decode()}({written})", safe=True)


def _expression(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    kind = site.body["kind"]
    if kind == "AEXPR_IN":
        yield from _list_of_varchar(w, site)
    if kind in ("AEXPR_OP_ANY", "AEXPR_OP_ALL"):
        yield from _array_of_varchar(w, site)
    if kind in ("AEXPR_OP", "AEXPR_IN"):
        yield from _compared_as_text(w, site)
        yield from _text_compared_as_other(w, site)


CAST_REWRITERS: Rewriters = {
    "A_Expr": (_expression,),
    "A_Indirection": (_subscripts_of_jsonb,),
    "FuncCall": (_named_arguments,),
    "TypeCast": (_from_jsonb, _domain, _xml, _own_array_type),
}
