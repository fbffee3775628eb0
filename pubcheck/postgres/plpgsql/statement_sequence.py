"""Statements that are applied one after the other, and the variables that they see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pubcheck.lexing.items import PsqlCommand
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.catalog import PUBLICATION
from pubcheck.postgres.ddl.dml_targets import missing_target
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused
from pubcheck.postgres.plpgsql import command_failures
from pubcheck.postgres.plpgsql.conditions import catches
from pubcheck.postgres.plpgsql.host import ExecutionContext, Exhausted, Inner, Raised
from pubcheck.postgres.plpgsql.machine import Machine
from pubcheck.postgres.plpgsql.values import Value
from pubcheck.postgres.tokens import in_bytes
from pubcheck.source import Source


@contextmanager
def execute_parameters(machine: Machine, node: Node) -> Iterator[None]:
    """Make the values of USING visible as $1, $2 and so on, and hide the variables, as EXECUTE does."""
    frame = machine.frame
    before = frame.parameters
    values: dict[str, Value] = {
        f"${number}": machine.value(param) for number, param in enumerate(node.get("params", ()), 1)
    }
    frame.parameters = values
    try:
        yield
    finally:
        frame.parameters = before


@contextmanager
def frame_variables(machine: Machine) -> Iterator[None]:
    """Make the frame's variables visible again."""
    frame = machine.frame
    before, frame.parameters = frame.parameters, None
    try:
        yield
    finally:
        frame.parameters = before


READ = 8
"""The cost of reading a character of the SQL that is executed."""


def script(machine: Machine, inner: Inner) -> None:
    """Apply every statement of a text. All of it is parsed first, and places are counted from its beginning."""
    text = inner.text.text
    statements = [item for item in Splitter(Source("", text)) if not isinstance(item, PsqlCommand)]
    parsed: list[tuple[Inner, tuple[str, Node]]] = []
    for position, item in enumerate(statements):
        # What precedes it is blanked, so that every offset is that in the whole text.
        machine.spend(READ * item.end)
        alone = " " * item.start + item.text if item.start else item.text
        number = inner.number if len(statements) == 1 else (*inner.number, position)
        part = Inner(inner.text.part(0, len(alone), alone), number)
        try:
            statement = parse_with(machine.session.catalog.major.newer_grammar, alone)
        except SyntaxRefused as refusal:
            whole = len(text) if position == len(statements) - 1 else item.end
            syntax_error(machine, part, refusal, whole)
            return
        if statement is not None:
            parsed.append((part, statement))
    for part, (name, body) in parsed:
        machine.left -= 1
        if machine.left < 0:
            raise Exhausted
        if name == "TransactionStmt":
            raise Raised(ServerError("0A000", "EXECUTE of transaction commands is not implemented"), part)
        machine.apply(part, name, body)


def syntax_error(machine: Machine, part: Inner, refusal: SyntaxRefused, end: int) -> None:
    """Return the grammar's error for a text that EXECUTE runs; ``end`` is where the text ends."""
    sql = part.text.text
    about = re.match(r"\s*(create|alter|drop)\s+(or\s+replace\s+)?publication\b", sql, re.IGNORECASE)
    error = ServerError(
        refusal.sqlstate,
        refusal.message,
        key="syntax-error" if about else None,
        detail=refusal.detail,
        hint=refusal.hint,
        location=None if refusal.location is None else in_bytes(sql, refusal.location),
    )
    if error.location is None:
        error.location = in_bytes(sql) + end - len(sql)
        error.culprit = max(0, in_bytes(sql) - 1)
    machine.refuse(error, part)


def do(machine: Machine, inner: Inner, name: str, node: Node) -> None:
    in_block = machine.in_transaction or any(machine.uncertainty.handlers)
    refused = command_failures.refused_in_function(name, node, in_block=in_block)
    if refused is None and name in _CHANGES_ROWS:
        refused = missing_target(machine.session, name, node)
    if refused is not None:
        machine.fail(refused, inner)
        return
    uncertainty = machine.uncertainty
    context = ExecutionContext(
        uncertainty.is_uncertain,
        uncertainty.unknown_dependencies > 0,
        any(uncertainty.handlers),
        machine.is_excused,
        uncertainty.in_branch,
    )
    may_exist = name == "CreatePublicationStmt" and _may_exist_already(machine, node["pubname"])
    outcome = machine.host.do(inner, name, node, context)
    if isinstance(outcome, ServerError):
        machine.uncertainty.assume_failure(outcome)
    elif may_exist or not outcome:
        machine.uncertainty.depend_on_unknown()
    if name == "SelectStmt":
        machine.attempt(node, inner)
    elif name in _CHANGES_ROWS or command_failures.may_fail(machine.session, name, node):
        machine.uncertainty.assume_risk()


def _may_exist_already(machine: Machine, publication: str) -> bool:
    """Whether a handler expects that a publication, which these files do not create earlier, exists already."""
    session = machine.session
    known = publication in session.catalog.publication_names or session.is_closed(PUBLICATION, 0, publication)
    return not known and any(catches(conditions, "42710") for conditions in machine.uncertainty.handlers)


_CHANGES_ROWS = frozenset(("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CallStmt"))
