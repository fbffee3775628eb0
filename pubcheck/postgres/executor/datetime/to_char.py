"""to_char() of timestamps (utils/adt/formatting.c): the usual patterns; with any other the text is not known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from pubcheck.postgres.datum import julian_day
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.datetime.common import HOUR, MINUTE, SECOND, Moment, parts
from pubcheck.postgres.executor.datetime.fields import iso_week
from pubcheck.postgres.executor.datetime.session_zone import zone_of
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NAME_WIDTH = 9


class _Local(NamedTuple):
    """A local time, and what follows from its date."""

    year: int
    month: int
    day: int
    time: int

    @property
    def julian(self) -> int:
        return julian_day(self.year, self.month, self.day)

    @property
    def day_of_year(self) -> int:
        return self.julian - julian_day(self.year, 1, 1) + 1

    @property
    def weekday(self) -> int:
        """0 is Monday."""
        return self.julian % 7

    @property
    def shown_year(self) -> int:
        return self.year if self.year > 0 else 1 - self.year

    @property
    def iso_year(self) -> int:
        year = iso_week(self.year, self.month, self.day)[0]
        return year if year > 0 else 1 - year

    @property
    def hour(self) -> int:
        return self.time // HOUR


_NUMBERS: dict[str, tuple[int, Callable[[_Local], int]]] = {
    "YYYY": (4, lambda local: local.shown_year),
    "YYY": (3, lambda local: local.shown_year % 1000),
    "YY": (2, lambda local: local.shown_year % 100),
    "Y": (1, lambda local: local.shown_year % 10),
    "IYYY": (4, lambda local: local.iso_year),
    "IYY": (3, lambda local: local.iso_year % 1000),
    "IY": (2, lambda local: local.iso_year % 100),
    "MM": (2, lambda local: local.month),
    "DDD": (3, lambda local: local.day_of_year),
    "DD": (2, lambda local: local.day),
    "D": (1, lambda local: (local.weekday + 1) % 7 + 1),
    "IDDD": (3, lambda local: (iso_week(local.year, local.month, local.day)[1] - 1) * 7 + local.weekday + 1),
    "ID": (1, lambda local: local.weekday + 1),
    "HH24": (2, lambda local: local.hour),
    "HH12": (2, lambda local: local.hour % 12 or 12),
    "HH": (2, lambda local: local.hour % 12 or 12),
    "MI": (2, lambda local: local.time // MINUTE % 60),
    "SSSSS": (1, lambda local: local.time // SECOND),
    "SSSS": (1, lambda local: local.time // SECOND),
    "SS": (2, lambda local: local.time // SECOND % 60),
    "MS": (3, lambda local: local.time % SECOND // 1000),
    "US": (6, lambda local: local.time % SECOND),
    "Q": (1, lambda local: (local.month - 1) // 3 + 1),
    "WW": (2, lambda local: (local.day_of_year - 1) // 7 + 1),
    "W": (1, lambda local: (local.day - 1) // 7 + 1),
    "IW": (2, lambda local: iso_week(local.year, local.month, local.day)[1]),
    "J": (1, lambda local: local.julian),
}
"""Patterns of numbers: how many digits they have at least, and their value."""
_KEPT = frozenset(("MS", "US"))
"""Fractions keep their zeros under FM."""
_LONG: dict[str, Callable[[_Local], str]] = {
    "MONTH": lambda local: _MONTHS[local.month - 1],
    "DAY": lambda local: _DAYS[local.weekday],
}
_SHORT: dict[str, Callable[[_Local], str]] = {
    "MON": lambda local: _MONTHS[local.month - 1][:3],
    "DY": lambda local: _DAYS[local.weekday][:3],
    "AM": lambda local: "PM" if local.hour >= 12 else "AM",
    "BC": lambda local: "BC" if local.year <= 0 else "AD",
}
_SHORT |= {"PM": _SHORT["AM"], "AD": _SHORT["BC"]}
_NAMES = {
    variant: name
    for name in (*_LONG, *_SHORT)
    for variant in (name, name.lower(), *((name.capitalize(),) if name not in ("AM", "PM", "BC", "AD") else ()))
}
_WORDS = sorted({*_NUMBERS, *(word.lower() for word in _NUMBERS), *_NAMES}, key=len, reverse=True)
_PART = re.compile(rf'(FM)?({"|".join(_WORDS)})(?!TH|th|SP|,YYY|,yyy)|"([^"\\]*)"|([^A-Za-z"\\]+)')


def _written(template: str, local: _Local) -> str:
    texts, position = [], 0
    while position < len(template):
        match = _PART.match(template, position)
        if match is None:
            raise Unknowable(f'what to_char() makes of "{template[:100]}"')
        position = match.end()
        texts.append(match[3] or match[4] or "" if match[2] is None else _part(match[2], match[1] is not None, local))
    return "".join(texts)


def _part(word: str, filled: bool, local: _Local) -> str:
    number = _NUMBERS.get(word.upper()) if word not in _NAMES else None
    if number is not None:
        width, value = number
        return f"{value(local):0{1 if filled and word.upper() not in _KEPT else width}}"
    name = _NAMES[word]
    text = (_LONG.get(name) or _SHORT[name])(local)
    text = text.lower() if word.islower() else text.upper() if word.isupper() else text
    return text.ljust(_NAME_WIDTH) if name in _LONG and not filled else text


def _writing(zoned: bool) -> Maker:
    def make(call: Call) -> Function:
        zone = zone_of(call)

        def write(moment: Moment, template: str) -> str | None:
            if isinstance(moment, float) or not template:
                return None
            return _written(template, _Local(*parts(zone().to_local(moment) if zoned else moment)))

        return write

    return make


MAKERS: dict[str, Maker] = {
    "to_char(timestamp,text)": _writing(False),
    "to_char(timestamptz,text)": _writing(True),
}
