"""Names in statements that stand for what is not known: placeholders, variables of psql, what programs call.

Nothing is said of what they name, for nobody knows what that is.
"""

from __future__ import annotations

from pubcheck.diagnostics import Diagnostic, Span, StatementRef
from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import Statement
from pubcheck.postgres.ddl.generated_names import NAME_BYTES
from pubcheck.postgres.parse import Node
from pubcheck.statement_index import StatementText

_NAMES = lazy_compile(r"\$?[{%#<]+[^\"]*?[}>]+|%\w|\w+")
"""Names in what is said of them, and placeholders within quotes."""
_OF_OPTIONS = ("PUB12", "PUB140")
_OF_WHOLE_LIST = "PUB709"
"""What SET takes out of a publication: a list with something unknown in it may hold everything."""
_OF_VALUES = ("PUB101", "PUB14", "PUB2")
"""Syntax, connection strings, and the columns, types and literals of row filters."""
MISSING = ("PUB106", "PUB107")


class UnknownNames:
    """The names that a unit was met with."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Those that were put in the place of what is not known."""
        self.unknown: set[StatementRef] = set()
        """Statements with such names."""
        self.variables: dict[StatementRef | None, frozenset[str]] = {}
        """By the statement, what stands for psql's variables in it: nobody knows whether that is there."""
        self.sites: dict[StatementRef | None, tuple[Span, ...]] = {}
        """And where they are in the source: of values that nobody knows nothing is reported."""
        self.called: set[str] = set()
        """What calls of programs name: they may have made it."""

    def record(self, statement: StatementText, item: Statement) -> bool:
        """Take note of the names in a statement that stand for what is not known; whether there are any."""
        # Loaded only where something is not known.
        from pubcheck.lexing.placeholder_values import placeholder_names, variable_names

        # As they are in what is said: in lower case, and no longer than a name may be.
        names = {name.lower()[:NAME_BYTES] for name in placeholder_names(item)}
        if names:
            self.names |= names
            self.unknown.add(statement.ref())
        if item.variables:
            self.variables[statement.ref()] = frozenset(name[:NAME_BYTES] for name in variable_names(item))
            sites = ((item.start + start, item.start + end) for start, end in item.variables)
            self.sites[statement.ref()] = tuple(Span(statement.source, *site) for site in sites)
        return bool(names or item.variables)

    def is_identified(self, name: str, node: Node) -> bool:
        """Whether a statement gives a table of unknown name a replica identity that it did not have."""
        if name != "AlterTableStmt" or node["relation"]["relname"].lower() not in self.names:
            return False
        kinds = (item["AlterTableCmd"].get("def", {}).get("ReplicaIdentityStmt", {}) for item in node.get("cmds", ()))
        return any(kind.get("identity_type") in ("f", "i") for kind in kinds)

    def concerns(self, found: Diagnostic) -> bool:
        """Whether something is said of what stands for something unknown: of its name, or as the value of an option."""
        if found.certainty == "certain" or not (self.names or self.called or self.variables):
            return False
        unknown = found.statement in self.unknown or found.statement in self.variables
        if unknown and found.rule.startswith((*_OF_OPTIONS, _OF_WHOLE_LIST)):
            return True
        if found.rule.startswith(_OF_VALUES) and any(map(found.span.is_within, self.sites.get(found.statement, ()))):
            return True
        said = f"{found.message} {found.server.message if found.server is not None else ''} {found.object}"
        names = _NAMES.findall(said.lower())
        if found.rule in MISSING:
            unseen = self.variables.get(found.statement, frozenset()) | self.called
            return not (unseen | self.names).isdisjoint(names)
        return not self.names.isdisjoint(names)
