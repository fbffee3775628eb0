"""Row filters that the server refuses, written so that it accepts them.

Each way of being refused has its remedies: texts for one node of the parse tree. They are tried on the filter's own
text, which keeps its style and comments, and what comes out is offered only when it is checked clean as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.remedies.filter_rewrites.filter_source import Site, Text, filter_extent
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_filter import Evidence, analyze, parse_state
from pubcheck.postgres.analysis.simple_filter import Refusal, check_simple
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.primnodes import Expr, nodes

if TYPE_CHECKING:
    from pubcheck.checks.remedies.filter_rewrites.context import Proposal, RewriteContext, Rewriters

_MAX_BYTES = 8_000
"""Of a filter that is rewritten; longer ones are written by machines."""
_MAX_STEPS = 8


class Rewriting(Struct, frozen=True):
    """A filter that is accepted in the place of one that is not.

    ``start`` and ``end`` are byte offsets of the filter in the statement, ``text`` its new text. ``steps`` are what was
    replaced by what; ``notes`` say what changes in meaning or cost. ``statements`` are what must be run before.
    """

    start: int
    end: int
    text: str
    steps: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    statements: tuple[str, ...]
    safe: bool


def rewrite(evidence: Evidence) -> Rewriting | None:
    """Return a filter that pubcheck expects to be accepted, or None. The session stays unchanged."""
    session = evidence.state.session
    with session.apart(), suppress(RecursionError, ValueError):
        return _rewrite(evidence, session.text)
    return None


def _rewrite(evidence: Evidence, statement: bytes) -> Rewriting | None:
    extent = filter_extent(statement, evidence.tree)
    if extent is None or extent[1] - extent[0] > _MAX_BYTES:
        return None
    judged = _judged(evidence.state, Text(statement[slice(*extent)]))
    proposals: list[Proposal] = []
    steps: list[tuple[str, str]] = []
    while judged is not None and judged.refusals:
        if len(proposals) == _MAX_STEPS:
            return None
        step = _step(judged)
        if step is None:
            return None
        judged, proposal, before = step
        proposals.append(proposal)
        steps.append((before, proposal.text))
    if judged is None or not proposals:
        return None
    return Rewriting(
        *extent,
        judged.text.text.decode(),
        tuple(steps),
        tuple(dict.fromkeys(proposal.note for proposal in proposals if proposal.note)),
        tuple(proposal.column.statement for proposal in proposals if proposal.column),
        all(proposal.safe for proposal in proposals),
    )


class _Judged(Struct):
    """A text with its verdict: what is in the server's way, from the root down."""

    state: ParseState
    text: Text
    refusals: list[Refusal]


def _judged(state: ParseState, text: Text) -> _Judged | None:
    p = parse_state(state.session, state.relation)
    try:
        return _Judged(p, text, list(_refusals(p, analyze(p, text.tree))))
    except (ServerError, Unknowable):
        return None


def _refusals(p: ParseState, expr: Expr) -> Iterator[Refusal]:
    """What the walk would object to, were each node alone."""
    for node in nodes(expr):
        refusal = check_simple(p, replace(node, args=[]))
        if refusal is not None:
            yield Refusal(refusal.key, node, refusal.oid, refusal.error)


def _step(judged: _Judged) -> tuple[_Judged, Proposal, str] | None:
    """One replacement that leaves less to object to."""
    for site, proposal in _proposals(judged):
        rewritten = _applied(judged, site, proposal)
        if rewritten is not None and len(rewritten.refusals) < len(judged.refusals):
            return rewritten, proposal, judged.text.source(site.node)
    return None


def _proposals(judged: _Judged) -> Iterator[tuple[Site, Proposal]]:
    """What may be tried, the ways that cost least first, for each node that is objected to."""
    from pubcheck.checks.remedies.filter_rewrites import builtin_names, casts, generated_column, time_zone
    from pubcheck.checks.remedies.filter_rewrites.context import RewriteContext

    workshops = [RewriteContext(judged.state, judged.text, refusal) for refusal in judged.refusals]
    for rewriters in (
        time_zone.RANGES,
        casts.REWRITERS,
        time_zone.REWRITERS,
        builtin_names.REWRITERS,
        generated_column.REWRITERS,
    ):
        # A column that cannot be read is the least that another column must hold, then the innermost node; elsewhere
        # the outermost comes first, as in the walk.
        if rewriters is generated_column.REWRITERS:
            workshops.reverse()
            workshops.sort(key=_is_no_column)
        for workshop in workshops:
            for site in judged.text.around(place_of(workshop.refusal.culprit)):
                yield from _tried(workshop, site, rewriters)


def _is_no_column(workshop: RewriteContext) -> bool:
    return workshop.refusal.culprit.node != "Var"


def _tried(workshop: RewriteContext, site: Site, rewriters: Rewriters) -> Iterator[tuple[Site, Proposal]]:
    for rewriter in (*rewriters.get(site.kind, ()), *rewriters.get("*", ())):
        try:
            for proposal in rewriter(workshop, site):
                yield site, proposal
        except (ValueError, Unknowable):
            continue


def _applied(judged: _Judged, site: Site, proposal: Proposal) -> _Judged | None:
    text = judged.text
    start, end = text.extent(site.node)
    new = proposal.text
    if proposal.parentheses and not text.enclosed(site.node) and not _alone(site):
        new = f"({new})"
    state = judged.state
    if proposal.column is not None:
        relation = replace(state.relation, columns=(*state.relation.columns, proposal.column.row))
        state = parse_state(state.session, relation)
    try:
        return _judged(state, Text(text.text[:start] + new.encode() + text.text[end:]))
    except ValueError:
        return None


def _alone(site: Site) -> bool:
    """Return whether a node is the whole filter, or commas stand around it."""
    return site.parent is None or site.parent.kind in ("CoalesceExpr", "MinMaxExpr", "A_ArrayExpr")


def place_of(expr: Expr) -> int:
    """A place in the text of an analysed node: its own, or else the first below it."""
    return next((place for node in nodes(expr) for place in (node.location, node.start) if place >= 0), -1)
