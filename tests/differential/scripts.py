"""Random SQL scripts about tables, keys and publications: the same for a seed, most of it accepted by the server."""

from __future__ import annotations

from random import Random

_TYPES = {"a": "int", "b": "int", "c": "text", "d": "varchar(20)"}
"""One type a column, so that what the server refuses is rarely a matter of types."""
_COLUMNS = tuple(_TYPES)
_SCHEMAS = ("public", "s", "S2")
_PUBLICATIONS = ("p", "q", '"Pub"')


class Script:
    """Grows one script. Names come from small pools, so that statements meet."""

    def __init__(self, seed: int, length: int = 45) -> None:
        self.random = Random(seed)
        self.tables: list[str] = []
        self.parents: list[str] = []
        self.partitioned: list[str] = []
        self.indexes: list[tuple[str, str]] = []
        self.count = 0
        self.statements = ["CREATE SCHEMA s", 'CREATE SCHEMA "S2"']
        for _ in range(4):
            self.statements.append(self.table())
        makers = (
            (5, self.table), (3, self.partitioned_table), (4, self.partition), (2, self.child), (3, self.like),
            (5, self.index), (5, self.constraint), (6, self.replica_identity), (5, self.column), (3, self.rename),
            (2, self.drop), (2, self.set_schema), (2, self.persistence), (2, self.attach), (2, self.path),
            (2, self.view), (2, self.not_null), (2, self.retype),
            (14, self.create_publication), (18, self.alter_publication), (3, self.options), (2, self.drop_publication),
            (1, self.transaction),
        )  # fmt: skip
        chosen = self.random.choices([maker for _, maker in makers], [weight for weight, _ in makers], k=length)
        for maker in chosen:
            text = maker()
            self.statements.extend(text if isinstance(text, list) else [text])

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count % 12}"

    def any_table(self) -> str:
        if self.chance(0.04):
            return self.pick("nosuch", "s.nosuch", "nos.t", "pg_class", "information_schema.sql_features", "v1", "t1_pkey")
        return self.random.choice(self.tables) if self.tables else "t1"

    def columns(self, least: int = 1) -> list[str]:
        return self.random.sample(_COLUMNS, self.random.randint(least, 3))

    def definition(self) -> str:
        parts = []
        for name in _COLUMNS:
            text = f"{name} {_TYPES[name]}"
            if name == "a" and self.chance(0.2):
                text = f"{name} serial"
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
        if self.chance(0.45) and not any("PRIMARY" in part for part in parts):
            parts.append(f"PRIMARY KEY ({', '.join(self.columns())})" + self.pick("", "", "", " INCLUDE (d)", " DEFERRABLE"))
        if self.chance(0.2):
            name = self.pick("", f"CONSTRAINT {self.name('u')} ")
            parts.append(f"{name}UNIQUE {self.pick('', 'NULLS NOT DISTINCT ')}({', '.join(self.columns())})")
        if self.chance(0.1):
            parts.append("CHECK (a IS NOT NULL)")
        if self.tables and self.chance(0.1):
            parts.append(f"FOREIGN KEY (a) REFERENCES {self.any_table()}")
        return "(" + ", ".join(parts) + ")"

    def table(self) -> str:
        schema = self.pick("", "", "", "", "s.", '"S2".')
        name = schema + self.name("t")
        kind = self.pick("", "", "", "", "", "", "UNLOGGED ", "TEMP ") if not schema else ""
        self.tables.append(name)
        return f"CREATE {kind}TABLE {self.pick('', '', 'IF NOT EXISTS ')}{name} {self.definition()}"

    def partitioned_table(self) -> str:
        name = self.pick("", "", "s.") + self.name("t")
        self.tables.append(name)
        self.partitioned.append(name)
        key = self.pick("", ", PRIMARY KEY (a, b)", ", UNIQUE (a)", ", PRIMARY KEY (a)")
        return f"CREATE TABLE {name} (a int, b int NOT NULL, c text, d varchar(20){key}) PARTITION BY RANGE (a)"

    def partition(self) -> str:
        if not self.partitioned:
            return self.partitioned_table()
        name = self.pick("", "", "s.") + self.name("t")
        low = self.random.randint(0, 400) * 10
        self.tables.append(name)
        text = f"CREATE TABLE {name} PARTITION OF {self.random.choice(self.partitioned)} FOR VALUES FROM ({low}) TO ({low + 10})"
        if self.chance(0.2):
            self.partitioned.append(name)
            text += " PARTITION BY RANGE (b)"
        return text

    def child(self) -> str:
        name = self.name("t")
        self.tables.append(name)
        body = self.pick("()", "(x int)", "(a int NOT NULL)", "(PRIMARY KEY (a))")
        return f"CREATE TABLE {name} {body} INHERITS ({self.any_table()})"

    def like(self) -> str:
        name, source = self.name("t"), self.any_table()
        self.tables.append(name)
        including = self.pick("", " INCLUDING ALL", " INCLUDING INDEXES", " INCLUDING CONSTRAINTS", " INCLUDING GENERATED")
        if self.chance(0.3):
            return f"CREATE TABLE {name} AS SELECT {self.pick('*', 'a, b', 'count(*)')} FROM {source}"
        return f"CREATE TABLE {name} (LIKE {source}{including})"

    def index(self) -> str:
        table = self.any_table()
        name = self.name("i")
        self.indexes.append((name, table))
        columns = self.pick(*_COLUMNS, "a, b", "b, a", "lower(c)", "(a)")
        where = self.pick("", "", "", " WHERE b IS NOT NULL")
        include = self.pick("", "", "", " INCLUDE (d)")
        shown = self.pick(name, name, "")
        return f"CREATE {self.pick('UNIQUE ', 'UNIQUE ', '')}INDEX {shown} ON {self.pick('', '', 'ONLY ')}{table} ({columns}){include}{where}"

    def index_name(self, table: str) -> str:
        bare = table.split(".")[-1]
        options = [name for name, of in self.indexes if of == table] or ["i1"]
        return self.pick(self.random.choice(options), f"{bare}_pkey", f"{bare}_a_key", f"{bare}_b_key", f"{bare}_b_idx")

    def constraint(self) -> str:
        table = self.any_table()
        bare = table.split(".")[-1]
        return f"ALTER TABLE {table} " + self.pick(
            f"ADD PRIMARY KEY ({', '.join(self.columns())})",
            f"ADD CONSTRAINT {self.name('u')} UNIQUE ({', '.join(self.columns())})" + self.pick("", " DEFERRABLE"),
            f"ADD UNIQUE ({self.pick(*_COLUMNS)})",
            f"ADD PRIMARY KEY USING INDEX {self.index_name(table)}",
            f"ADD CONSTRAINT {self.name('u')} UNIQUE USING INDEX {self.index_name(table)}",
            f"DROP CONSTRAINT {bare}_pkey" + self.pick("", " CASCADE"),
            f"DROP CONSTRAINT IF EXISTS {bare}_{self.pick(*_COLUMNS)}_key",
            f"DROP CONSTRAINT {bare}_pkey, ADD PRIMARY KEY ({self.pick(*_COLUMNS)})",
            "ADD CHECK (b IS NOT NULL)",
            f"ADD FOREIGN KEY (b) REFERENCES {self.any_table()} ON DELETE CASCADE",
        )

    def replica_identity(self) -> str:
        table = self.any_table()
        return f"ALTER TABLE {self.pick('', '', 'ONLY ')}{table} " + self.pick(
            "REPLICA IDENTITY FULL",
            "REPLICA IDENTITY NOTHING",
            "REPLICA IDENTITY DEFAULT",
            f"REPLICA IDENTITY USING INDEX {self.index_name(table)}",
            f"REPLICA IDENTITY USING INDEX {self.index_name(table)}",
            f"ALTER a SET NOT NULL, REPLICA IDENTITY USING INDEX {self.index_name(table)}",
        )

    def column(self) -> str:
        table = self.any_table()
        column = self.pick(*_COLUMNS, "g", "x")
        return f"ALTER TABLE {table} " + self.pick(
            f"DROP COLUMN {column}",
            f"DROP COLUMN {column} CASCADE",
            f"DROP COLUMN IF EXISTS {column}",
            f"ADD COLUMN {self.pick('x', 'y', 'a')} int" + self.pick("", " NOT NULL", " UNIQUE", " GENERATED ALWAYS AS (1) STORED"),
            f"ADD COLUMN IF NOT EXISTS {self.pick('x', 'b')} int",
            f"DROP COLUMN {column}, ADD COLUMN {column} {_TYPES.get(column, 'int')}",
        )

    def rename(self) -> str:
        table = self.any_table()
        if self.chance(0.5):
            return f"ALTER TABLE {table} RENAME COLUMN {self.pick(*_COLUMNS)} TO {self.pick(*_COLUMNS, 'z')}"
        new = self.name("t")
        self.tables.append(new)
        return self.pick(
            f"ALTER TABLE {table} RENAME TO {new}",
            f"ALTER INDEX {self.index_name(table)} RENAME TO {self.name('i')}",
            f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS)} RENAME TO {self.pick(*_PUBLICATIONS, 'r')}",
        )

    def drop(self) -> str:
        table = self.any_table()
        return self.pick(
            f"DROP TABLE {table}",
            f"DROP TABLE IF EXISTS {table} CASCADE",
            f"DROP INDEX {self.index_name(table)}",
            f"DROP INDEX IF EXISTS {self.index_name(table)} CASCADE",
            "DROP SCHEMA s CASCADE" if self.chance(0.2) else f"DROP TABLE {table}",
        )

    def set_schema(self) -> str:
        return f"ALTER TABLE {self.any_table()} SET SCHEMA {self.pick('public', 's', 'chr')}"

    def persistence(self) -> str:
        return f"ALTER TABLE {self.any_table()} SET {self.pick('LOGGED', 'UNLOGGED', 'UNLOGGED')}"

    def attach(self) -> list[str] | str:
        if not self.partitioned:
            return self.partitioned_table()
        parent = self.random.choice(self.partitioned)
        low = 10_000 + self.random.randint(0, 400) * 10
        if self.chance(0.3):
            return f"ALTER TABLE {parent} DETACH PARTITION {self.any_table()}"
        name = self.name("t")
        self.tables.append(name)
        body = self.pick("(a int, b int NOT NULL, c text, d varchar(20))", "(c text, d varchar(20), b int NOT NULL, a int NOT NULL, PRIMARY KEY (a, b))")
        return [
            f"CREATE TABLE {name} {body}",
            f"ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES FROM ({low}) TO ({low + 10})",
        ]

    def path(self) -> str:
        return self.pick("SET search_path = s, public", "SET search_path TO DEFAULT", "RESET search_path", 'SET search_path = public, "S2"')

    def view(self) -> str:
        name = self.name("v")
        return f"CREATE {self.pick('', 'MATERIALIZED ')}VIEW {name} AS SELECT {self.pick('*', 'a', 'a, b')} FROM {self.any_table()}"

    def not_null(self) -> str:
        return f"ALTER TABLE {self.any_table()} ALTER {self.pick(*_COLUMNS)} {self.pick('DROP', 'SET')} NOT NULL"

    def retype(self) -> str:
        return f"ALTER TABLE {self.any_table()} ALTER COLUMN c TYPE {self.pick('text', 'varchar(30)')}"

    # Publications.

    def filter(self) -> str:
        column = self.pick(*_COLUMNS, "nope" if self.chance(0.1) else "a")
        return f"({column} {self.pick('IS NULL', 'IS NOT NULL', '= NULL')})" if self.chance(0.9) else "(true)"

    def object(self) -> str:
        if self.chance(0.12):
            return "TABLES IN SCHEMA " + self.pick("public", "s", "CURRENT_SCHEMA", "nosuch", '"S2"', "pg_catalog")
        text = f"TABLE {self.pick('', '', '', 'ONLY ')}{self.any_table()}"
        if self.chance(0.25):
            text += f" ({', '.join(self.pick(*_COLUMNS, 'g', 'ctid' if self.chance(0.1) else 'b') for _ in range(self.random.randint(1, 3)))})"
        if self.chance(0.25):
            text += f" WHERE {self.filter()}"
        return text

    def objects(self) -> str:
        return ", ".join(self.object() for _ in range(self.pick_count()))

    def pick_count(self) -> int:
        return self.random.choice((1, 1, 1, 2, 2, 3))

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

    def create_publication(self) -> str:
        name = self.pick(*_PUBLICATIONS, self.name("pub"), self.name("pub"))
        what = "FOR ALL TABLES" if self.chance(0.08) else f"FOR {self.objects()}"
        return f"CREATE PUBLICATION {name} {what if self.chance(0.95) else ''}{self.with_options()}"

    def alter_publication(self) -> str:
        return f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS, f'pub{self.random.randint(0, 11)}')} {self.pick('ADD', 'ADD', 'SET', 'DROP')} {self.objects()}"

    def options(self) -> str:
        return f"ALTER PUBLICATION {self.pick(*_PUBLICATIONS)} SET ({self.option()})"

    def drop_publication(self) -> str:
        return f"DROP PUBLICATION {self.pick('', 'IF EXISTS ')}{self.pick(*_PUBLICATIONS)}"

    def transaction(self) -> list[str]:
        inner = [self.create_publication(), self.replica_identity()]
        return ["BEGIN", "SAVEPOINT x", *inner[:1], self.pick("ROLLBACK TO x", "RELEASE x"), self.pick("ROLLBACK", "COMMIT")]
