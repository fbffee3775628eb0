"""The constructs that a filter can be built around, each by name: what grammar and analysis have beyond plain calls."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from tests.differential.filters.catalog import Cast
from tests.differential.filters.expressions import RANGES, TYPMODS, Maker
from tests.differential.filters.literals import literal_text
from tests.differential.filters.trees import Tree, joined, sql
from tests.support.generating import quoted

Construct = Callable[[Maker, int], "Tree | None"]
"""Makes a tree over a maker's table to a depth; None where the database has nothing to make it of."""


class Entry(Struct, frozen=True):
    """A construct: how often it is drawn, and the first major whose grammar has it."""

    make: Construct
    weight: float
    since: int


CONSTRUCTS: dict[str, Entry] = {}


def construct(name: str, weight: float = 1.0, since: int = 15) -> Callable[[Construct], Construct]:
    def put(make: Construct) -> Construct:
        CONSTRUCTS[name] = Entry(make, weight, since)
        return make

    return put


def build(maker: Maker, name: str, depth: int) -> Tree | None:
    """A boolean expression around a construct; None where the database has nothing to make it of."""
    made = CONSTRUCTS[name].make(maker, depth)
    if made is None:
        return None
    tagged = Tree(made.parts, made.type, name, made.uses)
    if tagged.type == "boolean":
        return tagged
    return maker.about(tagged, depth - 1) if tagged.type else sql("({} IS NULL)", tagged, type="boolean")


def value(maker: Maker, want: str, depth: int) -> Tree | None:
    """A construct that gives a wanted type, inside of something else; None where none was found."""
    made: Tree | None
    if want == "boolean":
        name = maker.pick(*(_CLEAN_TESTS if maker.clean else _TESTS))
        made = CONSTRUCTS[name].make(maker, depth - 1) if CONSTRUCTS[name].since <= maker.major else None
        return made and Tree(made.parts, want, name, made.uses)
    how = maker.random.random()
    if how < 0.2:
        made, name = _case(maker, want, depth), "CASE"
    elif how < 0.4:
        made, name = _coalesce(maker, want, depth), "COALESCE"
    elif how < 0.55:
        made, name = _nullif(maker, want, depth), "NULLIF"
    elif how < 0.7:
        made, name = _greatest(maker, want, depth), "GREATEST, LEAST"
    elif how < 0.8 and want in ("text", "character varying", "bpchar", "name"):
        made, name = sql("({} COLLATE {})", maker.expr(want, depth - 1), sql(_collation(maker)), type=want), "COLLATE"
    elif maker.clean:
        return None
    elif how < 0.9:
        made, name = sql("(SELECT {})", maker.expr(want, depth - 1), type=want), "sub-select"
    elif maker.world.types.get(want) and maker.world.types[want].array:
        made = sql(
            "({})[{}]", maker.expr(maker.world.types[want].array, 0, exact=True), maker.expr("integer", 0), type=want
        )
        name = "subscript"
    else:
        return None
    return Tree(made.parts, made.type, name)


_CLEAN_TESTS = ("IN", "NOT IN", "BETWEEN", "IS DISTINCT", "IS NULL", "IS TRUE", "LIKE", "ANY, ALL", "row comparison",
    "CASE", "COALESCE")  # fmt: skip
_TESTS = (*_CLEAN_TESTS, "SIMILAR TO", "IS JSON", "sub-select in EXISTS", "OVERLAPS", "row IN", "IS NORMALIZED")


def _common(maker: Maker) -> str:
    return maker.any_type()


def _operand(maker: Maker, want: str, depth: int) -> Tree:
    """An operand where the others decide on the type: of it, of a like type, or a literal of none."""
    how = maker.random.random()
    if how < 0.15 and not maker.clean:
        return maker.expr(maker.any_type(), depth - 1)
    if how < 0.3 and want in _LIKE:
        return maker.expr(maker.pick(*_LIKE[want]), depth - 1)
    return maker.expr(want, depth - 1)


_LIKE = {
    "integer": ("bigint", "smallint", "numeric"),
    "bigint": ("integer", "numeric", "double precision"),
    "smallint": ("integer", "real"),
    "numeric": ("integer", "double precision"),
    "text": ("character varying", "bpchar", "name"),
    "character varying": ("text", "character varying", "bpchar"),
    "bpchar": ("text", "character varying"),
    "name": ("text",),
    "date": ("timestamp without time zone", "timestamp with time zone"),
    "timestamp without time zone": ("date", "timestamp with time zone"),
    "timestamp with time zone": ("date", "timestamp without time zone"),
    "inet": ("cidr",),
    "double precision": ("real", "numeric"),
}


def _several(maker: Maker, want: str, depth: int, least: int = 1, most: int = 3) -> list[Tree]:
    return [_operand(maker, want, depth) for _ in range(maker.random.randint(least, most))]


# Names of columns and of what is no column.


@construct("column", 4)
def _column(maker: Maker, depth: int) -> Tree:
    return maker.any_column()


@construct("qualified column", 2)
def _qualified(maker: Maker, depth: int) -> Tree:
    column, table = maker.random.choice(maker.table.columns), maker.table
    if maker.chance(0.08):  # another table's name, or that of a parent
        table = maker.random.choice(maker.world.tables)
    form = maker.pick("{table}.{column}", "{schema}.{table}.{column}", '"{column}"', "{schema}.{table}.{column}",
        "({table}).{column}", "{column}({table})", "({table}.*).{column}")  # fmt: skip
    text = form.replace('"{column}"', column.name if column.name.startswith('"') else f'"{column.name}"')
    text = text.replace("{table}", table.name).replace("{schema}", table.schema).replace("{column}", column.name)
    return sql(text, type=column.type)


@construct("database-qualified column", 0.5)
def _database(maker: Maker, depth: int) -> Tree:
    column = maker.random.choice(maker.table.columns)
    return sql(
        f"{maker.pick('nodb', 'postgres')}.{maker.table.schema}.{maker.table.name}.{column.name}", type=column.type
    )


