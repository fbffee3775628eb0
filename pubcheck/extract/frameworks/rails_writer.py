"""The statements that commands of Rails make, collected while a migration is read."""

from __future__ import annotations

from pubcheck.extract.frameworks.operations import Operations, Sql, qualified
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.rails_columns import Column
from pubcheck.extract.frameworks.tokens import Value
from pubcheck.postgres.identifiers import in_quotes


class StatementWriter:
    """Collects the statements of the command that is read."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.operations = Operations()
        self.at = (0, 0)
        """The place of the command that is read."""
        self.pending: list[Sql] = []
        """Its statements."""

    def doubt(self, table: str) -> None:
        self.operations.doubt(self.at[0], table)

    def start(self, words: str, table: Value, after: str = "") -> Sql:
        """Return a new statement about a table."""
        sql = Sql(self.at).add(words).add(qualified(table.text()), table.place).add(after)
        self.pending.append(sql)
        return sql

    def send(self, statement: str) -> None:
        """A new statement without a table's name."""
        self.pending.append(Sql(self.at).add(statement))

    def unknown_type(self, name: str) -> None:
        if name and ("", name) not in self.project.parts:
            self.operations.doubt_type(self.at[0], name)

    def add(self, sql: Sql, column: Column) -> None:
        """Add the definition of a column."""
        self.unknown_type(column.unknown)
        sql.add(in_quotes(column.name), column.place).add(column.definition)
