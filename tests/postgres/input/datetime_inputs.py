"""Inputs of dates, times and intervals, and what real servers answer to them.

`python -m tests.postgres.input.datetime_inputs --ports FILE [--out FILE] [--seed N] [--size N]` asks the servers
whose ports the JSON file names (major -> port, user postgres) and writes the fixture that the tests read.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

FIXTURE = Path(__file__).parent / "datetime_answers.json.gz"
SEED, SIZE = 20261121, 300

POINTS = ("date", "timestamp", "timestamptz", "time", "timetz")
STYLES = ("ISO, MDY", "SQL, DMY", "ISO, YMD", "German")

_DATES = """
1999-01-08|January 8, 1999|1/8/1999|1/18/1999|01/02/03|18/1/1999|1999-Jan-08|Jan-08-1999|08-Jan-1999|99-Jan-08
08-Jan-99|Jan-08-99|19990108|990108|1999.008|J2451187|January 8, 99 BC|8.1.1999|08.01.99|2024-02-29|2023-02-29
2024-02-30|2024-13-01|2024-13-45|2024-00-10|2024-01-00|0000-01-01|0001-01-01|0001-01-01 BC|4714-11-24 BC
4714-11-23 BC|4713-01-01 BC|294276-12-31|294277-01-01|5874897-12-31|5874898-01-01|5874898-06-03|99999999-01-01|epoch
infinity|-infinity|+infinity|now|today|tomorrow|yesterday|allballs|2024-1-1|2024/01/01|2024.01.01|24-1-1|1-1-24
31-12-2024|12-31-2024|Mon Jan 8 1999|Friday, 8 January 1999|8 Jan 1999|Jan 8 1999|1999 Jan 8|1999 8 Jan|8 1999 Jan
jan 1999|1999|2024-01|01-2024|2024|y2001m02d04|2001 doy 45|2024.366|2023.366|2023.365|2024.400|24.100|J0|J1
J2147483647|J2147483648|J99999999999|J2451187.5|jd 2451187|julian 2451187|j -5|2024-01-01 BC|2024-01-01 AD|0-1-1
00-01-01|69-01-01|70-01-01|1-1-1|100-1-1|2024-01-01-01|2024-01-01-123456|20240101123456|2024-01-32|2024-04-31
1900-02-29|2000-02-29|2100-02-29|Feb 29 2023|29 Feb 2023|30 Feb 2024|Sept 8 1999|Sep. 8, 1999|maj 8 1999|1999-008
1999008|99008|2024W05|2024-W05-1|12/13/14|13/12/14|14/13/12|99/1/8|1/8/99|1/99/8|01-08-1999|08-01-1999|1999-8-1
""".replace("\n", "|")

_TIMES = """
04:05:06.789|04:05:06|04:05|040506|0405|04:05 AM|04:05 PM|4:05pm|12:00 am|12:00 pm|13:00 pm|00:00 am|24:00:00
24:00:00.1|24:00:01|23:59:60|23:59:59.9999999|23:60:00|25:00|-1:00|04:05:06.789123456|040506.789|40506|4:5:6|04::06
:05:06|04:05:|04:05:06:07|04.05.06|4.5:06|05:06.7|99:99|996161|000060|240000|240001|T040506|T04:05:06|T0405|t 04:05
allballs|now|noon|midnight|1e5|12|1200|12000|123|04:05:06 PM AM|04:05:06.|04:05.|.5|0:0:0|00:00:60.000001|0405.5
040506.|04:05:61|h04mm05s06|h04mm05s06.5|10 h|10 s
""".replace("\n", "|")

_ZONES = """
Z|zulu|UTC|GMT|utc|+00|-08|+8|-8:00|+08:30|-800|+0530|+05:30:15|-15:59:59|+15:59|+16|-16:00|+05:60|+05:30:60|+123456
+1:2:3:4|+-5|PST|EST|EDT|MSK|EST DST|EDT DST|MSK DST|DST|MET DST|America/New_York|america/new_york|Europe/Paris
Asia/Kolkata|Etc/GMT+5|Etc/UTC|EST5EDT|UTC+3|UTC-3|GMT+3|gmt-05:00|FOO|FOO5|FOO+5|FOO+5BAR|Foo/Bar|America/Nowhere
PST8PDT|utc+24|utc+168|a/b5|foo+3.5|LMT|MSD|NZDT|IST|IRST|ART|WAKT|localtime|posixrules|posix/UTC|right/UTC|Factory
EWT|America|Europe/|US/Pacific|+05 PST|PST +05|CEST|-infinity|+99999999999|+5 +5|-5.5|+5-3|+5:|est5edt4
est5edt,M3.2.0,M11.1.0|utc5:30|utc5:99|W-SU|GB-Eire|Etc/GMT+15|+ 5|- 08:00
""".replace("\n", "|")

_INTERVALS = """
1 day|1 day 2 hours|1-2|3 4:05:06|1 year 2 months 3 days 4 hours 5 minutes 6 seconds|P1Y2M3DT4H5M6S
P0001-02-03T04:05:06|1 day ago|-1 day|+1 day|1 day -2 hours|-1-2|+1-2|1--2|1-12|1-11|1.5 days|1.5 months|1.5 years
1.5 weeks|1.5 decades|0.5 centuries|2 millennia|1|1.5|-1.5|.5|-.5|1:2|1:2:3|-1:2:3|+1:2:3|1:2:3.4|1:2.3|-1:2.3
12345:00:00|1:60|1:00:60|1:00:61|1:-5|@ 1 minute|@ 1 minute ago|1 day 1 day|1 hour 1:00:00|1:00:00 1 hour|1 us|1 ms
1.5 ms|1 msec 1 us|1 second 1 ms|1.5 second 1 ms|1 microsecond|1 microseconxyz|1 millisecondx|1 quarter|1 qtr
1 timezone|1 dow|1 foo|foo|days|1 days hours|days 1|ago|ago 1 day|1 day ago ago|1 ago|infinity|-infinity|+infinity
infinity ago|1 infinity|infinity 1 day|2147483647 days|2147483648 days|-2147483648 days|-2147483649 days
2147483647 months|2147483648 months|178956970 years|178956971 years|-178956970 years 9 months|99999999999 hours
2562047788 hours|2562047789 hours|9223372036854775807 us|9223372036854775808 us|-9223372036854775808 us|1 day 25:00
P|PT|P1|P1Y|P1Y1Y|P1D1H|PT1D|PT1H|P1M|PT1M|P1.5M|P1.5Y|P-1Y|P+1Y|P1W|P1Y2W|P00010203|P00010203T040506|P0001-02
P0001-02-03|P0001T01|PT010203|PT01:02:03|PT01:02|PT01:|PT1:2:3:4|P1e3D|P1e20D|P1e400D|P0x10D|P-infD|P-nanD|P.5D|P1.D
p1d|P1D |PT1H2M3.5S|P1YT|P1Y-2M|P2147483648D|PT1S1|P1-2-3-4|P1Y2|1 day at|at 1 day|1 on|on|5 @ days|1 d 2 h 3 m 4 s
1d2h3m4s|1d 2h|1 c|1 dec|1 mil|1 mils 2 cents|1 yr|1yrs|1 w|1 mon|1 min|1 h|1hr|4 hours 5 am|2024-01-01|1/2|1/2/3
1 day, 2 hours|1 day;2 hours|(1 day)|1_000 days|1 day +2:00|1 -2:00|1 2:00|1 2 3|1-2 3 4:05:06|-1-2 3 4:05:06
+1-2 -3 +4:05:06|1-2 days|3 1-2|1e5 days|1.5.5 days|1. days|. days|1..5 days|1.5-3|-1.5:3|0x10 days|1 dAy|1 day 2
2 1 day
""".replace("\n", "|")

RANGES = {
    "YEAR": 1 << 2,
    "MONTH": 1 << 1,
    "DAY": 1 << 3,
    "HOUR": 1 << 10,
    "MINUTE": 1 << 11,
    "SECOND": 1 << 12,
    "YEAR TO MONTH": 6,
    "DAY TO HOUR": 8 | 1 << 10,
    "DAY TO MINUTE": 8 | 3 << 10,
    "DAY TO SECOND": 8 | 7 << 10,
    "HOUR TO MINUTE": 3 << 10,
    "HOUR TO SECOND": 7 << 10,
    "MINUTE TO SECOND": 6 << 10,
}
"""Fields of an interval -> the upper half of its type modifier."""


def _items(text: str) -> list[str]:
    return [item for item in text.split("|") if item]


def _mutated(rng: random.Random, text: str) -> str:
    letters = "0123456789 -:./+,TZabdhjmnpsty_@"
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = rng.randrange(len(text) + 1)
        action = rng.randrange(4)
        if action == 0:
            text = text[:place] + rng.choice(letters) + text[place:]
        elif action == 1:
            text = text[:place] + text[place + 1 :]
        elif action == 2:
            text = text[:place] + rng.choice(letters) + text[place + 1 :]
        else:
            words = text.split(" ")
            rng.shuffle(words)
            text = " ".join(words)
    return text


def _oddities() -> Iterator[str]:
    yield from (
        "",
        " ",
        "-",
        "+",
        ".",
        "2024-01-01\t10:00",
        "2024-01-01\u00a010:00",
        "été 2024",
        "2024-01-01 \x01",
        "()",
    )
    yield from (
        "9" * 60,
        "1 " * 26,
        "1:" * 70,
        "a" * 200,
        "2024-01-01 " + "x" * 120,
        "2024-01-01" + " " * 300,
        "foo'bar",
    )
    for length in range(110, 132):
        yield "2024-01-01 10:00:00." + "1" * length
    yield from ("2024-01-01 t abcd-05", "2024-01-01 12.34-05", "2024-01-01 t ab.cd-05", "2024-01-01 123456-05")
    yield from ("2024-01-01 t123456-05", "2024-01-01 123456.5-05", "2024-01-01 12:34:56-05", "infinity PST", "epoch BC")
    yield from (
        "2024-01-01 allballs",
        "2024-01-01 epoch",
        "today 10:00",
        "today allballs",
        "tomorrow 10:00 PST",
        "now BC",
    )
    yield from (
        "j2451187+05",
        "j 2451187-05:30",
        "J2451187 10:00",
        "10:00 J2451187",
        "doy",
        "2024-01-01 doy",
        "y",
        "2024-01-01 d",
    )


def inputs(seed: int, size: int) -> list[tuple[str, str, str]]:
    """(type, DateStyle or IntervalStyle, text), `size` mutations of each sort among them."""
    rng = random.Random(seed)
    dates, times, zones, intervals = (_items(text) for text in (_DATES, _TIMES, _ZONES, _INTERVALS))
    days = [date for date in dates if date not in ("now", "epoch", "infinity", "-infinity", "+infinity")]
    points = [*dates, *times, *_oddities()]
    points += [f"{date} {rng.choice(times)}" for date in dates]
    points += [f"{rng.choice(times)} {date}" for date in dates]
    points += [f"2024-05-06 {time}" for time in times]
    points += [f"2024-05-06T{time}" for time in times]
    points += [f"2024-07-06 04:05:06 {zone}" for zone in zones] + [f"04:05 {zone}" for zone in zones]
    points += [f"2024-01-06 04:05:06{zone}" for zone in zones]
    points += [f"{rng.choice(days)} {rng.choice(times)} {rng.choice(zones)}" for _ in range(size)]
    points += [f"{rng.choice(times)} {rng.choice(zones)} {rng.choice(days)}" for _ in range(size // 4)]
    points += [f"{rng.choice(days)} {rng.choice(zones)}" for _ in range(size // 4)]
    points += [_mutated(rng, rng.choice(points)) for _ in range(size * 2)]
    keys: dict[tuple[str, str, str], None] = {}
    for place, text in enumerate(dict.fromkeys(points)):
        for type_name in POINTS if place < 500 else rng.sample(POINTS, 2):
            keys[type_name, STYLES[0], text] = None
            keys[type_name, rng.choice(STYLES[1:]), text] = None
    spans = [*intervals, *_oddities(), *dates[:40], *times]
    spans += [f"{rng.choice(intervals)} {rng.choice(intervals)}" for _ in range(size // 2)]
    spans += [_mutated(rng, rng.choice(intervals)) for _ in range(size * 2)]
    for place, text in enumerate(dict.fromkeys(spans)):
        keys["interval", "postgres", text] = None
        if place % 4 == 0:
            keys["interval", "sql_standard", text] = None
        fields = rng.choice(list(RANGES))
        precision = rng.choice(("", "(0)", "(3)")) if fields.endswith("SECOND") else ""
        keys[f"interval {fields}{precision}", "postgres", text] = None
    for type_name in POINTS[1:]:
        base, zone = type_name.removesuffix("tz"), " with time zone" if type_name.endswith("tz") else ""
        for text in rng.sample(points, 60):
            keys[f"{base}({rng.randrange(7)}){zone}", STYLES[0], text] = None
    return [key for key in keys if "\x00" not in key[2]]


_VALUE = {
    "date": "CASE WHEN isfinite(value) THEN value - date '2000-01-01' END",
    "timestamp": "(extract(epoch FROM value) - 946684800) * 1000000",
    "time": "extract(epoch FROM value) * 1000000",
    "timetz": "extract(epoch FROM value) * 1000000 || ' ' || -extract(timezone FROM value)",
    "interval": "((extract(year FROM value) * 12 + extract(month FROM value)) * 30 + extract(day FROM value))"
    " * 86400000000 + extract(hour FROM value) * 3600000000 + extract(minute FROM value) * 60000000"
    " + extract(microseconds FROM value)",
}

_FUNCTION = """
CREATE FUNCTION pg_temp.answer(text, type_name text, expression text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE given text; state text; message text; detail text; hint text;
BEGIN
    EXECUTE format('SELECT (%s)::text FROM (SELECT %L::%s AS value) AS given', expression, $1, type_name) INTO given;
    RETURN ARRAY[given];
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
    RETURN ARRAY[state, message, detail, hint];
END $$
"""


def base_type(type_name: str) -> str:
    """Of "timestamp(3) with time zone" "timestamptz"."""
    base = type_name.partition("(")[0].partition(" ")[0]
    return base + "tz" if "with time zone" in type_name else base


def typmod(type_name: str) -> int:
    """The type modifier of one of the names that `inputs` makes."""
    if type_name.startswith("interval "):
        fields, _, precision = type_name.removeprefix("interval ").partition("(")
        return RANGES[fields] << 16 | (int(precision[:-1]) if precision else 0xFFFF)
    return int(type_name.partition("(")[2][0]) if "(" in type_name else -1


def ask(port: int, asked: list[tuple[str, str, str]]) -> list[list[str]]:
    """Per input [value], which is "" where it is not asked for, or [SQLSTATE, message, detail, hint]."""
    answers: list[list[str]] = []
    with psycopg.connect(
        host="127.0.0.1", port=port, user="postgres", dbname="postgres", autocommit=True
    ) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(_FUNCTION)
        with connection.cursor() as cursor:
            for type_name, style, text in asked:
                base = base_type(type_name)
                setting = "IntervalStyle" if base == "interval" else "DateStyle"
                cursor.execute("SELECT set_config(%s, %s, false)", (setting, style))
                expression = _VALUE[base.removesuffix("tz") if base == "timestamptz" else base]
                cursor.execute("SELECT pg_temp.answer(%s, %s, %s)", (text, type_name, expression))
                row: Any = cursor.fetchone()
                answers.append([part or "" for part in row[0]])
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ports", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=FIXTURE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args()
    asked = inputs(options.seed, options.size)
    answers = {
        major: [_shortened(text, answer) for (_, _, text), answer in zip(asked, ask(port, asked), strict=True)]
        for major, port in json.loads(options.ports.read_text()).items()
    }
    rows = []
    for place, key in enumerate(asked):
        answers_of_majors = [answers[major][place] for major in answers]
        rows.append(
            [
                *key,
                answers_of_majors[:1]
                if all(answer == answers_of_majors[0] for answer in answers_of_majors)
                else answers_of_majors,
            ]
        )
    content = json.dumps({"majors": [int(major) for major in answers], "rows": rows}, ensure_ascii=False)
    options.out.write_bytes(gzip.compress(content.encode(), 9, mtime=0))
    print(f"{len(asked)} inputs, {options.out.stat().st_size} bytes")


def _shortened(text: str, answer: list[str]) -> list[str]:
    """The text in a message is written as ~: it stands beside it anyway. Values of the present are left out."""
    if len(answer) > 1:
        return [part.replace(f'"{text}"', "~") for part in answer]
    return [""] if any(word in text.lower() for word in ("now", "today", "tomorrow", "yesterday")) else answer


if __name__ == "__main__":
    main()
