"""Ways around what depends on TimeZone: ranges of moments with an offset, or the clock of UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from pubcheck.checks.remedies.filter_rewrites.filter_source import (
    Proposal,
    RewriteContext,
    Rewriters,
    Site,
    items,
    name_of,
    string,
)
from pubcheck.postgres.oids import DATE, INTERVAL, TIME, TIMESTAMP, TIMESTAMPTZ
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT
from pubcheck.postgres.tokens import quote_literal

_UTC = "this uses the days and hours of UTC: write the intended time zone"
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d+)?)?)?")
_MIRRORED = {"=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


# --- Ranges -------------------------------------------------------------------------------------------------------


def _range(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``created::date = '2024-01-01'``, ``date_trunc('month', created) >= ...``: a range of the column itself."""
    body = site.body
    operator = name_of(body)
    if body["kind"] == "AEXPR_BETWEEN":
        first, last = (_date(item) for item in items(body["rexpr"]))
        column, unit = _truncated(w, body["lexpr"])
        if first and last and column is not None:
            yield _between(w, column, first, _after(last, unit))
    elif body["kind"] == "AEXPR_OP" and operator in _MIRRORED and "lexpr" in body:
        for side, opposite, seen in (
            ("lexpr", "rexpr", operator),
            ("rexpr", "lexpr", _MIRRORED[operator]),
        ):
            day = _date(body[opposite])
            column, unit = _truncated(w, body[side])
            if day is None or column is None or day != _start(day, unit):
                continue
            if seen == "=":
                yield _between(w, column, day, _after(day, unit))
            else:
                bound = _after(day, unit) if seen in (">", "<=") else day
                sign = ">=" if seen in (">", ">=") else "<"
                yield Proposal(f"{w.operand(column)} {sign} {_literal(w, column, bound)}", _note(w, column))
    elif body["kind"] == "AEXPR_LIKE" and operator == "~~":
        yield from _like(w, body)


def _between(w: RewriteContext, column: Node, first: date, end: date) -> Proposal:
    source = w.operand(column)
    bounds = f"{source} >= {_literal(w, column, first)} AND {source} < {_literal(w, column, end)}"
    return Proposal(bounds, _note(w, column), parentheses=True)


def _literal(w: RewriteContext, column: Node, day: date) -> str:
    return quote_literal(f"{day.isoformat()} 00:00:00+00" if w.type(column) == TIMESTAMPTZ else day.isoformat())


def _note(w: RewriteContext, column: Node) -> str:
    return _UTC if w.type(column) == TIMESTAMPTZ else ""


def _like(w: RewriteContext, body: Node) -> Iterator[Proposal]:
    """``paid::text LIKE '2024-%'``."""
    cast, pattern = body["lexpr"], string(body["rexpr"])
    if "TypeCast" not in cast or pattern is None:
        return
    column = cast["TypeCast"]["arg"]
    match = re.fullmatch(r"(\d{4})-(?:(\d\d)-(?:(\d\d))?)?%", pattern)
    if match is None or w.type(column) not in (DATE, TIMESTAMP, TIMESTAMPTZ):
        return
    first = date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    yield _between(w, column, first, _after(first, "day" if match[3] else "month" if match[2] else "year"))


def _date(node: Node) -> date | None:
    """The day that a literal names. Raises ValueError for the 31st of February."""
    match = _DAY.fullmatch(string(node) or "")
    return date(*map(int, match.groups())) if match is not None else None


def _truncated(w: RewriteContext, node: Node) -> tuple[Node | None, str]:
    """(the moment, the unit) of a timestamptz that is cut to a date or by date_trunc."""
    ((kind, body),) = node.items()
    args = body.get("args", []) if kind == "FuncCall" else []
    column, unit = None, "day"
    if kind == "TypeCast" and w.type(node) == DATE:
        column = body["arg"]
    elif kind == "FuncCall" and name_of(body, "funcname") == "date" and len(args) == 1:
        column = args[0]
    elif kind == "FuncCall" and name_of(body, "funcname") == "date_trunc" and len(args) == 2:
        column, unit = args[1], (string(args[0]) or "").lower()
    if column is None or unit not in ("day", "week", "month", "quarter", "year") or w.type(column) != TIMESTAMPTZ:
        return None, unit
    return column, unit


