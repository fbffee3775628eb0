"""Input of dates, times and intervals, against what servers answered (see datetime_inputs)."""

from __future__ import annotations

import datetime
import gzip
import json
import math
from collections import Counter
from datetime import timedelta, tzinfo
from typing import Any

import pytest

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, zones
from pubcheck.postgres.input import datetime as literals
from tests.postgres.input.datetime_inputs import FIXTURE, base_type, typmod

RECORDED = json.loads(gzip.decompress(FIXTURE.read_bytes()))
MAJORS: list[int] = RECORDED["majors"]


def read(type_name: str, text: str, major: int = 18, **options: Any) -> tuple[Any, set[str]]:
    """The value, and what it depended on; ``options`` are settings and a type modifier."""
    modifier = options.pop("typmod", -1)
    settings: dict[str, str] = options
    context = InputContext(major, None, settings.get)
    return getattr(literals, f"read_{type_name}")(context, text, modifier), context.frozen


def refusal(type_name: str, text: str, major: int = 18, **settings: str) -> tuple[str, str, str | None]:
    with pytest.raises(ServerError) as raised:
        read(type_name, text, major, **settings)
    assert (raised.value.key or "").startswith("literal")
    assert raised.value.location is None
    return raised.value.sqlstate, raised.value.message, raised.value.hint


@pytest.fixture
def rules_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The zones whose rules were asked for: this machine's need not be those that the servers had."""
    asked: list[str] = []
    monkeypatch.setattr(zones, "rules", asked.append)
    return asked


class Paris(tzinfo):
    """One summer of Paris."""

    def utcoffset(self, moment: datetime.datetime | None) -> timedelta:
        assert moment is not None
        wall = moment.replace(tzinfo=None)
        begins, ends = datetime.datetime(2024, 3, 31, 2), datetime.datetime(2024, 10, 27, 3)
        if moment.fold:
            begins, ends = begins + timedelta(hours=1), ends - timedelta(hours=1)
        return timedelta(hours=2 if begins <= wall < ends else 1)

    def tzname(self, moment: datetime.datetime | None) -> str:
        return "CEST" if self.utcoffset(moment) == timedelta(hours=2) else "CET"

    def dst(self, moment: datetime.datetime | None) -> timedelta:
        return self.utcoffset(moment) - timedelta(hours=1)


def disagreement(major: int, row: list[str], answers: list[str], rules_asked: list[str]) -> str | None:
    """What is different from the server's answer: "unknowable", "verdict", "words", "value", or nothing."""
    type_name, style, text = row
    base = base_type(type_name)
    setting = "intervalstyle" if base == "interval" else "datestyle"
    del rules_asked[:]
    try:
        value, _ = read(base, text, major, typmod=typmod(type_name), timezone="UTC", **{setting: style})
    except Unknowable:
        return "unknowable"
    except ServerError as error:
        if len(answers) == 1:
            return "verdict"
        words = [error.sqlstate, error.message.replace(f'"{text}"', "~"), error.detail or "", error.hint or ""]
        return None if words == answers else "words"
    if len(answers) > 1:
        return "verdict"
    if not answers[0] or rules_asked:
        return None
    numbers = value if isinstance(value, tuple) else (value,)
    expected = [float(part) for part in answers[0].split()]
    # extract() of a far timestamp has some twelve digits only.
    same = all(math.isclose(ours, other, rel_tol=1e-12) for ours, other in zip(numbers, expected, strict=True))
    return None if same else "value"


@pytest.mark.parametrize(("place", "major"), list(enumerate(MAJORS)))
def test_inputs_are_judged_and_read_as_servers_do(place: int, major: int, rules_asked: list[str]) -> None:
    problems: Counter[str | None] = Counter()
    different = []
    for *row, answers in RECORDED["rows"]:
        answer = answers[place] if len(answers) > 1 else answers[0]
        problem = disagreement(major, row, answer, rules_asked)
        problems[problem] += 1
        if problem in ("verdict", "words", "value"):
            different.append((problem, row, answer))
    assert not different, different[:10]
    assert problems["unknowable"] < 0.02 * problems.total(), "those of posix/..., localtime: zones of some builds"


@pytest.mark.parametrize(("major", "setting"), [(17, "datestyle"), (18, "DateStyle")])
def test_month_out_of_range_names_the_setting_as_the_major_spells_it(major: int, setting: str) -> None:
    expected = ("22008", 'date/time field value out of range: "2024-13-45"')
    assert refusal("date", "2024-13-45", major) == (*expected, f'Perhaps you need a different "{setting}" setting.')


def test_date_that_another_order_accepts_is_unknowable_without_datestyle() -> None:
    with pytest.raises(Unknowable, match="DateStyle"):
        read("date", "31/12/2024")
    assert read("date", "31/12/2024", datestyle="SQL, DMY") == (9131, set())
    assert refusal("date", "31/12/2024", datestyle="ISO, MDY")[0] == "22008"


def test_date_that_no_order_accepts_is_refused_without_datestyle() -> None:
    assert refusal("date", "32/13/2024")[0] == "22008"


@pytest.mark.parametrize("settings", [{}, {"datestyle": "ISO"}])
def test_date_that_orders_read_differently_depends_on_datestyle(settings: dict[str, Any]) -> None:
    assert read("date", "02/03/2024", **settings) == (8799, {"datestyle"})
    assert read("date", "31/12/99", datestyle="DMY") == (-1, set())
    assert read("date", "12/31/2024", **settings) == (9131, {"datestyle"}), "the other orders refuse it"
    assert read("date", "02/02/02", **settings) == (763, set())
    assert read("date", "2024-02-03", **settings) == (8799, set())


