"""Input of a time of day, where words and numbers have other meanings than in a date (DecodeTimeOnly)."""

from __future__ import annotations

from pubcheck.postgres.datum import DAY_LENGTH, calendar
from pubcheck.postgres.input.datetime_decode import Moment, now
from pubcheck.postgres.input.datetime_fields import DATE, TIME, Fault, Field, clock


class TimeOfDay(Moment):
    """A time of day; its zone may need a date next to it."""

    def _date_field(self, text: str) -> int:
        fields = self.fields
        if self.index == 0 and len(fields) >= 2 and (fields[-1][0] == DATE or fields[1][0] == TIME):
            return self._delimited_date(text)
        if text[0].isdecimal():
            return self._time_and_displacement(text, self.seen | Field.WHOLE_DATE)
        return self._zone_name(text)

    def _time_field(self, text: str) -> int:
        if self.major.strict_dates:
            if self.pending not in (None, "time"):
                raise Fault(Fault.BAD_FORMAT)
            self.pending = None
        self._set_time(*clock(text))
        return Field.WHOLE_TIME

    def _number_field(self, text: str) -> int:
        if self.pending is not None:
            return self._labelled(text)
        whole, dot, _ = text.partition(".")
        if dot:
            if self.index == 0 and len(self.fields) >= 2 and self.fields[-1][0] == DATE:
                return self._delimited_date(text)
            if len(whole) <= 2:
                raise Fault(Fault.BAD_FORMAT)
            return self._run_together(text, self.seen | Field.WHOLE_DATE)
        if len(text) > 4:
            return self._run_together(text, self.seen | Field.WHOLE_DATE)
        return self._number(text, False, self.seen | Field.WHOLE_DATE)

    def _reserved(self, word: str) -> int:
        if word not in ("now", "allballs"):
            raise Fault(Fault.BAD_FORMAT)
        fields_read = super()._reserved(word)
        return Field.WHOLE_TIME if word == "now" else fields_read

    def _month_name(self, number: int) -> int:
        raise Fault(Fault.BAD_FORMAT)

    def _word(self, text: str) -> int:
        fields_read = super()._word(text)
        if fields_read == Field.WEEKDAY:
            raise Fault(Fault.BAD_FORMAT)
        return fields_read

    def _iso_time(self) -> int:
        return self._expect_time()

    def _finish(self) -> None:
        self._check_date()
        self._apply_meridiem()
        self._check_time()
        if not self._has(Field.WHOLE_TIME):
            raise Fault(Fault.BAD_FORMAT)
        dated, partly = self._has(Field.WHOLE_DATE), bool(self.seen & Field.WHOLE_DATE)
        zone = self.named_zone
        if zone is not None and zone.offset is None and not (self.seen & Field.SUMMER) and not dated:
            raise Fault(Fault.BAD_FORMAT)
        if partly and not dated and (self.dynamic_zone is not None or not self.seen & Field.ZONE):
            raise Fault(Fault.BAD_FORMAT)
        if not dated:
            self.year, self.month, self.day = calendar(now() // DAY_LENGTH)
        self._apply_zone()
