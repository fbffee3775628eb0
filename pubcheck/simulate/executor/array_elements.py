"""Assignments to an element of an array (utils/adt/arrayfuncs.c: array_set_element)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.datum import Array
from pubcheck.postgres.oids import INT4
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, assigned, compile_expression
from pubcheck.simulate.not_followed import NotFollowed


def element_assignment(session: Backend, scope: Scope, column: Column, target: Node) -> Step:
    cache = session.catalog_session.syscache
    element = cache.element_type(cache.base_type(column.type)[0])
    indexes = target["indirection"]
    if not element or len(indexes) != 1 or "A_Indices" not in indexes[0] or indexes[0]["A_Indices"].get("is_slice"):
        raise NotFollowed("an assignment to a part of a column")
    index = scope.transform(indexes[0]["A_Indices"]["uidx"])
    place_expr = coerce_to_target_type(scope, index, index.type, INT4, -1, "a", IMPLICIT, -1)
    if place_expr is None:
        raise NotFollowed("a subscript that is not an integer")
    place = compile_expression(session, scope, place_expr)
    value = compile_expression(session, scope, assigned(scope, replace(column, type=element), target["val"]))
    number = column.number

    def step(row: Any) -> Any:
        array, number_of_element, new = row[0][number], place(row), value(row)
        if array is None or number_of_element is None or len(array.lengths) != 1:
            raise NotFollowed("an assignment to an element of an array that is not there")
        lower = array.lowers[0]
        if not lower <= number_of_element < lower + len(array.elements):
            raise NotFollowed("an assignment that makes an array longer")
        elements = list(array.elements)
        elements[number_of_element - lower] = new
        return Array(elements, array.lengths, array.lowers)

    return step