@construct("whole row", 1.5)
def _whole_row(maker: Maker, depth: int) -> Tree:
    name = maker.table.name
    form = maker.pick("{} IS NOT NULL", "{}.* IS NULL", "{} = {}", "({}).* IS NOT NULL",
        "row_to_json({}) IS NOT NULL", "{} IS DISTINCT FROM NULL", "({}.*) = ROW(1)", "{}::text = 'a'",
        "ROW({}.*) IS NULL", "num_nulls({}.*) > 0", "count({}) > 0", "{}.*", "{} IN ({})", "COALESCE({}, {}) IS NULL",
        "to_jsonb({}) @> '1'", "{} = NULL", "{} = '(1)'")  # fmt: skip
    return sql("(" + form.replace("{}", name) + ")", type="boolean")


@construct("system column", 1.5)
def _system(maker: Maker, depth: int) -> Tree:
    name, type_ = maker.random.choice((("ctid", "tid"), ("xmin", "xid"), ("xmax", "xid"), ("cmin", "cid"), ("cmax",
        "cid"), ("tableoid", "oid"), ("oid", "oid")))  # fmt: skip
    text = name if maker.chance(0.7) else f"{maker.table.name}.{name}"
    return sql(text if maker.chance(0.9) else f"({maker.table.name}).{name}", type=type_)


@construct("field selection", 2)
def _field(maker: Maker, depth: int) -> Tree:
    rows = (
        [column for column in maker.table.columns if maker.world.types[column.type].kind == "c"]
        if not maker.chance(0.15)
        else []
    )
    if not rows:
        column = maker.any_column()
        return sql(maker.pick("({}).x", "({}).*", "({}).y", "(ROW(1, 2)).f1", "(ROW(1, {})).f2", "(ROW({}, 1)).f3",
            "x({})").replace("{}", column.text), type="integer")  # fmt: skip
    column_ = maker.random.choice(rows)
    field, type_ = maker.random.choice(maker.world.types[column_.type].fields)
    if maker.chance(0.15):
        field, type_ = maker.pick("nosuch", "X", '"X"'), "integer"
    form = maker.pick("({c}).{f}", "({c}).{f}", "({t}.{c}).{f}", "{f}({c})", "({c}).*", "(({c}).{f}).x")
    return sql(form.format(c=column_.name, f=field, t=maker.table.name), type=type_)


@construct("bad name", 4)
def _bad_name(maker: Maker, depth: int) -> Tree:
    column = maker.random.choice(maker.table.columns)
    name = column.name.strip('"')
    if maker.chance(0.45) and len(name) > 1:
        at = maker.random.randrange(len(name))
        wrong = maker.pick(
            name[:at] + name[at + 1 :], name[:at] + "z" + name[at:], name + "_id", name[:at] + "q" + name[at + 1 :]
        )
        text = maker.pick("{}", f"{maker.table.name}.{{}}", f"{maker.table.schema}.{maker.table.name}.{{}}",
            f"({maker.table.name}).{{}}").replace("{}", f'"{wrong}"')  # fmt: skip
        return sql(text, type=column.type)
    text = maker.pick(
        "nosuch", "x2.{c}", "new.{c}", "old.{c}", "excluded.{c}", "other.{t}.{c}", "{t}.nosuch", "a.b.c.d.e",
            "pg_class.oid", "{c}.{c}",
        "nosuch({c})", "s.nosuch({c})", "nos.f({c})", "lower({c}, 1, 2)", "{c}::nosuch", "{c}::nos.type",
            "CAST({c} AS s.nosuch)", "{c}::int[].x",
        "({c} === 1)", "({c} OPERATOR(s.===) 1)", "({c} OPERATOR(nos.=) 1)", "{c} COLLATE nosuch",
            "{c} COLLATE nos.\"C\"", "{c} COLLATE \"en_US\"",
        "(!! {c})", "pg_catalog.nosuch({c})", "{t}.{t}", "\"{T}\".{c}", "nosuch.*", "{t}({c})", "{t}.f({c})",
            "current_user({c})", "{c}::{t}", "nosuch '1'",
        "{c}::text(3)", "{c}::pg_catalog.bool", "{c}::any", "{c}::record", "{c}::\"any\"", "{c}::anyelement",
            "{c}::internal", "{c}::%TYPE", "{t}.{c}.x",
        "postgres.public.nosuch.{c}", "{c}::public.int", "length()", "length({c}, {c}, {c})", "int4({c}, 1, 2)",
            "{c}::void", "{c}::trigger", "{c}::cstring",
    )  # fmt: skip
    return sql(
        text.replace("{c}", column.name)
        .replace("{t}", maker.table.name)
        .replace("{T}", maker.table.name.strip('"').upper()),
        type="",
    )


# Literals.


@construct("literal", 8)
def _literal(maker: Maker, depth: int) -> Tree:
    if maker.chance(0.3):
        literals = [name for name, type_ in maker.world.types.items() if type_.kind not in "pc"]
        return maker.literal(maker.random.choice(literals), exact=True)
    type_ = maker.any_type()
    column = maker.column(type_) or maker.literal(type_, exact=True)
    form = maker.pick("({} = {})", "({} <> {})", "({} IS DISTINCT FROM {})", "({} < {})", "({} IN ({}))", "({} >= {})")
    return sql(form, column, maker.literal(type_, exact=False), type="boolean")


