"""Output of the geometric types (utils/adt/geo_ops.c)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.output.dispatch import OutputContext, Sender, Writer
from pubcheck.postgres.output.numbers import float_writer

Point = tuple[float, float]


def _points(context: OutputContext) -> Callable[[Sequence[Point]], str]:
    """path_encode, without the brackets."""
    write = float_writer(context, False)
    return lambda points: ",".join(f"({write(x)},{write(y)})" for x, y in points)


def _around(opening: str, closing: str) -> Callable[[OutputContext, int], Writer]:
    def maker(context: OutputContext, type_oid: int) -> Writer:
        points = _points(context)
        return lambda value: f"{opening}{points(value)}{closing}"

    return maker


box_out, lseg_out, polygon_out = _around("", ""), _around("[", "]"), _around("(", ")")


def point_out(context: OutputContext, type_oid: int) -> Writer:
    points = _points(context)
    return lambda value: points((value,))


def path_out(context: OutputContext, type_oid: int) -> Writer:
    points = _points(context)

    def out(value: tuple[bool, Sequence[Point]]) -> str:
        is_open, corners = value
        return f"[{points(corners)}]" if is_open else f"({points(corners)})"

    return out


def line_out(context: OutputContext, type_oid: int) -> Writer:
    write = float_writer(context, False)
    return lambda value: f"{{{','.join(map(write, value))}}}"


def circle_out(context: OutputContext, type_oid: int) -> Writer:
    points, write = _points(context), float_writer(context, False)
    return lambda value: f"<{points((value[0],))},{write(value[1])}>"


def _packed(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}d", *numbers)


def _flat(points: Sequence[Point]) -> bytes:
    return _packed(*(number for point in points for number in point))


def _sender(send: Callable[[Any], bytes]) -> Callable[[OutputContext, int], Sender]:
    return lambda context, type_oid: send


point_send = line_send = _sender(lambda value: _packed(*value))
box_send = lseg_send = _sender(_flat)
polygon_send = _sender(lambda points: struct.pack(">i", len(points)) + _flat(points))
path_send = _sender(lambda value: struct.pack(">?i", not value[0], len(value[1])) + _flat(value[1]))
circle_send = _sender(lambda value: _packed(*value[0], value[1]))
