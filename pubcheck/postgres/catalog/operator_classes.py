"""Operator classes that the unit created, for the comparison of values (pg_opclass, pg_amop, pg_amproc)."""

from __future__ import annotations

from msgspec import Struct


class OperatorClass(Struct, frozen=True, gc=False):
    """A default operator class that the unit created, with all members of its family.

    ``family`` is the family's oid, ``method`` b(tree), h(ash), gin or gist, ``type`` the class's input type.
    ``operators`` and ``functions`` are as in ``builtins.objects.FamilyRow``.
    """

    family: int
    method: str
    type: int
    operators: tuple[tuple[int, int, int, int], ...]
    functions: tuple[tuple[int, int, int], ...]


OPERATOR_CLASSES = "operator classes"
"""The setting of the catalog that holds the unit's OperatorClass rows."""