@construct("invalid literal", 5)
def _invalid(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    text = quoted(literal_text(maker.random, maker.world.types, type_, 0.7))
    column = maker.column(type_)
    tag = f"invalid literal of {maker.kind(type_)}"
    if column is not None and maker.chance(0.6):
        return sql(
            maker.pick("({} = {})", "({} < {})", "({} <> {})"), column, Tree((text,), type_, tag), type="boolean"
        )
    return Tree((f"{text}::{maker.type_name(type_)}",), type_, tag)


@construct("number", 2)
def _number(maker: Maker, depth: int) -> Tree:
    text = maker.pick(
        "1", "0", "2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808",
            "-9223372036854775808", "1.5", "-1.5", ".5",
        "5.", "1e10", "1e400", "1e-400", "1e131072", "1e131071", "- 5", "+5", "-(-5)", "00012",
            "1.0000000000000000000000000000001", "- -5", "99999999999999999999",
    )  # fmt: skip
    if not maker.clean and maker.chance(0.15):
        text = maker.pick("0x1F", "0o17", "0b11", "1_000", "0xFFFFFFFFFFFFFFFF", "1_000.5", "0x7FFFFFFF", "1e1_0")
    return sql(text, type="integer" if maker.chance(0.5) else "numeric")


@construct("string constant", 1.5)
def _string(maker: Maker, depth: int) -> Tree:
    text = maker.pick("E'a\\nb'", "U&'\\0061'", "U&'d!0061t' UESCAPE '!'", "$$a$$", "$x$it's$x$", "'a' \n 'b'",
        "N'a'", "B'101'", "X'1f'", "E'\\x41'", "'é'", "''", "e'\\u0061'", "E'\\''")  # fmt: skip
    return sql("({} = {})", maker.column("text") or sql("'a'::text"), sql(text), type="boolean")


@construct("not boolean", 2.5)
def _not_boolean(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    tree = maker.expr(type_, depth - 1)
    form = maker.pick("{}", "({} AND true)", "(b OR {})", "(NOT {})", "CASE WHEN {} THEN true END", "({} IS TRUE)",
        "({} IS NOT UNKNOWN)", "(true AND {})")  # fmt: skip
    return sql(form, tree, type="boolean")


# Casts.


@construct("cast", 7)
def _any_cast(maker: Maker, depth: int) -> Tree:
    casts = maker.catalog.casts
    if maker.chance(0.3) and any(maker.world.made.casts.values()):
        casts = [cast for known in maker.world.made.casts.values() for cast in known]
    if maker.chance(0.75):
        return maker.cast(maker.random.choice(casts), depth)
    return maker.cast(Cast(maker.any_type(), maker.any_type(), "e", "i"), depth)


@construct("cast of an array", 1.5)
def _array_cast(maker: Maker, depth: int) -> Tree:
    arrays = [name for name, type_ in maker.catalog.types.items() if type_.element]
    source = maker.pick("integer[]", "text[]", "character varying[]", maker.random.choice(arrays))
    target = maker.pick(
        "bigint[]", "text[]", "character varying[]", "integer[]", "numeric[]", maker.random.choice(arrays)
    )
    if maker.chance(0.35):
        items = _several(maker, maker.catalog.types[source].element, 1)
        return Tree(joined(", ", items, "ARRAY[", f"]::{target}"), target)
    return maker.cast(Cast(source, target, "e", "i"), 1)


@construct("typmod", 2)
def _typmod(maker: Maker, depth: int) -> Tree:
    name = maker.random.choice(list(TYPMODS))
    target = maker.random.choice(TYPMODS[name])
    if maker.chance(0.3):
        text = quoted(literal_of(maker, name))
        return sql(
            f"{text}::{target}" if maker.chance(0.7) or "with time" in target else f"CAST({text} AS {target})",
            type=name,
        )
    return sql(
        f"({{}})::{target}{maker.pick('', '', '', '[]')}",
        maker.expr(maker.pick(name, name, maker.any_type()), depth - 1),
        type=name,
    )


def literal_of(maker: Maker, type_: str) -> str:
    return literal_text(maker.random, maker.world.types, type_, 0.1)


@construct("interval with fields", 1)
def _interval(maker: Maker, depth: int) -> Tree:
    fields = maker.pick("", " DAY", " HOUR", " YEAR TO MONTH", " DAY TO SECOND", " SECOND(2)", " MINUTE TO SECOND(3)",
        " MONTH", " HOUR TO MINUTE", "(3)")  # fmt: skip
    text = maker.pick("1", "1-2", "1 day", "10:20", "1 2:03", "2:03:04.5678", "5", "-1", "1.5", "a", "1 year 2 days",
        literal_of(maker, "interval"))  # fmt: skip
    if fields == "(3)":
        return sql(f"INTERVAL(3) {quoted(text)}", type="interval")
    return sql(f"INTERVAL {quoted(text)}{fields}", type="interval")


# Conditional expressions.


def _case(maker: Maker, want: str, depth: int) -> Tree:
    parts: list[str | Tree] = ["CASE"]
    simple = maker.chance(0.35)
    subject = _common(maker)
    if simple:
        parts += [" ", maker.expr(subject, depth - 1, exact=True)]
    for _ in range(maker.random.choice((1, 1, 2))):
        parts += [" WHEN ", _operand(maker, subject, depth) if simple else maker.condition(depth - 2)]
        parts += [" THEN ", _operand(maker, want, depth)]
    if maker.chance(0.75):
        parts += [" ELSE ", _operand(maker, want, depth)]
    return Tree((*parts, " END"), want)


@construct("CASE", 3)
def _any_case(maker: Maker, depth: int) -> Tree:
    return _case(maker, maker.pick("boolean", _common(maker)), depth)


def _coalesce(maker: Maker, want: str, depth: int) -> Tree:
    return Tree(joined(", ", _several(maker, want, depth, 1, 3), "COALESCE(", ")"), want)


@construct("COALESCE", 2)
def _any_coalesce(maker: Maker, depth: int) -> Tree:
    return _coalesce(maker, maker.pick("boolean", _common(maker)), depth)


def _nullif(maker: Maker, want: str, depth: int) -> Tree:
    return sql("NULLIF({}, {})", maker.expr(want, depth - 1), _operand(maker, want, depth), type=want)


@construct("NULLIF", 2)
def _any_nullif(maker: Maker, depth: int) -> Tree:
    return _nullif(maker, _common(maker), depth)


def _greatest(maker: Maker, want: str, depth: int) -> Tree:
    return Tree(joined(", ", _several(maker, want, depth, 1, 3), maker.pick("GREATEST(", "LEAST("), ")"), want)


@construct("GREATEST, LEAST", 2)
def _any_greatest(maker: Maker, depth: int) -> Tree:
    return _greatest(maker, _common(maker), depth)


# Comparisons that the grammar has words for.


@construct("IN", 4)
def _in(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    return Tree(
        (
            "(",
            maker.expr(type_, depth - 1, exact=True),
            *joined(", ", _several(maker, type_, depth, 1, 4), " IN (", "))"),
        ),
        "boolean",
    )


@construct("NOT IN", 1.5)
def _not_in(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    return Tree(
        (
            "(",
            maker.expr(type_, depth - 1, exact=True),
            *joined(", ", _several(maker, type_, depth, 1, 4), " NOT IN (", "))"),
        ),
        "boolean",
    )


@construct("BETWEEN", 2.5)
def _between(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    word = maker.pick("BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC", "BETWEEN ASYMMETRIC")
    return sql(
        f"({{}} {word} {{}} AND {{}})",
        maker.expr(type_, depth - 1),
        _operand(maker, type_, depth),
        _operand(maker, type_, depth),
        type="boolean",
    )


@construct("IS DISTINCT", 2)
def _distinct(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    return sql(
        f"({{}} IS {maker.pick('', 'NOT ')}DISTINCT FROM {{}})",
        maker.expr(type_, depth - 1),
        _operand(maker, type_, depth),
        type="boolean",
    )


@construct("IS NULL", 2)
def _is_null(maker: Maker, depth: int) -> Tree:
    return sql(
        f"({{}} {maker.pick('IS NULL', 'IS NOT NULL', 'ISNULL', 'NOTNULL')})",
        maker.expr(_common(maker), depth),
        type="boolean",
    )


@construct("IS TRUE", 1.5)
def _is_true(maker: Maker, depth: int) -> Tree:
    operand = maker.expr("boolean" if maker.clean or maker.chance(0.85) else _common(maker), depth - 1)
    return sql(f"({{}} IS {maker.pick('', 'NOT ')}{maker.pick('TRUE', 'FALSE', 'UNKNOWN')})", operand, type="boolean")


_STRINGS = ("text", "text", "character varying", "bpchar", "name")


def _like(maker: Maker, words: tuple[str, ...], depth: int) -> Tree:
    operand = maker.expr(
        maker.pick(*_STRINGS) if maker.clean or maker.chance(0.85) else maker.pick("bytea", _common(maker)), depth - 1
    )
    pattern = maker.expr("text", depth - 1) if maker.chance(0.4) else sql(quoted(maker.pick("a%", "_b", "a!%%", "%",
        "a\\_")), type="text")  # fmt: skip
    escape = maker.pick(" ESCAPE '!'", " ESCAPE ''", " ESCAPE 'ab'", " ESCAPE t", " ESCAPE NULL",
        " ESCAPE 1") if maker.chance(0.3) else ""  # fmt: skip
    return sql(f"({{}} {maker.pick('', 'NOT ')}{maker.pick(*words)} {{}}{escape})", operand, pattern, type="boolean")


@construct("LIKE", 2.5)
def _any_like(maker: Maker, depth: int) -> Tree:
    return _like(maker, ("LIKE",), depth)


@construct("ILIKE", 1)
def _any_ilike(maker: Maker, depth: int) -> Tree:
    return _like(maker, ("ILIKE",), depth)


@construct("SIMILAR TO", 1.5)
def _similar(maker: Maker, depth: int) -> Tree:
    return _like(maker, ("SIMILAR TO",), depth)


@construct("ANY, ALL", 4)
def _any_all(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    operator = maker.pick("=", "=", "<>", "<", ">=", "~~", "~", "&&", "@>", "LIKE", "NOT ILIKE", "+", "||",
        "OPERATOR(pg_catalog.=)")  # fmt: skip
    how = maker.random.random()
    array = maker.world.types[type_].array if type_ in maker.world.types else ""
    if how < 0.45 or not array:
        right = Tree(joined(", ", _several(maker, type_, depth, 1, 3), "ARRAY[", "]"))
        if array and maker.chance(0.2):
            right = sql(f"{{}}::{array}", right)
    elif how < 0.8:
        right = maker.expr(array, depth - 1)
    else:
        right = maker.expr(type_, depth - 1)
    return sql(
        f"({{}} {operator} {maker.pick('ANY', 'ALL', 'SOME')} ({{}}))",
        maker.expr(type_, depth - 1),
        right,
        type="boolean",
    )


@construct("row comparison", 2.5)
def _row_comparison(maker: Maker, depth: int) -> Tree:
    types = [_common(maker) for _ in range(maker.random.choice((1, 2, 2, 3)))]
    left = [maker.expr(type_, depth - 1) for type_ in types]
    right = [_operand(maker, type_, depth) for type_ in types]
    if maker.noise(0.1):
        right.append(sql("1"))
    operator = maker.pick("=", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "@@", "+",
        "OPERATOR(pg_catalog.<)", "LIKE")  # fmt: skip
    word = "ROW" if len(types) == 1 or maker.chance(0.4) else ""
    return Tree((*joined(", ", left, f"({word}(", ")"), *joined(", ", right,
        f" {operator} {'ROW' if len(right) == 1 else word}(", "))")), "boolean")  # fmt: skip


@construct("row IN", 1.5)
def _row_in(maker: Maker, depth: int) -> Tree:
    types = [_common(maker) for _ in range(2)]
    left = [maker.expr(type_, depth - 1) for type_ in types]
    rows = [
        Tree(joined(", ", [_operand(maker, type_, depth) for type_ in types], "(", ")"))
        for _ in range(maker.random.choice((1, 2)))
    ]
    return Tree((*joined(", ", left, "((", ")"), *joined(", ", rows, f" {maker.pick('IN', 'NOT IN')} (", "))")),
        "boolean")  # fmt: skip


@construct("OVERLAPS", 1.5)
def _overlaps(maker: Maker, depth: int) -> Tree:
    type_ = maker.pick(
        "date",
        "timestamp without time zone",
        "timestamp with time zone",
        "time without time zone",
        "time with time zone",
        _common(maker),
    )
    items = [_operand(maker, type_, depth) for _ in range(4)]
    for at in (1, 3):
        if maker.chance(0.3):
            items[at] = maker.expr("interval", depth - 1)
    if maker.noise(0.08):
        items.pop()
    return Tree((*joined(", ", items[:2], "((", ")"), *joined(", ", items[2:], " OVERLAPS (", "))")), "boolean")


# Arrays, rows, subscripts.


@construct("ARRAY", 3)
def _array(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    array = maker.world.types[type_].array or "text[]"
    how = maker.random.random()
    if how < 0.1:
        return sql(maker.pick("ARRAY[]", f"ARRAY[]::{array}", "ARRAY[[], []]", f"ARRAY[ARRAY[]]::{array}",
            "ARRAY[NULL]", f"'{{}}'::{array}"), type=array)  # fmt: skip
    items = _several(maker, type_, depth)
    if how < 0.2:
        return Tree((*joined(", ", items, "ARRAY[[", "]"), *joined(", ", _several(maker, type_, depth), ", [", "]]")),
            array)  # fmt: skip
    if how < 0.26:
        items.append(maker.expr(array, 0))
    return Tree(joined(", ", items, "ARRAY[", "]"), array)


@construct("ROW", 1.5)
def _row(maker: Maker, depth: int) -> Tree:
    items = [maker.expr(_common(maker), depth - 1) for _ in range(maker.random.choice((0, 1, 2, 2)))]
    row = Tree(joined(", ", items, "ROW(", ")"))
    form = maker.pick("({} IS NULL)", "({} IS NOT NULL)", "({} = {})", "({}::text = 'a')", "({} IN ({}))",
        "({} IS DISTINCT FROM NULL)", "({} < {})", "({}::record = {})", "({} = ANY (ARRAY[{}]))",
        "(NULLIF({}, {}) IS NULL)", "(GREATEST({}, {}) IS NULL)", "({}::pair IS NULL)", "(row_to_json({}) IS NULL)",
        "({} *= {})")  # fmt: skip
    return sql(form, *[row] * form.count("{}"), type="boolean")


@construct("subscript", 2.5)
def _subscript(maker: Maker, depth: int) -> Tree:
    arrays = [column for column in maker.table.columns if column.type.endswith("[]") or column.type in ("jsonb",
        "point", "hstore", "box", "name", "oidvector", "lseg")]  # fmt: skip
    index = maker.expr(maker.pick("integer", "integer", "bigint", _common(maker)), 0)
    if maker.chance(0.25) or not arrays:
        base = maker.expr(maker.pick("integer[]", "text[]", "jsonb", "point", _common(maker)), 1)
    else:
        base = maker.reference(maker.random.choice(arrays))
    element = maker.world.types[base.type].element if base.type in maker.world.types else ""
    how = maker.random.random()
    if how < 0.55:
        return sql("({})[{}]", base, index, type=element)
    if how < 0.75:
        return sql(maker.pick("({})[1:{}]", "({})[:{}]", "({})[{}:]"), base, index, type=base.type)
    return sql(maker.pick("({})[1][{}]", "({})[{}][2:3]", "({})['a']", "({})['a'][{}]", "({})[:]", "({})[NULL]",
        "({})[1.5]").replace("{}", base.text, 1).replace("{}", index.text), type=element)  # fmt: skip


# Collations.


def _collation(maker: Maker) -> str:
    if maker.clean:
        return maker.pick('"C"', '"POSIX"', '"default"', "ucs_basic", 'pg_catalog."C"')
    names = ['"C"', '"POSIX"', '"default"', "ucs_basic", 'pg_catalog."C"', *maker.world.collations]
    if maker.chance(0.02):
        return maker.random.choice(maker.catalog.collations)
    return maker.pick(*names)


@construct("COLLATE", 3)
def _collate(maker: Maker, depth: int) -> Tree:
    type_ = maker.pick(*_STRINGS) if maker.clean or maker.chance(0.85) else _common(maker)
    return sql(f"({{}} COLLATE {_collation(maker)})", maker.expr(type_, depth - 1), type=type_)


@construct("collation conflict", 2)
def _conflict(maker: Maker, depth: int) -> Tree:
    one, other = _collation(maker), _collation(maker)
    left, right = maker.expr(maker.pick(*_STRINGS), depth - 1), maker.expr(maker.pick(*_STRINGS), depth - 1)
    form = maker.pick(
        "({} COLLATE A < {} COLLATE B)", "(({} || {} COLLATE A) = 'x' COLLATE B)",
            "(COALESCE({} COLLATE A, {}) < 'a')", "({} COLLATE A IN ({}, 'b' COLLATE B))",
        "(CASE WHEN true THEN {} COLLATE A ELSE {} COLLATE B END < 'a')", "(({}, 1) < ({} COLLATE A, 2))",
            "(ARRAY[{} COLLATE A, {}] = ARRAY['a' COLLATE B])",
        "(lower({} COLLATE A) = upper({} COLLATE B))", "(GREATEST({}, {} COLLATE A) LIKE 'a')",
            "(({} COLLATE A) LIKE ({} COLLATE B))",
        "({} = ANY (ARRAY[{} COLLATE A]))", "(({} COLLATE A || {} COLLATE B) IS NULL)",
            "(({} || {}) COLLATE A < 'b')", "(NULLIF({} COLLATE A, {} COLLATE B) IS NULL)",
        "({} COLLATE A IS DISTINCT FROM {} COLLATE B)", "(length({} COLLATE A || {} COLLATE B) > 1)",
    )  # fmt: skip
    return sql(
        form.replace("COLLATE A", f"COLLATE {one}").replace("COLLATE B", f"COLLATE {other}"),
        left,
        right,
        type="boolean",
    )


# Words for functions.


@construct("AT TIME ZONE", 2)
def _at_time_zone(maker: Maker, depth: int) -> Tree:
    type_ = maker.pick(
        "timestamp with time zone",
        "timestamp without time zone",
        "time with time zone",
        "time without time zone",
        "date",
        _common(maker),
    )
    zone = sql(quoted(maker.pick("UTC", "America/New_York", "+02",
        "nosuch"))) if maker.chance(0.7) else maker.expr(maker.pick("text", "interval"), depth - 1)  # fmt: skip
    result = {
        "timestamp with time zone": "timestamp without time zone",
        "timestamp without time zone": "timestamp with time zone",
    }.get(type_, "time with time zone")
    return sql("({} AT TIME ZONE {})", maker.expr(type_, depth - 1), zone, type=result)


@construct("AT LOCAL", 0.6, since=17)
def _at_local(maker: Maker, depth: int) -> Tree:
    return sql(
        "({} AT LOCAL)",
        maker.expr(
            maker.pick(
                "timestamp with time zone", "timestamp without time zone", "time with time zone", _common(maker)
            ),
            depth - 1,
        ),
        type="timestamp without time zone",
    )


@construct("EXTRACT", 2)
def _extract(maker: Maker, depth: int) -> Tree:
    field = maker.pick("year", "month", "epoch", "dow", "second", "hour", "'day'", "nosuch", "century", '"minute"',
        "julian")  # fmt: skip
    type_ = maker.pick("date", "timestamp without time zone", "timestamp with time zone", "interval",
        "time without time zone", "time with time zone", _common(maker))  # fmt: skip
    return sql(f"EXTRACT({field} FROM {{}})", maker.expr(type_, depth - 1), type="numeric")


@construct("string syntax", 3)
def _string_syntax(maker: Maker, depth: int) -> Tree:
    text = maker.expr(
        maker.pick(*_STRINGS, "bytea") if maker.clean or maker.chance(0.85) else _common(maker), depth - 1
    )
    form, type_ = maker.random.choice(
        (("SUBSTRING({} FROM 1 FOR 2)", "text"), ("SUBSTRING({} FROM 2)", "text"), ("SUBSTRING({} FOR 2)", "text"),
            ("SUBSTRING({} FROM 'a.')", "text"),
         ("SUBSTRING({} SIMILAR 'a#\"b#\"' ESCAPE '#')", "text"), ("SUBSTRING({} FROM 'a' FOR '#')", "text"),
             ("SUBSTRING({}, 1, 2)", "text"),
         ("TRIM({})", "text"), ("TRIM(BOTH 'x' FROM {})", "text"), ("TRIM(LEADING FROM {})", "text"),
             ("TRIM(TRAILING 'a' FROM {})", "text"), ("TRIM({}, 'a')", "text"),
         ("POSITION('a' IN {})", "integer"), ("POSITION({} IN t)", "integer"), ("OVERLAY({} PLACING 'x' FROM 1)",
             "text"), ("OVERLAY({} PLACING 'x' FROM 1 FOR 2)", "text"),
         ("OVERLAY({}, 'x', 1)", "text"), ("NORMALIZE({})", "text"), ("NORMALIZE({}, NFD)", "text"),
             ("COLLATION FOR ({})", "text"), ("TREAT({} AS text)", "text"),
         ("TREAT({} AS int)", "integer"))
    )  # fmt: skip
    return sql(form, text, type=type_)


@construct("IS NORMALIZED", 0.7)
def _is_normalized(maker: Maker, depth: int) -> Tree:
    return sql(
        f"({{}} IS {maker.pick('', 'NOT ')}{maker.pick('', 'NFC ', 'NFKD ')}NORMALIZED)",
        maker.expr(maker.pick("text", "character varying", _common(maker)), depth - 1),
        type="boolean",
    )


@construct("SQL value function", 1.5)
def _value_function(maker: Maker, depth: int) -> Tree:
    name, type_ = maker.random.choice(
        (("CURRENT_DATE", "date"), ("CURRENT_TIMESTAMP", "timestamp with time zone"), ("CURRENT_TIMESTAMP(2)",
            "timestamp with time zone"), ("CURRENT_TIME", "time with time zone"),
         ("LOCALTIME", "time without time zone"), ("LOCALTIMESTAMP(0)", "timestamp without time zone"),
             ("CURRENT_USER", "name"), ("USER", "name"), ("SESSION_USER", "name"),
         ("CURRENT_ROLE", "name"), ("CURRENT_CATALOG", "name"), ("CURRENT_SCHEMA", "name"), ("CURRENT_TIME(9)",
             "time with time zone"), ("LOCALTIME(3)", "time without time zone"))
    )  # fmt: skip
    if maker.major >= 16 and maker.chance(0.05):
        return sql("SYSTEM_USER", type="text")
    return sql(name, type=type_)


# JSON and XML.


@construct("IS JSON", 1, since=16)
def _is_json(maker: Maker, depth: int) -> Tree:
    rest = maker.pick("", " VALUE", " OBJECT", " ARRAY", " SCALAR", " WITH UNIQUE KEYS", " OBJECT WITHOUT UNIQUE")
    operand = maker.expr(maker.pick("text", "json", "jsonb", "bytea", "character varying", _common(maker)), depth - 1)
    return sql(f"({{}} IS {maker.pick('', 'NOT ')}JSON{rest})", operand, type="boolean")


@construct("JSON_OBJECT, JSON_ARRAY", 1.5, since=16)
def _json_object(maker: Maker, depth: int) -> Tree:
    form = maker.pick(
        "JSON_ARRAY({})", "JSON_ARRAY({}, {} NULL ON NULL)", "JSON_ARRAY({} RETURNING jsonb)", "JSON_ARRAY()",
            "JSON_OBJECT('a': {})", "JSON_OBJECT('a' VALUE {}, 'b' VALUE {} ABSENT ON NULL)",
        "JSON_OBJECT({}: 1)", "JSON_OBJECT('a': {} WITH UNIQUE KEYS RETURNING jsonb)", "JSON_OBJECT()",
            "JSON_ARRAY({} FORMAT JSON)", "JSON_ARRAY({} RETURNING text)",
        "JSON_ARRAY({} RETURNING int)", "JSON_OBJECT(NULL: {})", "JSON_ARRAY(SELECT 1)", "JSON_OBJECTAGG('a': {})",
            "JSON_ARRAYAGG({})", "JSON_ARRAY({} RETURNING bytea FORMAT JSON ENCODING UTF8)",
        "JSON_ARRAY({} RETURNING varchar(5))", "json_object('{a,b}', {})",
    )  # fmt: skip
    return sql(
        form,
        *[maker.expr(_common(maker), depth - 1) for _ in range(form.count("{}"))],
        type="jsonb" if "jsonb" in form else "json",
    )


@construct("JSON functions of 17", 1.5, since=17)
def _json_query(maker: Maker, depth: int) -> Tree:
    operand = maker.expr(maker.pick("jsonb", "json", "text", _common(maker)), depth - 1)
    path = maker.pick("'$.a'", "'$.a'", "'$[*]'", "'$.'", "t", "1", "'$x'")
    rest = maker.pick("", "", " PASSING 1 AS x", " ERROR ON ERROR")
    name, type_ = maker.random.choice((("JSON_EXISTS", "boolean"), ("JSON_VALUE", "text"), ("JSON_QUERY", "jsonb")))
    returning = maker.pick("", "", " RETURNING int", " RETURNING text", " RETURNING jsonb", " RETURNING nosuch",
        " DEFAULT 1 ON EMPTY", " WITH WRAPPER", " RETURNING int[]") if name != "JSON_EXISTS" else ""  # fmt: skip
    if name == "JSON_VALUE" and "WRAPPER" in returning:
        returning = ""
    if maker.chance(0.3):
        form, type_ = maker.random.choice((("JSON({})", "json"), ("JSON_SCALAR({})", "json"), ("JSON_SERIALIZE({})",
            "text"), ("JSON({} WITH UNIQUE KEYS)", "json"), ("JSON_SERIALIZE({} RETURNING bytea)", "bytea"),
            ("JSON_SERIALIZE({} RETURNING int)", "integer")))  # fmt: skip
        return sql(form, operand, type=type_)
    if rest.startswith(" PASSING"):
        return sql(f"{name}({{}}, {path}{rest}{returning})", operand, type=type_)
    return sql(f"{name}({{}}, {path}{returning}{rest})", operand, type=type_)


@construct("XML", 2)
def _xml(maker: Maker, depth: int) -> Tree:
    form, type_ = maker.random.choice(
        (("XMLELEMENT(NAME a, {})", "xml"), ("XMLELEMENT(NAME a, XMLATTRIBUTES({} AS b), {})", "xml"),
            ("XMLELEMENT(NAME a)", "xml"), ("XMLFOREST({} AS a)", "xml"), ("XMLFOREST({})", "xml"),
         ("XMLPARSE(CONTENT {})", "xml"), ("XMLPARSE(DOCUMENT {} PRESERVE WHITESPACE)", "xml"), ("XMLCONCAT({}, {})",
             "xml"), ("XMLPI(NAME a, {})", "xml"), ("XMLROOT({}, VERSION '1.0')", "xml"),
         ("XMLROOT({}, VERSION NO VALUE, STANDALONE YES)", "xml"), ("XMLSERIALIZE(CONTENT {} AS text)", "text"),
             ("XMLSERIALIZE(DOCUMENT {} AS varchar(3))", "character varying"),
         ("XMLSERIALIZE(CONTENT {} AS int)", "integer"), ("XMLEXISTS('/a' PASSING {})", "boolean"),
             ("XMLEXISTS('/a' PASSING BY REF {})", "boolean"), ("({} IS DOCUMENT)", "boolean"),
         ("({} IS NOT DOCUMENT)", "boolean"), ("XMLELEMENT(NAME a, XMLATTRIBUTES({}))", "xml"),
             ("XMLELEMENT(NAME a, XMLATTRIBUTES(1 AS b, {} AS b))", "xml"), ("XMLPI(NAME xml)", "xml"))
    )  # fmt: skip
    wanted = (
        "text"
        if "PARSE" in form or "XMLPI" in form
        else _common(maker)
        if maker.chance(0.4) or "ATTR" in form
        else "xml"
    )
    return sql(form, *[maker.expr(wanted, depth - 1) for _ in range(form.count("{}"))], type=type_)


# What WHERE does not take.


@construct("sub-select", 2)
def _sub_select(maker: Maker, depth: int) -> Tree:
    type_ = _common(maker)
    form = maker.pick(
        "({} = (SELECT {}))", "({} IN (SELECT {}))", "({} = ANY (SELECT {}))", "({} < ALL (SELECT {}))",
            "({} = ANY (ARRAY(SELECT {})))", "({} NOT IN (SELECT {}))",
        "({} = (SELECT {} FROM w LIMIT 1))", "({} IN (VALUES ({}), (NULL)))", "(({}, 1) IN (SELECT {}, 2))",
            "(({}, 1) = (SELECT {}, 2))", "({} = (SELECT {}, 1))",
        "({} = (SELECT max(x) FROM (SELECT {} AS x) AS y))", "({} IN (SELECT {} FROM nosuch))",
            "({} = (SELECT nosuch + {}))", "({} = (TABLE w) OR {} IS NULL)",
    )  # fmt: skip
    return sql(form, maker.expr(type_, depth - 1), _operand(maker, type_, depth), type="boolean")


@construct("sub-select in EXISTS", 0.7)
def _exists(maker: Maker, depth: int) -> Tree:
    form = maker.pick("EXISTS (SELECT 1 WHERE {})", "EXISTS (SELECT FROM w WHERE {})", "NOT EXISTS (SELECT {})",
        "EXISTS (SELECT 1 FROM w AS v WHERE v.id = 1 AND {})", "EXISTS (TABLE nosuch) AND {}",
        "EXISTS (SELECT count(*) HAVING {})")  # fmt: skip
    return sql(f"({form})", maker.condition(depth - 2), type="boolean")


@construct("aggregate", 2)
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


@construct("window function", 1.5)
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


@construct("set-returning function", 1.5)
def _srf(maker: Maker, depth: int) -> Tree:
    return maker.call(maker.random.choice([p for p in maker.catalog.others if p.returns_set]), depth)


@construct("clauses of a call", 1)
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


@construct("procedure or other kind", 0.5)
def _procedure(maker: Maker, depth: int) -> Tree | None:
    return sql(maker.pick("proc(1)", "agg(id)", "two(1)", "(two(1)).p", "two(id) IS NULL", "proc()", "ts_debug('a')",
        "pg_input_is_valid('1', 'int')"), type="")  # fmt: skip


@construct("GROUPING", 0.6)
def _grouping(maker: Maker, depth: int) -> Tree:
    return sql(maker.pick("GROUPING({})", "GROUPING({}, id)"), maker.any_column(), type="integer")


@construct("parameter", 0.7)
def _parameter(maker: Maker, depth: int) -> Tree:
    return sql(f"({{}} = {maker.pick('$1', '$2', '$1::int', '$0', '$99999')})", maker.any_column(), type="boolean")


@construct("DEFAULT", 0.6)
def _default(maker: Maker, depth: int) -> Tree:
    return sql(
        maker.pick("({} = DEFAULT)", "COALESCE({}, DEFAULT) IS NULL", "({} IN (1, DEFAULT))"),
        maker.any_column(),
        type="boolean",
    )


@construct("words of other clauses", 0.6)
def _other_clauses(maker: Maker, depth: int) -> Tree:
    forms = ["CURRENT OF c1", "id = 1 LIMIT 1", "id > 1 AS x", "merge_action() = 'a'", "SETOF id", "id = ANY",
        "VALUES (1)", "id >", "(SELECT 1) AS x", "id IN ()", "*", "id = *", "CASE END", "(id, )",
        "NULL::int%TYPE"]  # fmt: skip
    return sql(maker.pick(*forms), type="boolean")


@construct("newer grammar", 0.4)
def _newer(maker: Maker, depth: int) -> Tree:
    """What the grammar of one's own major may not have: a syntax error, or another meaning."""
    return sql(maker.pick("t IS JSON", "JSON_ARRAY(id) IS NULL", "JSON_EXISTS(jb, '$')", "tz AT LOCAL IS NULL",
        "id = 0x10", "id = 1_000", "t = SYSTEM_USER", "JSON_SCALAR(id) IS NULL", "'0x10'::int = id",
        "merge_action() IS NULL", "id = 0o7", "XMLSERIALIZE(CONTENT x AS text INDENT) = 'a'", "id = 1__0",
        "JSON(t) IS NULL", "id = 1a", "any_value(id) = 1", "casefold(t) = 'a'", "array_shuffle(ia) = ia"),
        type="boolean")  # fmt: skip


# User-defined objects: drawn where the world has them.


@construct("user type", 4)
def _user_type(maker: Maker, depth: int) -> Tree | None:
    columns = [column for column in maker.table.columns if column.type not in maker.catalog.types]
    if not columns or maker.chance(0.15):
        made = maker.world.kinds("e", "d", "c", "r", "b", "m")
        return maker.literal(maker.pick(*made), exact=True) if made else None
    tree = maker.reference(maker.random.choice(columns))
    form = maker.pick("({} = {})", "({} IS NULL)", "({} IN ({}, {}))", "{}::text", "({} IS DISTINCT FROM {})",
        "({} < {})", "(COALESCE({}, {}) = {})", "ARRAY[{}]", "({} = ANY (ARRAY[{}]))", "({} || 'a')", "({} + 1)",
        "lower({})", "length({})", "({} LIKE 'a')", "(CASE {} WHEN {} THEN 1 END)", "({} BETWEEN {} AND {})",
        "({} = NULL)", "({} @> {})", "GREATEST({}, {})")  # fmt: skip
    others = [
        maker.literal(tree.type, exact=maker.chance(0.3)) if maker.chance(0.7) else maker.expr(tree.type, 0)
        for _ in range(form.count("{}") - 1)
    ]
    return sql(form, tree, *others, type="boolean" if form[-2:] == ")" else "")


@construct("user function", 3)
def _user_function(maker: Maker, depth: int) -> Tree | None:
    if not maker.world.functions:
        return None
    proc = maker.random.choice(maker.world.functions)
    if maker.chance(0.4):  # overloads: with arguments of other types
        types = [_common(maker) for _ in proc.arguments]
        return Tree(
            joined(", ", [maker.expr(type_, depth - 1) for type_ in types], f"{proc.name}(", ")"),
            proc.result,
            uses=(proc.oid,),
        )
    return maker.call(proc, depth)


@construct("user operator", 2)
def _user_operator(maker: Maker, depth: int) -> Tree | None:
    operators = [operator for known in maker.world.made.operators.values() for operator in known]
    if not operators:
        return None
    return maker.apply(maker.random.choice(operators), depth)


# Functions of ranges and such, spelled by people.


@construct("range", 1)
def _range(maker: Maker, depth: int) -> Tree:
    element = maker.random.choice(list(RANGES))
    bounds = [maker.expr(element, depth - 1) for _ in range(2)]
    made = sql(
        f"{RANGES[element]}({{}}, {{}}{maker.pick('', '', chr(44) + ' ' + quoted('[]'))})",
        *bounds,
        type=RANGES[element],
    )
    return sql(maker.pick("({} <@ {})", "({} = {})"), maker.expr(element, depth - 1), made, type="boolean")


@construct("chain", 0.5)
def _chain(maker: Maker, depth: int) -> Tree:
    items = [maker.condition(0) for _ in range(maker.random.choice((5, 12, 30)))]
    return Tree(joined(maker.pick(" AND ", " OR "), items, "(", ")"), "boolean")


@construct("comment and space", 0.7)
def _comment(maker: Maker, depth: int) -> Tree:
    return sql(
        maker.pick("(/* é */ {} /* x */)", "(\n  {} -- end\n)", "(\t{})", "('日本' = 'é' OR {})"),
        maker.condition(depth - 1),
        type="boolean",
    )


@construct("untyped", 1.5)
def _untyped(maker: Maker, depth: int) -> Tree:
    """Literals of no type on all sides, which resolution must find types for."""
    functions = ("length", "lower", "abs", "round", "date_trunc", "substr", "concat", "mod", "sqrt", "upper",
        "array_length", "to_char", "age", "cardinality", "isempty", "jsonb_typeof", "host", "trunc", "to_json",
        "unnest", "array_append", "date_part", "sign", "min", "range_merge", "coalesce", "hashtext", "like",
        "bit_count")  # fmt: skip
    form = maker.pick("('1' = '1')", "('a' || 'b')", "('1' + '2')", "('1' + 1)", "(NULL = NULL)", "({f}('1'))",
        "({f}('1', '2'))", "({f}(NULL))", "({f}('1', 1))", "('a' LIKE 'b')", "(- '1')", "('1' IN ('1', '2'))",
        "(ARRAY['1'] = '{1}')", "('2024-01-01' - '2023-01-01')", "('a' < NULL)", "(CASE WHEN true THEN '1' END = 1)",
        "(NULLIF('1', '2') = '3')", "(GREATEST('1', '2') = 1)", "('{1}' @> '{2}')", "('1' IS DISTINCT FROM 1.5)",
        "(NULL || NULL)", "('a' ~ 'b')", "(NULL::int + '1')", "('1' = ANY ('{1}'))", "(@ '1')", "('1' @@ '2')",
        "('a' & 'b')", "('1' ^ '2')", "('1' * '2')", "(NULL IS NULL)", "(ROW('1') = ROW('1'))",
        "(ROW(NULL) = ROW(1))", "{f}({f}('1'))")  # fmt: skip
    return sql(form.replace("{f}", maker.pick(*functions)), type="")
