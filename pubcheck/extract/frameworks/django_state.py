"""The models that Django's migrations have made so far, as far as they decide about tables."""

from __future__ import annotations

from pubcheck.extract.frameworks.django_fields import Field, shortened
from pubcheck.postgres.identifiers import in_quotes

Key = tuple[str, str]
"""An application's label and a model in lower case."""

_CONTRIB = {
    ("admin", "logentry"): ("django_admin_log", "integer"),
    ("auth", "group"): ("auth_group", "integer"),
    ("auth", "permission"): ("auth_permission", "integer"),
    ("auth", "user"): ("auth_user", "integer"),
    ("contenttypes", "contenttype"): ("django_content_type", "integer"),
    ("sites", "site"): ("django_site", "integer"),
}
"""Models of Django's own applications: the table and the type of its key."""
_USER = frozenset(["password", "last_login"])
"""Fields of a model of users."""


class Model:
    """A model: the name of its ``table``; ``managed``: whether Django makes that; ``uniques``: by the fields, the name
    of the constraint over them; ``parts``: the constraints and indexes of a name, each with what drops it."""

    def __init__(self, app: str, name: str, table: str | None, *, managed: bool) -> None:
        self.app, self.name, self.managed = app, name, managed
        self.explicit = table is not None
        self.table = table or default_table(app, name)
        self.fields: dict[str, Field] = {}
        self.uniques: dict[tuple[str, ...], str] = {}
        self.parts: dict[str, str] = {}

    @property
    def composite(self) -> Field | None:
        return next((field for field in self.fields.values() if field.parts), None)

    @property
    def key(self) -> Field | None:
        return next((field for field in self.fields.values() if field.primary), None)


class State:
    """The models by application and name."""

    def __init__(self) -> None:
        self.models: dict[Key, Model] = {}

    def resolve(self, target: Key) -> Key | None:
        """Return the model that a field refers to; None if it is named only in the settings."""
        if target[0]:
            return target
        users = [key for key, model in self.models.items() if model.fields.keys() >= _USER]
        return users[0] if len(users) == 1 and target[1] == "AUTH_USER_MODEL" else None

    def referred(self, field: Field) -> tuple[str, str, str]:
        """Return the table, the column and the type that a foreign key refers to; each "" where it is not known."""
        key = self.resolve(field.target) if field.target is not None else None
        model = self.models.get(key) if key is not None else None
        if model is None:
            return ("", "", _CONTRIB[key][1]) if key in _CONTRIB else ("", "", "")
        target = model.fields.get(field.to_field) if field.to_field else model.key
        if target is None:
            return "", "", ""
        return model.table if model.managed else "", target.column, self.type_of(target)

    def type_of(self, field: Field, depth: int = 0) -> str:
        """Return the type of a column, through foreign keys; "" where it is not known."""
        if not field.refers or depth > 20:
            return field.type if not field.unknown else ""
        key = self.resolve(field.target) if field.target is not None else None
        model = self.models.get(key) if key is not None else None
        if model is None:
            return _CONTRIB[key][1] if key in _CONTRIB else ""
        target = model.fields.get(field.to_field) if field.to_field else model.key
        return self.type_of(target, depth + 1) if target is not None else ""

    def key_type(self, key: Key) -> str:
        """Return the type of a model's key; "" where it is not known."""
        model = self.models.get(key)
        if model is None:
            return _CONTRIB[key][1] if key in _CONTRIB else ""
        return self.type_of(model.key) if model.key is not None else ""

    def pointing(self, key: Key) -> list[tuple[Model, Field]]:
        """Return the fields of all models that refer to a model through a table of their own."""
        return [
            (model, field)
            for model in self.models.values()
            for field in model.fields.values()
            if field.many and not field.through and field.target == key
        ]


def default_table(app: str, model: str) -> str:
    return shortened(f"{app}_{model.lower()}")


def joining_table(model: Model, field: Field) -> str:
    """Return the table of a field that refers to many."""
    return field.table or shortened(f"{model.table.strip(chr(34))}_{field.name}")


def table_sql(name: str) -> str:
    """Return a table's name as Django quotes it: some write quotes into it to name a schema."""
    return name if len(name) > 1 and name[0] == name[-1] == '"' else f'"{name}"' if '"."' in name else in_quotes(name)
