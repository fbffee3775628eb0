"""Functions that the unit creates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Step
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.executor.expressions import StatementBuilder
    from pubcheck.simulate.executor.tables import Table


def routine_step(builder: StatementBuilder, expr: Expr, proc: Proc) -> Step | None:
    raise NotFollowed(f"what the function {proc.name} gives")


def trigger_routine(session: Backend, table: Table, node: Node) -> Any:
    raise NotFollowed(f'the trigger "{node["trigname"]}"')
