"""Alembic: the operations of ``upgrade()`` as the statements that it sends to PostgreSQL."""

from __future__ import annotations

import ast

from pubcheck.extract.frameworks.alchemy import Operation
from pubcheck.extract.frameworks.alembic_operations import RENDERED
from pubcheck.extract.frameworks.operations import Operations, Unreadable
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.python import Module, last_name, module
from pubcheck.words import word_set

_WITHOUT_TABLES = frozenset(["execute", "bulk_insert", "get_bind", "get_context", "f", "create_table_comment"])
_HARMLESS = frozenset(["print", "len", "str", "int", "list", "dict", "set", "sorted", "range", "Session"])
_HARMLESS_METHODS = word_set("""
    execute executemany scalar scalars fetchall fetchone first all commit flush rollback close begin begin_nested info
    debug warning error add add_all append extend update items keys values get format join insert query filter where
    create drop mappings bindparams values_list dialect connect connection exec_driver_sql
""")
"""The methods of connections, types and collections that create no table."""


def alembic(text: str, project: Project) -> Operations | None:
    """Return the operations of a migration; None if it cannot be read."""
    tree = module(text)
    upgrade = tree.functions.get("upgrade") if tree is not None else None
    if tree is None or upgrade is None:
        return None
    reader = _Upgrade(tree, project)
    try:
        reader.block(upgrade.body, conditional=False)
    except RecursionError:
        return None
    return reader.operations


class _Upgrade:
    """Reads the statements of a migration in order."""

    def __init__(self, tree: Module, project: Project) -> None:
        self.module, self.project = tree, project
        self.operations = Operations()
        self._batches: dict[str, ast.Call] = {}
        self._entered: list[str] = ["upgrade"]
        self._left = False
        """Whether the migration may have ended before."""

    def block(self, body: list[ast.stmt], *, conditional: bool) -> None:
        for statement in body:
            self._statement(statement, conditional=conditional or self._left)

    def _statement(self, node: ast.stmt, *, conditional: bool) -> None:
        if isinstance(node, ast.With):
            for item in node.items:
                self._entering(item)
            self.block(node.body, conditional=conditional)
        elif isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.Match):
            for body in _bodies(node):
                self.block(body, conditional=True)
        elif isinstance(node, ast.Return | ast.Raise):
            self._left = True
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass):
            for call in _outer_calls(node):
                self._call(call, conditional=conditional)

    def _entering(self, item: ast.withitem) -> None:
        call = item.context_expr
        if isinstance(call, ast.Call) and last_name(call) == "batch_alter_table":
            self.operations.read.append(self.module.place(call))
            if isinstance(item.optional_vars, ast.Name):
                self._batches[item.optional_vars.id] = call

    def _call(self, call: ast.Call, *, conditional: bool) -> None:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        name = last_name(call)
        if isinstance(owner, ast.Name) and owner.id in self._batches:
            self._operation(call, name, self._batches[owner.id], conditional=conditional)
        elif last_name(owner) == "op":
            if name not in _WITHOUT_TABLES:
                self._operation(call, name, None, conditional=conditional)
        elif isinstance(call.func, ast.Name) and name in self.module.functions:
            self._local(call, name, conditional=conditional)
        elif (owner is None and name not in _HARMLESS) or (owner is not None and name not in _HARMLESS_METHODS):
            self.operations.doubt(self.module.place(call)[0])

    def _local(self, call: ast.Call, name: str, *, conditional: bool) -> None:
        """A function of the same file, which is read where it is called; one with arguments may do anything."""
        function = self.module.functions[name]
        if call.args or call.keywords or name in self._entered:
            self.operations.doubt(self.module.place(call)[0])
            return
        self._entered.append(name)
        start, count = self.module.place(call)[0], len(self.operations.calls)
        left, self._left = self._left, False
        self.block(function.body, conditional=conditional)
        self._left = left
        # Its statements run where the method is called, so statements defined elsewhere are out of order.
        if len(self.operations.calls) > count and self.module.place(function)[0] > start:
            del self.operations.calls[count:]
            self.operations.doubt(start)

    def _operation(self, call: ast.Call, name: str, batch: ast.Call | None, *, conditional: bool) -> None:
        place = self.module.place(call)
        operation = Operation(self.module, self.project, call, batch)
        try:
            render = RENDERED.get(name)
            if render is None:
                raise Unreadable
            render(operation)
        except (Unreadable, IndexError):
            self.operations.doubt(place[0], operation.table_if_known())
        else:
            self.operations.calls += [statement.call(conditional=conditional) for statement in operation.statements]
            for unknown in operation.unknown_types:
                self.operations.doubt_type(place[0], unknown)
            self.operations.read.append(place)


def _bodies(node: ast.If | ast.For | ast.While | ast.Try | ast.Match) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    if isinstance(node, ast.Try):
        return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
    return [node.body, node.orelse]


def _outer_calls(node: ast.AST) -> list[ast.Call]:
    """Return the calls in a statement that are not part of another one."""
    calls: list[ast.Call] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Call):
            calls.append(current)
        else:
            waiting += reversed(list(ast.iter_child_nodes(current)))
    return calls
