"""Columns as text and binary, under the settings of the session that reads the slot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from pubcheck.postgres.budget import WORK
from pubcheck.postgres.catalog import PG_CATALOG
from pubcheck.postgres.catalog.journaled_dict import Heap
from pubcheck.postgres.catalog.rows import Filter
from pubcheck.postgres.ddl.publications.options import split_identifiers
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor import Context, Prepared, prepare
from pubcheck.postgres.input.dispatch import InputContext
from pubcheck.postgres.output import OutputContext, has_send, to_client, type_name
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.row_changes import Matches, Row
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import SysCache
from pubcheck.simulate.log import CatalogVersion


class Values:
    """Calls output and send functions, and evaluates row filters, with the catalog as of a change."""

    def __init__(self, major: int, settings: Mapping[str, str]) -> None:
        self.major = major
        self.settings: Mapping[str, Any] = {
            "timezone": "UTC",
            **{
                name.lower(): _path(value) if name.lower() == "search_path" else value
                for name, value in settings.items()
            },
        }
        self._number = -1
        self._looked_up: set[int] = set()
        self.on_lookup: Callable[[], None] = lambda: None
        """Called when a type is looked up for the first time, before it is: then the catalog is read."""
        self._output: OutputContext
        self._cache: SysCache
        self._matches: Matches

    def _see(self, version: CatalogVersion) -> None:
        if self._number == version.number:
            return
        self._number = version.number
        catalog = copy(version.catalog)
        catalog.settings = Heap(catalog.journal)  # those of this session, not of the one that wrote the change
        session = self._session = Session(catalog, complete=True)
        for name, value in self.settings.items():
            session.set(name, value)
        self._cache = session.syscache
        self._output = OutputContext(self.major, self._cache, self.settings.get)
        self._matches = self._matcher()

    def _look_up(self, version: CatalogVersion, type_oid: int) -> None:
        """Look up a type and that of an array's elements, which the array's name and output function need."""
        self._see(version)
        if type_oid not in self._looked_up:
            element = self._cache.element_type(type_oid)
            for oid in (type_oid, element) if element else (type_oid,):
                if oid not in self._looked_up:
                    self.on_lookup()
                    self._looked_up.add(oid)

    def text(self, version: CatalogVersion, type_oid: int, value: Any) -> str:
        """Return the result of the type's output function."""
        self._look_up(version, type_oid)
        return self._output.writer(type_oid)(value)

    def client_text(self, version: CatalogVersion, type_oid: int, value: Any) -> str:
        """Return the same in the client's encoding; bytes that are not UTF-8 become surrogates."""
        text = self.text(version, type_oid, value)
        return self.to_client(text)

    def to_client(self, text: str) -> str:
        """Return a text in the client's encoding; bytes that are not UTF-8 become surrogates."""
        if "client_encoding" not in self.settings:
            return text
        return to_client(self._output, text).decode("utf-8", "surrogateescape")

    def binary(self, version: CatalogVersion, type_oid: int, value: Any) -> bytes | None:
        """Return the result of the type's send function; None if it has none."""
        self._look_up(version, type_oid)
        if not has_send(self._output, type_oid):
            return None
        return self._output.sender(type_oid)(value)

    def format_type(self, version: CatalogVersion, type_oid: int) -> str:
        """Return a type's name as format_type_be writes it."""
        self._look_up(version, type_oid)
        return type_name(self._output, type_oid)

    def type_name(self, version: CatalogVersion, type_oid: int) -> tuple[str, str]:
        """Return schema and name of a type as Type messages have them: of a domain those of its base type, and an empty
        schema for pg_catalog."""
        self._see(version)
        row = self._cache.type(self._cache.base_type(type_oid)[0])
        namespace = "" if row.namespace == PG_CATALOG else version.catalog.namespaces[row.namespace].name
        return self.to_client(namespace), self.to_client(row.name)

    def matcher(self, version: CatalogVersion) -> Matches:
        """Return the evaluation of filters for rows of that version; it raises ServerError as the server does."""
        self._see(version)
        return self._matches

    def _matcher(self) -> Matches:
        context = Context(InputContext(self.major, self._cache, self.settings.get), "C.UTF-8")
        prepared: dict[int, Prepared] = {}

        def matches(condition: Filter, row: Row) -> bool | None:
            evaluate = prepared.get(id(condition))
            if evaluate is None:
                if not isinstance(condition.expr, Expr):
                    raise Unknowable("a row filter that cannot be evaluated")
                evaluate = prepared[id(condition)] = prepare(condition.expr, context)
            context.budget.left = WORK  # each row is an evaluation: a long stream must not use it up
            return evaluate(row)

        return matches


def _path(text: str) -> list[str]:
    return list(split_identifiers(text) or ())