def test_german_dates_begin_with_their_day() -> None:
    assert read("date", "03.02.2024", datestyle="German")[0] == read("date", "2024-02-03")[0]
    assert read("date", "03.02.2024", datestyle="German, MDY")[0] == read("date", "2024-03-02")[0]


@pytest.mark.parametrize("type_name", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("word", ["now", "today", "tomorrow", "yesterday"])
def test_words_of_the_present_are_frozen(type_name: str, word: str) -> None:
    zone = {"zone"} if type_name == "timestamptz" and word != "now" else set()
    assert read(type_name, word)[1] == {"now"} | zone


@pytest.mark.parametrize("word", ["epoch", "infinity", "-infinity"])
def test_constant_words_depend_on_nothing(word: str) -> None:
    assert read("timestamptz", word)[1] == set()


@pytest.mark.parametrize(
    ("type_name", "text", "frozen"),
    [
        ("timestamptz", "2024-01-01", True),
        ("timestamptz", "2024-01-01 10:00", True),
        ("timestamptz", "2024-01-01 10:00+00", False),
        ("timestamptz", "2024-01-01 EST", False),
        ("timestamptz", "2024-01-01 America/New_York", False),
        ("timestamp", "2024-01-01 10:00", False),
        ("timetz", "10:00", True),
        ("timetz", "10:00+02", False),
        ("timetz", "allballs", False),
        ("time", "10:00", False),
    ],
)
def test_values_without_their_zone_depend_on_the_session(type_name: str, text: str, frozen: bool) -> None:
    assert read(type_name, text)[1] == ({"zone"} if frozen else set())


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("UTC", 0), ("+3", 3), ("-4.5", -4.5), ("Etc/GMT+5", -5), ("<+03>-3", 3), ("UTC-5", 5), ("EST5EDT", -5)],
)
def test_values_without_their_zone_are_reckoned_in_the_session_s(zone: str, hours: float) -> None:
    there, _ = read("timestamptz", "2024-01-01", timezone=zone)
    utc, _ = read("timestamptz", "2024-01-01 00:00+00")
    assert utc - there == hours * 3_600_000_000


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        ("2024-03-31 01:59", "2024-03-31 00:59Z"),
        ("2024-03-31 02:30", "2024-03-31 01:30Z"),
        ("2024-03-31 03:00", "2024-03-31 01:00Z"),
        ("2024-10-27 01:59", "2024-10-26 23:59Z"),
        ("2024-10-27 02:30", "2024-10-27 01:30Z"),
    ],
)
def test_time_skipped_is_read_by_the_offset_before_and_time_repeated_by_that_after(
    monkeypatch: pytest.MonkeyPatch, time: str, utc: str
) -> None:
    monkeypatch.setattr(zones, "rules", lambda name: Paris())
    assert read("timestamptz", f"{time} Europe/Paris") == read("timestamptz", utc)
    assert read("timestamptz", time, timezone="Europe/Paris")[0] == read("timestamptz", utc)[0]


def test_abbreviations_of_the_session_s_zone_are_unknowable_in_18_only() -> None:
    with pytest.raises(Unknowable, match="TimeZone"):
        read("timestamptz", "2024-01-01 12:00 LMT", 18)
    with pytest.raises(Unknowable, match="TimeZone"):
        read("timestamptz", "2024-01-01 12:00 FOO", 18, timezone="FOO5")
    assert refusal("timestamptz", "2024-01-01 12:00 LMT", 18, timezone="UTC")[0] == "22007"
    assert refusal("timestamptz", "2024-01-01 12:00 LMT", 17)[0] == "22007"


@pytest.mark.parametrize("name", ["posix/UTC", "right/Europe/Paris", "localtime", "US/Pacific-New"])
def test_zones_that_only_some_builds_have_are_unknowable(name: str) -> None:
    with pytest.raises(Unknowable, match="build"):
        read("timestamptz", f"2024-01-01 12:00 {name}")


def test_plain_spellings_are_read_as_any_others() -> None:
    for text in ("2024-02-29", "0001-01-01", "9999-12-31", "2000-03-01", "1900-02-28"):
        assert read("date", text) == read("date", f" {text}")
    for text in ("2024-02-29", "2024-02-29 23:59:59.5", "1600-12-31T00:00", "2024-01-01 10:00:00.123456"):
        assert read("timestamp", text) == read("timestamp", f" {text}")
        assert read("timestamptz", text) == read("timestamptz", text, timezone="UTC")
        for zone in ("Z", "+00", "-08:30", "+1545") if ":" in text else ():
            assert read("timestamptz", text + zone) == read("timestamptz", f" {text}{zone}")


def test_values_of_a_type_compare() -> None:
    dates = [
        read("date", text)[0] for text in ("-infinity", "4714-11-24 BC", "2024-01-01", "5874897-12-31", "infinity")
    ]
    assert dates == sorted(dates)
    spans = [
        read("interval", text)[0] for text in ("-infinity", "-1 day", "24 hours", "1 month", "31 days", "infinity")
    ]
    assert spans == sorted(spans)
    assert read("interval", "1 day") == read("interval", "24 hours")
