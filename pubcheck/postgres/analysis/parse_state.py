"""The state of the analysis of one expression (parser/parse_node.c)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr

if TYPE_CHECKING:
    from pubcheck.postgres.input import InputContext
    from pubcheck.postgres.session import Session
    from pubcheck.postgres.session.syscache import SysCache


NOTHING = Relation(0, "", PG_CATALOG, "r", 0, seen=True)
"""The relation name of an expression that has no relation."""
_WITH_SETS = frozenset(("SELECT", "ORDER BY", "GROUP BY", "DISTINCT ON", "functions in FROM"))


class ParseState:
    """The relation in scope, and the session whose search path and settings apply.

    ``inputs`` reads the literals; it records which of them were frozen. ``transform_expr`` analyses the
    parts of an expression: each construct is a module of its own, and ``analyze`` knows them all.
    """

    clause = "WHERE"
    """The place of the expression in its query (p_expr_kind), in the words of errors."""
    nested = False
    """Whether the expression is in a sub-select."""
    merge_action: Callable[[object], str] | None = None
    """What merge_action() returns for a row of RETURNING, in a MERGE that runs."""

    def __init__(
        self,
        session: Session,
        relation: Relation,
        inputs: InputContext,
        transform_expr: Callable[[ParseState, Node], Expr],
    ) -> None:
        self.session = session
        self.cache: SysCache = inputs.cache
        self.relation = relation
        self.inputs = inputs
        self.transform_expr = transform_expr
        self.major = session.catalog.major
        self.frozen: list[tuple[int, frozenset[str]]] = []
        """The places of the literals whose value was fixed when they were read, and its causes."""

    def transform(self, node: Node) -> Expr:
        """An expression with its types, functions and operators found (``analyze.transform``)."""
        return self.transform_expr(self, node)

    def operator_signature(self, names: list[str], left: int, right: int) -> str:
        """op_signature_string."""
        start = f"{self.type_name(left)} " if left else ""
        return f"{start}{'.'.join(names)} {self.type_name(right)}"

    def error(
        self,
        sqlstate: str,
        message: str,
        location: int | None = None,
        key: str = "expression",
        *,
        hint: str | None = None,
        detail: str | None = None,
        **arguments: str,
    ) -> ServerError:
        """Return the error at a byte offset of the statement; a negative one is the server's "no position"."""
        place = location if location is not None and location >= 0 else None
        return ServerError(
            sqlstate, message, key=key, detail=detail, hint=hint, location=place, culprit=None, **arguments
        )

    def missing(
        self,
        message: str,
        key: str,
        signature: str,
        location: int,
        types: Sequence[int],
        *,
        exists: bool,
        reason: tuple[str | None, str | None],
    ) -> ServerError:
        """Return the refusal (42883) of an operator or function that does not exist for these types.

        ``reason`` is its DETAIL and HINT. It is assumed if an unknown statement may have created one. For built-in
        types and a name that ``exists`` on the server this is not expected.
        """
        own = exists and all(oid < FIRST_NORMAL_OID for oid in types)
        if not self.cache.complete_names and (not own or self.session.blind or self.session.extensions):
            self.session.assume("whether a function or operator for these types is created elsewhere")
        return self.error("42883", message, location, key, detail=reason[0], hint=reason[1], signature=signature)

    def take_set(self, location: int) -> None:
        """Refuse a set-returning function here (check_srf_call_placement). Raises ServerError 0A000."""
        if self.clause not in _WITH_SETS:
            message = "set-returning functions are not allowed in {clause}"
            raise self.error("0A000", message, location, "set-out-of-place", clause=self.clause)

    def type_name(self, oid: int) -> str:
        """format_type_be."""
        return self.cache.format_type(oid)
