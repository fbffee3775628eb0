"""The state of a sequence (commands/sequence.c)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.oids import INT2, INT4, INT8

_LIMITS = {INT2: 1 << 15, INT4: 1 << 31, INT8: 1 << 63}


class SequenceState:
    """The state of a sequence. ``ahead``: how many values are logged already (log_cnt)."""

    def __init__(self, type_oid: int, options: Any) -> None:
        self.type = INT8
        self.increment, self.cycle, self.cache = 1, False, 1
        self.minimum: int | None = None
        self.maximum: int | None = None
        self.start: int | None = None
        self.called = False
        self.ahead = 0
        if type_oid in _LIMITS:
            self.type = type_oid
        self.apply(options)
        self.last = self.first

    def copy(self) -> SequenceState:
        clone = SequenceState(self.type, ())
        clone.__dict__.update(self.__dict__)
        return clone

    def apply(self, options: Any) -> None:
        for item in options:
            option = item["DefElem"]
            name, argument = option["defname"], option.get("arg")
            if name == "as" and argument is not None:
                word = argument["TypeName"]["names"][-1]["String"]["sval"]
                self.type = {"int2": INT2, "int4": INT4, "int8": INT8}.get(word, self.type)
            elif name == "cycle":
                self.cycle = bool(argument["Boolean"].get("boolval", False)) if argument else True
            elif name in ("increment", "minvalue", "maxvalue", "start", "cache"):
                value = None if argument is None else option_number(argument)
                setattr(self, {"minvalue": "minimum", "maxvalue": "maximum"}.get(name, name), value)

    @property
    def low(self) -> int:
        if self.minimum is not None:
            return self.minimum
        return 1 if self.increment > 0 else -_LIMITS[self.type]

    @property
    def high(self) -> int:
        if self.maximum is not None:
            return self.maximum
        return _LIMITS[self.type] - 1 if self.increment > 0 else -1

    @property
    def first(self) -> int:
        if self.start is not None:
            return self.start
        return self.low if self.increment > 0 else self.high

    def restart(self, value: int | None = None) -> None:
        self.last = self.first if value is None else value
        self.called = False
        self.ahead = 0


def option_number(argument: Any) -> int:
    if "Integer" in argument:
        return int(argument["Integer"].get("ival", 0))
    return int(argument["Float"]["fval"])
