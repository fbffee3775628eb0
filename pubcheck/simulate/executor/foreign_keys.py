"""Foreign keys: their checks and actions (utils/adt/ri_triggers.c)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from pubcheck.postgres.catalog.rows import Constraint, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.compare import equality_of
from pubcheck.postgres.executor.functions import Constant
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.pruning import IndexConditions
from pubcheck.simulate.executor.row_locks import KEY_SHARE, take
from pubcheck.simulate.executor.row_text import key_text
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.executor.targets import members
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

Values = dict[int, Any]
Candidates = Callable[[Table, list[int], list[Any]], Iterator[Version]]
"""Returns the rows of a table that may have these values in the columns of these numbers."""


class Action(Struct):
    """The action, or the check, for a row that was referred to: ``values`` is its former key."""

    key: ForeignKey
    action: str
    operation: str
    table: Table
    values: list[Any]
    replacement: list[Any] | None
    old: Version


class ForeignKey:
    """A foreign key. ``columns`` are the names in the referencing table, ``keys`` those in the referenced one."""

    def __init__(self, session: Backend, row: Constraint) -> None:
        catalog = session.database.catalog
        self.session, self.row = session, row
        top = row
        while top.parent:
            top = catalog.constraints[top.parent]
        referenced, node = catalog.definitions[("foreign key", top.oid)]
        self.node = node
        self.referencing = catalog.relations[row.relation]
        self.referenced = catalog.relations[row.references]
        self.columns = [self.referencing.columns[number - 1].name for number in row.keys]
        self.keys = [self.referenced.columns[number - 1].name for number in referenced]
        self._top = top
        context = session.context()
        types = [self.referenced.column(name) for name in self.keys]
        self.equal = [equality_of(context, column.type, column.collation) for column in types if column is not None]
        self.match_full = node.get("fk_matchtype") == "f"

    def is_deferred(self, action: str = "a") -> bool:
        """Whether a check is deferred now. Actions are not (createForeignKeyActionTriggers)."""
        return action == "a" and self._top.deferrable and self.session.is_deferred(self.row.name, self._top.deferred)

    def _values(self, relation: Relation, names: list[str], row: Values) -> list[Any]:
        return [row[column_number(relation, name)] for name in names]

    def _same(self, one: list[Any], other: list[Any]) -> bool:
        return all(
            left is right or (left is not None and right is not None and equal(left, right))
            for left, right, equal in zip(one, other, self.equal, strict=True)
        )

    # The referencing side.

    def check_event(self, table: Table, old: Version | None, new: Version | None) -> Callable[[], None] | None:
        """The check of a new row (RI_FKey_check); None where none is needed (RI_FKey_fk_upd_check_required)."""
        assert new is not None
        values = self._values(table.relation, self.columns, new)
        if all(value is None for value in values) or (not self.match_full and None in values):
            return None
        if old is not None and self._same(self._values(table.relation, self.columns, old), values):
            return None
        return lambda: self._check(table, new, values)

    def _check(self, table: Table, new: Version, values: list[Any]) -> None:
        if new.xmax in self.session.current.ids:
            return  # a later version of the row has a check of its own
        name = f'insert or update on table "{table.relation.name}" violates foreign key constraint "{self.row.name}"'
        if self.match_full and None in values:
            raise ServerError("23503", name, detail="MATCH FULL does not allow mixing of null and nonnull key values.")
        self.session.increment_command()
        referenced = next(self.rows(self.referenced, self.keys, values), None)
        if referenced is not None:
            take(self.session, referenced[1], KEY_SHARE)
        else:
            shown = key_text(table, self.row.keys, new)
            raise ServerError("23503", name, detail=f'Key {shown} is not present in table "{self.referenced.name}".')

    def rows(self, relation: Relation, names: list[str], values: list[Any]) -> Iterator[tuple[Table, Version]]:
        """The rows of a relation with these values, as a new snapshot sees them, in any order."""
        return self._rows(relation, names, values, candidates)

    def referencing_rows(self, values: list[Any]) -> Iterator[tuple[Table, Version]]:
        """The rows that refer to a key, in the order of the query of an action (ri_PerformCheck)."""
        condition = IndexConditions(dict(zip(self.columns, map(Constant, values), strict=True)))
        return self._rows(
            self.referencing, self.columns, values, lambda table, numbers, values: condition.candidates(table)
        )

    def _rows(
        self, relation: Relation, names: list[str], values: list[Any], versions: Candidates
    ) -> Iterator[tuple[Table, Version]]:
        session = self.session
        snapshot = session.snapshot()
        for table in list(members(session, relation, inherited=relation.kind == "p")):
            numbers = [column_number(table.relation, name) for name in names]
            for version in versions(table, numbers, values):
                if snapshot.sees(version) and self._same([version[number] for number in numbers], values):
                    yield table, version

    # The referenced side.

    def referenced_event(self, operation: str, table: Table, old: Version | None, new: Version | None) -> Action | None:
        """The action, or the check, for a row that is referred to (RI_FKey_pk_upd_check_required)."""
        assert old is not None
        values = self._values(table.relation, self.keys, old)
        if None in values:
            return None
        replacement = None if new is None else self._values(table.relation, self.keys, new)
        if replacement is not None and self._same(values, replacement):
            return None
        action = self.row.on_delete if operation == "delete" else self.row.on_update
        return Action(self, action, operation, table, values, replacement, old)

    def refuse_referenced(self, action: str, table: Table, values: list[Any], old: Version) -> None:
        """NO ACTION and RESTRICT. Raises ServerError 23503, of RESTRICT also 23001."""
        if action == "a" and any(True for _ in self.rows(self.referenced, self.keys, values)):
            return  # another row has the key by now
        if not any(True for _ in self.rows(self.referencing, self.columns, values)):
            return
        of = f'update or delete on table "{table.relation.name}" violates'
        shown = key_text(table, [column_number(table.relation, name) for name in self.keys], old)
        other = self.referencing.name
        if action == "r" and self.session.database.catalog.major.restrict_violation:
            message = f'{of} RESTRICT setting of foreign key constraint "{self.row.name}" on table "{other}"'
            raise ServerError("23001", message, detail=f'Key {shown} is referenced from table "{other}".')
        message = f'{of} foreign key constraint "{self.row.name}" on table "{other}"'
        raise ServerError("23503", message, detail=f'Key {shown} is still referenced from table "{other}".')


def column_number(relation: Relation, name: str) -> int:
    column = relation.column(name)
    if column is None:
        raise NotFollowed(f'the column "{name}" of a foreign key')
    return column.number


def candidates(table: Table, numbers: list[int], values: list[Any]) -> Iterator[Version]:
    """The rows that may have these values: those of a unique index, where one has just these columns."""
    for unique in table.uniques:
        if sorted(unique.index.keys) == sorted(numbers) and unique.index.predicate is None:
            index = table.storage.index(unique.index.oid, unique.key_of)
            key = index.key_of(dict(zip(numbers, values, strict=True)))
            if key is not None:
                yield from list(index.at(key))
                return
    yield from table.storage.scan()
