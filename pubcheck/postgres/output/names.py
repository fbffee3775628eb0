"""Names of objects as a session shows them (ruleutils.c: quote_qualified_identifier; namespace.c: the ...IsVisible
functions), and with them the output of the reg* types and of aclitem (regproc.c, acl.c).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INFORMATION_SCHEMA, PG_CATALOG, TEMPORARY
from pubcheck.postgres.catalog.rows import Operator, Proc
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.reg_types import languages
from pubcheck.postgres.output import OutputContext, Sender, TypeOutput, Writer
from pubcheck.postgres.session.type_lookups import Naming
from pubcheck.postgres.versions import BY_NUMBER

_PART = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'([^']*)'|([^\s,"']+))\s*(?:,|\Z)""")


class Names:
    """The names of objects by their oids; None for an object that does not exist.

    Raises Unknowable for an object that may exist elsewhere.
    """

    def __init__(self, context: OutputContext) -> None:
        self.cache = context.cache
        self.catalog = context.cache.catalog
        self.naming = Naming(_path(context), context.setting("quote_all_identifiers") == "on")
        self.path = self.naming.path

    def quoted(self, name: str) -> str:
        return self.naming.quoted(name, self.catalog.major.number)

    def missing(self, oid: int) -> str | None:
        """Return None for an object that is in no catalog. Raises Unknowable where that is not known."""
        if oid < FIRST_NORMAL_OID or self.cache.complete_names:
            return None
        raise Unknowable("an object by its oid")

    def _qualified(self, namespace: int, shown: str) -> str:
        schema = "pg_temp" if namespace == TEMPORARY else self.catalog.namespaces[namespace].name
        return f"{self.quoted(schema)}.{shown}"

    def _at_its_place(self, namespace: int, shown: str, visible: bool) -> str:
        return shown if visible else self._qualified(namespace, shown)

    def relation(self, oid: int) -> str | None:
        """regclassout."""
        row = self.catalog.relations.get(oid)
        if row is not None:
            namespace, name = row.namespace, row.name
        else:
            builtin = builtins(self.catalog.major.number).relation_named(oid)
            if builtin is None:
                if 0 < oid < FIRST_NORMAL_OID:
                    raise Unknowable("a relation by its oid")
                return self.missing(oid)
            namespace, name = self.catalog.namespace_names[builtin[0]], builtin[1]
        visible = next((place == namespace for place in self.path if self._has_relation(place, name)), False)
        return self._at_its_place(namespace, self.quoted(name), visible)

    def _has_relation(self, namespace: int, name: str) -> bool:
        if (namespace, name) in self.catalog.relation_names:
            return True
        schema = self.catalog.namespaces[namespace].name if namespace != TEMPORARY else ""
        return builtins(self.catalog.major.number).relation(schema, name) is not None

    def type(self, oid: int) -> str | None:
        """format_type_extended with FORMAT_TYPE_INVALID_AS_NULL."""
        if not (self.cache.builtin.type(oid) if oid < FIRST_NORMAL_OID else oid in self.catalog.types):
            return self.missing(oid)
        return str(self.cache.format_type(oid, naming=self.naming))

    def _candidates(self, name: str) -> Iterator[Proc]:
        """FuncnameGetCandidates: of the same arguments the first in the path."""
        seen = set()
        for namespace in self.path:
            for row in self.cache.procs_in(namespace, name):
                if row.arguments not in seen:
                    seen.add(row.arguments)
                    yield row

    def _proc(self, oid: int) -> Proc | None:
        row: Proc | None = self.catalog.procs.get(oid) or self.cache.builtin.proc(oid)
        return row

    def function(self, oid: int) -> str | None:
        """regprocout: with its schema unless its name alone means it."""
        row = self._proc(oid)
        if row is None:
            return self.missing(oid)
        candidates = [candidate.oid for candidate in self._candidates(row.name)]
        return self._at_its_place(row.namespace, self.quoted(row.name), candidates == [oid])

    def function_with_arguments(self, oid: int) -> str | None:
        """format_procedure."""
        row = self._proc(oid)
        if row is None:
            return self.missing(oid)
        visible = any(candidate.oid == oid for candidate in self._candidates(row.name))
        arguments = ",".join(self.type(argument) or "-" for argument in row.arguments)
        return f"{self._at_its_place(row.namespace, self.quoted(row.name), visible)}({arguments})"

    def _operator_candidates(self, name: str) -> Iterator[Operator]:
        seen = set()
        for namespace in self.path:
            for prefix in (True, False):
                for row in self.cache.operators_in(namespace, name, prefix):
                    if (row.left, row.right) not in seen:
                        seen.add((row.left, row.right))
                        yield row

    def _operator(self, oid: int) -> Operator | None:
        row: Operator | None = self.catalog.operators.get(oid) or self.cache.builtin.operator(oid)
        return row

    def operator(self, oid: int) -> str | None:
        """regoperout."""
        row = self._operator(oid)
        if row is None:
            return self.missing(oid)
        candidates = [candidate.oid for candidate in self._operator_candidates(row.name)]
        return self._at_its_place(row.namespace, row.name, candidates == [oid])

    def operator_with_operands(self, oid: int) -> str | None:
        """format_operator."""
        row = self._operator(oid)
        if row is None:
            return self.missing(oid)
        visible = any(candidate.oid == oid for candidate in self._operator_candidates(row.name))
        left, right = ((self.type(operand) if operand else "NONE") for operand in (row.left, row.right))
        return f"{self._at_its_place(row.namespace, row.name, visible)}({left},{right})"

    def namespace(self, oid: int) -> str | None:
        row = self.catalog.namespaces.get(oid)
        return self.missing(oid) if row is None else self.quoted(row.name)

    def role(self, oid: int) -> str | None:
        """The role's name, not quoted."""
        row = self.catalog.roles.get(oid)
        if row is not None:
            return str(row.name)
        name: str | None = self.cache.builtin.role_name(oid)
        return self.missing(oid) if name is None else name

    def collation(self, oid: int) -> str | None:
        row: Any = self.catalog.collations.get(oid) or self.cache.builtin.collation(oid)
        if row is None:
            if 0 < oid < FIRST_NORMAL_OID:
                raise Unknowable("a collation by its oid")
            return self.missing(oid)
        names = self.catalog.collation_names
        visible = next(
            (place == row.namespace for place in self.path if place == row.namespace or (place, row.name) in names),
            False,
        )
        return self._at_its_place(row.namespace, self.quoted(row.name), visible)

    def text_search(self, kind: str, value: int | str) -> str | None:
        """A text search configuration or dictionary: an oid, or the name of one that initdb created."""
        if isinstance(value, str):
            namespace, name = PG_CATALOG, value
        else:
            initdb = _initdb_text_search(self.catalog.major.number, dictionaries=kind.endswith("dictionary")).get(value)
            row = self.catalog.others.get(value)
            if row is not None:
                namespace, name = row.namespace, row.name
            elif initdb is not None:
                namespace, name = PG_CATALOG, initdb
            else:
                return self.missing(value)
        names = self.catalog.other_names
        visible = next(
            (place == namespace for place in self.path if place == namespace or (kind, place, name) in names), False
        )
        return self._at_its_place(namespace, self.quoted(name), visible)


