"""Migrations in Python as trees: the place of a node in the text, and the value of an expression if it can be read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from pubcheck.extract.frameworks.operations import Place, Unreadable
from pubcheck.source import Utf8

LARGEST = 4 << 20
"""Characters of a migration that is parsed; a larger one holds data."""


class Module:
    """A program's tree. ``functions`` are those at its top, ``constants`` the names that are given one value there."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        # Columns count bytes of UTF-8.
        self._utf8 = Utf8(text)
        self._lines = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", self._utf8.data))]
        self.functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        self.constants = _constants(self.tree)

    def place(self, node: ast.expr | ast.stmt) -> Place:
        """Return the offsets in the text at which a node begins and ends."""
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )

    def place_of(self, node: ast.expr | None) -> Place | None:
        return self.place(node) if node is not None else None

    def _offset(self, line: int, column: int) -> int:
        return self._utf8.offset(self._lines[line - 1] + column)

    def value(self, node: ast.expr | None) -> object:
        """Return the value of a constant, or of a list or tuple of constants."""
        if isinstance(node, ast.Name) and node.id in self.constants:
            node = self.constants[node.id]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(item) for item in node.elts]
        raise Unreadable

    def text(self, node: ast.expr | None) -> str:
        value = self.value(node)
        if not isinstance(value, str):
            raise Unreadable
        return value

    def truth(self, node: ast.expr | None, default: bool) -> bool:
        """Return the value of a boolean keyword argument; ``default`` if it is left out."""
        value = default if node is None else self.value(node)
        if not isinstance(value, bool):
            raise Unreadable
        return value

    def items(self, node: ast.expr | None) -> list[ast.expr]:
        """Return the elements of a list or tuple that is written out."""
        if isinstance(node, ast.Name):
            node = self.constants.get(node.id)
        if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(item, ast.Starred) for item in node.elts):
            raise Unreadable
        return node.elts

    def names(self, nodes: Iterable[ast.expr]) -> list[tuple[str, Place | None]]:
        """Return the values of strings, each with its place."""
        return [(self.text(node), self.place(node)) for node in nodes]


def module(text: str) -> Module | None:
    """Return the tree of a program, None if it is not Python, or too large or too deep to be read."""
    if len(text) > LARGEST:
        return None
    try:
        return Module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def last_name(node: ast.expr | None) -> str:
    """Return the last part of a dotted name, or of what is called by it; empty for any other expression."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """Return the keyword arguments of a call."""
    if any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(keyword, ast.Starred) for keyword in call.args
    ):
        raise Unreadable
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the names that are assigned once, anywhere in the program, and that at its top."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            assigned.setdefault(node.target.id, []).append(node.value)
    stored: dict[str, int] = {}
    for inner in ast.walk(tree):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            stored[inner.id] = stored.get(inner.id, 0) + 1
        elif isinstance(inner, ast.arg):
            stored[inner.arg] = stored.get(inner.arg, 0) + 1
    return {
        name: values[0]
        for name, values in assigned.items()
        if stored.get(name) == 1 and isinstance(values[0], ast.Constant | ast.List | ast.Tuple)
    }
