"""The SQL that SQLAlchemy's PostgreSQL dialect generates for columns and constraints of a migration, and the calls of
Alembic's operations that they are arguments of.
"""

from __future__ import annotations

import ast

from pubcheck.extract.frameworks.operations import Place, Sql, Unreadable, create_enum
from pubcheck.extract.frameworks.project import Project
from pubcheck.extract.frameworks.python import Module, keywords, last_name
from pubcheck.postgres.tokens import in_quotes
from pubcheck.words import word_set, words

_PLAIN = {
    name: name.lower()
    for name in words("""
    BIGINT BIT BOOLEAN BYTEA Boolean CHAR CIDR CITEXT DATE DATERANGE Date FLOAT Float HSTORE INET INT4RANGE INT8RANGE
    INTEGER INTERVAL Integer Interval JSON JSONB MACADDR MACADDR8 MONEY NUMERIC NUMRANGE Numeric OID REAL REGCLASS
    SMALLINT TEXT TIME TIMESTAMP TSQUERY TSRANGE TSTZRANGE TSVECTOR Text Time UUID Uuid VARCHAR
""")
} | {
    "AutoString": "varchar",
    "BLOB": "bytea",
    "BigInteger": "bigint",
    "DECIMAL": "numeric",
    "DOUBLE": "double precision",
    "DOUBLE_PRECISION": "double precision",
    "DateTime": "timestamp",
    "Double": "double precision",
    "LargeBinary": "bytea",
    "PickleType": "bytea",
    "SmallInteger": "smallint",
    "String": "varchar",
    "Unicode": "varchar",
    "UnicodeText": "text",
    "VARBINARY": "bytea",
}
"""PostgreSQL's type, by the name of SQLAlchemy's."""
_SERIAL = {"bigint": "bigserial", "integer": "serial", "smallint": "smallserial"}
_ZONED = frozenset(["time", "timestamp"])
_SIZED = frozenset(["varchar", "char", "numeric", "float", "bit"])


class Column:
    """A column of a call of ``Column``: its ``name`` with its place, and what is written behind the name."""

    def __init__(self, module: Module, node: ast.expr) -> None:
        if not isinstance(node, ast.Call) or last_name(node) != "Column":
            raise Unreadable
        arguments = keywords(node)
        positional = list(node.args)
        name_node = arguments.get("name") or (positional.pop(0) if positional else None)
        self.name = module.text(name_node)
        self.place: Place | None = module.place_of(name_node)
        self.primary = module.truth(arguments.get("primary_key"), False)
        self.unique = module.truth(arguments.get("unique"), False)
        self.index = module.truth(arguments.get("index"), False)
        nullable = arguments.get("nullable")
        self.nullable = not self.primary if nullable is None else module.truth(nullable, True)
        automatic = arguments.get("autoincrement")
        self.automatic = module.value(automatic) if automatic is not None else "auto"
        self.type: Type | None = None
        typed = arguments.get("type_")
        self.rest = ""
        self.default = "server_default" in arguments
        self.references: list[ast.Call] = []
        for argument in positional if typed is None else [typed, *positional]:
            kind = last_name(argument)
            if kind == "ForeignKey" and isinstance(argument, ast.Call):
                self.references.append(argument)
            elif kind == "Computed" and isinstance(argument, ast.Call):
                self.rest += _computed(module, argument)
            elif kind == "Identity" and isinstance(argument, ast.Call):
                always = module.truth(keywords(argument).get("always"), False)
                self.rest += f" GENERATED {'ALWAYS' if always else 'BY DEFAULT'} AS IDENTITY"
            elif kind in ("Sequence", "FetchedValue", "DefaultClause"):
                self.default = True
            elif kind == "CheckConstraint" and isinstance(argument, ast.Call):
                self.rest += f" CHECK ({expression(module, argument.args[0])})"
            elif self.type is None:
                self.type = Type(module, argument)
            else:
                raise Unreadable
        if self.type is None:
            raise Unreadable  # that of the column that it refers to

    def definition(self, *, key: bool = False) -> str:
        """Return the definition of a column after its name, without primary key and unique constraints.

        ``key``: it is the whole primary key.
        """
        assert self.type is not None
        own = not self.references and not self.rest and not self.default
        serial = _SERIAL.get(self.type.sql) if self.automatic is True or (key and own and self.automatic) else None
        return f" {serial or self.type.sql}{self.rest}{'' if self.nullable else ' NOT NULL'}"


