"""Statements that are applied one after the other, and what they see of the variables around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pubcheck.lexing.items import PsqlCommand
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.ddl.dml_targets import missing
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.plpgsql import command_failures
from pubcheck.postgres.plpgsql.host import ExecutionContext, Exhausted, Inner, Raised
from pubcheck.postgres.plpgsql.machine import Machine
from pubcheck.postgres.plpgsql.values import Value
from pubcheck.postgres.tokens import in_bytes
from pubcheck.source import Source


@contextmanager
def parameters(machine: Machine, node: Node) -> Iterator[None]:
    """What EXECUTE runs sees the values of USING as $1, $2, and so on, and no variable."""
    frame = machine.frame
    before = frame.parameters
    values: dict[str, Value] = {f"${at}": machine.value(each) for at, each in enumerate(node.get("params", ()), 1)}
    frame.parameters = values
    try:
        yield
    finally:
        frame.parameters = before


@contextmanager
def seen(machine: Machine) -> Iterator[None]:
    """The frame's variables are seen again."""
    frame = machine.frame
    before, frame.parameters = frame.parameters, None
    try:
        yield
    finally:
        frame.parameters = before


READ = 8
"""What it costs to read a character of what is executed."""


def script(machine: Machine, inner: Inner) -> None:
    """Every statement of a text. All of it is parsed first, and places are counted from its beginning."""
    text = inner.text.text
    statements = [item for item in Splitter(Source("", text)) if not isinstance(item, PsqlCommand)]
    parsed: list[tuple[Inner, tuple[str, Node]]] = []
    for at, item in enumerate(statements):
        # What precedes it is blanked, so that every offset is that in the whole text.
        machine.spend(READ * item.end)
        alone = " " * item.start + item.text if item.start else item.text
        number = inner.number if len(statements) == 1 else (*inner.number, at)
        part = Inner(inner.text.part(0, len(alone), alone), number)
        try:
            statement = parse(alone)
        except SyntaxRefused as refusal:
            whole = len(text) if at == len(statements) - 1 else item.end
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
    """The grammar refuses a text that EXECUTE runs; ``end`` is where the text ends."""
    sql = part.text.text
    about = re.match(r"\s*(create|alter|drop)\s+(or\s+replace\s+)?publication\b", sql, re.IGNORECASE)
    error = ServerError(
        refusal.sqlstate,
        refusal.message,
        key="syntax-error" if about else None,
        hint=refusal.hint,
        location=None if refusal.location is None else in_bytes(sql, refusal.location),
    )
    if error.location is None:
        error.location = in_bytes(sql) + end - len(sql)
        error.culprit = max(0, in_bytes(sql) - 1)
    machine.refuse(error, part)


def do(machine: Machine, inner: Inner, name: str, node: Node) -> None:
    in_block = machine.in_transaction or any(machine.doubt.handlers)
    refused = command_failures.refused_in_function(name, node, in_block=in_block)
    if refused is None and name in _CHANGES_ROWS:
        refused = missing(machine.session, name, node)
    if refused is not None:
        machine.fail(refused, inner)
        return
    doubt = machine.doubt
    standing = ExecutionContext(doubt.at_hand, doubt.shaky > 0, any(doubt.handlers), machine.excuse, doubt.in_branch)
    outcome = machine.host.do(inner, name, node, standing)
    if isinstance(outcome, ServerError):
        machine.doubt.failed_perhaps(outcome)
    elif not outcome:
        machine.doubt.shake()
    if name == "SelectStmt":
        machine.attempt(node, inner)
    elif name in _CHANGES_ROWS or command_failures.may_fail(machine.session, name, node):
        machine.doubt.risk()


_CHANGES_ROWS = frozenset(("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CallStmt"))