def _start(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=day.month - (day.month - 1) % 3, day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def _after(day: date, unit: str) -> date:
    """The first day after the unit that a day begins."""
    if unit in ("day", "week"):
        return day + timedelta(days=1 if unit == "day" else 7)
    months = day.year * 12 + day.month - 1 + {"month": 1, "quarter": 3, "year": 12}[unit]
    return date(months // 12, months % 12 + 1, 1)


# --- The clock of UTC ---------------------------------------------------------------------------------------------


def _moment(w: RewriteContext, node: Node) -> str | None:
    """A date or timestamp as the moment that it is in UTC, in parentheses where needed."""
    oid = w.type(node)
    text = string(node)
    if text is not None and oid in (DATE, TIMESTAMP):
        if _MOMENT.fullmatch(text) is None:
            return None
        return quote_literal(f"{text}{'' if ':' in text else ' 00:00:00'}+00") + "::timestamptz"
    if oid == DATE:
        return f"({w.operand(node)}::timestamp AT TIME ZONE 'UTC')"
    return f"({w.operand(node)} AT TIME ZONE 'UTC')" if oid == TIMESTAMP else None


def _operands(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """A timestamptz compared with dates or timestamps: these become moments."""
    body = site.body
    if "lexpr" not in body:
        return
    operands = [body["lexpr"], *items(body["rexpr"])]
    kinds = [w.type(operand) for operand in operands]
    if TIMESTAMPTZ in kinds and name_of(body) not in ("+", "-"):
        changes = [
            (operand, _moment(w, operand) or "")
            for operand, kind in zip(operands, kinds, strict=True)
            if kind in (DATE, TIMESTAMP)
        ]
        if changes and all(text for _, text in changes):
            yield Proposal(w.replaced(site.node, *changes), _UTC)
    if kinds in ([TIMESTAMPTZ, INTERVAL], [INTERVAL, TIMESTAMPTZ]) and name_of(body) in ("+", "-"):
        moment = operands[kinds.index(TIMESTAMPTZ)]
        inner = w.replaced(site.node, (moment, f"({w.operand(moment)} AT TIME ZONE 'UTC')"))
        yield Proposal(f"({inner}) AT TIME ZONE 'UTC'", _UTC, parentheses=True)


def _cast(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """Casts between timestamptz and what has no time zone."""
    argument = site.body["arg"]
    source, target = w.type(argument), w.type(site.node)
    if source == TIMESTAMPTZ and target in (DATE, TIME):
        yield Proposal(w.replaced(site.node, (argument, f"({w.operand(argument)} AT TIME ZONE 'UTC')")), _UTC)
    elif source == TIMESTAMPTZ and target == TIMESTAMP:
        yield Proposal(f"{w.operand(argument)} AT TIME ZONE 'UTC'", _UTC, parentheses=True)
    elif target == TIMESTAMPTZ:
        moment = _moment(w, argument)
        if moment is not None:
            yield Proposal(moment, _UTC)


def _call(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """date_trunc, date_part and extract of moments or dates: of timestamps."""
    name = name_of(site.body, "funcname")
    if name not in ("date_trunc", "date_part", "extract", "date", "time"):
        return
    args = site.body.get("args", [])
    kinds = [w.type(argument) for argument in args]
    if len(args) > 2:
        return
    zoned = TIMESTAMPTZ in kinds
    if not zoned and DATE not in kinds:
        return
    changes = []
    for argument, kind in zip(args, kinds, strict=True):
        if kind == TIMESTAMPTZ:
            changes.append((argument, f"{w.operand(argument)} AT TIME ZONE 'UTC'"))
        elif kind == DATE:
            changes.append((argument, f"{w.operand(argument)}::timestamp"))
    text = w.replaced(site.node, *changes)
    if name == "date_trunc" and zoned:
        yield Proposal(f"{text} AT TIME ZONE 'UTC'", _UTC, parentheses=True)
    yield Proposal(text, _UTC if zoned else "")


def _overlaps(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """OVERLAPS of dates, which the server takes for moments: of timestamps, which need no time zone."""
    args = site.body.get("args", [])
    kinds = [w.type(argument) for argument in args]
    if name_of(site.body, "funcname") == "overlaps" and DATE in kinds and TIMESTAMPTZ not in kinds:
        changes = [
            (argument, f"{w.operand(argument)}::timestamp")
            for argument, kind in zip(args, kinds, strict=True)
            if kind == DATE
        ]
        yield Proposal(w.replaced(site.node, *changes), safe=True)


def _in_zone(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``date_trunc('day', created, 'UTC')``, which is immutable since 16 only."""
    args = site.body.get("args", [])
    if name_of(site.body, "funcname") == "date_trunc" and len(args) == 3 and w.type(args[1]) == TIMESTAMPTZ:
        unit, moment, zone = w.source(args[0]), w.operand(args[1]), w.operand(args[2])
        cut = f"date_trunc({unit}, {moment} AT TIME ZONE {zone})"
        yield Proposal(f"{cut} AT TIME ZONE {zone}", safe=True, parentheses=True)


def _year_as_text(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """``to_char(paid, 'YYYY') = '2024'``: the year as a number."""
    body = site.body
    call, year = body.get("lexpr", {}).get("FuncCall"), string(body["rexpr"])
    if body["kind"] != "AEXPR_OP" or call is None or name_of(call, "funcname") != "to_char":
        return
    args = call.get("args", [])
    if len(args) == 2 and string(args[1]) == "YYYY" and year and re.fullmatch(r"[1-9]\d{3}", year):
        zoned = w.type(args[0]) == TIMESTAMPTZ
        moment = f"{w.operand(args[0])} AT TIME ZONE 'UTC'" if zoned else w.source(args[0])
        changes = ((body["lexpr"], f"extract(year FROM {moment})"), (body["rexpr"], year))
        yield Proposal(w.replaced(site.node, *changes), _UTC if zoned else "")


def _widened(w: RewriteContext, site: Site) -> Iterator[Proposal]:
    """Convert explicitly what the server would turn into a timestamptz, as in ``coalesce(created, paid)``."""
    if w.refusal.culprit.form == IMPLICIT and w.refusal.culprit.type == TIMESTAMPTZ:
        moment = _moment(w, site.node)
        if moment is not None:
            yield Proposal(moment, _UTC)


RANGES: Rewriters = {"A_Expr": (_range,), "FuncCall": (_overlaps,)}
REWRITERS: Rewriters = {
    "A_Expr": (_year_as_text, _operands),
    "FuncCall": (_call, _in_zone, _widened),
    "TypeCast": (_cast, _widened),
    "*": (_widened,),
}