class Type:
    """A type: its ``sql``; the ``unknown`` name if it is not one of SQLAlchemy's; ``enum`` its name and labels where
    it is one of its own."""

    def __init__(self, module: Module, node: ast.expr) -> None:
        self.unknown = ""
        self.enum: tuple[str, tuple[str, ...]] | None = None
        try:
            self.sql = self._read(module, node)
        except (Unreadable, IndexError):
            self.unknown = last_name(node) or "type"
            self.sql = in_quotes(self.unknown)

    def _read(self, module: Module, node: ast.expr) -> str:
        name = last_name(node)
        options = keywords(node) if isinstance(node, ast.Call) else {}
        arguments = node.args if isinstance(node, ast.Call) else []
        if name == "with_variant" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_postgresql = "postgresql" in [module.value(argument) for argument in arguments[1:]]
            return self._read(module, arguments[0] if is_postgresql else node.func.value)
        if name in ("Enum", "ENUM"):
            return self._enum(module, options, arguments)
        if name == "ARRAY":
            return f"{self._read(module, options.get('item_type') or arguments[0])}[]"
        sql = _PLAIN.get(name, "")
        if sql in _SIZED:
            sizes = [options.get("length") or options.get("precision"), options.get("scale")]
            sql += _size(module, [argument for argument in (*arguments, *sizes) if argument is not None])
        elif sql in _ZONED:
            zone = options.get("timezone") or (arguments[0] if arguments else None)
            sql += " with time zone" if module.truth(zone, False) else " without time zone"
        if not sql:
            raise Unreadable
        return sql

    def _enum(self, module: Module, options: dict[str, ast.expr], arguments: list[ast.expr]) -> str:
        labels = [module.text(label) for label in arguments]
        if not module.truth(options.get("native_enum"), True):
            return "varchar"
        name = module.text(options.get("name"))
        sql = in_quotes(name)
        if "schema" in options and module.value(options["schema"]) is not None:
            sql = f"{in_quotes(module.text(options['schema']))}.{sql}"
        if module.truth(options.get("create_type"), True):
            self.enum = (sql, tuple(labels))
        else:
            self.unknown = name
        return sql


def _size(module: Module, arguments: list[ast.expr]) -> str:
    sizes = [size for size in map(module.value, arguments[:2]) if size is not None]
    if not all(isinstance(size, int) for size in sizes):
        raise Unreadable
    return f"({', '.join(map(str, sizes))})" if sizes else ""


def expression(module: Module, node: ast.expr) -> str:
    """Return a string of SQL, by itself or as ``text()``."""
    if isinstance(node, ast.Call) and last_name(node) in ("text", "literal_column", "column") and len(node.args) == 1:
        written = module.text(node.args[0])
        return in_quotes(written) if last_name(node) == "column" else written.replace("%%", "%")
    return module.text(node)


def _computed(module: Module, node: ast.Call) -> str:
    arguments = keywords(node)
    stored = arguments.get("persisted")
    kind = module.value(stored) if stored is not None else None
    generated = f" GENERATED ALWAYS AS ({expression(module, node.args[0])})"
    return generated + (" STORED" if kind is not False else " VIRTUAL")


def add_constraint(module: Module, sql: Sql, node: ast.Call) -> str:
    """Add a table constraint that is written as a call; its name, "" where PostgreSQL chooses one."""
    kind, arguments = last_name(node), keywords(node)
    name = identifier(module, arguments.get("name"))
    if name:
        sql.add("CONSTRAINT ").name(name).add(" ")
    if kind in ("PrimaryKeyConstraint", "UniqueConstraint"):
        sql.add("PRIMARY KEY " if kind[0] == "P" else "UNIQUE ").names(module.names(node.args))
    elif kind == "CheckConstraint":
        sql.add(f"CHECK ({expression(module, node.args[0])})")
    elif kind == "ForeignKeyConstraint":
        columns, targets = (module.names(module.items(argument)) for argument in node.args[:2])
        sql.add("FOREIGN KEY ").names(columns)
        add_reference(module, sql, [target for target, _ in targets], arguments)
    else:
        raise Unreadable
    return name


def add_reference(module: Module, sql: Sql, targets: list[str], options: dict[str, ast.expr]) -> None:
    """Add what a foreign key refers to: ``targets`` as "table.column" or "schema.table.column"."""
    parts = [target.split(".") for target in targets]
    if not parts or any(not 1 < len(part) < 4 or part[:-1] != parts[0][:-1] for part in parts):
        raise Unreadable
    sql.add(f" REFERENCES {'.'.join(map(in_quotes, parts[0][:-1]))} ").names((part[-1], None) for part in parts)
    add_actions(module, sql, options)


def add_actions(module: Module, sql: Sql, options: dict[str, ast.expr]) -> None:
    for key, clause in (("onupdate", "ON UPDATE"), ("ondelete", "ON DELETE")):
        action = module.value(options[key]) if key in options else None
        if action is not None:
            if not isinstance(action, str) or not action.replace(" ", "").isalpha():
                raise Unreadable
            sql.add(f" {clause} {action}")
    for key in ("deferrable", "not_valid", "postgresql_not_valid"):
        if key in options and module.value(options[key]) is True:
            sql.add(" DEFERRABLE" if key == "deferrable" else " NOT VALID")


