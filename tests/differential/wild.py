"""Random histories of 20 to 60 statements of all kinds that people write beside publications, many of them refused.

Tables of any type and of types that are missing or only shells, LIKE of catalogs, temporary tables, pg_catalog on the
search path, domains, roles, identity columns, several commands in one ALTER TABLE, CREATE TABLE AS over functions,
partitions, inheritance, event triggers and DO blocks.
"""

from __future__ import annotations

from random import Random

from tests.differential.scripts import MADE, Maker
from tests.support.generating import Choices

_TYPES = (
    "int", "int", "int", "bigint", "smallint", "text", "text", "varchar(10)", "numeric", "numeric(5,2)", "boolean",
    "timestamptz", "timestamp", "timestamp(0)", "date", "time(3)", "interval day to second", "uuid", "json", "jsonb",
    "xml", "bytea", "point", "polygon", "tid", "money", "real", "double precision", "name", "regclass", "int4range",
    "tstzrange", "numeric(5,2)[]", "text[]", "bit varying", "bit(3)", "inet", "xid8", "refcursor", "char", "oid",
)  # fmt: skip
_COLUMNS = ("a", "b", "c", "d", "e", "f", "g", "h", '"user"', '"Mixed"', '"ü"', "name")
_PUBLICATIONS = ("p1", "p2", "p3", '"Pub"', '"pübli"', '"p.q"')
_OPTIONS = (
    "publish = 'insert'", "publish = 'insert, update'", "publish = 'insert,update,delete,truncate'", "publish = ''",
    "publish = 'delete'", "publish = 'insert,insert'", "publish_via_partition_root = true",
    "publish_via_partition_root = 'on'", "publish_via_partition_root", "publish_via_partition_root = off",
    "publish_generated_columns = none", "publish_generated_columns = stored", "publish = 'nonsense'",
)  # fmt: skip
_EVENT_BODIES = (
    "BEGIN IF TG_TAG = 'DROP TABLE' THEN RAISE EXCEPTION 'never'; END IF; END",
    "BEGIN RAISE NOTICE '% %', TG_EVENT, TG_TAG; END",
    "DECLARE r record; BEGIN FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP "
    "RAISE NOTICE '%', r.object_identity; END LOOP; END",
    "BEGIN IF TG_TAG IN ('CREATE PUBLICATION', 'ALTER PUBLICATION') THEN RAISE EXCEPTION 'no publications'; END IF; "
    "END",
    "BEGIN IF TG_TAG LIKE 'CREATE%' AND TG_EVENT = 'ddl_command_end' THEN RAISE WARNING 'made'; END IF; END",
)


