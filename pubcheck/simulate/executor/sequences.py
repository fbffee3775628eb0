"""Sequences: their values, which a rollback does not undo (commands/sequence.c)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog import AUTO, INTERNAL, RELATION
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.sequence_state import SequenceState, option_number
from pubcheck.simulate.server_state import Record

_LOGGED_AHEAD = 32
"""SEQ_LOG_VALS: values after the one that is logged which need no record."""


def sequence_of_column(session: Backend, relation: Relation, column: Column) -> int:
    """The sequence of a serial or identity column; a partition's identity is its root's."""
    catalog = session.database.catalog
    row = relation
    while True:
        own = row.column(column.name)
        if own is not None:
            for dependent, number, kind in catalog.dependents.get((RELATION, row.oid)):
                if number == own.number and kind in (AUTO, INTERNAL) and dependent[0] == RELATION:
                    dependent_relation = catalog.relations.get(dependent[1])
                    if dependent_relation is not None and dependent_relation.kind == "S":
                        return dependent_relation.oid
        if not row.parents:
            raise NotFollowed(f'the sequence of column "{column.name}"')
        row = catalog.relations[row.parents[0]]


def state_of(session: Backend, oid: int) -> SequenceState:
    states = session.database.sequences
    state = states.get(oid)
    if state is None:
        type_oid, options = session.database.catalog.definitions.get(("sequence", oid), (0, ()))
        state = SequenceState(type_oid, options)
        dict.__setitem__(states, oid, state)
    result: SequenceState = state
    return result


def next_value(session: Backend, oid: int) -> int:
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
    if state.ahead <= 0 or not state.called:
        state.ahead = _LOGGED_AHEAD
        log_sequence(session, relation)
    else:
        state.ahead -= 1
    state.last, state.called = value, True
    session.sequence_values[oid] = value
    session.last_sequence = oid
    return value


def log_sequence(session: Backend, relation: Relation) -> None:
    """The record of a sequence's new state, which only the top-level transaction has a part in."""
    if relation.persistence == "p":
        session.append(Record, 90, xid=session.top_xid())


def set_value(session: Backend, oid: int, value: int, called: bool = True) -> int:
    """setval. Raises ServerError 22003."""
    state, relation = state_of(session, oid), session.database.catalog.relations[oid]
    if not state.low <= value <= state.high:
        raise ServerError(
            "22003",
            f'setval: value {value} is out of bounds for sequence "{relation.name}" ({state.low}..{state.high})',
        )
    if called:
        session.sequence_values[oid] = value
    state.last, state.called, state.ahead = value, called, 0
    log_sequence(session, relation)
    return value


def current_value(session: Backend, oid: int) -> int:
    """currval. Raises ServerError 55000."""
    if oid not in session.sequence_values:
        name = session.database.catalog.relations[oid].name
        raise ServerError("55000", f'currval of sequence "{name}" is not yet defined in this session')
    return session.sequence_values[oid]


def last_value(session: Backend) -> int:
    if not session.last_sequence:
        raise ServerError("55000", "lastval is not yet defined in this session")
    return session.sequence_values[session.last_sequence]


def change_sequence(session: Backend, relation: Relation, options: Any) -> None:
    """ALTER SEQUENCE: the options, and RESTART; a rollback takes it back."""
    state = state_of(session, relation.oid).copy()
    state.apply(options)
    for item in options:
        if item["DefElem"]["defname"] == "restart":
            argument = item["DefElem"].get("arg")
            state.restart(None if argument is None else option_number(argument))
    _refuse_limits(state)
    session.database.sequences.put(relation.oid, state)
    log_sequence(session, relation)


def _refuse_limits(state: SequenceState) -> None:
    """The checks of init_params. Raises ServerError 22023."""
    low, high = state.low, state.high
    if low >= high:
        raise ServerError("22023", f"MINVALUE ({low}) must be less than MAXVALUE ({high})")
    for name, value in (("START", state.first), ("RESTART", state.last)):
        if value < low:
            raise ServerError("22023", f"{name} value ({value}) cannot be less than MINVALUE ({low})")
        if value > high:
            raise ServerError("22023", f"{name} value ({value}) cannot be greater than MAXVALUE ({high})")
