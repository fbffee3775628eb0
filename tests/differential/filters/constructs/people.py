"""Filters as people write them: over columns of the usual types, with the usual functions, and their usual mistakes."""

from __future__ import annotations

import re

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, sql

KIND = Kind()

_HOLES = {
    "text": "text", "name": "character varying", "code": "bpchar", "int": "integer", "big": "bigint",
    "small": "smallint", "num": "numeric", "float": "double precision", "bool": "boolean", "date": "date",
    "ts": "timestamp without time zone", "tz": "timestamp with time zone", "time": "time without time zone",
    "span": "interval", "uuid": "uuid", "json": "json", "jsonb": "jsonb", "texts": "text[]", "ints": "integer[]",
    "ip": "inet", "range": "int4range", "bytes": "bytea",
}  # fmt: skip

FILTERS = """
{num} > 100 | {num} > 100.005 AND {text} = 'paid' | {num}::int > 5 | {num}::numeric(5,1) > 5 | {num}::text LIKE '1%'
{name} = 'a' | {name} IN ('a', 'b') | {name} = ANY (ARRAY['a', 'b']) | {name} = ANY ('{a,b}') | {name} || 'x' = 'ax'
{name}::text IN ('a', 'b') | length({name}) > 3 | char_length({name}) > 3 | lower({name}) = 'x' | trim({name}) <> ''
upper({name}) LIKE 'A%' ESCAPE '!' | {text} ~* '^a' | {text} !~~ 'x%' | {text} SIMILAR TO 'a|b' | {text} ILIKE '%é%'
{texts} @> ARRAY['x'] | {texts} @> '{x,y}' | {texts} && ARRAY['x'::varchar] | 'x' = ANY ({texts})
({texts})[1] = 'x' | array_length({texts}, 1) > 2 | cardinality({texts}) = 0 | {texts} || 'x' = '{x}'
array_position({texts}, 'a') = 1 | {jsonb} ->> 'a' = 'b' | {jsonb} -> 'a' = '1' | {jsonb} @> '{"a": 1}'
{jsonb} @> '{"a": 1' | {jsonb} ? 'a' | {jsonb} ?| array['a', 'b'] | {jsonb} ?& '{a}' | {jsonb} #>> '{a,b}' = 'x'
({jsonb} ->> 'n')::int > 5 | ({jsonb} -> 'n')::int > 5 | ({jsonb} ->> 'ts')::timestamptz > '2024-01-01'
({jsonb} ->> 'd')::date > '2024-01-01' | ({jsonb} ->> 'b')::boolean | {jsonb} @? '$.a' | {jsonb} @@ '$.a > 1'
jsonb_path_exists({jsonb}, '$.a') | jsonb_path_exists_tz({jsonb}, '$.a') | jsonb_typeof({jsonb}) = 'object'
{jsonb}['a'] = '1' | {jsonb}['a']['b'] = '"x"' | jsonb_array_length({jsonb} -> 'items') > 0 | {json} ->> 'a' = 'b'
{json} = '{}' | {json}::jsonb = '{}' | {tz} > '2024-01-01' | {tz} > '2024-01-01 00:00:00+00'
{tz} > now() - interval '1 day' | {tz} > current_date | {tz} > '2024-01-01'::date | {tz}::date = '2024-01-01'
({tz} AT TIME ZONE 'UTC')::date = '2024-01-01' | date_trunc('day', {tz}) = '2024-01-01'
date_trunc('day', {tz}, 'UTC') = '2024-01-01' | date_trunc('day', {ts}) = '2024-01-01'
extract(year from {tz}) = 2024 | extract(year from {ts}) = 2024 | date_part('year', {date}) = 2024
{ts} > '2024-13-01' | {ts} BETWEEN '2024-01-01' AND '2024-12-31' | {ts} > {date} | {tz} > {ts}
{date} + 1 > '2024-01-01' | {date} - '2024-01-01' > 5 | {date} + interval '1 day' > '2024-01-01'
{tz} + interval '1 day' > '2024-01-01' | {date} > 'today' | {date} > 'tomorow' | age({ts}) > '1 day'
{date} = '2024-02-30' | age({ts}, '2024-01-01') > interval '1 day' | {span} > '1 day'
extract(epoch from {span}) > 5 | {code} = 'DE' | {code} IN ('DE', 'AT') | {code} IN ('DE', 'AT', NULL)
{code}::text = 'DE' | {code} = {name} | {bool} | NOT {bool} | {bool} IS NOT TRUE | {bool} = false | {bool} = 'f'
{bool} = 'maybe' | {bool} = 0 | {bool} = 1 | NOT ({bool} OR {num} < 5) | {bool} IS UNKNOWN | {bool}::int = 1
{int}::bool | {ip} << '10.0.0.0/8' | {ip} <<= inet '10.0.0.0/8' | {ip} = '10.0.0.256' | host({ip}) = '1.2.3.4'
family({ip}) = 4 | {ip}::text LIKE '10.%' | {range} @> 5 | {range} && '[1,5)' | {range} @> 5::bigint
lower({range}) = 1 | isempty({range}) | {range} @> NULL | {float} > 1e5 | {float} = 'NaN' | {float} > {num}
{small} > 32768 | {small} = 1.5 | {small} = '40000' | {int} % 10 = 3 | {int} % 10 = 3.0 | mod({big}, 10) = 3
{int} & 1 = 1 | {int} BETWEEN 1 AND 10 | {big} = '9e18' | {int} BETWEEN SYMMETRIC 10 AND 1 | {int} IN (1, 2, 3)
{int} IN (1, 2, 'x') | {int} = ANY ('{1,2}') | {int} = 1.0 | {int} = ANY ('{1,x}') | {int} IS DISTINCT FROM NULL
{int} = '12' | {int} = 'twelve' | {int} = 99999999999 | {uuid} = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
{uuid} = 'a0eebc99' | {uuid}::text LIKE 'a%' | {uuid} IN ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'x')
{uuid} = gen_random_uuid() | hashtext({uuid}::text) % 4 = 0 | abs(hashtext({text})) % 4 = 0
coalesce({text}, '') <> '' | coalesce({num}, 0) > 5 | coalesce({num}, 'x') > 5 | nullif({text}, '') IS NOT NULL
greatest({num}, 5) > 6 | greatest({num}, {text}) > 6 | {text} = NULL | {text} ISNULL
CASE WHEN {bool} THEN {num} > 5 ELSE true END | CASE {text} WHEN 'new' THEN true ELSE false END
CASE {code} WHEN 'DE' THEN 1 ELSE 0 END = 1 | ({int}, {num}) > (5, 6) | ({int}, {text}) = (5, 'x')
ROW({int}, {text}) IN (ROW(1, 'a'), ROW(2, 'b')) | concat({text}, 'x') = 'x' | format('%s', {text}) = 'x'
to_char({num}, '999') = 'x' | to_char({ts}, 'YYYY') = '2024' | to_date({text}, 'YYYY') = {date}
substring({text} from 1 for 2) = 'ab' | substring({text}, 1, 2) = 'ab' | left({text}, 2) = 'ab' | {text}::int = 5
split_part({text}, ',', 1) = 'a' | position('a' in {text}) > 0 | strpos({text}, 'a') > 0 | md5({text}) = 'x'
starts_with({text}, 'a') | {text} ^@ 'a' | regexp_match({text}, 'a') IS NOT NULL
regexp_replace({text}, 'a', 'b') = '' | string_to_array({text}, ',') @> '{a}' | array_to_string({texts}, ',') = 'a'
random() > 0.5 | current_user = {text} | encode(sha256({text}::bytea), 'hex') = 'x'
convert_to({text}, 'UTF8') = {bytes} | {bytes} = '\\xDEADBEEF' | {bytes} = '\\xABC' | length({bytes}) > 3
to_tsvector({text}) @@ to_tsquery('x') | {text} @@ 'x'
to_tsvector('english', {text}) @@ to_tsquery('english', 'x') | {text} COLLATE "C" > 'a'
{text} > 'a' COLLATE "POSIX" | make_date(2024, 1, 1) = {date} | make_interval(days => 3) = {span} | {time} > '25:00'
{time} BETWEEN '08:00' AND '17:30' | ({date}, {date}) OVERLAPS ('2024-01-01', interval '1 day') | round({num}) = 5
round({num}, 1) = 5 | round({float}, 1) = 5 | {int} / 0 > 1 | 1 / 0 > 1 | power({float}, 2) > 1 | {text} = 5
{int} = {text} | {int}::text = {text} | {num} = '1e5' | jsonb_build_object('a', {int}) @> '{"a":1}'
to_jsonb({int}) = '1' | to_json({text}) IS NOT NULL | {int}::bit(8) = B'1' | {text}::varchar(3) = 'abc'
{text}::char = 'a' | {text}::"char" = 'a' | {text}::nosuch = 'a' | {text}::int[] = '{1}'
ARRAY[{int}, 2] @> ARRAY[3] | ARRAY[{int}, 2] @> ARRAY[3::bigint] | ARRAY[]::int[] = {ints} | ARRAY[] = {ints}
{ints} @> ARRAY[1] | {ints} = '{1,2}' | ({ints})[1:2] = '{1,2}' | {int} = ANY ({ints}) | {big} = ALL ({ints})
{ints} && '{x}'
"""


