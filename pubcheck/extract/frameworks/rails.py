"""Rails: the commands of a migration of ActiveRecord, or of `schema.rb`, as statements."""

from __future__ import annotations

import re

from pubcheck.extract.frameworks.operations import Operations, Unreadable
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.rails_tables import RENDERED, StatementWriter
from pubcheck.extract.frameworks.ruby import Command, commands
from pubcheck.words import word_set

_HARMLESS = word_set("""
    add_check_constraint add_foreign_key announce change_column_comment change_column_default change_table_comment
    disable_ddl_transaction! disable_extension disable_lock_timeout! disable_statement_timeout enable_extension
    execute include private puts raise remove_check_constraint remove_foreign_key require require_relative return say
    say_with_time validate_check_constraint validate_foreign_key with_lock_retries
""")
"""Commands that decide about no column and no key: foreign keys are left out, and SQL is found as such."""
_INLINE = frozenset(
    ["safety_assured", "up_only", "suppress_messages", "transaction", "say_with_time", "with_lock_retries"]
)


def rails(text: str, project: Project) -> Operations | None:
    """Return the operations of a migration or a schema; None for any other file."""
    try:
        program = commands(text)
        reader = Reader(text, project)
        for command in program:
            if command.opens == "class":
                methods = {method.name: method for method in command.body if method.opens == "def"}
                migration = methods.get("up") or methods.get("change")
                if migration is not None:
                    reader.helpers = frozenset(methods) - {"up", "down", "change"}
                    reader.block(migration.body, conditional=False)
                    return reader.operations
            if command.opens == "do" and "ActiveRecord::Schema" in text[slice(*command.place)][:40]:
                reader.block(command.body, conditional=False)
                return reader.operations
    except RecursionError:
        return None
    return None


class Reader(StatementWriter):
    """Reads commands in order."""

    def __init__(self, text: str, project: Project) -> None:
        super().__init__(project)
        self.text = text
        self.helpers: frozenset[str] = frozenset()
        self._left = False

    def block(self, body: list[Command], *, conditional: bool) -> None:
        for command in body:
            self._command(command, conditional=conditional or command.perhaps or self._left)

    def _command(self, command: Command, *, conditional: bool) -> None:
        self.at, self.pending = command.place, []
        name = command.name
        if command.opens in ("if", "unless", "case", "begin", "while", "until", "for"):
            self.block(command.body, conditional=True)
        elif name in ("return", "raise"):
            self._left = True
        elif command.opens == "def" or (command.receiver and name == "down"):
            return
        elif name in _INLINE or name == "reversible" or (command.receiver and name == "up"):
            self.block(command.body, conditional=conditional)
        elif not command.receiver and not command.odd and name in RENDERED:
            try:
                RENDERED[name](self, command)
            except (Unreadable, IndexError, ValueError):
                self.doubt(_first(command))
            else:
                self.operations.calls += [sql.call(conditional=conditional) for sql in self.pending]
        elif command.opens in ("do", "{") or command.odd or command.receiver:
            if _WORDS.search(self.text, *command.place) is not None:
                self.doubt("")
        elif name not in _HARMLESS or name in self.helpers:
            self.doubt("" if name in self.helpers else _first(command))


def _first(command: Command) -> str:
    """Return the table that a command names first, "" where it names none."""
    if command.name.endswith("_join_table") and len(command.arguments) == 2:
        # Its columns are named by English grammar.
        names = [argument.known for argument in command.arguments]
        option = command.options.get("table_name")
        known = option.known if option is not None else "_".join(sorted(map(str, names)))
        return known if isinstance(known, str) else ""
    known = command.arguments[0].known if command.arguments else None
    return known if isinstance(known, str) and re.fullmatch(r"\w+(\.\w+)?", known) else ""


_WORDS = re.compile(
    rf"(?<![\w:])(?<!def )(?:{'|'.join([*RENDERED, 'create_join_table', 'drop_join_table', 'rename_index'])})\b"
)
