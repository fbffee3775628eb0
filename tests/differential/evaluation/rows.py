"""A table with columns of the types that filters use, and values for them: edges more than middles, and NULLs."""

from __future__ import annotations

from random import Random

from tests.differential.filters.schemas import WIDE

COLUMNS = {
    "a": "integer", "b": "integer", "s": "smallint", "l": "bigint", "n": "numeric", "m": "numeric(10,2)",
    "f": "double precision", "r": "real", "t": "text", "u": "text", "vc": "varchar(20)", "c": "char(5)", "nm": "name",
    "ch": '"char"', "p": "boolean", "q": "boolean", "d": "date", "e": "date", "ts": "timestamp", "tt": "timestamp",
    "tz": "timestamptz", "zt": "timestamptz", "tm": "time", "tmz": "timetz", "iv": "interval", "vi": "interval",
    "uu": "uuid", "ba": "bytea", "bi": "bit(4)", "vb": "varbit", "ip": "inet", "ci": "cidr", "ia": "integer[]",
    "ta": "text[]", "na": "numeric[]", "j": "json", "jb": "jsonb", "kb": "jsonb", "ir": "int4range", "nr": "numrange",
    "dr": "daterange", "tr": "tsrange", "zr": "tstzrange", "mr": "int4multirange", "mo": "money", "o": "oid",
    "pl": "pg_lsn", "mac": "macaddr",
}  # fmt: skip
TABLE = f"CREATE TABLE e (id integer PRIMARY KEY, {', '.join(f'{name} {type_}' for name, type_ in COLUMNS.items())})"

_NUMBERS = ["0", "1", "-1", "2", "3", "5", "7", "10", "42", "100", "1000", "-17"]
_INTEGERS = [*_NUMBERS, "2147483647", "-2147483648", "32767", "65536", "123456"]
_DECIMALS = [
    *_NUMBERS, "0.5", "-0.5", "1.5", "2.5", "0.1", "1.10", "99.99", "100.00", "3.14159", "0.001", "-0.0001", "1e10",
    "12345678901234567890.5", "0.00000000000001", "1e-20", "NaN",
]  # fmt: skip
_FLOATS = [
    *_NUMBERS, "0.5", "-0.5", "1.5", "2.5", "0.1", "0.3", "1e10", "1e300", "-1e300", "1e-300", "NaN", "Infinity",
    "-Infinity", "-0", "16777217", "1e15",
]  # fmt: skip
_TEXTS = [
    "", "a", "A", "b", "ab", "abc", "ABC", "Abc", "abcdef", "b c", " a ", "x%y", "x_y", "a\\b", "10", "9", "007", "EU",
    "eu", "US", "de-DE", "active", "deleted", "archived", "tenant-42", "2024-01-15", "user@example.com",
    "USER@EXAMPLE.COM", "foo,bar,baz", "ä", "Ä", "straße", "naïve", "日本", "a\tb", "a\nb", "'", '"', "null", "true",
    "zzz", "O'Brien", "é",
]  # fmt: skip
_DATES = [
    "2024-01-01", "2024-01-31", "2024-02-29", "2023-12-31", "2000-01-01", "1999-12-31", "1970-01-01", "2024-03-31",
    "2025-06-15", "2023-02-28", "1900-03-01", "2020-12-28", "2021-01-03", "infinity", "-infinity", "0044-03-15 BC",
    "5874897-12-31", "4713-11-24 BC",
]  # fmt: skip
_MOMENTS = [
    "2024-01-01 00:00:00", "2024-01-31 23:59:59.999999", "2024-02-29 12:30:45.5", "2023-12-31 23:59:59",
    "2000-01-01 00:00:00", "1999-12-31 12:00:00", "1970-01-01 00:00:00", "2024-03-31 02:30:00", "2024-10-27 02:30:00",
    "2024-07-01 06:07:08.123456", "2024-03-10 02:30:00", "1850-05-05 05:05:05", "infinity", "-infinity",
    "294276-12-31 23:59:59.999999", "4713-11-24 00:00:00 BC", "2024-11-03 01:30:00",
]  # fmt: skip
_INTERVALS = [
    "0", "1 day", "-1 day", "1 month", "30 days", "24:00:00", "1 year 2 mons 3 days 04:05:06.7", "-00:00:01", "2 hours",
    "1 mon -1 day", "36:00:00", "90 days", "-1 years", "00:00:00.000001", "15 minutes", "100 years",
]  # fmt: skip
_DOCUMENTS = [
    "{}", "[]", "null", "true", "false", "1", "1.50", '"a"', '"abc"', "[1, 2, 3]", '["a", "b"]', '{"a": 1}',
    '{"a": "b"}', '{"a": null}', '{"a": {"b": 2}}', '{"a": {"b": [1, {"c": "d"}]}}', '{"k": "EU", "n": 5}',
    '{"k": "US", "n": 10.5, "t": ["x", "y"]}', '{"n": "5"}', '{"n": 1e3}', '{"n": 99999999999}', '{"t": []}',
    '[{"a": 1}, {"a": 2}]', "[[1, 2], [3]]", '{"b": true, "n": -3}', '{"a": 1, "a": 2}', '{"k": "ä\\n\\"q\\""}',
    '{"active": true}', '{"active": false, "n": 0}', '[null, "a", 1.0]', '{"a": 1.0}', '{"a":[1,2]}', '{"t":"abc"}',
]  # fmt: skip