def _templates() -> list[str]:
    return [piece.strip() for line in FILTERS.strip().splitlines() for piece in line.split(" | ")]


_TEMPLATES = _templates()
_HOLE = re.compile(r"\{(" + "|".join(_HOLES) + r")\}")


def _filled(maker: Maker, template: str, share: float) -> Tree:
    """A template with a column, or now and then something else, of the type that each hole is for."""
    children: list[Tree] = []
    pieces: list[str] = []
    end = 0
    for hole in _HOLE.finditer(template):
        wanted = _HOLES[hole[1]]
        column = maker.column(wanted)
        children.append(column if column is not None and maker.chance(share) else maker.expr(wanted, 1, exact=True))
        pieces.append(template[end : hole.start()])
        end = hole.end()
    parts: list[str | Tree] = []
    for piece, child in zip(pieces, children, strict=True):
        parts += [piece, child]
    return Tree((*parts, template[end:]), "boolean")


@KIND.construct("filter of a person", 12)
def _person(maker: Maker, depth: int) -> Tree:
    return _filled(maker, maker.pick(*_TEMPLATES), 0.8)


@KIND.construct("long filter of a person", 2)
def _long(maker: Maker, depth: int) -> Tree:
    """AND and OR over some of them, with comments and line ends in between."""
    pieces = [_filled(maker, maker.pick(*_TEMPLATES), 0.9) for _ in range(maker.random.choice((2, 2, 3, 5)))]
    parts: list[str | Tree] = []
    for number, piece in enumerate(pieces):
        if number:
            parts.append(maker.pick(" AND ", " OR ", "\n  AND ", " /* or */ OR\n", " -- so\n AND NOT "))
        parts += ["(", piece, ")"]
    return Tree((*parts, "\n" if maker.chance(0.1) else ""), "boolean")