def identifier(module: Module, node: ast.expr | None) -> str:
    """Return a name, also one in ``op.f()``; empty where it is left to somebody else."""
    if isinstance(node, ast.Call) and last_name(node) in ("f", "conv") and len(node.args) == 1:
        node = node.args[0]
    value = module.value(node) if node is not None else None
    if value is not None and not isinstance(value, str):
        raise Unreadable
    return value or ""


# A call of an operation of Alembic, and its arguments.


class Operation:
    """One call of an operation: its arguments by name, and the statements that it creates."""

    def __init__(self, tree: Module, project: Project, call: ast.Call, batch: ast.Call | None) -> None:
        self.module, self.project, self.call, self.batch = tree, project, call, batch
        self.statements: list[Sql] = []
        self.unknown_types: list[str] = []

    def arguments(self, *names: str) -> dict[str, ast.expr]:
        """Return the arguments by name. ``names`` are those of positional ones; a batch leaves out the table."""
        if self.batch is not None:
            names = tuple(name for name in names if name not in ("table_name", "source_table"))
        named = keywords(self.call)
        if len(self.call.args) > len(names):
            raise Unreadable
        return {**dict(zip(names, self.call.args, strict=False)), **named}

    def start(self, words: str) -> Sql:
        """Return a new statement that begins with some words, which have the place of the call."""
        sql = Sql(self.module.place(self.call)).add(words, self.module.place(self.call.func))
        self.statements.append(sql)
        return sql

    def table(self, sql: Sql, arguments: dict[str, ast.expr], key: str = "table_name") -> str:
        """Add the name of the table that is changed; that name without its schema."""
        if self.batch is not None:
            arguments = keywords(self.batch)
            node = self.batch.args[0] if self.batch.args else arguments.get("table_name")
        else:
            node = arguments.get(key)
        name = self.module.text(node)
        self.schema(sql, arguments)
        sql.name(name, self.module.place_of(node))
        return name

    def schema(self, sql: Sql, arguments: dict[str, ast.expr], key: str = "schema") -> None:
        schema = identifier(self.module, arguments.get(key))
        if schema:
            sql.name(schema).add(".")

    def table_if_known(self) -> str:
        """Return the name of the table of an otherwise unknown operation; "" if the table is unknown too."""
        try:
            if self.batch is not None:
                arguments = keywords(self.batch)
                return self.module.text(self.batch.args[0] if self.batch.args else arguments.get("table_name"))
            name = last_name(self.call)
            if name not in _TABLE_FIRST and name not in _TABLE_SECOND:
                return ""
            position = 0 if name in _TABLE_FIRST else 1
            for keyword in self.call.keywords:
                if keyword.arg in ("table_name", "source_table", "old_table_name"):
                    return self.module.text(keyword.value)
            return self.module.text(self.call.args[position])
        except (Unreadable, IndexError):
            return ""

    def column(self, sql: Sql, column: Column, *, key: bool = False) -> None:
        """Add the definition of a column, and create its type before. ``key``: it is the whole primary key."""
        assert column.type is not None
        if column.type.enum is not None:
            self.statements.insert(0, Sql(self.module.place(self.call)).add(create_enum(*column.type.enum)))
        if column.type.unknown:
            self.unknown_types.append(column.type.unknown)
        sql.name(column.name, column.place).add(column.definition(key=key))

    def known(self, table: str, name: str) -> None:
        if name:
            self.project.parts.add((table, name))

    def unless_none(self, arguments: dict[str, ast.expr], key: str) -> ast.expr | None:
        """Return an argument, None where it is left out or None."""
        node = arguments.get(key)
        return None if isinstance(node, ast.Constant) and node.value is None else node

    def index_of(self, column: Column, table: str, arguments: dict[str, ast.expr]) -> None:
        """Create the index of a column with ``index=True``."""
        if column.index:
            name = f"ix_{table}_{column.name}"
            sql = self.start("CREATE UNIQUE INDEX " if column.unique else "CREATE INDEX ").name(name).add(" ON ")
            self.table(sql, arguments)
            sql.add(" ").names([(column.name, None)])
            self.known(table, name)


_TABLE_FIRST = frozenset(["create_table", "drop_table", "rename_table", "add_column", "drop_column", "alter_column"])


_TABLE_SECOND = word_set("""
    create_index create_primary_key create_unique_constraint create_foreign_key create_check_constraint
    drop_constraint create_exclude_constraint drop_index
""")
