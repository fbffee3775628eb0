"""Expressions as text with holes, so that a filter can be made smaller without knowing what it means."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct


class Tree(Struct, frozen=True):
    """A piece of SQL: text and smaller expressions in turn. ``type`` is what it was made to be, "" where nobody knows;
    ``tag`` names the construct, ``uses`` the oids of the functions and operators that it was drawn from.
    """

    parts: tuple[str | Tree, ...]
    type: str = ""
    tag: str = ""
    uses: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def children(self) -> list[Tree]:
        return [part for part in self.parts if isinstance(part, Tree)]

    def walk(self) -> Iterator[Tree]:
        yield self
        for child in self.children():
            yield from child.walk()

    def tags(self) -> set[str]:
        return {tree.tag for tree in self.walk() if tree.tag}

    def used(self) -> set[int]:
        return {oid for tree in self.walk() for oid in tree.uses}


def sql(template: str, *children: Tree, type: str = "", tag: str = "", uses: tuple[int, ...] = ()) -> Tree:
    """A tree from a template in which each ``{}`` stands for the next child; without children it is mere text."""
    if not children:
        return Tree((template,), type, tag, uses)
    pieces = template.split("{}")
    assert len(pieces) == len(children) + 1, template
    parts: list[str | Tree] = [pieces[0]] if pieces[0] else []
    for child, piece in zip(children, pieces[1:], strict=True):
        parts.append(child)
        if piece:
            parts.append(piece)
    return Tree(tuple(parts), type, tag, uses)


def joined(separator: str, children: list[Tree], before: str = "", after: str = "") -> tuple[str | Tree, ...]:
    """The parts of a list of expressions."""
    parts: list[str | Tree] = [before] if before else []
    for number, child in enumerate(children):
        if number:
            parts.append(separator)
        parts.append(child)
    if after:
        parts.append(after)
    return tuple(parts)


def smaller(tree: Tree) -> Iterator[Tree]:
    """Trees with less in them, the greatest steps first: a part for the whole, an atom for a part, one item of a list
    less.
    """
    yield from sorted(list(tree.walk())[1:], key=lambda t: len(t.text))
    yield from _within(tree)


def _within(tree: Tree) -> Iterator[Tree]:
    for number, part in enumerate(tree.parts):
        if not isinstance(part, Tree):
            continue
        for less in _atoms(part):
            yield _put(tree, number, less)
        for inner in sorted(list(part.walk())[1:], key=lambda t: len(t.text)):
            yield _put(tree, number, inner)
    # An item of a list goes with the comma (or the word) on one side.
    for number in range(1, len(tree.parts) - 1):
        if tree.parts[number] in (", ", " AND ", " OR ") and isinstance(tree.parts[number + 1], Tree):
            yield Tree(tree.parts[:number] + tree.parts[number + 2 :], tree.type, tree.tag)
            yield Tree(tree.parts[: number - 1] + tree.parts[number + 1 :], tree.type, tree.tag)
    for number, part in enumerate(tree.parts):
        if isinstance(part, Tree):
            for less in _within(part):
                yield _put(tree, number, less)


_ATOMS = {"boolean": ("true",), "integer": ("1",), "text": ("'a'",)}


def _atoms(part: Tree) -> Iterator[Tree]:
    for text in (*_ATOMS.get(part.type, ()), "NULL", "id"):
        if len(text) < len(part.text):
            yield Tree((text,), part.type)
    if part.type and not part.type.startswith("any") and len(part.text) > len(part.type) + 6:
        yield Tree((f"NULL::{part.type}",), part.type)


def _put(tree: Tree, number: int, part: Tree) -> Tree:
    return Tree((*tree.parts[:number], part, *tree.parts[number + 1 :]), tree.type, tree.tag, tree.uses)
