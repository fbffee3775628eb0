"""The statements that operations of Django make, collected while a migration is read."""

from __future__ import annotations

from pubcheck.extract.frameworks.django_state import Model, State
from pubcheck.extract.frameworks.operations import Operations, Place, Sql, Unreadable
from pubcheck.extract.frameworks.python import Module


class StatementWriter:
    """Collects the statements of the operation that is read. ``module`` is the migration, ``state`` the models before
    the operation, ``app`` the application; ``app_known``: whether tables may be called by it."""

    def __init__(self, module: Module, state: State, app: str, *, app_known: bool) -> None:
        self.module, self.state, self.app, self.app_known = module, state, app, app_known
        self.operations = Operations()
        self.sends = True
        """Whether operations change the database, and not only the models."""
        self.at = (0, 0)
        """The place of the operation that is read."""
        self.pending: list[Sql] = []
        """Its statements."""

    def doubt(self, table: str) -> None:
        """A table, or any, may be changed by the operation that is read."""
        if self.sends:
            self.operations.doubt(self.at[0], table.strip('"'))

    def unknown_type(self, name: str) -> None:
        if self.sends:
            self.operations.doubt_type(self.at[0], name)

    def model(self, name: str) -> Model:
        model = self.state.models.get((self.app, name.lower()))
        if model is None:
            raise Unreadable
        return model

    def start(self, model: Model, words: str, place: Place | None = None) -> Sql:
        """Return a new statement, which begins with some words; it is sent if the model's table is Django's business.
        Of a table whose name is not known, any may be the one."""
        sql = Sql(self.at).add(words, place)
        if not self.app_known and not model.explicit:
            self.doubt("")
        elif self.sends and model.managed:
            self.pending.append(sql)
        return sql
