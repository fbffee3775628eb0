"""Names of columns, and what is no column's."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, sql

KIND = Kind()


@KIND.construct("column", 4)
def _column(maker: Maker, depth: int) -> Tree:
    return maker.any_column()


@KIND.construct("qualified column", 2)
def _qualified(maker: Maker, depth: int) -> Tree:
    column, table = maker.random.choice(maker.table.columns), maker.table
    if maker.chance(0.08):  # another table's name, or that of a parent
        table = maker.random.choice(maker.world.tables)
    form = maker.pick("{table}.{column}", "{schema}.{table}.{column}", '"{column}"', "{schema}.{table}.{column}",
        "({table}).{column}", "{column}({table})", "({table}.*).{column}")  # fmt: skip
    text = form.replace('"{column}"', column.name if column.name.startswith('"') else f'"{column.name}"')
    text = text.replace("{table}", table.name).replace("{schema}", table.schema).replace("{column}", column.name)
    return sql(text, type=column.type)


@KIND.construct("database-qualified column", 0.5)
def _database(maker: Maker, depth: int) -> Tree:
    column = maker.random.choice(maker.table.columns)
    return sql(
        f"{maker.pick('nodb', 'postgres')}.{maker.table.schema}.{maker.table.name}.{column.name}", type=column.type
    )


@KIND.construct("whole row", 1.5)
def _whole_row(maker: Maker, depth: int) -> Tree:
    name = maker.table.name
    form = maker.pick("{} IS NOT NULL", "{}.* IS NULL", "{} = {}", "({}).* IS NOT NULL",
        "row_to_json({}) IS NOT NULL", "{} IS DISTINCT FROM NULL", "({}.*) = ROW(1)", "{}::text = 'a'",
        "ROW({}.*) IS NULL", "num_nulls({}.*) > 0", "count({}) > 0", "{}.*", "{} IN ({})", "COALESCE({}, {}) IS NULL",
        "to_jsonb({}) @> '1'", "{} = NULL", "{} = '(1)'")  # fmt: skip
    return sql("(" + form.replace("{}", name) + ")", type="boolean")


@KIND.construct("system column", 1.5)
def _system(maker: Maker, depth: int) -> Tree:
    name, type_ = maker.random.choice((("ctid", "tid"), ("xmin", "xid"), ("xmax", "xid"), ("cmin", "cid"), ("cmax",
        "cid"), ("tableoid", "oid"), ("oid", "oid")))  # fmt: skip
    text = name if maker.chance(0.7) else f"{maker.table.name}.{name}"
    return sql(text if maker.chance(0.9) else f"({maker.table.name}).{name}", type=type_)


@KIND.construct("field selection", 2)
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


@KIND.construct("bad name", 4)
def _bad_name(maker: Maker, depth: int) -> Tree:
    column = maker.random.choice(maker.table.columns)
    name = column.name.strip('"')
    if maker.chance(0.45) and len(name) > 1:
        position = maker.random.randrange(len(name))
        wrong = maker.pick(
            name[:position] + name[position + 1 :],
            name[:position] + "z" + name[position:],
            name + "_id",
            name[:position] + "q" + name[position + 1 :],
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
