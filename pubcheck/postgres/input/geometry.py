"""Input of the geometric types (utils/adt/geo_ops.c). Values are tuples of numbers."""

from __future__ import annotations

import math

from pubcheck.postgres.input import InputContext, after_blanks, input_error, invalid
from pubcheck.postgres.input.numbers import leading_float8

Point = tuple[float, float]


class _Scan:
    """A place in the text of a literal that is wholly wrong as soon as one part is."""

    __slots__ = ("at", "name", "text")

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.at = 0

    def wrong(self) -> Exception:
        return invalid(self.name, self.text)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def blanks(self) -> None:
        self.at = after_blanks(self.text, self.at)

    def expect(self, characters: str) -> None:
        if not self.peek() or self.peek() not in characters:
            raise self.wrong()
        self.at += 1

    def skip(self, character: str) -> bool:
        matches = self.peek() == character
        self.at += matches
        return matches

    def end(self) -> None:
        if self.at < len(self.text):
            raise self.wrong()

    def number(self) -> float:
        """single_decode."""
        value, self.at = leading_float8(self.text, self.at, self.name, self.text)
        return value

    def pair(self) -> Point:
        """pair_decode."""
        self.blanks()
        parenthesis = self.skip("(")
        x = self.number()
        self.expect(",")
        y = self.number()
        if parenthesis:
            self.expect(")")
            self.blanks()
        return x, y

    def path(self, brackets: bool, count: int) -> tuple[bool, tuple[Point, ...]]:
        """path_decode: whether the path is open, and its points."""
        self.blanks()
        depth, is_open = 0, self.peek() == "["
        if is_open:
            if not brackets:
                raise self.wrong()
            depth = 1
            self.at += 1
        elif self.peek() == "(":
            behind = after_blanks(self.text, self.at + 1)
            # A parenthesis around all of it, before that of the first point or as the only one.
            if self.text[behind : behind + 1] == "(" or self.text.rfind("(") == self.at:
                depth = 1
                self.at = behind
        points = []
        for _ in range(count):
            points.append(self.pair())
            self.skip(",")
        for level in range(depth, 0, -1):
            self.expect(")]" if is_open and level == 1 else ")")
            self.blanks()
        return is_open, tuple(points)


def _points(scan: _Scan) -> int:
    """pair_count: return the number of points that the commas imply. Raises if the number of commas is even."""
    commas = scan.text.count(",")
    if commas % 2 == 0:
        raise scan.wrong()
    return (commas + 1) // 2


def read_point(context: InputContext, text: str, typmod: int = -1) -> Point:
    scan = _Scan(text, "point")
    point = scan.pair()
    scan.end()
    return point


def read_lseg(context: InputContext, text: str, typmod: int = -1) -> tuple[Point, ...]:
    scan = _Scan(text, "lseg")
    _, points = scan.path(True, 2)
    scan.end()
    return points


def read_box(context: InputContext, text: str, typmod: int = -1) -> tuple[Point, ...]:
    scan = _Scan(text, "box")
    _, points = scan.path(False, 2)
    scan.end()
    # The upper right corner comes first.
    (first_x, first_y), (second_x, second_y) = points
    (high_x, low_x), (high_y, low_y) = _sorted(first_x, second_x), _sorted(first_y, second_y)
    return (high_x, high_y), (low_x, low_y)


def _sorted(first: float, second: float) -> Point:
    """The greater number first; NaN is greater than all others (float8_lt)."""
    less = first == first and (second != second or first < second)
    return (second, first) if less else (first, second)


def read_polygon(context: InputContext, text: str, typmod: int = -1) -> tuple[Point, ...]:
    scan = _Scan(text, "polygon")
    _, points = scan.path(False, _points(scan))
    scan.end()
    return points


def read_path(context: InputContext, text: str, typmod: int = -1) -> tuple[bool, tuple[Point, ...]]:
    scan = _Scan(text, "path")
    count = _points(scan)
    scan.blanks()
    parenthesis = scan.peek() == "(" and text.rfind("(") == scan.at
    scan.at += parenthesis
    path = scan.path(True, count)
    if parenthesis:
        scan.expect(")")
        scan.blanks()
    scan.end()
    return path


_EPSILON = 1.0e-6


def _is_equal(left: Point, right: Point) -> bool:
    """point_eq_point: exact where a NaN is, else within EPSILON."""
    if any(map(math.isnan, (*left, *right))):
        return all(a == b or (a != a and b != b) for a, b in zip(left, right, strict=True))
    return all(map(_close, left, right))


def read_line(context: InputContext, text: str, typmod: int = -1) -> tuple[float, float, float]:
    scan = _Scan(text, "line")
    scan.blanks()
    if scan.skip("{"):
        a = scan.number()
        scan.expect(",")
        b = scan.number()
        scan.expect(",")
        c = scan.number()
        scan.expect("}")
        scan.blanks()
        scan.end()
        if abs(a) <= _EPSILON and abs(b) <= _EPSILON:
            raise input_error("22P02", "invalid line specification: A and B cannot both be zero")
        return a, b, c
    _, points = scan.path(True, 2)
    scan.end()
    if _is_equal(*points):
        raise input_error("22P02", "invalid line specification: must be two distinct points")
    return _through(*points)


def _through(first: Point, second: Point) -> tuple[float, float, float]:
    """line_construct and point_sl: A, B and C of Ax + By + C = 0."""
    if _close(first[0], second[0]):
        slope = math.inf
    elif _close(first[1], second[1]):
        slope = 0.0
    else:
        slope = _quotient(_difference(first[1], second[1]), _difference(first[0], second[0]))
    if math.isinf(slope):
        return -1.0, 0.0, first[0]
    if slope == 0.0:
        return 0.0, -1.0, first[1]
    return slope, -1.0, _difference(first[1], _product(slope, first[0])) or 0.0


def _close(left: float, right: float) -> bool:
    """FPeq."""
    return left == right or abs(left - right) <= _EPSILON


def _in_range(result: float, overflows: bool, underflows: bool) -> float:
    if math.isinf(result) and overflows:
        raise input_error("22003", "value out of range: overflow")
    if result == 0.0 and underflows:
        raise input_error("22003", "value out of range: underflow")
    return result


def _difference(left: float, right: float) -> float:
    """float8_mi."""
    return _in_range(left - right, not (math.isinf(left) or math.isinf(right)), False)


def _product(left: float, right: float) -> float:
    """float8_mul."""
    return _in_range(left * right, not (math.isinf(left) or math.isinf(right)), left != 0.0 and right != 0.0)


def _quotient(left: float, right: float) -> float:
    """float8_div by a number other than 0."""
    return _in_range(left / right, not math.isinf(left), left != 0.0 and not math.isinf(right))


def read_circle(context: InputContext, text: str, typmod: int = -1) -> tuple[Point, float]:
    scan = _Scan(text, "circle")
    scan.blanks()
    depth = 0
    if scan.skip("<"):
        depth = 1
    elif scan.peek() == "(":
        behind = after_blanks(text, scan.at + 1)
        if text[behind : behind + 1] == "(":
            depth, scan.at = 1, behind
    centre = scan.pair()
    scan.skip(",")
    radius = scan.number()
    if radius < 0:
        raise scan.wrong()
    if depth:
        scan.expect(")>")
        scan.blanks()
    scan.end()
    return centre, radius