@KIND.construct("query", 3)
def _query(maker: Maker, depth: int) -> Tree:
    """Sub-selects with all their clauses."""
    column, value = maker.any_column(), maker.expr(maker.any_type(), 1)
    form = maker.pick(
        "({} = (SELECT max({}) FROM w))",
        "({} IN (SELECT id FROM w ORDER BY {}))",
        "({} = (SELECT {} FROM w LIMIT 'x'))",
        "({} IN (SELECT id FROM w GROUP BY {}))",
        "({} = (SELECT count(*) FROM w WHERE {} IS NULL GROUP BY t))",
        "({} IN (SELECT DISTINCT t FROM w ORDER BY {}))",
        "({} = (SELECT e FROM unnest(ARRAY[{}]) AS e))",
        "EXISTS (SELECT 1 FROM generate_series(1, 3) AS g WHERE {} = g OR g = {})",
        "({} = (SELECT t, count({}) FROM w))",
        "({} IN (SELECT 1 UNION SELECT {}))",
        "({} IN (VALUES (1), ({})))",
        "({} = (SELECT v.t FROM w AS v JOIN w AS u USING (id) WHERE {} IS NULL))",
        "({} = (SELECT w.id FROM w AS v WHERE {} = 1))",
        "({} = (WITH q AS (SELECT {} AS n) SELECT n FROM q))",
        "({} = (SELECT sum(i4) FROM w HAVING {} IS NULL))",
        "({} = (WITH RECURSIVE q(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q) SELECT n FROM q WHERE {} IS NULL))",
        "EXISTS (SELECT value FROM jsonb_array_elements('[1]') WHERE value = {} OR {} IS NULL)",
        "({} = (SELECT row_number() OVER (PARTITION BY {}) FROM w))",
        "({} = (SELECT string_agg(DISTINCT t, ',' ORDER BY {}) FROM w))",
        "({} = (SELECT * FROM (SELECT {} AS a) AS s))",
        "({} IN (SELECT nosuch FROM w WHERE {} IS NULL))",
        "({} = (SELECT relname FROM pg_class WHERE {} IS NULL))",
        "({} = (SELECT id FROM w, w AS v WHERE {} IS NULL))",
    )
    return sql(form, column, value, type="boolean")
