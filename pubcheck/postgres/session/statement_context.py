"""The current statement: the objects of its database that are known, those that a platform creates by itself, the
possible effects of SQL when only its text, or part of it, is known, and the unknowns that an answer depends on.

What a handler could not see it says here, so that certainty is never forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, NAMESPACE, PUBLICATION, RELATION, ROLE, Catalog
from pubcheck.postgres.catalog.rows import Namespace, Place, Publication, Relation, Role
from pubcheck.postgres.catalog.tables import NOT_FOLLOWED, Reason
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session.connection import Rights
from pubcheck.postgres.tokens import find_name
from pubcheck.source import utf8

HEALING = lazy_compile(
    r"replica\s+identity|primary\s+key|drop\s+publication|alter\s+publication\b.*\b(set|drop)\b|unique\s+index",
    re.IGNORECASE | re.DOTALL,
)
"""The statements that can end the refusal of a write. SQL that is not followed must not contain them if refusals are
to stay certain."""
_IDENTIFYING = lazy_compile(
    r"\balter\s+table\b[^;]*?[%{}'|<>:$][^;]*?\breplica\s+identity\b(?!\s+(?:default|nothing)\b)", re.IGNORECASE
)
"""ALTER TABLE of a table whose name is put together, by which it gets a replica identity that it did not have."""
_TAKING = lazy_compile(
    r"\bdrop\b|alter\s+publication\b(?:(?!\badd\b).)*?(?:\b(?:set|rename)\b|\Z)", re.IGNORECASE | re.DOTALL
)


def taking(text: str) -> bool:
    """Return whether SQL that is not followed may take a publication away, or members from one."""
    return "publication" in text.lower() and _TAKING.search(text) is not None


_WORDING = lazy_compile(
    r"(?:'|\$\w*\$)[^']*?\b"
    r"(?:alter|analy[sz]e|call|comment|copy|create|delete|drop|grant|insert|lock|notify|refresh|reindex|revoke|select|set"
    r"|truncate|update|vacuum|reassign|security|cluster|merge|reset)\b",
    re.IGNORECASE,
)
_ELSEWHERE = lazy_compile(
    r"\s*(?:analy[sz]e|cluster|comment|copy|grant|lock|notify|reassign|refresh|reindex|reset|revoke|security\s+label"
    r"|truncate|vacuum)\b",
    re.IGNORECASE,
)
"""Commands that never change publications or replica identities."""


def wording(text: str) -> str | None:
    """Return the known part of the SQL that this text builds; None if not even the kind of statement is known."""
    return text if _WORDING.search(text) is not None else None


def concerns_nothing_published(node: Node | None) -> bool:
    """Return whether an expression gives a command that begins with literal words of one of ``_ELSEWHERE``."""
    while node is not None and "A_Expr" in node and names(node["A_Expr"]["name"]) == ["||"]:
        node = node["A_Expr"].get("lexpr")
    if node is not None and "FuncCall" in node and names(node["FuncCall"]["funcname"])[-1] in ("format", "concat"):
        node = node["FuncCall"].get("args", [None])[0]
    text = (node or {}).get("A_Const", {}).get("sval", {}).get("sval")
    return text is not None and _ELSEWHERE.match(text) is not None


class Platform:
    """The names of a platform's objects, looked up where a name is unknown; `*` in one matches any characters without
    a dot."""

    def __init__(self, publications: tuple[str, ...], tables: tuple[str, ...]) -> None:
        self._publications = publications
        self._tables = tables

    @property
    def publication_names(self) -> list[str]:
        """The entries that are names and not patterns."""
        return [name for name in self._publications if "*" not in name]

    def has_publication(self, name: str) -> bool:
        return self._publication_pattern.fullmatch(name) is not None

    def has_table(self, schema: str, name: str) -> bool:
        """Return whether a table is the platform's: by its qualified name, or in any schema by a pattern without
        one."""
        pattern = self._table_pattern
        return pattern.fullmatch(f"{schema}.{name}") is not None or pattern.fullmatch(name) is not None

    def has_schema(self, name: str) -> bool:
        """Return whether all tables of a schema are the platform's, and so the schema too."""
        return f"{name}.*" in self._tables

    @cached_property
    def _publication_pattern(self) -> re.Pattern[str]:
        return _pattern(self._publications)

    @cached_property
    def _table_pattern(self) -> re.Pattern[str]:
        return _pattern(self._tables)


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for all of the names, in which `*` represents any characters without a dot."""
    return re.compile("|".join(re.escape(name).replace(r"\*", "[^.]*") for name in names) or r"(?!)", re.DOTALL)


class Basis:
    """The unknowns that the server's answer to a statement, or to a question about it, depends on.

    An answer is certain if its basis is empty. A basis only grows: nothing removes a doubt from an answer. A separate
    question gets its own basis (``Session.apart``).
    """

    __slots__ = ("conditional", "reasons", "rows", "unseen")

    def __init__(self, reason: Reason | None = None, *, conditional: Reason | None = None) -> None:
        self.reasons = [] if reason is None else [reason]
        """The unknowns that the answer depends on, in words."""
        self.rows: dict[int, None] = {}
        """The OIDs of relations, publications, schemas and roles that are only assumed to be as they are."""
        self.unseen: list[ServerError] = []
        """The errors that the server raises if names that these files do not create are missing."""
        self.conditional = conditional
        """The reason for which it is unknown whether the statement runs, if it is."""

    @property
    def certain_if_run(self) -> bool:
        """Whether the answer is certain, provided that the statement runs."""
        return not (self.reasons or self.rows or self.unseen)

    @property
    def certain(self) -> bool:
        """Whether the answer is certain."""
        return self.conditional is None and self.certain_if_run


class Uncertainty:
    """A flag of a session for statements with an unknown effect; the place where it is first set is a reason of the
    catalog."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.kept = name, f"_{name}"

    def __get__(self, session: Visibility, owner: type | None = None) -> bool:
        value: bool = getattr(session, self.kept)
        return value

    def __set__(self, session: Visibility, value: bool) -> None:
        if value and not getattr(session, self.kept, False):
            reasons = session.catalog.reasons
            reasons.flags[self.name] = reasons.current(NOT_FOLLOWED)
        setattr(session, self.kept, value)


