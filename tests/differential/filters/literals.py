"""Texts that the input functions of types are given: mostly such as people write, some broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.differential.filters.catalog import Type

Maker = Callable[[Random], str]


def literal_text(random: Random, types: dict[str, Type], name: str, broken: float = 0.0) -> str:
    """A text for a type by its SQL name, with the chance ``broken`` of one that was damaged."""
    text = _valid(random, types, name, 0)
    if random.random() >= broken:
        return text
    if random.random() < 0.25:
        return _valid(random, types, random.choice(_FOREIGN), 0)
    return damaged(random, text)


def plain_text(random: Random, types: dict[str, Type], name: str) -> str | None:
    """A text that the type certainly takes; None for a type that takes none."""
    if name in _PLAIN:
        return random.choice(_PLAIN[name])
    type_ = types.get(name)
    if type_ is None:
        return None
    if type_.element:
        items = [plain_text(random, types, type_.element) for _ in range(random.choice((0, 1, 2)))]
        separator = ";" if type_.element == "box" else ","
        return None if None in items else "{" + separator.join(_quoted(random, item or "") for item in items) + "}"
    if type_.kind == "r":
        return random.choice(("empty", "(,)"))
    if type_.kind == "m":
        return random.choice(("{}", "{(,)}"))
    if type_.kind == "d":
        return plain_text(random, types, type_.base)
    if type_.kind == "e":
        return random.choice([label for label, _ in type_.fields])
    if type_.kind == "c":
        return "(" + "," * (len(type_.fields) - 1) + ")"
    return None


def damaged(random: Random, text: str) -> str:
    """The text with one or two characters lost, doubled, swapped or replaced."""
    for _ in range(random.choice((1, 1, 2))):
        position = random.randrange(len(text) + 1)
        how = random.randrange(5)
        if how == 0:
            text = text[:position] + text[position + 1 :]
        elif how == 1:
            text = text[:position] + random.choice("0123456789-:/.,+eE{}[]()\"\\ xT%'é") + text[position:]
        elif how == 2:
            text = text[:position] + text[position : position + 1] * 2 + text[position + 1 :]
        elif how == 3:
            text = (
                text[:position]
                + text[position + 1 : position + 2]
                + text[position : position + 1]
                + text[position + 2 :]
            )
        else:
            text = text[:position] + random.choice("0123459-:.{}[](),x ") + text[position + 1 :]
    return text


def _valid(random: Random, types: dict[str, Type], name: str, depth: int) -> str:
    maker = _MAKERS.get(name)
    if maker is not None:
        return maker(random)
    type_ = types.get(name)
    if type_ is None:
        return random.choice(("a", "1", ""))
    if type_.element:
        return _array(random, types, type_.element, depth)
    if type_.kind == "r":
        return _range(random, types, type_.subtype, depth)
    if type_.kind == "m":
        inner = [_valid(random, types, type_.subtype, depth + 1) for _ in range(random.choice((0, 1, 1, 2)))]
        return "{" + ",".join(inner) + "}"
    if type_.kind == "d":
        return _valid(random, types, type_.base, depth)
    if type_.kind == "e":
        return random.choice((*(label for label, _ in type_.fields), "nosuch"))
    if type_.kind == "c":
        return (
            "(" + ",".join(_quoted(random, _valid(random, types, field, depth + 1)) for _, field in type_.fields) + ")"
        )
    return random.choice(("a", "1", "", "(1,2)"))


def _array(random: Random, types: dict[str, Type], element: str, depth: int) -> str:
    separator = ";" if element == "box" else ","
    how = random.random()
    if how < 0.12:
        return "{}"
    items = [
        "NULL" if random.random() < 0.1 else _quoted(random, _valid(random, types, element, depth + 1))
        for _ in range(random.choice((1, 2, 2, 3)))
    ]
    body = "{" + separator.join(items) + "}"
    if how < 0.2:
        return "{" + body + separator + body + "}"
    if how < 0.25:
        return "{" + body + separator + "{" + items[0] + "}}"
    if how < 0.3:
        return f"[2:{1 + len(items)}]={body}"
    return body.replace(separator, separator + " ") if how < 0.4 else body


def _quoted(random: Random, text: str) -> str:
    if not text or any(char in text for char in '{}(),;"\\ ') or text.upper() == "NULL" or random.random() < 0.1:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text


def _range(random: Random, types: dict[str, Type], subtype: str, depth: int) -> str:
    if random.random() < 0.12:
        return random.choice(("empty", "EMPTY", "(,)", "[,]"))
    low, high = (_valid(random, types, subtype, depth + 1) for _ in range(2))
    if random.random() < 0.8 and subtype in ("integer", "bigint", "numeric"):
        first, second = sorted(random.randint(-50, 100) for _ in range(2))
        low, high = str(first), str(second)
    elif random.random() < 0.8 and subtype.startswith(("date", "timestamp")):
        low, high = sorted(("2023-01-01", random.choice(("2024-05-06", "2024-02-29"))))
    low = "" if random.random() < 0.1 else _quoted(random, low)
    high = "" if random.random() < 0.1 else _quoted(random, high)
    return random.choice("[[(") + low + "," + high + random.choice(")])")


# Numbers.


def _integer(bits: int) -> Maker:
    top = 2 ** (bits - 1)

    def make(random: Random) -> str:
        how = random.random()
        if how < 0.7:
            return str(random.choice((0, 1, 2, 5, 7, 10, 42, -1, -7, 100, 1234)))
        if how < 0.8:
            return str(random.choice((top - 1, -top, top, -top - 1)))
        if how < 0.88:
            return random.choice((" 5 ", "+5", "007", "-0", "\t1\n", "1 "))
        # Forms that integers have since 16.
        return random.choice(("0x1F", "0o17", "0b101", "1_000", "-0x10", "0x", "1__0", "_1", "1_", "0x_1", "0b2"))

    return make


def _numeric(random: Random) -> str:
    how = random.random()
    if how < 0.6:
        return random.choice(("0", "1", "1.5", "-2.25", "100", "0.001", "12345678901234567890", ".5", "5.", "-.5"))
    if how < 0.85:
        return random.choice(
            ("1e5", "1.5E-3", "NaN", "nan", "Infinity", "-inf", "+Infinity", " 1.5 ", "1e400", "-1E+2", "inf",
                "1e131072")
        )  # fmt: skip
    return random.choice(("1_000.5", "0x1F", "1e", "1e1_0", "1._5", "--1", "0b11", "1e200000", "1.2.3", ""))


def _float(random: Random) -> str:
    return random.choice(
        ("0", "1", "1.5", "-2.25", "1e10", "1e-10", "NaN", "Infinity", "-Infinity", "inf", "+inf", " 3.14 ", "1e39",
            "1e-46",
         "1e308", "1e309", "1e-400", "1_0", "1e", ".5", "5.", "0x1p3", "nanx", "infinit")
    )  # fmt: skip


# Dates and times.


def _day(random: Random) -> str:
    year, month, day = random.choice((1999, 2000, 2023, 2024, 2024, 2025)), random.randint(1, 12), random.randint(1, 28)
    how = random.random()
    if how < 0.55:
        return f"{year}-{month:02}-{day:02}"
    name = random.choice(("Jan", "february", "MAR", "Apr", "may", "Sept", "Oct", "december", "Dec"))
    return random.choice(
        (
            f"{year}{month:02}{day:02}", f"{month}/{day}/{year}", f"{day}.{month}.{year}", f"{name} {day}, {year}",
            f"{day} {name} {year}", f"{year}-{name}-{day:02}", f"{day}-{name}-{year % 100:02}", f"{year}.{day + 100}",
            f"{month}-{day}-{year % 100:02}", f"J{2400000 + day}", f"{year}-{month:02}-{day:02} BC",
                f"{year}/{month}/{day}",
            f"{year}-02-29", f"{year}-{month:02}-31", f"{year}-13-{day:02}", f"0000-{month:02}-{day:02}",
                f"{day}/{month}/{year}",
            f"{year}-{month:02}", f"{year}-W0{day % 7 + 1}-1", f"{month:02}{day:02}", f"Mon {name} {day} {year}",
            f"5874898-{month:02}-{day:02}", f"294277-{month:02}-{day:02}", f"{year % 100:02}{month:02}{day:02}",
            f"{name} {day}", f"{name} {year}", f"{year}-{month}-{day}", f"the {day}th of {name} {year}",
        )
    )  # fmt: skip


_SPECIAL_DATES = ("now", "today", "tomorrow", "yesterday", "epoch", "infinity", "-infinity", "Infinity", "TODAY",
    "allballs")  # fmt: skip


def _clock(random: Random) -> str:
    hour, minute, second = random.randint(0, 23), random.randint(0, 59), random.randint(0, 59)
    how = random.random()
    if how < 0.5:
        return f"{hour:02}:{minute:02}" + random.choice(
            ("", f":{second:02}", f":{second:02}.5", f":{second:02}.123456789")
        )
    return random.choice(
        (f"{hour % 12 + 1}:{minute:02} PM", f"{hour % 12 + 1} am", f"{hour:02}{minute:02}",
            f"{hour:02}{minute:02}{second:02}",
         "24:00", "24:00:00", "24:00:01", "25:00", "12:60", "23:59:60", "23:59:60.5", "13:00 pm", "0:00 am", "12 pm",
         f"T{hour:02}:{minute:02}", f"{hour:02}.{minute:02}", f"{hour}:{minute}", "allballs", "04:05:06.789-8")
    )  # fmt: skip


def _zone(random: Random) -> str:
    return random.choice(
        ("+00", "-08", "+05:30", "Z", "UTC", " UTC", " America/New_York", " europe/berlin", " PST", " EST5EDT",
            "+0530", " GMT",
         "+15:59", "+16", "+15:59:59", " CEST", " No/Such", " xyz", "-8:00", " zulu", "+1", " MSK", " BST")
    )  # fmt: skip


def _date(random: Random) -> str:
    how = random.random()
    if how < 0.1:
        return random.choice(_SPECIAL_DATES)
    if how < 0.2:
        return _timestamp(random)
    return _day(random)


def _time(random: Random) -> str:
    how = random.random()
    if how < 0.05:
        return "now"
    if how < 0.12:
        return _timestamp(random)
    return _clock(random) + (_zone(random) if how < 0.22 else "")


def _timetz(random: Random) -> str:
    return _clock(random) + (_zone(random) if random.random() < 0.7 else "")


def _timestamp(random: Random) -> str:
    how = random.random()
    if how < 0.1:
        return random.choice(_SPECIAL_DATES) + random.choice(("", "", " 10:00", " 04:05:06"))
    if how < 0.35:
        return _day(random)
    return _day(random) + random.choice((" ", " ", "T")) + _clock(random) + (_zone(random) if how > 0.85 else "")


def _timestamptz(random: Random) -> str:
    text = _timestamp(random)
    return text + _zone(random) if random.random() < 0.5 else text


def _interval(random: Random) -> str:
    number = random.choice(("1", "2", "-3", "1.5", "10", "+4", "0.25", "1000000000"))
    unit = random.choice(
        ("day", "days", "hour", "hours", "h", "min", "minutes", "m", "second", "secs", "s", "month", "mons", "mon",
            "year",
         "y", "years", "week", "w", "decade", "c", "century", "millennium", "ms", "usec", "microseconds", "d",
             "fortnight")
    )  # fmt: skip
    how = random.random()
    if how < 0.35:
        return f"{number} {unit}"
    if how < 0.5:
        return f"{number} {unit} {random.choice(('5 min', '3 days', '-1 year', 'ago', '04:05:06', '2 ' + unit))}"
    return random.choice(
        ("P1Y2M3DT4H5M6S", "P1W", "PT1.5H", "P0001-02-03T04:05:06", "1-2", "3 4:05:06", "@ 1 minute ago", "04:05",
            "4:05:06.7",
         "-1-2 +3 -4:05:06", "infinity", "-infinity", "P", "PT", "1 day 1 day", "1", "", "-1", "1:2:3:4",
             "178000001 years",
         "9999999999 days", "P1.5Y", "1 year 2 mons 3 days", "1y2m", "1 12:59:10", "now", "P-1Y", "0", "25:00:00",
             "1.5 months")
    )  # fmt: skip


# The rest.


def _text(random: Random) -> str:
    return random.choice(
        ("a", "b", "abc", "", "a%", "_b%", "Hello, World", "é", "日本", "it's", "a\\b", " ", "^a.*$", "x" * 25, "1",
            "{a,b}",
         "day", "UTC", "YYYY", "hex", ",", "a!%", "a|b", "%a\\%b", "null", "true")
    )  # fmt: skip


def _boolean(random: Random) -> str:
    return random.choice(
        ("t", "true", "TRUE", "tr", "yes", "y", "on", "1", "f", "false", "fal", "no", "n", "off", "of", "0", " true ",
            "o", "2",
         "", "truee", "10")
    )  # fmt: skip


def _uuid(random: Random) -> str:
    plain = "".join(random.choice("0123456789abcdef") for _ in range(32))
    dashed = "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))
    return random.choice((dashed, dashed, dashed, dashed.upper(), plain, f"{{{dashed}}}", "-".join(
        plain[i : i + 4] for i in range(0, 32, 4)), dashed[:-1], dashed + "0", f"{{{dashed}", "x"))  # fmt: skip


def _json(random: Random) -> str:
    return random.choice(
        ("{}", "[]", "1", '"a"', "null", "true", '{"a": 1}', '{"a": {"b": [1, 2, null]}}', "[1, 2]",
            '{"a": "x\\u0041"}',
         "-1.5e3", ' {"a" : 1 } ', '{"a": 1, "a": 2}', '"\\u00e9"', '"\\ud83d\\ude00"', "[1,[2,[3]]]",
         "{", "[1,]", "{a: 1}", "'a'", "", "tru", "01", "1.", ".5", '{"a" 1}', '{"a":}', '["a", ]', '"\\x"',
             '"\\u12"', "nul",
         '{"a": 1} x', '"\\ud83d"', '"\\u0000"', "[1 2]", "{1: 2}", '"a\tb"', "NaN", "1e", '{"a":1,}', "-", "[",
             '"abc',
         '{"a":1\n"b":2}')
    )  # fmt: skip


def _jsonpath(random: Random) -> str:
    return random.choice(
        ("$", "$.a", "$.a.b[*]", "$.a ? (@ > 1)", "strict $.a", "lax $[0 to 2]", '$."a b"', "$.a == 1", "exists($.a)",
         "$.size()", "$.** ? (@.b starts with \"x\")", "$.a + 1", "$x", '$.a ? (@ like_regex "^a" flag "i")',
             "$.a.double()",
         "$.datetime()", "", "a", "$.", "$.a ?", "$.a ? (1", "$.a like_regex \"(\"", "@", "$[last]", "last",
             "$.a.bigint()",
         "$.boolean()", "-$.a", "1", '"a"')
    )  # fmt: skip


def _bytea(random: Random) -> str:
    return random.choice(("\\x00", "\\xdeadBEEF", "\\x", "abc", "\\000\\001", "a\\\\b", "", "\\x0", "\\xzz", "\\1",
        "\\x de ad", "\\400", "é"))  # fmt: skip


def _inet(random: Random) -> str:
    return random.choice(
        ("10.0.0.1", "10.0.0.0/8", "192.168.1.5/24", "::1", "fe80::1/64", "2001:db8::/32", "::ffff:1.2.3.4", "10",
            "10.1",
         "0.0.0.0/0", "1.2.3", "256.1.1.1", "1.2.3.4/33", "::1/129", "1.2.3.4.5", "", "abc", "10.0.0.1/", ":::",
             "1.2.3.4/08",
         "10.0.0.0/255.0.0.0", "fe80::g", " 10.0.0.1", "1:2:3:4:5:6:7:8:9")
    )  # fmt: skip


def _macaddr(random: Random) -> str:
    return random.choice(
        ("08:00:2b:01:02:03", "08-00-2b-01-02-03", "08002b:010203", "08002b-010203", "0800.2b01.0203",
            "0800-2b01-0203",
         "08002b010203", "08:00:2b:01:02:03:04:05", "08002b01:02030405", "8:0:2b:1:2:3", "zz:00:2b:01:02:03",
             "08:00:2b", "",
         "08:00:2b:01:02:03 ", "1ff:0:0:0:0:0")
    )  # fmt: skip


def _bits(random: Random) -> str:
    return random.choice(("0101", "1", "1111", "", "xF", "X1f", "b01", "B0101", "012", "xg", "01011", "b", "x"))


def _money(random: Random) -> str:
    return random.choice(("1", "$1.50", "-2", "(3.25)", "$1,234.56", "1.005", "", "abc", "92233720368547758.07",
                          "92233720368547758.08", "-$5", "$-5", " 7 ", "1 2", "1.2.3", "$"))  # fmt: skip


def _oid(random: Random) -> str:
    return random.choice(("0", "1", "1259", "4294967295", "4294967296", "-1", "-2147483649", " 5 ", "abc", "", "1x",
        "0x10", "1 2"))  # fmt: skip


def _char(random: Random) -> str:
    return random.choice(("a", "", "ab", "\\101", "é", " ", "\\400", "\\1"))


def _lsn(random: Random) -> str:
    return random.choice(("0/0", "16/B374D848", "ffffffff/FFFFFFFF", "0/", "/0", "G/0", "123456789/0", "0/ 1", "1"))


def _reg(*names: str) -> Maker:
    def make(random: Random) -> str:
        return random.choice((*names, "0", "-", "23", "nosuch", "1259", "no.such", '"', "a.b.c"))

    return make


def _tsvector(random: Random) -> str:
    return random.choice(("a b c", "'a':1 'b':2A", "", "a:1,2B", "'it''s':3", "a:x", "'a", "a:99999", "b:1D a:3",
        "a\\ b", ":1"))  # fmt: skip


def _tsquery(random: Random) -> str:
    return random.choice(("a", "a & b", "a | !b", "a <-> b", "a:*", "a:AB & (b|c)", "", "a &", "a b", "(a", "a <2> b",
        "!a", "&", "'a b'", "a <99999> b", "!(a & b)"))  # fmt: skip


def _point(random: Random) -> str:
    return random.choice(("(1,2)", "1,2", "( 1.5 , -2e3 )", "(1,2", "(1)", "", "(a,b)", "(1,2,3)", "1 , 2 ",
        "(NaN,inf)"))  # fmt: skip


def _segment(random: Random) -> str:
    return random.choice(("[(1,2),(3,4)]", "((1,2),(3,4))", "(1,2),(3,4)", "1,2,3,4", "[(1,2)]", "", "{1,2}",
        "((1,2),(3,4)", "(1,2),(3,x)"))  # fmt: skip


def _line(random: Random) -> str:
    return random.choice(("{1,2,3}", "[(1,2),(3,4)]", "1,2,3,4", "{0,0,1}", "((1,2),(1,2))", "{1,2}", "", "{1,2,3",
        "{1,2,3,4}"))  # fmt: skip


def _path(random: Random) -> str:
    return random.choice(("[(1,2),(3,4)]", "((1,2),(3,4),(5,6))", "1,2,3,4", "(1,2)", "", "[1,2", "((1,2)),(3,4)",
        "[(1,2),(3,4))", "()"))  # fmt: skip


def _circle(random: Random) -> str:
    return random.choice(("<(1,2),3>", "((1,2),3)", "1,2,3", "(1,2),3", "<(1,2),-3>", "", "<(1,2)>", "<1,2,3>",
        "<(1,2),3"))  # fmt: skip


def _xml(random: Random) -> str:
    return random.choice(("<a/>", "<a>x</a>", "x", "", "<a>", "<a></b>", "<a b=\"c\"/>",
        "<?xml version=\"1.0\"?><a/>", "<a/><b/>", "&amp;", "&x;"))  # fmt: skip


def _snapshot(random: Random) -> str:
    return random.choice(("10:20:10,14,15", "1:1:", "10:20:", "20:10:", "10:20:25", "", "1:2", "a:b:", "10:20:14,12",
        "0:1:"))  # fmt: skip


def _tid(random: Random) -> str:
    return random.choice(("(0,1)", "(4294967295,65535)", "(0,65536)", "(1)", "", "0,1", "(-1,1)", "(0,1", "(a,1)",
        "(0, 1)", "(1,-1)"))  # fmt: skip


def _vector(random: Random) -> str:
    return random.choice(("1 2 3", "1", "", " 4 5 ", "a", "1,2", "99999", "1 -2", "4294967296", "1  2 x"))


def _refused(random: Random) -> str:
    return random.choice(("a", ""))


_PLAIN: dict[str, tuple[str, ...]] = {
    "boolean": ("t", "false", "yes"),
    "smallint": ("1", "-7", "42"),
    "integer": ("1", "-7", "42"),
    "bigint": ("1", "-7", "42"),
    "numeric": ("1.5", "0", "-2"),
    "real": ("1.5", "0"),
    "double precision": ("1.5", "0"),
    "money": ("1.50",),
    "oid": ("1259",),
    "xid": ("1",),
    "cid": ("1",),
    "xid8": ("1",),
    "text": ("a", "abc", "day", "a%", ""),
    "character varying": ("a", "abc"),
    "bpchar": ("a", "abc"),
    "name": ("a", "abc"),
    "unknown": ("a",),
    "cstring": ("a",),
    "refcursor": ("a",),
    '"char"': ("a",),
    "bytea": ("\\x00",),
    "date": ("2024-01-31", "2024-02-29", "today"),
    "time without time zone": ("10:00", "23:59:59.5"),
    "time with time zone": ("10:00+02",),
    "timestamp without time zone": ("2024-01-31 10:00:00", "2024-01-31"),
    "timestamp with time zone": ("2024-01-31 10:00:00+00", "2024-01-31"),
    "interval": ("1 day", "2 hours", "1 year 2 mons"),
    "uuid": ("11111111-1111-1111-1111-111111111111",),
    "json": ('{"a": 1}', "[]"),
    "jsonb": ('{"a": 1}', "[]", "1"),
    "jsonpath": ("$.a",),
    "inet": ("10.0.0.1", "10.0.0.0/8"),
    "cidr": ("10.0.0.0/8",),
    "macaddr": ("08:00:2b:01:02:03",),
    "macaddr8": ("08:00:2b:01:02:03:04:05",),
    "bit": ("0", "1"),
    "bit varying": ("0101",),
    "pg_lsn": ("0/0",),
    "regclass": ("pg_class",),
    "regtype": ("integer",),
    "regproc": ("now",),
    "regprocedure": ("now()",),
    "regoper": ("||/",),
    "regoperator": ("=(int4,int4)",),
    "regnamespace": ("pg_catalog",),
    "regrole": ("pg_monitor",),
    "regcollation": ('"C"',),
    "regconfig": ("english",),
    "regdictionary": ("simple",),
    "tsvector": ("a b",),
    "tsquery": ("a & b",),
    "point": ("(1,2)",),
    "lseg": ("[(1,2),(3,4)]",),
    "box": ("(1,2),(3,4)",),
    "line": ("{1,2,3}",),
    "path": ("[(1,2),(3,4)]",),
    "polygon": ("((1,2),(3,4))",),
    "circle": ("<(1,2),3>",),
    "xml": ("<a/>",),
    "pg_snapshot": ("10:20:14",),
    "txid_snapshot": ("10:20:14",),
    "tid": ("(0,1)",),
    "int2vector": ("1 2",),
    "oidvector": ("1 2",),
    "aclitem": ("=r/postgres",),
}

_FOREIGN = ("integer", "text", "date", "timestamp with time zone", "interval", "jsonb", "boolean", "inet", "integer[]")

_MAKERS: dict[str, Maker] = {
    "boolean": _boolean,
    "smallint": _integer(16),
    "integer": _integer(32),
    "bigint": _integer(64),
    "numeric": _numeric,
    "real": _float,
    "double precision": _float,
    "money": _money,
    "oid": _oid,
    "xid": _oid,
    "cid": _oid,
    "xid8": _integer(64),
    "text": _text,
    "character varying": _text,
    "bpchar": _text,
    "name": _text,
    "unknown": _text,
    "cstring": _text,
    "refcursor": _text,
    '"char"': _char,
    "bytea": _bytea,
    "date": _date,
    "time without time zone": _time,
    "time with time zone": _timetz,
    "timestamp without time zone": _timestamp,
    "timestamp with time zone": _timestamptz,
    "interval": _interval,
    "uuid": _uuid,
    "json": _json,
    "jsonb": _json,
    "jsonpath": _jsonpath,
    "inet": _inet,
    "cidr": _inet,
    "macaddr": _macaddr,
    "macaddr8": _macaddr,
    "bit": _bits,
    "bit varying": _bits,
    "pg_lsn": _lsn,
    "regclass": _reg("pg_class", "w", "pg_catalog.pg_type", "public.w", "W", '"w"', "nos.pg_class"),
    "regtype": _reg("integer", "text", "int4", "pg_catalog.int4", "varchar(3)", "int4[]", "timestamp with time zone"),
    "regproc": _reg("now", "pg_catalog.now", "lower", "length", "numeric_in"),
    "regprocedure": _reg("lower(text)", "now()", "pg_catalog.abs(int)", "lower", "lower(", "abs(nosuch)"),
    "regoper": _reg("=", "!", "||/", "pg_catalog.||/"),
    "regoperator": _reg("=(int4,int4)", "-(NONE,int4)", "+(int4,int4)", "=(int4)", "*"),
    "regnamespace": _reg("pg_catalog", "public", "pg_toast", "Public"),
    "regrole": _reg("postgres", "pg_monitor", "Postgres"),
    "regcollation": _reg('"C"', "C", 'pg_catalog."C"', '"default"', '"POSIX"'),
    "regconfig": _reg("english", "pg_catalog.simple", "English", "german"),
    "regdictionary": _reg("simple", "english_stem", "pg_catalog.simple"),
    "tsvector": _tsvector,
    "tsquery": _tsquery,
    "point": _point,
    "lseg": _segment,
    "box": _segment,
    "line": _line,
    "path": _path,
    "polygon": _path,
    "circle": _circle,
    "xml": _xml,
    "pg_snapshot": _snapshot,
    "txid_snapshot": _snapshot,
    "tid": _tid,
    "int2vector": _vector,
    "oidvector": _vector,
    "aclitem": lambda random: random.choice(("postgres=r/postgres", "=r/postgres", "nosuch=r/postgres", "",
        "postgres=z/postgres", "postgres")),
    "gtsvector": _refused,
    "pg_node_tree": _refused,
    "pg_ndistinct": _refused,
    "pg_dependencies": _refused,
    "pg_mcv_list": _refused,
    "pg_brin_bloom_summary": _refused,
    "pg_brin_minmax_multi_summary": _refused,
}  # fmt: skip
