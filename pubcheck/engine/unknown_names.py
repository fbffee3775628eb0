"""Unknown names in statements: placeholders, psql variables, names from program calls.

Findings about them are not reported, because it is unknown which objects they name.
"""

from __future__ import annotations

from pubcheck.diagnostics import Diagnostic, Span, StatementRef
from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import Statement
from pubcheck.postgres.ddl.new_objects import NAME_BYTES
from pubcheck.postgres.parse import Node
from pubcheck.statement_index import StatementText

_NAMES = lazy_compile(r"\$?[{%#<]+[^\"]*?[}>]+|%\w|\w+")
"""The parts of a name, and placeholders in it."""
_OF_OPTIONS = ("PUB12", "PUB140")
_OF_WHOLE_LIST = "PUB709"
"""Members that SET removes: a list with an unknown name may contain any table."""
_OF_VALUES = ("PUB101", "PUB14", "PUB2")
"""Syntax, connection strings, and the columns, types and literals of row filters."""
MISSING = ("PUB106", "PUB107")


class UnknownNames:
    """The unknown names of a unit."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Generated names that replace placeholders."""
        self.unknown: set[StatementRef] = set()
        """Statements with such names."""
        self.variables: dict[StatementRef | None, frozenset[str]] = {}
        """The values of psql variables by statement: it is unknown whether these objects exist."""
        self.sites: dict[StatementRef | None, tuple[Span, ...]] = {}
        """Their places in the source. Findings about unknown values are not reported."""
        self.called: set[str] = set()
        """Names in program calls: the calls may have created these objects."""

    def record(self, statement: StatementText, item: Statement) -> bool:
        """Record the unknown names in a statement, and return whether there are any."""
        from pubcheck.lexing.placeholders import placeholder_names, variable_names

        # As diagnostics have them: in lower case, and cut to the length of a name.
        names = {name.lower()[:NAME_BYTES] for name in placeholder_names(item)}
        if names:
            self.names |= names
            self.unknown.add(statement.ref())
        if item.variables:
            self.variables[statement.ref()] = frozenset(name[:NAME_BYTES] for name in variable_names(item))
            sites = ((item.start + start, item.start + end) for start, end in item.variables)
            self.sites[statement.ref()] = tuple(Span(statement.source, *site) for site in sites)
        return bool(names or item.variables)

    def sets_identity(self, name: str, node: Node) -> bool:
        """Return whether a statement sets a replica identity on a table of unknown name."""
        if name != "AlterTableStmt" or node["relation"]["relname"].lower() not in self.names:
            return False
        kinds = (item["AlterTableCmd"].get("def", {}).get("ReplicaIdentityStmt", {}) for item in node.get("cmds", ()))
        return any(kind.get("identity_type") in ("f", "i") for kind in kinds)

    def concerns(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic is about something unknown: a name, or the value of an option."""
        if diagnostic.certainty == "certain" or not (self.names or self.called or self.variables):
            return False
        unknown = diagnostic.statement in self.unknown or diagnostic.statement in self.variables
        if unknown and diagnostic.rule.startswith((*_OF_OPTIONS, _OF_WHOLE_LIST)):
            return True
        if diagnostic.rule.startswith(_OF_VALUES) and any(
            map(diagnostic.span.is_within, self.sites.get(diagnostic.statement, ()))
        ):
            return True
        texts = (diagnostic.object or "", *diagnostic.mentions)
        names = {name for text in texts for name in _NAMES.findall(text.lower())}
        if diagnostic.rule in MISSING:
            unseen = self.variables.get(diagnostic.statement, frozenset()) | self.called
            return not (unseen | self.names).isdisjoint(names)
        return not self.names.isdisjoint(names)
