"""The items of a jsonpath, and how they are written (utils/adt/jsonpath.c: printJsonPathItem)."""

from __future__ import annotations

from collections.abc import Sequence

_PRIORITIES = {
    "||": 0,
    "&&": 1,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "starts with"), 2),
    **dict.fromkeys("+-", 3),
    **dict.fromkeys("*/%", 4),
    **dict.fromkeys(("unary +", "unary -"), 5),
}
"""operationPriority of operators; that of any other item is greater."""
_HIGHEST = 6
_PREDICATES = frozenset(
    ("||", "&&", "==", "!=", "<", "<=", ">", ">=", "starts with", "like_regex", "!", "is unknown", "exists")
)
_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_ESCAPED = str.maketrans({**{chr(code): f"\\u{code:04x}" for code in range(32)}, **_ESCAPES})


def escaped(text: str) -> str:
    """escape_json."""
    return f'"{text.translate(_ESCAPED)}"'


class Item:
    """An item and the accessors that follow it.

    ``kind`` is an operator, "number", "subscripts", "filter", "like_regex", "exists", "is unknown", or "text" for any
    item that is written as its ``text``.
    """

    __slots__ = ("args", "following", "kind", "text")

    def __init__(self, kind: str, text: str = "", args: Sequence[Item | None] = ()) -> None:
        self.kind = kind
        self.text = text
        self.args = args
        self.following: list[Item] = []

    @property
    def predicate(self) -> bool:
        return self.kind in _PREDICATES and not self.following

    def shown(self, brackets: bool) -> str:
        """printJsonPathItem, of all items of the chain."""
        return self._alone(brackets) + "".join(item._alone(True) for item in self.following)

    def _alone(self, brackets: bool) -> str:
        if self.kind == "text":
            return self.text
        if self.kind == "number":
            return f"({self.text})" if self.following else self.text
        if self.kind in _PRIORITIES or self.kind == "like_regex":
            return f"({self._operation()})" if brackets else self._operation()
        inner = ",".join("" if arg is None else arg.shown(False) for arg in self.args)
        return _AROUND[self.kind][0] + inner + _AROUND[self.kind][1]

    def _operation(self) -> str:
        priority = _PRIORITIES.get(self.kind, _HIGHEST)
        sides = [arg.shown(_PRIORITIES.get(arg.kind, _HIGHEST) <= priority) for arg in self.args if arg is not None]
        if self.kind == "like_regex":
            return f"{sides[0]} like_regex {self.text}"
        if self.kind.startswith("unary"):
            return self.kind[-1] + sides[0]
        return f"{sides[0]} {self.kind} {sides[1]}"


_AROUND = {
    "!": ("!(", ")"),
    "is unknown": ("(", ") is unknown"),
    "exists": ("exists (", ")"),
    "filter": ("?(", ")"),
    "subscripts": ("[", "]"),
}