POOLS: dict[str, list[str]] = {
    "integer": _INTEGERS,
    "smallint": [*_NUMBERS, "32767", "-32768", "256"],
    "bigint": [*_INTEGERS, "9223372036854775807", "-9223372036854775808", "4294967296", "3000000000"],
    "numeric": [*_DECIMALS, "Infinity", "-Infinity"],
    "numeric(10,2)": [*_NUMBERS, "0.5", "99.99", "1.10", "99999999.99", "-0.01", "NaN"],
    "double precision": _FLOATS,
    "real": [value for value in _FLOATS if "300" not in value],
    "text": _TEXTS,
    "varchar(20)": _TEXTS,
    "char(5)": [text for text in _TEXTS if len(text) <= 5],
    "name": _TEXTS,
    '"char"': ["", "a", "b", "A", "z", "1"],
    "boolean": ["t", "f"],
    "date": _DATES,
    "timestamp": _MOMENTS,
    "timestamptz": [moment if "infinity" in moment or "BC" in moment else moment + "+00" for moment in _MOMENTS],
    "time": ["00:00:00", "12:34:56.789", "23:59:59.999999", "24:00:00", "06:00:00", "00:00:00.000001"],
    "timetz": ["00:00:00+00", "12:34:56+02", "23:59:59.999999-05", "10:34:56+00", "24:00:00+00"],
    "interval": _INTERVALS,
    "uuid": [
        "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "12345678-1234-1234-1234-123456789abc",
    ],
    "bytea": ["", "\\x00", "\\x6162", "\\xdeadbeef", "abc", "\\x616263", "\\xff"],
    "bit(4)": ["0000", "1111", "1010", "0101", "0001"],
    "varbit": ["", "0", "1", "10", "1010", "111111111", "00000000"],
    "inet": [
        "10.0.0.1", "10.0.0.0/8", "192.168.1.5/24", "192.168.1.0/24", "::1", "2001:db8::/32", "2001:db8::1",
        "0.0.0.0/0", "255.255.255.255", "::ffff:1.2.3.4", "10.1.2.3/16",
    ],
    "cidr": ["10.0.0.0/8", "192.168.1.0/24", "10.1.0.0/16", "::/0", "2001:db8::/32", "192.168.1.5/32"],
    "integer[]": ["{}", "{1}", "{1,2,3}", "{NULL}", "{1,NULL,3}", "{3,2,1}", "{{1,2},{3,4}}", "[0:1]={5,7}", "{42,42}"],
    "text[]": ["{}", "{a}", "{a,b}", "{NULL,a}", '{"",abc}', "{active,deleted}", "{b,a}", "{{a},{b}}"],
    "numeric[]": ["{}", "{1.0}", "{1.5,2.50}", "{NaN,1}", "{NULL}"],
    "json": _DOCUMENTS,
    "jsonb": _DOCUMENTS,
    "int4range": ["empty", "[1,5)", "(1,5]", "[1,)", "(,5)", "(,)", "[10,20]", "[5,5]", "[-3,2]"],
    "numrange": ["empty", "[1.0,5)", "(1,5]", "[1.5,)", "(,5.50)", "(,)", "[2,2]", "(0,1)"],
    "daterange": ["empty", "[2024-01-01,2024-02-01)", "(2024-01-01,)", "[2024-01-31,2024-01-31]", "(,infinity]"],
    "tsrange": ["empty", "[2024-01-01,2024-02-01)", "(2024-01-01,)", "(,2024-01-31 12:00]", "[2000-01-01,infinity)"],
    "tstzrange": ["empty", "[2024-01-01 00:00+00,2024-02-01 00:00+00)", "(2024-01-01 00:00+00,)"],
    "int4multirange": ["{}", "{[1,5)}", "{[1,3),[5,8)}", "{(,3),[10,)}", "{[1,3),[3,5)}"],
    "money": ["0", "1.00", "-5.25", "1000000", "99.99"],
    "oid": ["0", "1", "16384", "4294967295", "42"],
    "pg_lsn": ["0/0", "0/1", "16/B374D848", "FFFFFFFF/FFFFFFFF"],
    "macaddr": ["08:00:2b:01:02:03", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"],
}  # fmt: skip


# The wide table of the other generator, which knows more types.

WIDE_COLUMNS = dict(item.split(" ", 1) for item in WIDE[1:])
_NAMES = {
    "int": "integer", "float8": "double precision", "float4": "real", "bool": "boolean", "varchar": "text",
    "int[]": "integer[]", "varchar[]": "text[]",
}  # fmt: skip
_OTHERS = {
    "jsonpath": ["$.a", "$"], "point": ["(1,2)"], "box": ["(1,2),(0,0)"], "xml": ["<a/>"], "tsvector": ["a b"],
    "tsquery": ["a & b"], "regclass": ["pg_class"],
}  # fmt: skip


def make_row(random: Random, columns: dict[str, str]) -> dict[str, str | None]:
    """A row's texts, by column; None is NULL."""

    def pool(type_: str) -> list[str]:
        return POOLS.get(_NAMES.get(type_, type_)) or _OTHERS[type_]

    return {name: None if random.random() < 0.12 else random.choice(pool(type_)) for name, type_ in columns.items()}
