"""Options of a new sequence, a serial's or identity column's too (commands/sequence.c: init_params).

Such refusals are not reported; the sequence, or the table that it belongs to, is then not created.
"""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT2, INT4, INT8
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

_BITS = {INT2: 15, INT4: 31, INT8: 63}
_accepted: list[Iterable[Node]] = [()]
"""The options of a bigint sequence that were accepted last: the trees of a dump's sequences share them."""


def refuse_options(session: Session, nodes: Iterable[Node], of_type: int = INT8) -> None:
    """Raise ServerError 42601, 22023. ``of_type`` is the sequence's type unless the options name another."""
    if nodes is _accepted[0] and of_type == INT8:
        return
    arguments: dict[str, Node] = {}
    for item in nodes:
        option = item["DefElem"]
        if option["defname"] in arguments:
            raise ServerError("42601", "conflicting or redundant options")
        arguments[option["defname"]] = option.get("arg", {})
    if "TypeName" in arguments.get("as", {}):
        of_type = session.type_oid(arguments["as"]["TypeName"])
        if of_type and of_type not in _BITS:
            raise ServerError("22023", "sequence type must be smallint, integer, or bigint")
    bits = _BITS.get(of_type)
    if bits is None:
        return
    numbers = {name: number for name, node in arguments.items() if (number := _number(node)) is not None}
    increment = numbers.get("increment", 1)
    if increment == 0:
        raise ServerError("22023", "INCREMENT must not be zero")
    up = increment > 0
    lowest, highest = -(1 << bits), (1 << bits) - 1
    high = numbers.get("maxvalue", highest if up else -1)
    low = numbers.get("minvalue", 1 if up else lowest)
    for name, value in (("MAXVALUE", high), ("MINVALUE", low)):
        if not lowest <= value <= highest:
            raise ServerError("22023", f"{name} ({value}) is out of range for sequence data type")
    if low >= high:
        raise ServerError("22023", f"MINVALUE ({low}) must be less than MAXVALUE ({high})")
    start = numbers.get("start", low if up else high)
    for name, value in (("START", start), ("RESTART", numbers.get("restart", start))):
        if not low <= value <= high:
            raise ServerError("22023", f"{name} value ({value}) is not between MINVALUE ({low}) and MAXVALUE ({high})")
    if numbers.get("cache", 1) <= 0:
        raise ServerError("22023", "CACHE must be greater than zero")
    if "as" not in arguments and of_type == INT8:
        _accepted[0] = nodes


def _number(value: Node) -> int | None:
    """Return the number of an option; None for NO MAXVALUE and the like."""
    if "Integer" in value:
        return int(value["Integer"].get("ival", 0))
    if "Float" not in value:
        return None
    digits = value["Float"].get("fval", "")
    return int(digits) if digits.lstrip("+-").isdigit() and len(digits) < _MANY else None


_MANY = 40
