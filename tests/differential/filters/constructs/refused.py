"""What WHERE does not take."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.constructs.operands import operand
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, sql

KIND = Kind()


@KIND.construct("sub-select", 2)
def _sub_select(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    form = maker.pick(
        "({} = (SELECT {}))", "({} IN (SELECT {}))", "({} = ANY (SELECT {}))", "({} < ALL (SELECT {}))",
            "({} = ANY (ARRAY(SELECT {})))", "({} NOT IN (SELECT {}))",
        "({} = (SELECT {} FROM w LIMIT 1))", "({} IN (VALUES ({}), (NULL)))", "(({}, 1) IN (SELECT {}, 2))",
            "(({}, 1) = (SELECT {}, 2))", "({} = (SELECT {}, 1))",
        "({} = (SELECT max(x) FROM (SELECT {} AS x) AS y))", "({} IN (SELECT {} FROM nosuch))",
            "({} = (SELECT nosuch + {}))", "({} = (TABLE w) OR {} IS NULL)",
    )  # fmt: skip
    return sql(form, maker.expr(type_, depth - 1), operand(maker, type_, depth), type="boolean")


@KIND.construct("sub-select in EXISTS", 0.7)
def _exists(maker: Maker, depth: int) -> Tree:
    form = maker.pick("EXISTS (SELECT 1 WHERE {})", "EXISTS (SELECT FROM w WHERE {})", "NOT EXISTS (SELECT {})",
        "EXISTS (SELECT 1 FROM w AS v WHERE v.id = 1 AND {})", "EXISTS (TABLE nosuch) AND {}",
        "EXISTS (SELECT count(*) HAVING {})")  # fmt: skip
    return sql(f"({form})", maker.condition(depth - 2), type="boolean")


@KIND.construct("aggregate", 2)
def _aggregate(maker: Maker, depth: int) -> Tree:
    if maker.chance(0.25):
        form = maker.pick("count(*)", "count(DISTINCT id)", "sum(id) FILTER (WHERE id > 1)",
            "string_agg(t, ',' ORDER BY t)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY id)", "agg(id)",
            "max(nosuch)", "count()", "sum('a')", "rank(1) WITHIN GROUP (ORDER BY id)", "array_agg(id)",
            "mode() WITHIN GROUP (ORDER BY id)", "count(*) FILTER (WHERE id)", "sum(sum(id))", "sum(DISTINCT id, 1)",
            "min(id ORDER BY nosuch)")  # fmt: skip
        return sql(form, type="bigint")
    proc = maker.random.choice([p for p in maker.catalog.others if p.kind == "a"])
    call = maker.call(proc, depth)
    if maker.chance(0.15):
        return Tree(
            (*call.parts, maker.pick(" OVER ()", " FILTER (WHERE true)", " OVER w1")), call.type, uses=call.uses
        )
    return call


@KIND.construct("window function", 1.5)
def _window(maker: Maker, depth: int) -> Tree:
    procs = [p for p in maker.catalog.others if p.kind == "w"]
    call = (
        maker.call(maker.random.choice(procs), depth)
        if maker.chance(0.7)
        else maker.call(maker.random.choice(maker.catalog.functions), 1)
    )
    over = maker.pick(" OVER ()", " OVER (ORDER BY id)", " OVER (PARTITION BY id)", " OVER nosuch", "",
        " OVER (ROWS UNBOUNDED PRECEDING)", " FILTER (WHERE true)", " OVER (ORDER BY nosuch)")  # fmt: skip
    return Tree((*call.parts, over), call.type, uses=call.uses)


@KIND.construct("set-returning function", 1.5)
def _srf(maker: Maker, depth: int) -> Tree:
    return maker.call(maker.random.choice([p for p in maker.catalog.others if p.returns_set]), depth)


@KIND.construct("clauses of a call", 1)
def _clauses(maker: Maker, depth: int) -> Tree:
    call = maker.call(maker.random.choice(maker.catalog.functions), 1)
    text = call.text
    form = maker.pick("DISTINCT", "ORDER BY", "*", "WITHIN GROUP", "FILTER", "VARIADIC")
    if not text.endswith(")"):
        return call
    inside = text[text.index("(") + 1 : -1]
    name = text[: text.index("(")]
    changed = {
        "DISTINCT": f"{name}(DISTINCT {inside or '1'})", "ORDER BY": f"{name}({inside or '1'} ORDER BY id)",
            "*": f"{name}(*)", "WITHIN GROUP": f"{text} WITHIN GROUP (ORDER BY id)",
        "FILTER": f"{text} FILTER (WHERE true)",
            "VARIADIC": f"{name}(VARIADIC {inside if inside and ',' not in inside else '1'})",
    }[form]  # fmt: skip
    return Tree((changed,), call.type, uses=call.uses)


@KIND.construct("procedure or other kind", 0.5)
def _procedure(maker: Maker, depth: int) -> Tree | None:
    return sql(maker.pick("proc(1)", "agg(id)", "two(1)", "(two(1)).p", "two(id) IS NULL", "proc()", "ts_debug('a')",
        "pg_input_is_valid('1', 'int')"), type="")  # fmt: skip


@KIND.construct("GROUPING", 0.6)
def _grouping(maker: Maker, depth: int) -> Tree:
    return sql(maker.pick("GROUPING({})", "GROUPING({}, id)"), maker.any_column(), type="integer")


@KIND.construct("parameter", 0.7)
def _parameter(maker: Maker, depth: int) -> Tree:
    return sql(f"({{}} = {maker.pick('$1', '$2', '$1::int', '$0', '$99999')})", maker.any_column(), type="boolean")


@KIND.construct("DEFAULT", 0.6)
def _default(maker: Maker, depth: int) -> Tree:
    return sql(
        maker.pick("({} = DEFAULT)", "COALESCE({}, DEFAULT) IS NULL", "({} IN (1, DEFAULT))"),
        maker.any_column(),
        type="boolean",
    )


@KIND.construct("words of other clauses", 0.6)
def _other_clauses(maker: Maker, depth: int) -> Tree:
    forms = ["CURRENT OF c1", "id = 1 LIMIT 1", "id > 1 AS x", "merge_action() = 'a'", "SETOF id", "id = ANY",
        "VALUES (1)", "id >", "(SELECT 1) AS x", "id IN ()", "*", "id = *", "CASE END", "(id, )",
        "NULL::int%TYPE"]  # fmt: skip
    return sql(maker.pick(*forms), type="boolean")


@KIND.construct("newer grammar", 0.4)
def _newer(maker: Maker, depth: int) -> Tree:
    """What the grammar of one's own major may not have: a syntax error, or another meaning."""
    return sql(maker.pick("t IS JSON", "JSON_ARRAY(id) IS NULL", "JSON_EXISTS(jb, '$')", "tz AT LOCAL IS NULL",
        "id = 0x10", "id = 1_000", "t = SYSTEM_USER", "JSON_SCALAR(id) IS NULL", "'0x10'::int = id",
        "merge_action() IS NULL", "id = 0o7", "XMLSERIALIZE(CONTENT x AS text INDENT) = 'a'", "id = 1__0",
        "JSON(t) IS NULL", "id = 1a", "any_value(id) = 1", "casefold(t) = 'a'", "array_shuffle(ia) = ia"),
        type="boolean")  # fmt: skip
