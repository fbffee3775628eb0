"""Operator classes that the unit made, as far as they say how values are compared (pg_opclass, pg_amop, pg_amproc)."""

from __future__ import annotations

from msgspec import Struct


class OperatorClass(Struct, frozen=True, gc=False):
    """A default operator class that the unit made, with all members of its family.

    ``family`` is the family's oid, ``method`` b(tree), h(ash), gin or gist, ``type`` what the class is for.
    ``operators`` and ``functions`` are as in ``builtins.objects.FamilyRow``.
    """

    family: int
    method: str
    type: int
    operators: tuple[tuple[int, int, int, int], ...]
    functions: tuple[tuple[int, int, int], ...]


OPERATOR_CLASSES = "operator classes"
"""The setting of the catalog that holds the unit's OperatorClass rows."""
