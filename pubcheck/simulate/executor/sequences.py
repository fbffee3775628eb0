"""Sequences: their values, which no rollback takes back (commands/sequence.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubcheck.postgres.catalog import AUTO, INTERNAL, RELATION
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT2, INT4, INT8
from pubcheck.simulate.log import Record
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.session import ServerSession

_LIMITS = {INT2: 1 << 15, INT4: 1 << 31, INT8: 1 << 63}
_LOGGED_AHEAD = 32
"""SEQ_LOG_VALS: values that nextval logs at a time."""


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
                value = None if argument is None else _number(argument)
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


def _number(argument: Any) -> int:
    if "Integer" in argument:
        return int(argument["Integer"].get("ival", 0))
    return int(argument["Float"]["fval"])


def sequence_of_column(session: ServerSession, relation: Relation, column: Column) -> int:
    """The sequence of a serial or identity column; a partition's identity is its root's."""
    catalog = session.database.catalog
    row = relation
    while True:
        own = row.column(column.name)
        if own is not None:
            for dependent, number, kind in catalog.dependents.get((RELATION, row.oid)):
                if number == own.number and kind in (AUTO, INTERNAL) and dependent[0] == RELATION:
                    found = catalog.relations.get(dependent[1])
                    if found is not None and found.kind == "S":
                        return found.oid
        if not row.parents:
            raise NotFollowed(f'the sequence of column "{column.name}"')
        row = catalog.relations[row.parents[0]]


def state_of(session: ServerSession, oid: int) -> SequenceState:
    states = session.database.sequences
    state = states.get(oid)
    if state is None:
        type_oid, options = session.database.catalog.definitions.get(("sequence", oid), (0, ()))
        state = SequenceState(type_oid, options)
        dict.__setitem__(states, oid, state)
    result: SequenceState = state
    return result


def next_value(session: ServerSession, oid: int) -> int:
    """nextval. Raises ServerError 2200H."""
    state = state_of(session, oid)
    relation = session.database.catalog.relations[oid]
    if not state.called:
        value = state.last
    else:
        value = state.last + state.increment
        if not state.low <= value <= state.high:
            if not state.cycle:
                end = "maximum" if state.increment > 0 else "minimum"
                limit = state.high if state.increment > 0 else state.low
                message = f'nextval: reached {end} value of sequence "{relation.name}" ({limit})'
                raise ServerError("2200H", message)
            value = state.low if state.increment > 0 else state.high
    if state.ahead <= 0:
        state.ahead = _LOGGED_AHEAD
        log_sequence(session, relation)
    state.ahead -= 1
    state.last, state.called = value, True
    session.sequence_values[oid] = value
    session.last_sequence = oid
    return value


def log_sequence(session: ServerSession, relation: Relation) -> None:
    """The record of a sequence's new state, which only the top-level transaction has a part in."""
    if relation.persistence == "p":
        transaction = session.current
        if not transaction.top:
            levels, transaction.levels = transaction.levels, transaction.levels[:1]
            session.xid()
            transaction.levels = levels
        session.database.append(Record, 90, xid=transaction.top, top=transaction.top, origin=session.origin)