class Wild(Choices):
    """One history. Names come from small pools, so that statements meet."""

    def __init__(self, seed: int) -> None:
        super().__init__(Random(seed))
        self.tables = ["t1"]
        self.partitioned: dict[str, str] = {}
        self.columns: dict[str, list[str]] = {}
        self.statements: list[str] = []
        self.low = 0
        self.roles = ("unit_a", "unit_b") if self.chance(0.85) else ("r1", "r2")
        if self.roles[0] == "unit_a":
            self.statements += [f"CREATE ROLE {MADE}", "CREATE ROLE unit_a", "CREATE ROLE unit_b SUPERUSER"]
        for _ in range(self.random.randint(20, 60)):
            made = self.weighted(self.kinds())()
            self.statements += made if isinstance(made, list) else [made]

    def kinds(self) -> list[tuple[int, Maker]]:
        return [
            (10, self.table), (4, self.partitioned_table), (5, self.partition), (2, self.child), (4, self.like),
            (3, self.table_as), (2, self.temporary), (4, self.of_type), (2, self.schema), (2, self.path),
            (3, self.index), (9, self.alter), (7, self.identity), (1, self.rename), (2, self.drop), (1, self.view),
            (2, self.role), (1, self.event_trigger), (1, self.sequence), (1, self.unicode), (1, self.transaction),
            (4, self.block), (14, self.create_publication), (16, self.alter_publication), (2, self.drop_publication),
        ]  # fmt: skip

    def weighted(self, makers: list[tuple[int, Maker]]) -> Maker:
        return self.random.choices([maker for _, maker in makers], [weight for weight, _ in makers])[0]

    # Names.

    def new(self) -> str:
        schema = self.pick("", "", "", "public.", "s1.", "s2.", "pg_temp.", "pg_catalog.") if self.chance(0.5) else ""
        name = f"{schema}t{self.random.randint(1, 8)}"
        self.tables.append(name)
        return name

    def any(self) -> str:
        return self.random.choice(self.tables) if self.chance(0.95) else self.pick("nosuch", "pg_class", "s9.t1", "v1")

    def of(self, table: str) -> list[str]:
        return self.columns.get(table) or ["a", "b"]

    def column(self, table: str) -> str:
        return self.random.choice(self.of(table)) if self.chance(0.93) else self.pick(*_COLUMNS)

    def some(self, table: str, most: int = 2) -> str:
        names = self.of(table)
        return ", ".join(self.random.sample(names, min(len(names), self.random.randint(1, most))))

    def bare(self, table: str) -> str:
        return table.rsplit(".", 1)[-1]

    def derived(self, table: str, ending: str) -> str:
        """A name that the server makes of a table's and a column's."""
        plain = f"{self.bare(table)}_{ending}".replace('"', "")
        return f'"{plain}"' if plain != plain.lower() or not plain.isascii() else plain

    def type(self) -> str:
        made = ("public.mood", 'public."Typ"', "public.rng", "public.tdom", "mood", "rng", "mood[]", "nosuchtype")
        return self.pick(*_TYPES) if self.chance(0.92) else self.pick(*made)

    # Tables.

    def definition(self, table: str, key: str = "") -> str:
        names = [key] if key else []
        names += [column for column in self.random.sample(_COLUMNS, self.random.randint(2, 5)) if column != key]
        self.columns[table] = names
        sure = {key, names[0], names[1]} if self.chance(0.7) else {key}
        parts = [
            f"{name} {self.typed(name, self.sure_type(name == key) if name in sure else '', names)}" for name in names
        ]
        if self.chance(0.6):
            more = self.pick("", "", "", " DEFERRABLE", f" INCLUDE ({self.pick(*names)})")
            chosen = ", ".join([name for name in names if name in sure][: self.random.randint(1, 2)])
            chosen = chosen if chosen and self.chance(0.9) else self.some(table)
            parts.append(f"{self.pick('', '', 'CONSTRAINT pk1 ')}PRIMARY KEY ({chosen}){more}")
        if self.chance(0.15):
            parts.append(f"UNIQUE {self.pick('', 'NULLS NOT DISTINCT ')}({self.some(table)})")
        if self.chance(0.08):
            parts.append(f"CHECK ({self.pick(*names)} IS NOT NULL)")
        return f"({', '.join(parts)})"

    def sure_type(self, key: bool) -> str:
        """A type that keys may be of; of partition keys one whose order does not depend on a collation."""
        if key:
            return self.pick("int", "int", "bigint", "smallint")
        return self.pick("int", "int", "int", "bigint", "text", "numeric", "uuid", "boolean", "date")

    def typed(self, name: str, type_name: str, names: list[str]) -> str:
        if type_name:
            return type_name + self.pick("", "", " NOT NULL")
        if self.chance(0.06):
            how = self.pick("ALWAYS", "BY DEFAULT")
            return f"{self.pick('int', 'int', 'bigint', 'text')} GENERATED {how} AS IDENTITY" + self.pick(
                "", " (START WITH 5)"
            )
        if self.chance(0.06):
            value = self.pick("'a'::text", f"({names[0]} IS NULL)::text", "now()::text", "1 + 1")
            of = "int" if value == "1 + 1" else "text"
            return f"{of} GENERATED ALWAYS AS ({value}) {self.pick('STORED', 'STORED', 'VIRTUAL')}"
        if self.chance(0.04):
            return self.pick("serial", "bigserial") + self.pick("", " NOT NULL")
        kind = self.type()
        default = self.pick(" DEFAULT NULL", " DEFAULT 1", " DEFAULT 'a'") if self.chance(0.08) else ""
        unique = self.pick(" UNIQUE", " UNIQUE NULLS NOT DISTINCT", " UNIQUE DEFERRABLE") if self.chance(0.05) else ""
        return kind + unique + default + self.pick("", "", " NOT NULL")

    def table(self) -> str:
        name = self.new()
        kind = self.pick("", "", "", "", "", "UNLOGGED ", "TEMP ")
        more = self.pick("", "", "", "", " WITH (fillfactor = 50)", " ON COMMIT DROP" if kind == "TEMP " else "")
        return f"CREATE {kind}TABLE {self.pick('', '', '', 'IF NOT EXISTS ')}{name} {self.definition(name)}{more}"

    def strategy(self, key: str) -> tuple[str, str]:
        strategy = self.pick("RANGE", "RANGE", "LIST", "HASH")
        return strategy, f" PARTITION BY {strategy} ({key})"

    def bound(self, strategy: str) -> str:
        self.low += 10
        low = self.random.choice((self.low, self.low, 0, 10))
        if self.chance(0.05):
            return "DEFAULT"
        if strategy == "LIST":
            return f"FOR VALUES IN ({low})"
        if strategy == "HASH":
            return f"FOR VALUES WITH (MODULUS 4, REMAINDER {self.random.randint(0, 3)})"
        return f"FOR VALUES FROM ({low}) TO ({low + 10})"

    def partitioned_table(self) -> list[str] | str:
        name, key = self.new(), self.pick("a", "g", "b")
        definition = self.definition(name, key)
        self.partitioned[name], clause = self.strategy(key)
        made = [f"CREATE TABLE {name} {definition}{clause}"]
        for number in range(self.random.randint(0, 2)):
            part = f"{name}_{number}"
            self.tables.append(part)
            self.columns[part] = self.columns[name]
            made.append(f"CREATE TABLE {part} PARTITION OF {name} {self.bound(self.partitioned[name])}")
        return made

    def partition(self) -> list[str] | str:
        if not self.partitioned:
            return self.partitioned_table()
        parent, name = self.random.choice(list(self.partitioned)), self.new()
        self.columns[name] = self.of(parent)
        if self.chance(0.3):
            made = self.pick(
                f"CREATE TABLE {name} (LIKE {parent} INCLUDING ALL)", f"CREATE TABLE {name} (a int, b text)"
            )
            return [made, f"ALTER TABLE {parent} ATTACH PARTITION {name} {self.bound(self.partitioned[parent])}"]
        if self.chance(0.15):
            return f"ALTER TABLE {parent} DETACH PARTITION {self.any()}"
        text = f"CREATE TABLE {name} PARTITION OF {parent} {self.bound(self.partitioned[parent])}"
        if self.chance(0.2):
            self.partitioned[name], clause = self.strategy(self.of(parent)[0])
            text += clause
        return text

    def child(self) -> str:
        parent, name = self.any(), self.new()
        self.columns[name] = self.of(parent)
        if self.chance(0.3):
            return f"ALTER TABLE {self.any()} {self.pick('INHERIT', 'NO INHERIT')} {parent}"
        return f"CREATE TABLE {name} {self.pick('()', '(x int)', '(a int NOT NULL)')} INHERITS ({parent})"

    def like(self) -> str:
        source, name = self.any(), self.new()
        self.columns[name] = list(self.of(source))
        if self.chance(0.15):
            source = self.pick("pg_class", "pg_type", "pg_namespace", "pg_index", "pg_attribute", "pg_tables")
            self.columns[name] = ["oid"]
        words = ("ALL", "INDEXES", "CONSTRAINTS", "DEFAULTS", "GENERATED", "IDENTITY", "STORAGE")
        options = "".join(f" INCLUDING {self.pick(*words)}" for _ in range(self.random.randint(0, 2)))
        options += self.pick("", "", "", " EXCLUDING INDEXES")
        more = self.pick("", "", ", zz int", f", PRIMARY KEY ({self.column(name)})")
        return f"CREATE TABLE {name} (LIKE {source}{options}{more})"

    def table_as(self) -> str:
        name, source = self.new(), self.any()
        self.columns[name] = ["a", "b"]
        queries = (
            "SELECT g AS a, g::text AS b FROM generate_series(1, 0) g", f"TABLE {source}",
            f"SELECT * FROM {source} WHERE false", "SELECT 1 AS a, 'x' AS b", "VALUES (1, 'x', NULL)",
            "SELECT * FROM unnest(ARRAY[1, 2], ARRAY['x']) AS u (a, b)",
            "SELECT key AS a, value AS b FROM json_each('{}')",
            "SELECT count(*) AS a, max(relname) AS b FROM pg_class", f"SELECT {self.column(source)} AS a FROM {source}",
        )  # fmt: skip
        query = self.pick(*queries)
        if query.startswith("SELECT ") and " FROM " in query and self.chance(0.2):
            return query.replace(" FROM ", f" INTO {name} FROM ", 1)
        kind = self.pick("TABLE", "TABLE", "TABLE", "MATERIALIZED VIEW", "TEMP TABLE")
        return f"CREATE {kind} {name} AS {query}"

    def temporary(self) -> str:
        name = self.bare(self.any())
        return self.pick(
            f"CREATE TEMP TABLE {name} (a int PRIMARY KEY, z text)",
            f"CREATE TEMP TABLE {name} (a int, z text) ON COMMIT DROP",
            f"CREATE TABLE pg_temp.{name} (a int PRIMARY KEY)",
            f"DROP TABLE pg_temp.{name}",
            f"CREATE TEMP TABLE {name} ON COMMIT DROP AS SELECT 1 AS a",
            "DISCARD TEMP",
        )

    def of_type(self) -> str:
        name = self.pick("mood", "rng", "tdom", '"Typ"')
        kind = self.pick(
            "AS ENUM ('a', 'b')", "", "AS RANGE (subtype = int4)", "AS (a int, b text)",
        )  # fmt: skip
        return self.pick(
            f"CREATE TYPE {name} {kind}".rstrip(),
            f"CREATE TYPE {name} {kind}".rstrip(),
            f"CREATE DOMAIN {name} AS {self.pick('int', 'text', 'refcursor', 'numeric(5,2)')}"
            + self.pick("", " CHECK (VALUE IS NOT NULL)", " NOT NULL"),
            f"DROP TYPE {name}{self.pick('', ' CASCADE')}",
            f"DROP DOMAIN {name}{self.pick('', ' CASCADE')}",
        )

    def schema(self) -> str:
        name = self.pick("s1", "s2", "s3")
        return self.pick(
            f"CREATE SCHEMA {name}",
            f"CREATE SCHEMA IF NOT EXISTS {name}",
            "CREATE SCHEMA AUTHORIZATION postgres CREATE TABLE e2 (a int, b int) CREATE UNIQUE INDEX e2i ON e2 (a)",
            f"CREATE SCHEMA {name} CREATE TABLE e1 (a int PRIMARY KEY)",
            f"DROP SCHEMA {name}{self.pick('', ' CASCADE')}",
            f"ALTER TABLE {self.any()} SET SCHEMA {name}",
        )

    def path(self) -> str:
        return self.pick(
            "SET search_path = public", "SET search_path = s1, public", "RESET search_path",
            "SET search_path = pg_catalog, public", "SET search_path = public, pg_temp", "SET search_path = s9, s2",
            "SET search_path = DEFAULT", "SELECT set_config('search_path', 'public', false)",
        )  # fmt: skip

    def index(self) -> str:
        table, name = self.any(), self.pick("ri1", "ri2", "ri3", "")
        columns = self.pick(self.some(table), self.column(table), f"lower({self.column(table)}::text)")
        where = self.pick("", "", f" WHERE {self.column(table)} IS NOT NULL", " WHERE true", " WHERE 1 = 1")
        unique, only = self.pick("UNIQUE ", "UNIQUE ", ""), self.pick("", "", "ONLY ")
        return f"CREATE {unique}INDEX {name} ON {only}{table} ({columns}){where}"

    def index_name(self, table: str) -> str:
        key = self.derived(table, "pkey")
        return self.pick("ri1", "ri2", "ri3", key, key, "pk1", self.derived(table, f"{self.column(table)}_key"))

    # Changes.

    def command(self, table: str) -> str:
        column = self.column(table)
        return self.pick(
            f"ADD COLUMN {self.pick(*_COLUMNS)} {self.type()}",
            f"DROP COLUMN {column}{self.pick('', '', ' CASCADE')}",
            f"ALTER {column} SET NOT NULL",
            f"ALTER {column} DROP NOT NULL",
            f"ALTER {column} TYPE {self.type()}",
            f"ALTER {column} TYPE text USING NULL",
            f"ALTER {column} SET DEFAULT {self.pick('1', 'NULL', chr(39) + 'a' + chr(39))}",
            f"ALTER {column} DROP DEFAULT",
            f"ALTER {column} ADD GENERATED {self.pick('ALWAYS', 'BY DEFAULT')} AS IDENTITY",
            f"ALTER {column} SET GENERATED ALWAYS",
            f"ALTER {column} DROP IDENTITY{self.pick('', ' IF EXISTS')}",
            f"ALTER {column} DROP EXPRESSION{self.pick('', ' IF EXISTS')}",
            f"ALTER {column} SET (n_distinct = 5)",
            f"ALTER {column} SET STATISTICS 100",
            f"ALTER {column} SET STORAGE {self.pick('PLAIN', 'EXTERNAL')}",
            f"ADD PRIMARY KEY ({self.some(table)})",
            f"ADD CONSTRAINT u1 UNIQUE ({self.some(table)})",
            f"ADD CONSTRAINT c1 CHECK ({column} IS NOT NULL)",
            f"ADD PRIMARY KEY USING INDEX {self.index_name(table)}",
            f"DROP CONSTRAINT {self.index_name(table)}{self.pick('', ' CASCADE')}",
            "SET TABLESPACE pg_default", "SET ACCESS METHOD heap", "SET UNLOGGED", "SET LOGGED", "CLUSTER ON ri1",
            f"OWNER TO {self.pick('postgres', *self.roles)}", "SET (fillfactor = 70)",
        )  # fmt: skip

    def identity_command(self, table: str) -> str:
        using = f"USING INDEX {self.index_name(table)}"
        return f"REPLICA IDENTITY {self.pick('FULL', 'NOTHING', 'DEFAULT', using, using)}"

    def alter(self) -> str:
        table = self.any()
        commands = ", ".join(self.command(table) for _ in range(self.random.choice((1, 1, 1, 2, 3))))
        return f"ALTER TABLE {self.pick('', '', '', 'ONLY ', 'IF EXISTS ')}{table} {commands}"

    def identity(self) -> str:
        table = self.any()
        commands = [self.identity_command(table)]
        if self.chance(0.35):
            commands += [self.command(table) for _ in range(self.random.randint(1, 2))]
            self.random.shuffle(commands)
        return f"ALTER TABLE {self.pick('', '', '', 'ONLY ')}{table} {', '.join(commands)}"

    def rename(self) -> str:
        table = self.any()
        return self.pick(
            f"ALTER TABLE {table} RENAME TO t{self.random.randint(1, 8)}",
            f"ALTER TABLE {table} RENAME COLUMN {self.column(table)} TO {self.pick(*_COLUMNS)}",
            f"ALTER INDEX {self.index_name(table)} RENAME TO ri{self.random.randint(1, 3)}",
        )

    def drop(self) -> str:
        table, cascade = self.any(), self.pick("", "", " CASCADE")
        return self.pick(
            f"DROP TABLE {table}{cascade}",
            f"DROP TABLE IF EXISTS {table}{cascade}",
            f"DROP INDEX {self.index_name(table)}{cascade}",
            f"DROP TABLE {table}, {self.any()}{cascade}",
        )

    def view(self) -> str:
        table = self.any()
        return self.pick(
            f"CREATE VIEW v1 AS SELECT {self.column(table)} AS a FROM {table}",
            f"CREATE OR REPLACE VIEW v2 AS SELECT * FROM {table}",
            "DROP VIEW v1",
        )

    def role(self) -> str:
        role = self.pick(*self.roles)
        return self.pick(
            f"SET ROLE {role}",
            f"SET ROLE {role}",
            "RESET ROLE",
            "RESET ROLE",
            f"DROP OWNED BY {role}{self.pick('', ' CASCADE')}",
            f"REASSIGN OWNED BY {role} TO postgres",
            f"GRANT CREATE ON SCHEMA public TO {role}",
            f"GRANT ALL ON DATABASE {{database}} TO {role}",
            f"SET SESSION AUTHORIZATION {role}",
            "RESET SESSION AUTHORIZATION",
        )

    def event_trigger(self) -> list[str]:
        body = self.pick(*_EVENT_BODIES)
        event = self.pick("ddl_command_start", "ddl_command_start", "ddl_command_end")
        tags = self.pick(
            "", "", "", " WHEN TAG IN ('CREATE PUBLICATION')", " WHEN TAG IN ('CREATE TABLE', 'DROP TABLE')"
        )
        made = [
            f"CREATE OR REPLACE FUNCTION evf() RETURNS event_trigger LANGUAGE plpgsql AS $f$ {body} $f$",
            f"CREATE EVENT TRIGGER ev1 ON {event}{tags} EXECUTE FUNCTION evf()",
        ]
        return made if self.chance(0.7) else ["DROP EVENT TRIGGER ev1"]

    def sequence(self) -> str:
        table = self.any()
        name = self.derived(table, f"{self.column(table)}_seq")
        return self.pick(
            f"CREATE SEQUENCE {name}", f"DROP SEQUENCE {name}", f"ALTER TABLE {name} REPLICA IDENTITY FULL"
        )

    def unicode(self) -> str:
        self.tables.append('"d0061t"')
        self.columns['"d0061t"'] = ["a", "b"]
        return self.pick(
            'CREATE TABLE u&"d\\0061t" (a int PRIMARY KEY, b text)',
            "CREATE TABLE U&\"d!0061t\" UESCAPE '!' (a int, b text)",
            'CREATE TABLE "d0061t" (a int, b text)',
            'ALTER TABLE U&"\\0064at" REPLICA IDENTITY FULL',
        )

    def transaction(self) -> str:
        return self.pick("BEGIN", "COMMIT", "COMMIT", "ROLLBACK", "SAVEPOINT a", "ROLLBACK TO a")

    def block(self) -> str:
        inner = [self.weighted([(3, self.alter), (3, self.identity), (3, self.alter_publication), (2, self.table)])()]
        if self.chance(0.4):
            inner.append(self.weighted([(3, self.alter), (3, self.create_publication), (3, self.alter_publication)])())
        if self.chance(0.4):
            inner = ["EXECUTE '" + str(statement).replace("'", "''") + "'" for statement in inner]
        handler = " EXCEPTION WHEN OTHERS THEN NULL;" if self.chance(0.15) else ""
        return f"DO $do$ BEGIN {'; '.join(map(str, inner))};{handler} END $do$"

    # Publications.

    def filter(self, table: str) -> str:
        column, other = self.column(table), self.column(table)
        return self.pick(
            f"{column} IS NOT NULL", f"{column} > 1", f"{column} = 'a'", f"{column}::text = 'a'", f"{column} = {other}",
            f"length({column}::text) > 2", f"nullif({column}, {column}) IS NULL", f"{column} IN (1, 2)",
            f"{column} > now()", f"length({self.bare(table)}::text) > 2", "1 = 1", "true", "1",
            f"coalesce({column}, {other}) IS NULL",
            f"CASE {column} WHEN {column} THEN true END", f"lower({column}::text) LIKE 'a%'",
            f"public.f2({column}) = 1", f"to_tsvector({column}::text) @@ 'a'",
            f"{column} IS DISTINCT FROM {other} AND NOT {column} IS NULL",
        )  # fmt: skip

    def member(self) -> str:
        table = self.any()
        text = f"TABLE {self.pick('', '', '', 'ONLY ')}{table}"
        if self.chance(0.25):
            text += f" ({self.some(table, 3)})"
        if self.chance(0.35):
            text += f" WHERE ({self.filter(table)})"
        return text

    def members(self) -> str:
        members = [self.member() for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        if self.chance(0.15):
            members.append(f"TABLES IN SCHEMA {self.pick('public', 's1', 'CURRENT_SCHEMA', 's9', 'pg_catalog')}")
        return ", ".join(members)

    def options(self) -> str:
        return ", ".join(self.random.sample(_OPTIONS, self.random.choice((1, 1, 2))))

    def create_publication(self) -> str:
        name = self.pick(*_PUBLICATIONS)
        objects = self.pick("FOR ALL TABLES", "FOR TABLES IN SCHEMA public", "", *[f"FOR {self.members()}"] * 5)
        with_ = f" WITH ({self.options()})" if self.chance(0.4) else ""
        return f"CREATE PUBLICATION {name} {objects}{with_}".replace("  ", " ").rstrip()

    def alter_publication(self) -> str:
        name = self.pick(*_PUBLICATIONS)
        if self.chance(0.04):
            return f"ALTER PUBLICATION {name} OWNER TO {self.pick('postgres', 'CURRENT_USER', *self.roles)}"
        return f"ALTER PUBLICATION {name} " + self.pick(
            f"ADD {self.members()}", f"ADD {self.members()}", f"SET {self.members()}", f"DROP TABLE {self.any()}",
            f"SET ({self.options()})", f"SET ({self.options()})", f"RENAME TO {self.pick(*_PUBLICATIONS)}",
            f"DROP TABLES IN SCHEMA {self.pick('public', 's1')}",
        )  # fmt: skip

    def drop_publication(self) -> str:
        return f"DROP PUBLICATION {self.pick('', 'IF EXISTS ')}{self.pick(*_PUBLICATIONS)}"