_FUNCTIONS_BEFORE_TYPES = 12
"""The functions of information_schema that information_schema.sql creates before its first type."""


def _information_schema_oid(major: int) -> int:
    """The oid that initdb gives to information_schema, in the minor release that ``builtins`` has a snapshot of."""
    first_type = min(builtins(major).types["information_schema"].values())
    return first_type - _FUNCTIONS_BEFORE_TYPES - 1


@cache
def _initdb_text_search(major: int, *, dictionaries: bool) -> dict[int, str]:
    """The text search configurations or dictionaries that initdb creates, by oid: for each language a dictionary and
    then a configuration, and information_schema after the last one (snowball_create.sql).
    """
    names = sorted(languages(BY_NUMBER[major]))
    first = _information_schema_oid(major) - 2 * len(names)
    by_oid = {3765 if dictionaries else 3748: "simple"}
    for number, name in enumerate(names):
        oid = first + 2 * number
        by_oid[oid if dictionaries else oid + 1] = f"{name}_stem" if dictionaries else name
    return by_oid


def type_name(context: OutputContext, oid: int) -> str:
    """A type's name in the session (format_type_be). Raises Unknowable for an unknown type."""
    names = Names(context)
    return str(names.cache.format_type(oid, naming=names.naming))


def _path(context: OutputContext) -> tuple[int, ...]:
    """The schemas of the search_path setting (recomputeNamespacePath); the session's own where it is not set."""
    setting = context.setting("search_path")
    session = context.cache.session
    if setting is None:
        return tuple(session.path)
    if isinstance(setting, str):
        parts = [match.groups() for match in _PART.finditer(setting)]
        names = [
            quoted.replace('""', '"') if quoted is not None else literal if literal is not None else bare.lower()
            for quoted, literal, bare in parts
        ]
    else:
        names = list(setting)
    known = context.cache.catalog.namespace_names
    path = [known[name] for name in dict.fromkeys(names) if name in known]
    return tuple(path if PG_CATALOG in path else [PG_CATALOG, *path])


