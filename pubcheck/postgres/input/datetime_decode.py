"""Dates and times out of their fields.

Follows utils/adt/datetime.c (DecodeDateTime, DecodeTimeOnly, DecodeDate, DecodeNumber, DecodeNumberField,
ValidateDate).
"""

from __future__ import annotations

from time import time_ns

from pubcheck.postgres.datum import DAY_LENGTH, calendar, julian_day, month_length
from pubcheck.postgres.input import zones
from pubcheck.postgres.input.datetime_fields import (
    DATE,
    DIGITS,
    KEYWORDS,
    NUMBER,
    PART,
    PLUS_INFINITY,
    SIGNED,
    TIME,
    WORD,
    Fault,
    Field,
    Fields,
    atoi,
    clock,
    fraction,
    leading_integer,
    microseconds,
    time_of_day,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pubcheck.postgres.input import InputContext


class Moment:
    """A date and time, read field by field; ``read`` is the entry point.

    ``order`` is "MDY", "DMY" or "YMD"; ``ordered`` says afterwards whether it mattered. ``what`` is "date", or
    "epoch", "infinity", "-infinity". ``offset`` is in seconds east, and ``zoneless`` where the text names no zone.
    ``now`` is set by words that mean the present. Year 0 is 1 BC.
    """

    def __init__(self, context: InputContext, order: str) -> None:
        self.context = context
        self.major = context.major
        self._order = order
        self.ordered = False
        self.now = False
        self.zoneless = False
        self.what = "date"
        self.year = self.month = self.day = self.year_day = 0
        self.hour = self.minute = self.second = self.microsecond = 0
        self.offset = 0
        self.seen = 0
        self.pending: str | None = None  # the unit or "time" that says what the next field is
        self.named_zone: zones.Zone | None = None
        self.dynamic_zone: zones.Zone | None = None
        self.julian = self.two_digits = self.text_month = self.bc = False
        self.meridiem: str | None = None

    def read(self, fields: Fields) -> None:
        """Raises Fault, and Unknowable for zones that only some servers know."""
        self.fields = fields
        readers = {
            DATE: self._date_field,
            TIME: self._time_field,
            SIGNED: self._displacement,
            NUMBER: self._number_field,
            WORD: self._word,
        }
        for index, (kind, text) in enumerate(fields):
            self.index = index
            fields_read = readers[kind](text)
            if fields_read & self.seen:
                raise Fault(Fault.BAD_FORMAT)
            self.seen |= fields_read
        if self.pending is not None and self.major.strict_dates:
            raise Fault(Fault.BAD_FORMAT)
        self._finish()

    @property
    def order(self) -> str:
        self.ordered = True
        return self._order

    def _has(self, mask: int) -> bool:
        return self.seen & mask == mask

    # Fields, each of which answers with the bits it filled.

    def _date_field(self, text: str) -> int:
        if self.pending == "julian":
            # A day number with its zone: "J2451187+05".
            day, rest = leading_integer(text)
            if day < 0:
                raise Fault(Fault.FIELD_OVERFLOW)
            self._set_julian(day)
            self.offset = zones.displacement(rest)
            self.pending = None
            return Field.WHOLE_DATE | Field.WHOLE_TIME | Field.ZONE
        if self.pending is None and not self._has(Field.MONTH | Field.DAY):
            return self._delimited_date(text)
        if self.pending is None and not text[0].isdecimal():
            return self._zone_name(text)
        if self.pending not in (None, "time"):
            raise Fault(Fault.BAD_FORMAT)
        self.pending = None
        return self._time_and_displacement(text, self.seen)

    def _zone_name(self, text: str) -> int:
        self.named_zone = zones.named(self.context, text)
        return Field.ZONE

    def _time_and_displacement(self, text: str, seen: int) -> int:
        """hhmmss-zz."""
        dash = text.find("-")
        if self._has(Field.WHOLE_TIME) or dash < 0:
            raise Fault(Fault.BAD_FORMAT)
        self.offset = zones.displacement(text[dash:])
        return self._run_together(text[:dash], seen) | Field.ZONE

    def _time_field(self, text: str) -> int:
        if self.pending not in (None, "time"):
            raise Fault(Fault.BAD_FORMAT)
        self.pending = None
        self._set_time(*clock(text))
        self._check_time()
        return Field.WHOLE_TIME

    def _displacement(self, text: str) -> int:
        self.offset = zones.displacement(text)
        return Field.ZONE

    def _number_field(self, text: str) -> int:
        if self.pending is not None:
            return self._labelled(text)
        whole, dot, _ = text.partition(".")
        if dot and not self.seen & Field.WHOLE_DATE:
            return self._delimited_date(text)
        if dot and len(whole) > 2:
            return self._run_together(text, self.seen)
        if len(text) >= 6 and not (self.seen & Field.WHOLE_DATE and self.seen & Field.WHOLE_TIME):
            return self._run_together(text, self.seen)
        return self._number(text, self.text_month, self.seen)

    def _labelled(self, text: str) -> int:
        """A number that the word before it explains: J2451187, T040506, and up to 15 y2001m02d04."""
        label = self.pending
        value, rest = leading_integer(text)
        if not self.major.strict_dates:
            if rest and (rest[0] != "." or label not in ("julian", "time", "second")):
                raise Fault(Fault.BAD_FORMAT)
        elif rest and rest[0] != ".":
            raise Fault(Fault.BAD_FORMAT)
        if label == "julian":
            fields_read = self._julian(value, rest)
        elif label == "time":
            fields_read = self._run_together(text, self.seen | Field.WHOLE_DATE)
            if fields_read != Field.WHOLE_TIME:
                raise Fault(Fault.BAD_FORMAT)
        elif not self.major.strict_dates and label is not None:
            fields_read = self._unit(label, value, rest)
        else:
            raise Fault(Fault.BAD_FORMAT)
        self.pending = None
        self.what = "date"
        return fields_read

    def _julian(self, day: int, rest: str) -> int:
        if day < 0:
            raise Fault(Fault.FIELD_OVERFLOW)
        self._set_julian(day)
        if not rest:
            return Field.WHOLE_DATE
        time, self.microsecond = divmod(int(fraction(rest) * DAY_LENGTH), 1_000_000)
        self.hour, self.minute, self.second = time // 3600, time // 60 % 60, time % 60
        return Field.WHOLE_DATE | Field.WHOLE_TIME

    def _unit(self, unit: str, value: int, rest: str) -> int:
        if unit == "month" and self.seen & Field.MONTH and self.seen & Field.HOUR:
            unit = "minute"
        if unit not in ("year", "month", "day", "hour", "minute", "second"):
            raise Fault(Fault.BAD_FORMAT)
        setattr(self, unit, value)
        if rest:
            self.microsecond = microseconds(rest)
            return Field.ALL_SECONDS
        bit: int = getattr(Field, unit.upper())
        return bit

    def _word(self, text: str) -> int:
        abbreviation = zones.abbreviation(self.context, text)
        if abbreviation is not None:
            return self._abbreviation(text, abbreviation)
        kind, value = KEYWORDS.get(text, ("", None))
        if text == "+infinity" and self.major.strict_dates:
            kind, value = PLUS_INFINITY
        if kind == "ignored":
            return 0
        if kind == "reserved":
            return self._reserved(str(value))
        if kind == "month":
            return self._month_name(int(value))
        if kind == "summer":
            self.offset += value
            return Field.SUMMER | Field.SUMMER_ZONE
        if kind == "meridiem":
            self.meridiem = value
            return Field.MERIDIEM
        if kind == "era":
            self.bc = value
            return Field.ERA
        if kind == "weekday":
            return Field.WEEKDAY
        if kind == "unit":
            return self._expect(str(value))
        if kind == "iso time":
            return self._iso_time()
        try:
            return self._zone_name(text)
        except Fault:
            raise Fault(Fault.BAD_FORMAT) from None

    def _expect(self, unit: str) -> int:
        if self.pending is not None and self.major.strict_dates:
            raise Fault(Fault.BAD_FORMAT)
        self.pending = unit
        return 0

    def _iso_time(self) -> int:
        if not self._has(Field.WHOLE_DATE):
            raise Fault(Fault.BAD_FORMAT)
        return self._expect_time()

    def _expect_time(self) -> int:
        if not self.major.strict_dates:
            following = self.fields[self.index + 1 : self.index + 2]
            if not following or following[0][0] not in (NUMBER, TIME, DATE):
                raise Fault(Fault.BAD_FORMAT)
        return self._expect("time")

    def _abbreviation(self, text: str, abbreviation: zones.Abbreviation) -> int:
        if abbreviation.zone:
            self.dynamic_zone = zones.Zone(abbreviation.zone, None, abbreviation=text.upper())
            return Field.DYNAMIC_ZONE | Field.ZONE
        if abbreviation.summer:
            self.offset = abbreviation.offset
            return Field.SUMMER_ZONE | Field.ZONE
        self.offset = abbreviation.offset
        return Field.ZONE

    def _reserved(self, word: str) -> int:
        if word == "allballs":
            self._set_time(0, 0, 0, 0)
            self.what = "date"
            self.offset = 0
            return Field.WHOLE_TIME | Field.ZONE
        if word in ("epoch", "infinity", "-infinity"):
            self.what = word
            return Field.WHOLE_DATE | Field.WHOLE_TIME | Field.ZONE if self.major.strict_dates else Field.RESERVED
        self.what = "date"
        self.now = True
        days, time = divmod(now(), DAY_LENGTH)
        days += {"yesterday": -1, "tomorrow": 1}.get(word, 0)
        self.year, self.month, self.day = calendar(days)
        if word != "now":
            return Field.WHOLE_DATE
        self._set_time(time // 3_600_000_000, time // 60_000_000 % 60, time // 1_000_000 % 60, time % 1_000_000)
        return Field.WHOLE_DATE | Field.WHOLE_TIME | Field.ZONE

    def _month_name(self, number: int) -> int:
        field = Field.MONTH
        if self.seen & Field.MONTH and not self.text_month and not self.seen & Field.DAY and 1 <= self.month <= 31:
            # What was taken for the month is the day: "8 Jan 1999".
            self.day, field = self.month, Field.DAY
        self.text_month = True
        self.month = number
        return field

    # Dates.

    def _delimited_date(self, text: str) -> int:
        """1999-01-08, 1/8/99, 8.1.1999, jan-8-1999, 1999.008 (DecodeDate)."""
        parts: list[str | None] = []
        place = 0
        # A character after each part is its delimiter, whatever it is.
        while place < len(text) and len(parts) < 25:
            match = PART.match(text, place)
            if match is None:
                raise Fault(Fault.BAD_FORMAT)
            parts.append(match[1])
            place = match.end() + 1
        seen, fields_read, text_month = self.seen, 0, False
        for index, part in enumerate(parts):
            if part is None or not part[0].isalpha():
                continue
            kind, value = KEYWORDS.get(part, ("", None))
            if kind == "ignored":
                continue
            if kind != "month" or seen & Field.MONTH:
                raise Fault(Fault.BAD_FORMAT)
            self.month, text_month = int(value), True
            seen, fields_read = seen | Field.MONTH, fields_read | Field.MONTH
            parts[index] = None
        microsecond = self.microsecond
        for part in parts:
            if part is None:
                continue
            filled = self._number(part, text_month, seen)
            if seen & filled:
                raise Fault(Fault.BAD_FORMAT)
            seen, fields_read = seen | filled, fields_read | filled
        self.microsecond = microsecond
        if seen & ~(Field.DAY_OF_YEAR | Field.ZONE) != Field.WHOLE_DATE:
            raise Fault(Fault.BAD_FORMAT)
        return fields_read

    def _number(self, text: str, text_month: bool, seen: int) -> int:
        """A number as the part of a date that those seen leave (DecodeNumber)."""
        value, rest = leading_integer(text)
        if rest == text:
            raise Fault(Fault.BAD_FORMAT)
        if rest:
            if rest[0] != ".":
                raise Fault(Fault.BAD_FORMAT)
            if len(text) - len(rest) > 2:
                return self._run_together(text, seen | Field.WHOLE_DATE)
            self.microsecond = microseconds(rest)
        length = len(text)
        date = seen & Field.WHOLE_DATE
        if length == 3 and date == Field.YEAR and 1 <= value <= 366:
            self.year_day = value
            return Field.DAY_OF_YEAR | Field.MONTH | Field.DAY
        if date == Field.WHOLE_DATE:
            return self._run_together(text, seen)
        if date == 0:
            part = Field.YEAR if length >= 3 else {"YMD": Field.YEAR, "DMY": Field.DAY, "MDY": Field.MONTH}[self.order]
        elif date == Field.MONTH and text_month:
            part = Field.YEAR if length >= 3 or self.order == "YMD" else Field.DAY
        elif date == Field.YEAR | Field.MONTH and text_month and length >= 3 and self.two_digits:
            # What was taken for the year is the day: "99-Jan-2008" with YMD.
            self.day, self.year, self.two_digits = self.year, value, False
            return Field.DAY
        elif date in (Field.YEAR, Field.DAY):
            part = Field.MONTH
        elif date == Field.MONTH | Field.DAY:
            part = Field.YEAR
        elif date in (Field.MONTH, Field.YEAR | Field.MONTH):
            part = Field.DAY
        else:
            raise Fault(Fault.BAD_FORMAT)
        if part == Field.YEAR:
            self.year = value
            self.two_digits = length <= 2
        elif part == Field.MONTH:
            self.month = value
        else:
            self.day = value
        return part

    def _run_together(self, text: str, seen: int) -> int:
        """yyyymmdd, yymmdd, hhmmss, hhmm, with a fraction after a time (DecodeNumberField)."""
        if self.major.strict_run_together_dates and text.strip("0123456789."):
            raise Fault(Fault.BAD_FORMAT)
        whole, dot, part = text.partition(".")
        if dot:
            if not self.major.strict_run_together_dates:
                # Junk after the digits was overlooked.
                part = DIGITS.match(part)[0]  # type: ignore[index]  # it matches the empty string
            self.microsecond = microseconds(dot + part)
        elif seen & Field.WHOLE_DATE != Field.WHOLE_DATE and len(whole) >= 6:
            self.year, self.month, self.day = (atoi(number) for number in (whole[:-4], whole[-4:-2], whole[-2:]))
            if len(whole) == 6:
                self.two_digits = True
            return Field.WHOLE_DATE
        if seen & Field.WHOLE_TIME != Field.WHOLE_TIME and len(whole) in (4, 6):
            self.hour, self.minute, self.second = (atoi(number) for number in (whole[:2], whole[2:4], whole[4:]))
            return Field.WHOLE_TIME
        raise Fault(Fault.BAD_FORMAT)

    def _set_julian(self, day: int) -> None:
        self.year, self.month, self.day = calendar(day)
        self.julian = True

    def _set_time(self, hour: int, minute: int, second: int, microsecond: int) -> None:
        if hour >= 1 << 31:
            raise Fault(Fault.FIELD_OVERFLOW)
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond

    # What can only be checked at the end.

    def _finish(self) -> None:
        if self.what == "date" or not self.major.strict_dates:
            self._check_date()
            self._apply_meridiem()
        if self.what == "date":
            if not self._has(Field.WHOLE_DATE):
                raise Fault(Fault.BAD_FORMAT)
            self._apply_zone()

    def _check_date(self) -> None:
        """ValidateDate: eras, years of two digits, days of the year, then the ranges."""
        if self.seen & Field.YEAR and not self.julian:
            if self.bc:
                if self.year <= 0:
                    raise Fault(Fault.FIELD_OVERFLOW)
                self.year = 1 - self.year
            elif self.two_digits:
                if self.year < 0:
                    raise Fault(Fault.FIELD_OVERFLOW)
                self.year += 2000 if self.year < 70 else 1900 if self.year < 100 else 0
            elif self.year <= 0:
                raise Fault(Fault.FIELD_OVERFLOW)
        if self.seen & Field.DAY_OF_YEAR:
            self.year, self.month, self.day = calendar(julian_day(self.year, 1, 1) + self.year_day - 1)
        if self.seen & Field.MONTH and not 1 <= self.month <= 12:
            raise Fault(Fault.MONTH_DAY_OVERFLOW)
        if self.seen & Field.DAY and not 1 <= self.day <= 31:
            raise Fault(Fault.MONTH_DAY_OVERFLOW)
        if self._has(Field.WHOLE_DATE) and self.day > month_length(self.year, self.month):
            raise Fault(Fault.FIELD_OVERFLOW)

    def _apply_meridiem(self) -> None:
        if self.meridiem is not None and self.hour > 12:
            raise Fault(Fault.FIELD_OVERFLOW)
        if self.meridiem == "am" and self.hour == 12:
            self.hour = 0
        elif self.meridiem == "pm" and self.hour != 12:
            self.hour += 12

    def _check_time(self) -> None:
        """time_overflows: 24:00:00 is the last, 60 a second, but nothing beyond the day."""
        parts = (self.hour, self.minute, self.second, self.microsecond)
        ranges = zip(parts, (24, 59, 60, 1_000_000), strict=True)
        if any(not 0 <= part <= last for part, last in ranges) or time_of_day(*parts) > DAY_LENGTH:
            raise Fault(Fault.FIELD_OVERFLOW)

    def _apply_zone(self) -> None:
        """The offset that a zone has at the time. "DST" changes an offset, but no zone that has rules."""
        zone = self.named_zone or self.dynamic_zone
        if zone is None and self.seen & Field.ZONE:
            return
        if self.seen & Field.SUMMER:
            raise Fault(Fault.BAD_FORMAT)
        if zone is None:
            self.zoneless = True
            zone = zones.session_zone(self.context)
        if zone is not None:
            local = (self.year, self.month, self.day, self.hour, self.minute, self.second)
            self.offset = zones.offset_at(zone, local)


def now() -> int:
    """Microseconds since the beginning of Julian day 0 in UTC."""
    return time_ns() // 1000 + 2440588 * DAY_LENGTH
