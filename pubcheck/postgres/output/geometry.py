"""Output of the geometric types (utils/adt/geo_ops.c)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from pubcheck.postgres.output.dispatch import OutputContext, Sender, TypeOutput, Writer
from pubcheck.postgres.output.numbers import float_writer

Point = tuple[float, float]


def _points(context: OutputContext) -> Callable[[Sequence[Point]], str]:
    """path_encode, without the brackets."""
    write = float_writer(context, False)
    return lambda points: ",".join(f"({write(x)},{write(y)})" for x, y in points)


def _between(opening: str, closing: str) -> Callable[[OutputContext, int], Writer]:
    def maker(context: OutputContext, type_oid: int) -> Writer:
        points = _points(context)
        return lambda value: f"{opening}{points(value)}{closing}"

    return maker


def _point(context: OutputContext, type_oid: int) -> Writer:
    points = _points(context)
    return lambda value: points((value,))


def _path(context: OutputContext, type_oid: int) -> Writer:
    points = _points(context)

    def out(value: tuple[bool, Sequence[Point]]) -> str:
        is_open, corners = value
        return f"[{points(corners)}]" if is_open else f"({points(corners)})"

    return out


def _line(context: OutputContext, type_oid: int) -> Writer:
    write = float_writer(context, False)
    return lambda value: f"{{{','.join(map(write, value))}}}"


def _circle(context: OutputContext, type_oid: int) -> Writer:
    points, write = _points(context), float_writer(context, False)
    return lambda value: f"<{points((value[0],))},{write(value[1])}>"


def _packed(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}d", *numbers)


def _flat(points: Sequence[Point]) -> bytes:
    return _packed(*(number for point in points for number in point))


def _output(writer: Callable[[OutputContext, int], Writer], send: Sender) -> TypeOutput:
    return TypeOutput(writer, lambda context, type_oid: send)


POINT = _output(_point, lambda value: _packed(*value))
LINE = _output(_line, lambda value: _packed(*value))
BOX, LSEG = _output(_between("", ""), _flat), _output(_between("[", "]"), _flat)
POLYGON = _output(_between("(", ")"), lambda points: struct.pack(">i", len(points)) + _flat(points))
PATH = _output(_path, lambda value: struct.pack(">?i", not value[0], len(value[1])) + _flat(value[1]))
CIRCLE = _output(_circle, lambda value: _packed(*value[0], value[1]))