class Visibility(Rights):
    """``complete``: the unit is the whole database, except for the objects of ``platform``."""

    blind, healed, identified = Uncertainty(), Uncertainty(), Uncertainty()
    joined, restless = Uncertainty(), Uncertainty()

    def __init__(self, catalog: Catalog, *, complete: bool, platform: Platform | None) -> None:
        super().__init__(catalog)
        self.complete = complete
        self.platform = platform
        self.blind = False
        """Something ran that could not be followed: a name that is missing may exist after all."""
        self.healed = False
        """Something that could not be followed may have changed replica identities and keys."""
        self.identified = False
        """Something that could not be followed may have given tables another replica identity."""
        self.joined = False
        """Something that could not be followed may have given members to publications."""
        self.restless = False
        """Triggers may take away publications, or members of them, at any time."""
        self.perhaps_there: set[tuple[Any, ...]] = set()
        """Keys of ``Catalog.gone`` of the objects dropped by a statement that may have been refused."""
        self.doubted: set[str] = set()
        """Publications that are missing because the statement that makes them was refused, which is only assumed."""
        self.begin_statement(0, 0)
        catalog.reasons.at = None

    # The current statement.

    def begin_statement(self, source: int, statement: int, text: str = "", basis: Basis | None = None) -> None:
        """Begin the statement ``text``. ``basis`` are the unknowns that its answer depends on from the start."""
        self.source, self.statement = source, statement
        self.catalog.reasons.at = source, statement
        self._text = text
        self.basis = basis or Basis()
        """The unknowns that the server's answer to the statement depends on."""
        self.vouched = True
        """Whether all that the statement says was checked as the server checks it."""
        self.notices: list[str] = []
        self.mentions: dict[int, int] = {}

    def place(self, start: int, length: int = 0) -> Place:
        """Byte offsets within the current statement."""
        return Place(self.source, self.statement, start, start + length)

    @property
    def text(self) -> bytes:
        """The current statement, as the parser counts it."""
        return utf8(self._text).data

    def find_name(self, name: str) -> int | None:
        """Return the place where the statement first mentions a name, for nodes without a location."""
        return find_name(self.text, name)

    # Visibility.

    def assume(self, reason: str | Reason) -> None:
        """Let the server's answer rest on something that was not seen."""
        self.basis.reasons.append(Reason(reason) if isinstance(reason, str) else reason)

    def rests_on(self, *rows: Relation | Publication | Namespace | Role) -> None:
        """Let the server's answer rest on those of the rows that are only assumed."""
        self.basis.rows.update((row.oid, None) for row in rows if not row.seen)

    def rests_on_flag(self, flag: str) -> None:
        """Make the server's answer depend on the statements with an unknown effect, if ``flag`` (``blind``, ``joined``)
        is set."""
        if getattr(self, flag):
            self.assume(self.catalog.reasons.flags[flag])

    @contextmanager
    def rehearsed(self) -> Iterator[None]:
        """Forget afterwards the doubts that arise in between, because the changes are undone."""
        flags = {name: getattr(self, name) for name, kind in vars(Visibility).items() if isinstance(kind, Uncertainty)}
        doubted, perhaps_there = set(self.doubted), set(self.perhaps_there)
        try:
            yield
        finally:
            for name, value in flags.items():
                setattr(self, name, value)
            self.doubted, self.perhaps_there = doubted, perhaps_there

    @contextmanager
    def apart(self) -> Iterator[Basis]:
        """Ask a question whose answer has a basis of its own; that of the statement stays as it was."""
        outer, self.basis = self.basis, Basis()
        try:
            yield self.basis
        finally:
            self.basis = outer

    def assume_database(self) -> None:
        """The server's answer contains the name of the database, which is not in the files."""
        if not self.catalog.database_known:
            self.assume(f'the name of the database, which may not be "{self.catalog.database}"')

    def note_unknown_effect(self, text: str | None) -> None:
        """Note that something with an unknown effect runs; ``text`` is its known part, None if nothing is known."""
        self.blind = True
        self.healed = self.healed or text is None or HEALING.search(text) is not None
        self.identified = self.identified or (text is not None and _IDENTIFYING.search(text) is not None)
        self.joined = self.joined or text is None or "publication" in text.lower()
        if text is None or taking(text):
            self.doubt_publications()

    def doubt_publications(self, which: Iterable[int] | None = None) -> None:
        """Mark publications (None: all) as possibly changed: they and their members exist by assumption from now on."""
        publications = self.catalog.publications
        for oid in [*publications] if which is None else which:
            row = publications[oid]
            if row.seen:
                publications.put(oid, replace(row, seen=False))
                self.catalog.reasons.assume_row(oid, NOT_FOLLOWED)

    def doubt_members(self, oids: Iterable[int]) -> None:
        """Make the answer assumed if every membership is of a publication that is only assumed to exist."""
        catalog = self.catalog
        publications = [catalog.publications[catalog.publication_rels[oid].publication] for oid in oids]
        if not any(publication.seen for publication in publications):
            self.rests_on(*publications)

    def is_closed(self, kind: str, namespace: int, name: str) -> bool:
        """Return whether a missing name is certainly missing: the unit is complete, or it dropped the name itself.

        The objects of an extension are unknown: if there is one, a table or schema may belong to it.
        """
        if "extension relations" in self.catalog.settings and kind in (RELATION, NAMESPACE):
            return (kind, namespace, name) in self.catalog.gone
        if self.blind:
            return False
        if (kind, namespace, name) in self.catalog.gone:
            return True
        if kind == ROLE and not self._makes_roles():
            return False
        return self.complete and not self._of_platform(kind, namespace, name)

    def _makes_roles(self) -> bool:
        """Return whether the unit says which roles there are: they are the cluster's, and no dump of a database has
        them."""
        return any(row.seen and oid >= FIRST_NORMAL_OID for oid, row in self.catalog.roles.items())

    def _of_platform(self, kind: str, namespace: int, name: str) -> bool:
        """Return whether the platform creates the missing object."""
        platform = self.platform
        if platform is None:
            return False
        if kind == PUBLICATION:
            return platform.has_publication(name)
        if kind == NAMESPACE:
            return platform.has_schema(name)
        return kind == RELATION and platform.has_table(self.catalog.namespaces[namespace].name, name)

    @property
    def extensions(self) -> bool:
        """Whether the unit creates extensions: a missing object may be theirs."""
        return "extensions" in self.catalog.settings

    def note_unseen(self, error: ServerError, *missing: Any) -> None:
        """Note that a name is unknown; ``missing`` is its kind, its namespace and the name."""
        error.missing = missing
        self.basis.unseen.append(error)

    def unseen_names(self) -> list[ServerError]:
        """Return the unknown names that the statement needs, without those of the platform, which are not reported."""
        return [
            error
            for error in self.basis.unseen
            if error.key is not None and not (error.missing and self._of_platform(*error.missing))
        ]