def _sender(context: OutputContext, type_oid: int) -> Sender:
    dictionaries = type_oid == oids.REGDICTIONARY
    oids_by_name = {
        name: oid for oid, name in _initdb_text_search(context.major.number, dictionaries=dictionaries).items()
    }

    def send(value: int | str) -> bytes:
        if isinstance(value, str):
            value = oids_by_name[value]
        elif value == INFORMATION_SCHEMA:
            value = _information_schema_oid(context.major.number)
        return struct.pack(">I", value)

    return send


def _output(name: Callable[[Names, Any], str | None], none: str = "-") -> TypeOutput:
    """0 is ``none``, an object that does not exist its oid."""

    def maker(context: OutputContext, type_oid: int) -> Writer:
        names = Names(context)
        return lambda value: (name(names, value) or str(value)) if value else none

    return TypeOutput(maker, _sender)


def _quoted_role(names: Names, oid: int) -> str | None:
    name = names.role(oid)
    return None if name is None else names.quoted(name)


REGCLASS, REGTYPE = _output(Names.relation), _output(Names.type)
REGPROC, REGPROCEDURE = _output(Names.function), _output(Names.function_with_arguments)
REGOPER, REGOPERATOR = _output(Names.operator, "0"), _output(Names.operator_with_operands, "0")
REGNAMESPACE, REGROLE, REGCOLLATION = _output(Names.namespace), _output(_quoted_role), _output(Names.collation)
REGCONFIG = _output(lambda names, value: names.text_search("text search configuration", value))
REGDICTIONARY = _output(lambda names, value: names.text_search("text search dictionary", value))

# aclitem.

_RIGHTS = "arwdDxtXUCTcsAm"
_SAFE = re.compile("[A-Za-z0-9_]+")
_RIGHT = re.compile(r"([A-Za-z])(\*?)")


def _aclitem(context: OutputContext, type_oid: int) -> Writer:
    """aclitemout: the rights in the order of their bits."""
    names = Names(context)

    def role(oid: int) -> str:
        """putid."""
        name = names.role(oid) or str(oid)
        return name if _SAFE.fullmatch(name) else '"' + name.replace('"', '""') + '"'

    def out(value: tuple[int, str, int]) -> str:
        grantee, written, grantor = value
        options: dict[str, str] = {}
        for letter, option in _RIGHT.findall(written):
            options[letter] = option or options.get(letter, "")
        rights = "".join(letter + options[letter] for letter in _RIGHTS if letter in options)
        return f"{role(grantee) if grantee else ''}={rights}/{role(grantor)}"

    return out


ACLITEM = TypeOutput(_aclitem)
