"""Resolve the names in a query, relations, columns, types and functions, and note their use (parse_relation.c)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG, PROC, RELATION, TEMPORARY, Object
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.query_dependencies.columns import (
    OutputColumn,
    Outputs,
    apply_aliases,
    columns_of,
    own_functions,
)
from pubcheck.postgres.ddl.sequences import SEQUENCE_FUNCTIONS, sequence_named
from pubcheck.postgres.ddl.type_modifiers import typmod_of
from pubcheck.postgres.errors import NO_COLUMN, ServerError
from pubcheck.postgres.oids import RECORD
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find, names
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import SYSTEM_COLUMNS


class NamespaceItem(Struct, frozen=True):
    """An entry of FROM, as names in an expression refer to it (ParseNamespaceItem)."""

    name: str
    columns: Outputs
    namespace: int = 0
    relation: int = 0
    system: bool = False


class Scope(Struct, frozen=True):
    """What a query may name: the queries of WITH, and the entries of FROM, those of the innermost query first."""

    ctes: dict[str, Outputs]
    levels: list[list[NamespaceItem]]

    def within(self, items: list[NamespaceItem]) -> Scope:
        return Scope(self.ctes, [items, *self.levels])


class QueryReading(Struct):
    """The columns and dependencies of a query. ``modifies``: it has an INSERT, UPDATE, DELETE or MERGE inside."""

    columns: Outputs
    relations: dict[int, None]
    uses: dict[Object, None]
    modifies: bool = False
    temporary: bool = False


class References:
    """The names that a query uses. ``reading`` notes the objects that they resolve to."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.reading = QueryReading(None, {}, {})

    def _relation(self, rv: Node) -> Relation:
        row = self.session.relation(rv)
        if row.kind in "iIc":
            raise ServerError("42809", f'cannot open relation "{row.name}"')
        self.reading.relations[row.oid] = None
        self.reading.temporary = self.reading.temporary or row.namespace == TEMPORARY
        return row

    def _columns_of(self, row: Relation) -> Outputs:
        if row.namespace != PG_CATALOG or row.oid >= FIRST_NORMAL_OID:
            return columns_of(row)
        builtin_columns = self.session.syscache.builtin.columns(row.name)
        return None if builtin_columns is None else columns_of(replace(row, columns=builtin_columns))

    def _item_of(self, row: Relation, rv: Node) -> NamespaceItem:
        alias = rv.get("alias", {})
        columns = apply_aliases(self._columns_of(row), names(alias.get("colnames", ())))
        return NamespaceItem(
            alias.get("aliasname", row.name), columns, 0 if alias else row.namespace, row.oid, row.kind not in "vc"
        )

    def _type(self, type_name: Node) -> tuple[int, int]:
        """(type, typmod) of a TypeName."""
        oid = self.session.type_oid(type_name)
        return oid, typmod_of(self.session, type_name, oid) if "typmods" in type_name else -1

    def _item(self, qualified: list[str], scope: Scope) -> NamespaceItem | None:
        name = qualified[-1]
        namespace = self.session.catalog.namespace_names.get(qualified[-2]) if len(qualified) > 1 else None
        for items in scope.levels:
            for item in items:
                if item.name == name and (len(qualified) == 1 or item.namespace == namespace):
                    return item
        return None

    def _missing_item(self, qualified: list[str]) -> None:
        """Nothing in FROM is called so; in RETURNING it may be OLD or NEW."""
        if not self.reading.modifies:
            message = 'missing FROM-clause entry for table "{name}"'
            raise ServerError("42P01", message, name=qualified[-1])

    def _star(self, qualified: list[str], scope: Scope) -> Outputs:
        item = self._item(qualified, scope)
        if item is None:
            self._missing_item(qualified)
            return None
        return item.columns

    def _column(self, reference: Node, scope: Scope, *, tolerant: bool = False) -> OutputColumn | None:
        """Resolve a ColumnRef. Raises ServerError 42703 if all objects are known and none has that name."""
        fields = reference["fields"]
        if "A_Star" in fields[-1]:
            for column in (self._star(names(fields[:-1]), scope) if len(fields) > 1 else None) or ():
                self._use(column)
            return None
        path = names(fields)
        name = path[-1]
        if len(path) > 1:
            item = self._item(path[:-1], scope)
            if item is None:
                self._missing_item(path[:-1])
                return None
            levels = [[item]]
        else:
            levels = scope.levels
        all_known = True
        for items in levels:
            for item in items:
                if item.columns is None:
                    all_known = False
                    continue
                for column in item.columns:
                    if column.name == name:
                        self._use(column)
                        return column
        system = name in SYSTEM_COLUMNS and any(item.system for items in levels for item in items)
        if not all_known or tolerant or system or self.session.blind or self._callable(name):
            return None
        whole = self._item(path, scope) if len(path) == 1 else None
        if whole is not None:
            return OutputColumn(name, 0 if whole.relation else RECORD)
        raise ServerError("42703", NO_COLUMN, location=reference.get("location"), column=".".join(path))

    def _callable(self, name: str) -> bool:
        """``t.f`` may mean ``f(t)`` (ParseFuncOrColumn)."""
        return bool(own_functions(self.session, [name]))

    def _called(self, call: Node) -> None:
        candidates = own_functions(self.session, names(call["funcname"]))
        if len(candidates) == 1:
            self._note(PROC, candidates[0].oid)
        if call["funcname"][-1]["String"]["sval"] in SEQUENCE_FUNCTIONS:
            for _, constant in find(call.get("args", [])[:1], "A_Const"):
                text = constant.get("sval", {}).get("sval")
                sequence = sequence_named(self.session, text) if text else None
                if sequence is not None:
                    self._note(RELATION, sequence.oid)

    def _use(self, column: OutputColumn) -> None:
        if column.source is not None:
            self.reading.uses[(RELATION, *column.source)] = None

    def _note(self, kind: str, oid: int) -> None:
        if oid >= FIRST_NORMAL_OID:
            self.reading.uses[(kind, oid, 0)] = None
