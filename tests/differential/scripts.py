"""Random SQL scripts about tables, keys and publications: the same for a seed, most of it accepted by the server."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.support.generating import Choices

Maker = Callable[[], "list[str] | str"]

TYPES = {"a": "int", "b": "int", "c": "text", "d": "varchar(20)"}
"""One type a column, so that what the server refuses is rarely a matter of types."""
COLUMNS = tuple(TYPES)
BODY = "(a int, b int NOT NULL, c text, d varchar(20))"
ROLES = ("unit_a", "unit_b", "unit_c")
"""Roles belong to the whole server: whoever runs a script drops them afterwards."""
MADE = "unit_made"
"""A role that every script makes: only then does it say which roles there are."""
DATABASE = "{database}"
"""Stands in a statement for the name of the database it is run in."""

_PUBLICATIONS = ("p", "q", '"Pub"')
_LONG = "a_name_of_a_table_that_is_longer_than_what_a_name_may_have_in_bytes"
_NAMES = (
    '"Mixed Case"', '"t.1"', '"T1"', '"ünïcödé"', '"select"', f'"{"é" * 31}"', f'"x{"é" * 31}"', f'"{"日" * 21}"',
    _LONG[:63], _LONG[:60], _LONG[:58], _LONG, f'"{"é" * 40}"',
)  # fmt: skip
_LONG_COLUMNS = ("a_column_whose_name_is_rather_long_for_a_column", f'"{"ö" * 28}"', "c" * 63)


class Script(Choices):
    """Grows one script. Names come from small pools, so that statements meet; each seed dwells on some subjects."""

    def __init__(self, seed: int, length: int = 45) -> None:
        super().__init__(Random(seed))
        self.tables: list[str] = []
        self.partitioned: dict[str, str] = {}
        self.indexes: list[tuple[str, str]] = []
        self.types: list[str] = []
        self.role = ""
        self.count = 0
        self.low = 0
        self.names = self.chance(0.2)
        self.statements = [f"CREATE ROLE {MADE}", "CREATE SCHEMA s", 'CREATE SCHEMA "S2"']
        self.grow(length)

    def grow(self, length: int) -> None:
        """Four tables and then ``length`` statements, or a few more, of any kind."""
        subjects: dict[str, list[tuple[int, Maker]]] = {
            "partitions": [(6, self.partitioned_table), (12, self.partition), (5, self.attach), (3, self.root_member)],
            "inheritance": [(6, self.child), (4, self.inherit), (4, self.not_null), (3, self.column)],
            "roles": [(5, self.make_role), (8, self.grant), (8, self.set_role), (6, self.owner)],
            "types": [(5, self.make_type), (5, self.typed), (4, self.drop_type), (3, self.alter_type)],
            "keys": [(6, self.index), (6, self.constraint), (6, self.replica_identity), (6, self.rename_key)],
            "schemas": [(8, self.schema), (5, self.path), (4, self.set_schema), (3, self.qualified_member)],
            "18": [(6, self.named_not_null), (5, self.virtual), (3, self.overlaps)],
        }
        makers: list[tuple[int, Maker]] = [
            (5, self.table), (3, self.partitioned_table), (4, self.partition), (2, self.child), (3, self.like),
            (5, self.index), (5, self.constraint), (6, self.replica_identity), (5, self.column), (3, self.rename),
            (2, self.drop), (2, self.set_schema), (2, self.persistence), (2, self.attach), (2, self.path),
            (2, self.view), (2, self.not_null), (2, self.retype), (1, self.exclude), (1, self.invalid),
            (1, self.identity), (1, self.temporary),
            (14, self.create_publication), (18, self.alter_publication), (3, self.options), (2, self.drop_publication),
            (1, self.transaction), (1, self.rename_publication),
        ]  # fmt: skip
        for subject in self.random.sample(sorted(subjects), self.random.randint(0, 2)):
            makers += subjects[subject]
        for _ in range(4):
            self.statements.append(self.table())
        self.make(makers, length)
        self.statements.append("RESET ROLE")

    def make(self, makers: list[tuple[int, Maker]], number: int) -> None:
        """So many times what one of the makers makes, each chosen as often as its weight says."""
        for maker in self.random.choices([maker for _, maker in makers], [weight for weight, _ in makers], k=number):
            # What asks for rights that are not followed (SELECT, REFERENCES) is left to the superuser.
            if self.role and maker in (self.like, self.view, self.temporary, self.typed, self.make_role):
                maker = self.reset_role
            text = maker()
            self.statements.extend(text if isinstance(text, list) else [text])

    # Choices.

    def pick_count(self) -> int:
        return self.random.choice((1, 1, 1, 2, 2, 3))

    def name(self, prefix: str) -> str:
        if self.names and self.chance(0.5):
            # Keys have names of their own: columns of an index named like a table are not followed.
            return self.pick(*_NAMES) if prefix in ("t", "v", "pub") else f'"{prefix}{self.pick(*_NAMES)[1:-1]}"'
        self.count += 1
        return f"{prefix}{self.count % 12}"

    def new_table(self, schema: str = "") -> str:
        name = schema + self.name("t")
        self.tables.append(name)
        return name

    def any_table(self) -> str:
        if self.chance(0.04):
            # Not information_schema's: they have rows, which a script says nothing about.
            return self.pick("nosuch", "s.nosuch", "nos.t", "pg_class", "v1", "t1_pkey")
        return self.random.choice(self.tables) if self.tables else "t1"

    def plain_table(self) -> str:
        return self.random.choice(self.tables) if self.tables else "t1"

    def columns(self, least: int = 1) -> list[str]:
        return self.random.sample(COLUMNS, self.random.randint(least, 3))

    def bare(self, table: str) -> str:
        return table.rsplit(".", 1)[-1] if '"t.1"' not in table else '"t.1"'

    def derived(self, table: str, ending: str) -> str:
        """A name the server may have made up from a table's."""
        name = self.bare(table)
        return f'{name[:-1]}{ending}"' if name.startswith('"') else name + ending

    # Tables.

    def definition(self) -> str:
        parts = []
        for name in COLUMNS:
            text = f"{name} {TYPES[name]}"
            if name == "a" and self.chance(0.2):
                text = f"{name} {self.pick('serial', 'bigserial') if self.chance(0.3) else 'serial'}"
            elif name == "b" and self.chance(0.2):
                text = f"{name} int GENERATED {self.pick('ALWAYS', 'BY DEFAULT')} AS IDENTITY"
            if self.chance(0.3):
                text += " NOT NULL"
            if self.chance(0.1):
                text += " UNIQUE" + self.pick("", "", " DEFERRABLE")
            elif self.chance(0.08):
                text += " PRIMARY KEY" + self.pick("", "", " DEFERRABLE INITIALLY DEFERRED")
            parts.append(text)
        if self.chance(0.12):
            parts.append("g int GENERATED ALWAYS AS (1 + 1) STORED")
        elif self.chance(0.1):
            parts.append("g text GENERATED ALWAYS AS (c || 'x') STORED")
        if self.names and self.chance(0.5):
            column = self.pick(*_LONG_COLUMNS)
            parts.append(f"{column} int" + self.pick("", " UNIQUE", " NOT NULL", f", UNIQUE (a, {column})"))
        if self.types and self.chance(0.3):
            parts.append(f"y {self.random.choice(self.types)}" + self.pick("", "[]", " NOT NULL"))
        if self.chance(0.45) and not any("PRIMARY" in part for part in parts):
            more = self.pick("", "", "", " INCLUDE (d)", " DEFERRABLE")
            parts.append(f"PRIMARY KEY ({', '.join(self.columns())}){more}")
        if self.chance(0.2):
            name = self.pick("", f"CONSTRAINT {self.name('u')} ")
            parts.append(f"{name}UNIQUE {self.pick('', 'NULLS NOT DISTINCT ')}({', '.join(self.columns())})")
        if self.chance(0.1):
            parts.append(self.pick("CHECK (a IS NOT NULL)", "CONSTRAINT k CHECK (b > 0)", "CHECK (a > b) NO INHERIT"))
        if self.tables and not self.role and self.chance(0.1):
            parts.append(f"FOREIGN KEY (a) REFERENCES {self.any_table()}" + self.pick("", "", "(a)"))
        return "(" + ", ".join(parts) + ")"

    def table(self) -> str:
        schema = self.pick("", "", "", "", "s.", '"S2".')
        kind = self.pick("", "", "", "", "", "", "UNLOGGED ", "TEMP ") if not schema else ""
        name = self.new_table(schema)
        return f"CREATE {kind}TABLE {self.pick('', '', 'IF NOT EXISTS ')}{name} {self.definition()}"

    def bound(self, strategy: str) -> str:
        """Mostly a bound that is free."""
        self.low += 10
        low = self.random.choice((self.low, self.low, self.low, self.random.randint(0, 20) * 10))
        if self.chance(0.06):
            return "DEFAULT"
        if strategy == "LIST":
            values = self.pick(f"{low}", f"{low}, {low + 1}", f"{low}, NULL" if self.chance(0.2) else f"{low}")
            return f"FOR VALUES IN ({values})"
        if strategy == "HASH":
            modulus = self.random.choice((4, 4, 4, 8, 2, 3))
            return f"FOR VALUES WITH (MODULUS {modulus}, REMAINDER {self.random.randint(0, modulus - 1)})"
        first, last = str(low), str(low + 10)
        if self.chance(0.05):
            first, last = self.pick("MINVALUE", first), self.pick("MAXVALUE", "0")
        return f"FOR VALUES FROM ({first}) TO ({last})"

    def strategy(self) -> tuple[str, str]:
        strategy = self.pick("RANGE", "RANGE", "RANGE", "LIST", "HASH")
        return strategy, f"PARTITION BY {strategy} ({self.pick('a', 'a', 'a', 'b', 'a')})"

    def partitioned_table(self) -> str:
        name = self.new_table(self.pick("", "", "s."))
        key = self.pick("", ", PRIMARY KEY (a, b)", ", UNIQUE (a)", ", PRIMARY KEY (a)", ", UNIQUE (b, a)")
        strategy, clause = self.strategy()
        self.partitioned[name] = strategy
        return f"CREATE TABLE {name} (a int, b int NOT NULL, c text, d varchar(20){key}) {clause}"

    def partition(self) -> str:
        if not self.partitioned:
            return self.partitioned_table()
        parent = self.random.choice(list(self.partitioned))
        name = self.new_table(self.pick("", "", "s."))
        body = ""
        if self.chance(0.2):
            element = self.pick("b DEFAULT 1", "PRIMARY KEY (a)", "UNIQUE (c)", "a NOT NULL", "CHECK (b > 0)")
            body = f"({element}) "
        text = f"CREATE TABLE {name} PARTITION OF {parent} {body}{self.bound(self.partitioned[parent])}"
        if self.chance(0.25):
            self.partitioned[name], clause = self.strategy()
            text += f" {clause}"
        return text

    def attach(self) -> list[str] | str:
        if not self.partitioned:
            return self.partitioned_table()
        parent = self.random.choice(list(self.partitioned))
        if self.chance(0.3):
            return f"ALTER TABLE {parent} DETACH PARTITION {self.any_table()}"
        bound = self.bound(self.partitioned[parent])
        if self.chance(0.2):
            return f"ALTER TABLE {parent} ATTACH PARTITION {self.any_table()} {bound}"
        name = self.new_table()
        body = self.pick(BODY, "(c text, d varchar(20), b int NOT NULL, a int NOT NULL, PRIMARY KEY (a, b))")
        made = f"CREATE TABLE {name} {body}"
        if self.chance(0.3) and not self.role:
            made = f"CREATE TABLE {name} (LIKE {parent} INCLUDING ALL)"
        return [made, f"ALTER TABLE {parent} ATTACH PARTITION {name} {bound}"]

    def root_member(self) -> str:
        table = self.random.choice(list(self.partitioned) or ["t1"])
        extra = self.pick("", f" ({', '.join(self.columns())})", f" WHERE {self.filter()}", " (a, b) WHERE (a > 1)")
        others = self.pick("", f", TABLE {self.any_table()}", f", TABLE {self.any_table()} WHERE {self.filter()}")
        option = f"publish_via_partition_root = {self.pick('true', 'true', 'false')}"
        return f"CREATE PUBLICATION {self.name('pub')} FOR TABLE {table}{extra}{others} WITH ({option})"

    def child(self) -> str:
        parents = self.any_table() if self.chance(0.8) else f"{self.any_table()}, {self.any_table()}"
        name = self.new_table()
        body = self.pick("()", "(x int)", "(a int NOT NULL)", "(PRIMARY KEY (a))", "(a int, b int UNIQUE)", "(b int8)")
        return f"CREATE TABLE {name} {body} INHERITS ({parents})"

    def inherit(self) -> list[str] | str:
        if self.chance(0.5):
            return f"ALTER TABLE {self.any_table()} {self.pick('INHERIT', 'NO INHERIT')} {self.any_table()}"
        parent, name = self.plain_table(), self.new_table()
        made = f"CREATE TABLE {name} (LIKE {parent})" if not self.role else f"CREATE TABLE {name} {BODY}"
        return [made, f"ALTER TABLE {name} INHERIT {parent}"]

    def like(self) -> str:
        source, name = self.any_table(), self.new_table()
        if self.chance(0.3):
            source = self.plain_table()
            columns = self.pick("*", "a, b", "count(*)")
            if self.chance(0.3):
                return f"SELECT {columns} INTO {name} FROM {source}"
            return f"CREATE TABLE {self.pick('', 'IF NOT EXISTS ')}{name} AS SELECT {columns} FROM {source}"
        including = self.pick(
            "", " INCLUDING ALL", " INCLUDING INDEXES", " INCLUDING CONSTRAINTS", " INCLUDING GENERATED",
            " INCLUDING IDENTITY", " INCLUDING DEFAULTS", " INCLUDING ALL EXCLUDING INDEXES",
        )  # fmt: skip
        return f"CREATE TABLE {name} (LIKE {source}{including}{self.pick('', '', ', z int', ', PRIMARY KEY (a)')})"

    def temporary(self) -> str:
        name = self.plain_table()
        return self.pick(
            f"CREATE TEMP TABLE {self.bare(name)} {BODY}",
            f"DROP TABLE pg_temp.{self.bare(name)}",
            f"CREATE TABLE pg_temp.{self.bare(name)} (a int PRIMARY KEY)",
        )

    # Columns, keys, constraints.

    def index(self) -> str:
        table = self.any_table()
        name = self.name("i")
        self.indexes.append((name, table))
        columns = self.pick(*COLUMNS, "a, b", "b, a", "lower(c)", "(a)", "a, (b + 1)", "(c || d), (c || d)")
        where = self.pick("", "", "", " WHERE b IS NOT NULL")
        include = self.pick("", "", "", " INCLUDE (d)")
        shown = self.pick(name, name, "")
        unique, only = self.pick("UNIQUE ", "UNIQUE ", ""), self.pick("", "", "ONLY ")
        exists = "IF NOT EXISTS " if shown and self.chance(0.2) else ""
        return f"CREATE {unique}INDEX {exists}{shown} ON {only}{table} ({columns}){include}{where}"

    def index_name(self, table: str) -> str:
        options = [name for name, of in self.indexes if of == table] or ["i1"]
        made = [self.derived(table, end) for end in ("_pkey", "_a_key", "_b_key", "_b_idx", "_a_b_key", "_pkey1")]
        return self.pick(self.random.choice(options), *made)

    def constraint(self) -> str:
        table = self.any_table()
        reference = f"ADD FOREIGN KEY (b) REFERENCES {self.any_table()} ON DELETE CASCADE"
        return f"ALTER TABLE {self.pick('', '', '', 'ONLY ')}{table} " + self.pick(
            f"ADD PRIMARY KEY ({', '.join(self.columns())})",
            f"ADD CONSTRAINT {self.name('u')} UNIQUE ({', '.join(self.columns())})" + self.pick("", " DEFERRABLE"),
            f"ADD UNIQUE ({self.pick(*COLUMNS)})",
            f"ADD PRIMARY KEY USING INDEX {self.index_name(table)}",
            f"ADD CONSTRAINT {self.name('u')} UNIQUE USING INDEX {self.index_name(table)}",
            f"DROP CONSTRAINT {self.derived(table, '_pkey')}" + self.pick("", " CASCADE"),
            f"DROP CONSTRAINT IF EXISTS {self.derived(table, f'_{self.pick(*COLUMNS)}_key')}",
            f"DROP CONSTRAINT {self.derived(table, '_pkey')}, ADD PRIMARY KEY ({self.pick(*COLUMNS)})",
            self.pick("ADD CHECK (b IS NOT NULL)", "ADD CONSTRAINT k CHECK (a > 0)", "DROP CONSTRAINT k"),
            "ADD CHECK (a IS NULL)" if self.role else reference,
        )

    def exclude(self) -> str:
        name, where = self.pick("", "CONSTRAINT x1 "), self.pick("", " WHERE (a > 1)")
        return f"ALTER TABLE {self.any_table()} ADD {name}EXCLUDE (a WITH =){where}"

    def invalid(self) -> str:
        valid = self.pick("false", "true")
        if self.role:
            return self.index()
        name = self.index_name(self.plain_table())
        return f"UPDATE pg_index SET indisvalid = {valid} WHERE indexrelid = '{name}'::regclass"

    def identity(self) -> str:
        table, column = self.any_table(), self.pick("a", "b")
        return f"ALTER TABLE {table} ALTER {column} " + self.pick(
            "ADD GENERATED ALWAYS AS IDENTITY", "DROP IDENTITY", "DROP IDENTITY IF EXISTS", "SET DEFAULT NULL",
            "DROP DEFAULT",
        )  # fmt: skip

    def replica_identity(self) -> str:
        table = self.any_table()
        return f"ALTER TABLE {self.pick('', '', 'ONLY ', 'IF EXISTS ')}{table} " + self.pick(
            "REPLICA IDENTITY FULL",
            "REPLICA IDENTITY NOTHING",
            "REPLICA IDENTITY DEFAULT",
            f"REPLICA IDENTITY USING INDEX {self.index_name(table)}",
            f"REPLICA IDENTITY USING INDEX {self.index_name(table)}",
            f"ALTER a SET NOT NULL, REPLICA IDENTITY USING INDEX {self.index_name(table)}",
            f"ADD UNIQUE (b), REPLICA IDENTITY USING INDEX {self.derived(table, '_b_key')}",
        )

    def column(self) -> str:
        table = self.any_table()
        column = self.pick(*COLUMNS, "g", "x")
        extra = self.pick(
            "", " NOT NULL", " UNIQUE", " GENERATED ALWAYS AS (1) STORED", " PRIMARY KEY", " UNIQUE NOT NULL"
        )
        return f"ALTER TABLE {self.pick('', '', '', 'ONLY ')}{table} " + self.pick(
            f"DROP COLUMN {column}",
            f"DROP COLUMN {column} CASCADE",
            f"DROP COLUMN IF EXISTS {column}",
            f"ADD COLUMN {self.pick('x', 'y', 'a')} int{extra}",
            f"ADD COLUMN IF NOT EXISTS {self.pick('x', 'b')} int",
            f"DROP COLUMN {column}, ADD COLUMN {column} {TYPES.get(column, 'int')}",
        )

    def not_null(self) -> str:
        only = self.pick("", "", "", "ONLY ")
        return f"ALTER TABLE {only}{self.any_table()} ALTER {self.pick(*COLUMNS)} {self.pick('DROP', 'SET')} NOT NULL"

    def named_not_null(self) -> str:
        table, column = self.any_table(), self.pick(*COLUMNS)
        name = self.derived(table, f"_{column}_not_null")
        return f"ALTER TABLE {self.pick('', '', 'ONLY ')}{table} " + self.pick(
            f"ADD CONSTRAINT {self.pick('nn', name)} NOT NULL {column}",
            f"ADD NOT NULL {column}" + self.pick("", " NOT VALID", " NO INHERIT"),
            f"DROP CONSTRAINT {self.pick('nn', name)}",
            f"VALIDATE CONSTRAINT {self.pick('nn', name)}",
            f"ALTER {column} DROP NOT NULL",
            f"ALTER {column} SET NOT NULL",
        )

    def virtual(self) -> str:
        expression = self.pick("a * 2", "b", "1")
        columns = "a int PRIMARY KEY, b int, c text, d varchar(20)"
        return self.pick(
            f"ALTER TABLE {self.any_table()} ADD COLUMN v int GENERATED ALWAYS AS ({expression}) VIRTUAL",
            f"CREATE TABLE {self.new_table()} ({columns}, v int GENERATED ALWAYS AS (b + 1))",
            f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS)} ADD TABLE {self.any_table()} (v)",
            f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS)} ADD TABLE {self.any_table()} WHERE (v > 1)",
            f"ALTER TABLE {self.any_table()} ALTER v {self.pick('SET EXPRESSION AS (b + 2)', 'DROP EXPRESSION')}",
            f"ALTER TABLE {self.any_table()} ALTER v SET NOT NULL",
            f"CREATE INDEX ON {self.any_table()} (v)",
        )

    def overlaps(self) -> str:
        name = self.new_table()
        key = self.pick("PRIMARY KEY", "UNIQUE", "CONSTRAINT wo UNIQUE")
        return f"CREATE TABLE {name} (e int4range, f int4range, c text, d varchar(20), {key} (e, f WITHOUT OVERLAPS))"

    def retype(self) -> str:
        change = self.pick("c TYPE text", "c TYPE varchar(30)", "a TYPE bigint", "b TYPE bigint")
        return f"ALTER TABLE {self.any_table()} ALTER COLUMN {change}"

    def persistence(self) -> str:
        return f"ALTER TABLE {self.any_table()} SET {self.pick('LOGGED', 'UNLOGGED', 'UNLOGGED')}"

    # Names.

    def rename(self) -> str:
        table = self.any_table()
        if self.chance(0.5):
            return f"ALTER TABLE {self.plain_table()} RENAME COLUMN {self.pick(*COLUMNS)} TO {self.pick(*COLUMNS, 'z')}"
        new = self.new_table()
        return self.pick(
            f"ALTER TABLE {table} RENAME TO {self.bare(new)}",
            f"ALTER INDEX {self.index_name(table)} RENAME TO {self.name('i')}",
        )

    def rename_key(self) -> str:
        table = self.any_table()
        return self.pick(
            f"ALTER TABLE {table} RENAME CONSTRAINT {self.derived(table, '_pkey')} TO {self.name('u')}",
            f"ALTER INDEX {self.index_name(table)} RENAME TO {self.name('i')}",
            f"ALTER INDEX {self.index_name(table)} ATTACH PARTITION {self.index_name(self.plain_table())}",
            f"ALTER TABLE {table} CLUSTER ON {self.index_name(table)}",
        )

    def drop(self) -> str:
        table = self.any_table()
        return self.pick(
            f"DROP TABLE {table}",
            f"DROP TABLE IF EXISTS {table} CASCADE",
            f"DROP TABLE {table}, {self.any_table()}",
            f"DROP INDEX {self.index_name(table)}",
            f"DROP INDEX IF EXISTS {self.index_name(table)} CASCADE",
            "DROP SCHEMA s CASCADE" if self.chance(0.2) else f"DROP TABLE {table}",
            f"DROP VIEW IF EXISTS v{self.random.randint(0, 11)}",
        )

    def set_schema(self) -> str:
        schema = self.pick("public", "s", "chr", '"S2"')
        return f"ALTER TABLE {self.any_table()} SET SCHEMA {schema}"

    def path(self) -> str:
        return self.pick(
            "SET search_path = s, public", "SET search_path TO DEFAULT", "RESET search_path",
            'SET search_path = public, "S2"', "SET search_path = ''", "SET search_path = nosuch, s, public",
            "SELECT pg_catalog.set_config('search_path', 's', false)", "SET search_path = pg_temp, public",
        )  # fmt: skip

    def schema(self) -> list[str] | str:
        return self.pick(
            "CREATE SCHEMA s", "CREATE SCHEMA IF NOT EXISTS s", "CREATE SCHEMA t", 'DROP SCHEMA "S2"',
            "DROP SCHEMA IF EXISTS t CASCADE", "ALTER SCHEMA s RENAME TO t", "ALTER SCHEMA t RENAME TO s",
            'ALTER SCHEMA "S2" RENAME TO s', "DROP SCHEMA s CASCADE",
            "CREATE SCHEMA w CREATE TABLE t1 (a int PRIMARY KEY, b int) CREATE VIEW vw AS SELECT a FROM t1",
            "CREATE SCHEMA t CREATE TABLE t2 (a int, b int UNIQUE, c text) CREATE INDEX it ON t2 (a)",
        )  # fmt: skip

    def qualified_member(self) -> str:
        table = self.pick(f"{DATABASE}.public.t1", f"{DATABASE}.s.t2", "otherdb.public.t1", "s.t1", "t.t1", "w.t1")
        verb = self.pick("ADD", "SET", "DROP")
        return f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS)} {verb} TABLE {table}"

    def view(self) -> str:
        name = self.name("v")
        # A materialized view in the temporary schema is refused in a way of its own before 17.
        kind, schema = self.random.choice((("", ""), ("MATERIALIZED ", "public."), ("OR REPLACE ", "")))
        return f"CREATE {kind}VIEW {schema}{name} AS SELECT {self.pick('*', 'a', 'a, b')} FROM {self.plain_table()}"

    # Types.

    def make_type(self) -> str:
        name = f"ty{self.random.randint(0, 3)}"
        text = self.pick(
            f"CREATE DOMAIN {name} AS int",
            f"CREATE DOMAIN {name} AS text NOT NULL",
            f"CREATE TYPE {name} AS ENUM ('x', 'y')",
            f"CREATE TYPE {name} AS (a int, b int, c text, d varchar(20))",
        )
        self.types.append(name)
        return text

    def typed(self) -> str:
        if not self.types:
            return self.make_type()
        name = self.new_table()
        body = self.pick("", " (PRIMARY KEY (a))", " (b WITH OPTIONS NOT NULL, UNIQUE (b))")
        return f"CREATE TABLE {name} OF {self.random.choice(self.types)}{body}"

    def drop_type(self) -> str:
        kind = self.pick("TYPE", "TYPE", "DOMAIN")
        return f"DROP {kind} {self.pick('', 'IF EXISTS ')}ty{self.random.randint(0, 3)}{self.pick('', ' CASCADE')}"

    def alter_type(self) -> str:
        name = f"ty{self.random.randint(0, 3)}"
        return self.pick(
            f"ALTER TYPE {name} ADD ATTRIBUTE z int{self.pick('', ' CASCADE')}",
            f"ALTER TYPE {name} DROP ATTRIBUTE {self.pick(*COLUMNS)}{self.pick('', ' CASCADE')}",
            f"ALTER TYPE {name} RENAME ATTRIBUTE c TO cc{self.pick('', ' CASCADE')}",
            f"ALTER TYPE {name} RENAME TO ty{self.random.randint(0, 3)}",
            f"ALTER TYPE {name} SET SCHEMA {self.pick('s', 'public')}",
            f"ALTER TABLE {self.any_table()} {self.pick('NOT OF', f'OF {name}')}",
        )

    # Roles.

    def make_role(self) -> str:
        role = self.pick(*ROLES)
        return f"CREATE ROLE {role}{self.pick('', '', '', '', ' SUPERUSER', ' NOINHERIT')}"

    def grant(self) -> str:
        role, other, right = self.pick(*ROLES), self.pick(*ROLES), self.pick("ALL", "CREATE", "USAGE")
        return self.pick(
            f"GRANT CREATE ON DATABASE {DATABASE} TO {role}",
            f"REVOKE CREATE ON DATABASE {DATABASE} FROM {role}",
            f"GRANT ALL ON DATABASE {DATABASE} TO {role}",
            f"GRANT {right} ON SCHEMA {self.pick('public', 's')} TO {self.pick(role, 'PUBLIC')}",
            f"GRANT {other} TO {role}",
            f"REVOKE {other} FROM {role}",
        )

    def set_role(self) -> str:
        self.role = self.pick(*ROLES)
        return self.pick(f"SET ROLE {self.role}", f"SET ROLE {self.role}", f"SET SESSION AUTHORIZATION {self.role}")

    def reset_role(self) -> list[str]:
        self.role = ""
        return ["RESET SESSION AUTHORIZATION", "RESET ROLE"]

    def owner(self) -> str:
        role = self.pick(*ROLES, "CURRENT_USER")
        return self.pick(
            f"ALTER TABLE {self.any_table()} OWNER TO {role}",
            f"ALTER TABLE {self.any_table()} OWNER TO {role}",
            f"ALTER SCHEMA {self.pick('s', 'public')} OWNER TO {role}",
            f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS)} OWNER TO {role}",
            f"REASSIGN OWNED BY {role} TO {self.pick(*ROLES)}",
            f"DROP ROLE {self.pick(*ROLES)}",
        )

    # Publications.

    def filter(self) -> str:
        column = self.pick(*COLUMNS, "nope" if self.chance(0.1) else "a")
        return f"({column} {self.pick('IS NULL', 'IS NOT NULL', '= NULL')})" if self.chance(0.9) else "(true)"

    def object(self) -> str:
        if self.chance(0.12):
            schema = self.pick("public", "s", "CURRENT_SCHEMA", "nosuch", '"S2"', "pg_catalog", "pg_temp", "t")
            return "TABLES IN SCHEMA " + schema
        text = f"TABLE {self.pick('', '', '', 'ONLY ')}{self.any_table()}"
        if self.chance(0.25):
            odd = "ctid" if self.chance(0.1) else "b"
            text += f" ({', '.join(self.pick(*COLUMNS, 'g', odd) for _ in range(self.random.randint(1, 3)))})"
        if self.chance(0.25):
            text += f" WHERE {self.filter()}"
        return text

    def objects(self) -> str:
        return ", ".join(self.object() for _ in range(self.pick_count()))

    def option(self) -> str:
        return self.pick(
            "publish = 'insert'", "publish = 'update'", "publish = 'delete, insert'", "publish = ''", "publish = 'x'",
            "publish_via_partition_root", "publish_via_partition_root = true", "publish_via_partition_root = false",
            "publish_via_partition_root = maybe", "publish_generated_columns = stored", "publish_generated_columns",
            "publish_generated_columns = none", "nosuch = 1",
        )  # fmt: skip

    def with_options(self) -> str:
        if self.chance(0.6):
            return ""
        return " WITH (" + ", ".join(self.option() for _ in range(self.pick_count())) + ")"

    def publication(self) -> str:
        return self.pick(*_PUBLICATIONS, f"pub{self.random.randint(0, 11)}")

    def create_publication(self) -> str:
        name = self.pick(*_PUBLICATIONS, self.name("pub"), self.name("pub"))
        objects = "FOR ALL TABLES" if self.chance(0.08) else f"FOR {self.objects()}"
        return f"CREATE PUBLICATION {name} {objects if self.chance(0.95) else ''}{self.with_options()}"

    def alter_publication(self) -> str:
        return f"ALTER PUBLICATION {self.publication()} {self.pick('ADD', 'ADD', 'SET', 'DROP')} {self.objects()}"

    def options(self) -> str:
        return f"ALTER PUBLICATION {self.publication()} SET ({self.option()})"

    def rename_publication(self) -> str:
        return f"ALTER PUBLICATION {self.publication()} RENAME TO {self.pick(*_PUBLICATIONS, 'r')}"

    def drop_publication(self) -> str:
        return f"DROP PUBLICATION {self.pick('', 'IF EXISTS ')}{self.publication()}{self.pick('', '', ' CASCADE')}"

    def transaction(self) -> list[str]:
        inner = [self.create_publication(), self.replica_identity(), self.column(), self.path()]
        local = self.pick("SET LOCAL search_path = s", "SAVEPOINT y", "CREATE TEMP TABLE tt (a int) ON COMMIT DROP")
        chosen = self.random.sample(inner, 2)
        middle = self.pick("ROLLBACK TO x", "RELEASE x")
        return ["BEGIN", "SAVEPOINT x", chosen[0], local, middle, chosen[1], self.pick("ROLLBACK", "COMMIT")]
