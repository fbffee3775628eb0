"""Functions that are called by words of the grammar; those of JSON and XML."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.constructs.operands import STRINGS
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, sql
from tests.support.generating import quoted

KIND = Kind()


@KIND.construct("AT TIME ZONE", 2)
def _at_time_zone(maker: Maker, depth: int) -> Tree:
    type_ = maker.pick(
        "timestamp with time zone",
        "timestamp without time zone",
        "time with time zone",
        "time without time zone",
        "date",
        maker.any_type(),
    )
    zone = sql(quoted(maker.pick("UTC", "America/New_York", "+02",
        "nosuch"))) if maker.chance(0.7) else maker.expr(maker.pick("text", "interval"), depth - 1)  # fmt: skip
    result = {
        "timestamp with time zone": "timestamp without time zone",
        "timestamp without time zone": "timestamp with time zone",
    }.get(type_, "time with time zone")
    return sql("({} AT TIME ZONE {})", maker.expr(type_, depth - 1), zone, type=result)


@KIND.construct("AT LOCAL", 0.6, since=17)
def _at_local(maker: Maker, depth: int) -> Tree:
    return sql(
        "({} AT LOCAL)",
        maker.expr(
            maker.pick(
                "timestamp with time zone", "timestamp without time zone", "time with time zone", maker.any_type()
            ),
            depth - 1,
        ),
        type="timestamp without time zone",
    )


@KIND.construct("EXTRACT", 2)
def _extract(maker: Maker, depth: int) -> Tree:
    field = maker.pick("year", "month", "epoch", "dow", "second", "hour", "'day'", "nosuch", "century", '"minute"',
        "julian")  # fmt: skip
    type_ = maker.pick("date", "timestamp without time zone", "timestamp with time zone", "interval",
        "time without time zone", "time with time zone", maker.any_type())  # fmt: skip
    return sql(f"EXTRACT({field} FROM {{}})", maker.expr(type_, depth - 1), type="numeric")


@KIND.construct("string syntax", 3)
def _string_syntax(maker: Maker, depth: int) -> Tree:
    text = maker.expr(
        maker.pick(*STRINGS, "bytea") if maker.clean or maker.chance(0.85) else maker.any_type(), depth - 1
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


@KIND.construct("IS NORMALIZED", 0.7)
def _is_normalized(maker: Maker, depth: int) -> Tree:
    return sql(
        f"({{}} IS {maker.pick('', 'NOT ')}{maker.pick('', 'NFC ', 'NFKD ')}NORMALIZED)",
        maker.expr(maker.pick("text", "character varying", maker.any_type()), depth - 1),
        type="boolean",
    )


@KIND.construct("SQL value function", 1.5)
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


@KIND.construct("IS JSON", 1, since=16)
def _is_json(maker: Maker, depth: int) -> Tree:
    rest = maker.pick("", " VALUE", " OBJECT", " ARRAY", " SCALAR", " WITH UNIQUE KEYS", " OBJECT WITHOUT UNIQUE")
    operand = maker.expr(maker.pick("text", "json", "jsonb", "bytea", "character varying", maker.any_type()), depth - 1)
    return sql(f"({{}} IS {maker.pick('', 'NOT ')}JSON{rest})", operand, type="boolean")


@KIND.construct("JSON_OBJECT, JSON_ARRAY", 1.5, since=16)
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
        *[maker.expr(maker.any_type(), depth - 1) for _ in range(form.count("{}"))],
        type="jsonb" if "jsonb" in form else "json",
    )


@KIND.construct("JSON functions of 17", 1.5, since=17)
def _json_query(maker: Maker, depth: int) -> Tree:
    operand = maker.expr(maker.pick("jsonb", "json", "text", maker.any_type()), depth - 1)
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


@KIND.construct("XML", 2)
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
        else maker.any_type()
        if maker.chance(0.4) or "ATTR" in form
        else "xml"
    )
    return sql(form, *[maker.expr(wanted, depth - 1) for _ in range(form.count("{}"))], type=type_)
