"""Django: the operations of a migration as the statements that its PostgreSQL backend sends."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping
from contextlib import suppress

from pubcheck.extract.frameworks.django_state import State, StatementWriter, default_table
from pubcheck.extract.frameworks.django_tables import RENDERED, explicit_table
from pubcheck.extract.frameworks.operations import Operations, Unreadable
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.python import Module, keywords, last_name, module
from pubcheck.words import word_set

_HARMLESS = word_set("""
    AddTrigger AlterModelManagers AlterModelOptions AlterModelTableComment AddConstraintNotValid AlterIndexTogether
    BtreeGinExtension BtreeGistExtension BloomExtension CITextExtension CreateCollation CreateExtension
    CryptoExtension HStoreExtension RemoveCollation RemoveTrigger RunSQL TrigramExtension UnaccentExtension
    ValidateConstraint
""")
"""Operations that make no table, column or key."""
_MAY_CHANGE = re.compile(r"schema_editor\s*\.\s*(?!connection\s*\.\s*alias)|\bcursor\b|\.execute\(|call_command")
"""Code in a function for ``RunPython`` that may do more than read and write rows."""


def django(text: str, project: Project) -> Operations | None:
    """Return the operations of a migration; None if it cannot be read."""
    tree = module(text)
    if tree is None or not project.app:
        return None
    if project.django is None:
        project.django = State()
    reader = Reader(tree, text, project.django, project.app, app_known=project.app_known)
    listed = _operations(tree)
    try:
        if len(listed) == 1:
            reader.read_operations(listed[0])
        elif listed:
            reader.doubt("")
    except RecursionError:
        return None
    return reader.operations


def _operations(tree: Module) -> list[ast.expr]:
    """Return the values that are assigned, or added, to ``operations`` in the class ``Migration``."""
    operations: list[ast.expr] = []
    for node in tree.tree.body:
        for statement in node.body if isinstance(node, ast.ClassDef) and node.name == "Migration" else ():
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign | ast.AugAssign):
                targets = [statement.target]
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) else None
            if value is not None and any(
                isinstance(target, ast.Name) and target.id == "operations" for target in targets
            ):
                operations.append(value)
    return operations


class Reader(StatementWriter):
    """Reads operations in order."""

    def __init__(self, tree: Module, text: str, state: State, app: str, *, app_known: bool) -> None:
        super().__init__(tree, state, app, app_known=app_known)
        self._text = text

    def read_operations(self, listed: ast.expr) -> None:
        try:
            items = self.module.items(listed)
        except Unreadable:
            self.doubt("")
            return
        for item in items:
            self._operation(item)

    def _operation(self, node: ast.expr) -> None:
        self.at, self.pending = self.module.place(node), []
        name = last_name(node)
        try:
            if not isinstance(node, ast.Call):
                raise Unreadable
            if name in ("SeparateDatabaseAndState", "RunSQL"):
                self._apart(node, name)
            elif name == "RunPython":
                self._python(node)
            elif name in RENDERED:
                RENDERED[name](self, node, _arguments(name, node))
                self.operations.calls += [sql.call() for sql in self.pending]
            elif name not in _HARMLESS:
                raise Unreadable
        except (Unreadable, IndexError):
            self._unread(node, name)

    def _apart(self, call: ast.Call, name: str) -> None:
        """Operations for the database alone, and for the models alone."""
        arguments = keywords(call)
        positional = call.args if name == "SeparateDatabaseAndState" else []
        database = arguments.get("database_operations") or (positional[0] if positional else None)
        models = arguments.get("state_operations") or (positional[1] if len(positional) > 1 else None)
        state, sends = self.state, self.sends
        if database is not None:
            self.state = copy.deepcopy(state)
            self.read_operations(database)
        if models is not None:
            self.state, self.sends = state, False
            self.read_operations(models)
        self.state, self.sends = state, sends

    def _python(self, call: ast.Call) -> None:
        """A function is run; of one that is elsewhere nothing is known."""
        code = call.args[0] if call.args else keywords(call).get("code")
        if last_name(code) == "noop":
            return
        function = self.module.functions.get(code.id) if isinstance(code, ast.Name) else None
        if function is None or _MAY_CHANGE.search(self._text, *self.module.place(function)) is not None:
            raise Unreadable

    def _unread(self, node: ast.expr, name: str) -> None:
        """Write an operation with an unknown effect: it may change the models that it names."""
        arguments = node.keywords if isinstance(node, ast.Call) else []
        words = {name.arg: name.value.value for name in arguments if isinstance(name.value, ast.Constant)}
        of_model = ("model_name",) if "model_name" in words else ("name", "old_name", "new_name")
        model_names = [str(words[key]) for key in of_model if key in words]
        if not model_names or ("model_name" not in words and name not in RENDERED):
            self.doubt("")
        for model_name in model_names:
            model = self.state.models.get((self.app, model_name.lower()))
            self.doubt(model.table if model is not None else default_table(self.app, model_name))
        if name == "CreateModel" and isinstance(node, ast.Call):
            with suppress(Unreadable):
                if table := explicit_table(self, _arguments(name, node)):
                    self.doubt(table)


_POSITIONAL: Mapping[str, tuple[str, ...]] = {
    "AddConstraint": ("model_name", "constraint"),
    "AddField": ("model_name", "name", "field"),
    "AddIndex": ("model_name", "index"),
    "AlterField": ("model_name", "name", "field"),
    "AlterModelTable": ("name", "table"),
    "AlterUniqueTogether": ("name", "unique_together"),
    "CreateModel": ("name", "fields", "options", "bases"),
    "DeleteModel": ("name",),
    "RemoveConstraint": ("model_name", "name"),
    "RemoveField": ("model_name", "name"),
    "RemoveIndex": ("model_name", "name"),
    "RenameField": ("model_name", "old_name", "new_name"),
    "RenameModel": ("old_name", "new_name"),
}


def _arguments(name: str, call: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments of an operation by their names."""
    names = _POSITIONAL.get(name, ())
    named = keywords(call)
    if len(call.args) > len(names):
        raise Unreadable
    return {**dict(zip(names, call.args, strict=False)), **named}
