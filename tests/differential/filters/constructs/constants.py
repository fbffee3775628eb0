"""Literals and casts."""

from __future__ import annotations

from tests.differential.filters.catalog import Cast
from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.constructs.operands import several
from tests.differential.filters.expressions import TYPMODS, Maker
from tests.differential.filters.literals import literal_text
from tests.differential.filters.trees import Tree, joined, sql
from tests.support.generating import quoted

KIND = Kind()


@KIND.construct("literal", 8)
def _literal(maker: Maker, depth: int) -> Tree:
    if maker.chance(0.3):
        literals = [name for name, type_ in maker.world.types.items() if type_.kind not in "pc"]
        return maker.literal(maker.random.choice(literals), exact=True)
    type_ = maker.any_type()
    column = maker.column(type_) or maker.literal(type_, exact=True)
    form = maker.pick("({} = {})", "({} <> {})", "({} IS DISTINCT FROM {})", "({} < {})", "({} IN ({}))", "({} >= {})")
    return sql(form, column, maker.literal(type_, exact=False), type="boolean")


@KIND.construct("invalid literal", 5)
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


@KIND.construct("number", 2)
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


@KIND.construct("string constant", 1.5)
def _string(maker: Maker, depth: int) -> Tree:
    text = maker.pick("E'a\\nb'", "U&'\\0061'", "U&'d!0061t' UESCAPE '!'", "$$a$$", "$x$it's$x$", "'a' \n 'b'",
        "N'a'", "B'101'", "X'1f'", "E'\\x41'", "'é'", "''", "e'\\u0061'", "E'\\''")  # fmt: skip
    return sql("({} = {})", maker.column("text") or sql("'a'::text"), sql(text), type="boolean")


@KIND.construct("not boolean", 2.5)
def _not_boolean(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    tree = maker.expr(type_, depth - 1)
    form = maker.pick("{}", "({} AND true)", "(b OR {})", "(NOT {})", "CASE WHEN {} THEN true END", "({} IS TRUE)",
        "({} IS NOT UNKNOWN)", "(true AND {})")  # fmt: skip
    return sql(form, tree, type="boolean")


@KIND.construct("cast", 7)
def _any_cast(maker: Maker, depth: int) -> Tree:
    casts = maker.catalog.casts
    if maker.chance(0.3) and any(maker.world.made.casts.values()):
        casts = [cast for known in maker.world.made.casts.values() for cast in known]
    if maker.chance(0.75):
        return maker.cast(maker.random.choice(casts), depth)
    return maker.cast(Cast(maker.any_type(), maker.any_type(), "e", "i"), depth)


@KIND.construct("cast of an array", 1.5)
def _array_cast(maker: Maker, depth: int) -> Tree:
    arrays = [name for name, type_ in maker.catalog.types.items() if type_.element]
    source = maker.pick("integer[]", "text[]", "character varying[]", maker.random.choice(arrays))
    target = maker.pick(
        "bigint[]", "text[]", "character varying[]", "integer[]", "numeric[]", maker.random.choice(arrays)
    )
    if maker.chance(0.35):
        items = several(maker, maker.catalog.types[source].element, 1)
        return Tree(joined(", ", items, "ARRAY[", f"]::{target}"), target)
    return maker.cast(Cast(source, target, "e", "i"), 1)


@KIND.construct("typmod", 2)
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


@KIND.construct("interval with fields", 1)
def _interval(maker: Maker, depth: int) -> Tree:
    fields = maker.pick("", " DAY", " HOUR", " YEAR TO MONTH", " DAY TO SECOND", " SECOND(2)", " MINUTE TO SECOND(3)",
        " MONTH", " HOUR TO MINUTE", "(3)")  # fmt: skip
    text = maker.pick("1", "1-2", "1 day", "10:20", "1 2:03", "2:03:04.5678", "5", "-1", "1.5", "a", "1 year 2 days",
        literal_of(maker, "interval"))  # fmt: skip
    if fields == "(3)":
        return sql(f"INTERVAL(3) {quoted(text)}", type="interval")
    return sql(f"INTERVAL {quoted(text)}{fields}", type="interval")
