"""Tables and publications as people write them, without a fault: pubcheck has nothing certain to say of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec import Struct

_NOUNS = (
    *("account", "address", "alert", "asset", "booking", "branch", "campaign", "cart", "channel", "claim", "comment"),
    *("contact", "contract", "course", "customer", "device", "document", "driver", "event", "expense", "feature"),
    *("flight", "folder", "invoice", "item", "job", "ledger", "lesson", "location", "message", "meter", "purchase"),
    *("parcel", "patient", "payment", "plan", "player", "policy", "post", "price", "product", "profile", "project"),
    *("quote", "reading", "recipe", "refund", "report", "room", "route", "sensor", "shift", "ticket", "vehicle"),
)
_KINDS = ("", "", "", "_archive", "_detail", "_draft", "_history", "_link", "_note", "_status", "_tag", "_type")

_REQUIRED = (
    *(("status", "varchar(20)"), ("kind", "smallint"), ("region", "varchar(8)"), ("quantity", "integer")),
    *(("created_at", "timestamptz"), ("valid_on", "date"), ("active", "boolean"), ("tenant_id", "bigint")),
)
"""Columns that are NOT NULL and never so long that they are kept out of line."""
_OTHERS = (
    *(("name", "text NOT NULL"), ("email", "varchar(255)"), ("phone", "varchar(40)"), ("note", "text")),
    *(("amount", "numeric(12,2) NOT NULL DEFAULT 0"), ("data", "jsonb NOT NULL DEFAULT '{}'::jsonb")),
    *(("tags", "text[]"), ("updated_at", "timestamptz DEFAULT now()"), ("latitude", "double precision")),
    *(("code", "char(3)"), ("payload", "bytea"), ("push_token", "text"), ("rating", "real"), ("external_id", "uuid")),
)
_FILTERS = {
    "varchar(20)": "{} <> 'draft'",
    "smallint": "{} IN (1, 2)",
    "varchar(8)": "{} = 'eu'",
    "integer": "{} > 10",
    "timestamptz": "{} >= '2024-01-01 00:00:00+00'",
    "date": "{} BETWEEN '2024-01-01' AND '2024-12-31'",
    "boolean": "{}",
    "bigint": "{} % 2 = 0",
    "uuid": "{} > '80000000-0000-0000-0000-000000000000'",
}


class Table(Struct, frozen=True):
    """A table with its name as written, its columns and their types, and the columns of its key."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    required: tuple[str, ...]
    """Columns beside the key that are NOT NULL and short."""

    @property
    def unless_long(self) -> str:
        """Options for a filter on a part of the identity: an UPDATE into it would lose long values of other columns."""
        long = any(kind.startswith(("text", "jsonb", "bytea")) for _, kind in self.columns)
        return " WITH (publish = 'insert, delete')" if long else ""

    @property
    def plain(self) -> str:
        return self.name.rpartition(".")[2]

    def filter(self, column: str) -> str:
        """A row filter that reads one column of the key or of the required ones."""
        kind = dict(self.columns)[column]
        return next(text for found, text in _FILTERS.items() if kind.startswith(found)).format(column)


def tables(random: Random, number: int, schema: str | None) -> list[Table]:
    """So many tables with names of their own."""
    names: dict[str, None] = {}
    while len(names) < number:
        name = random.choice(_NOUNS) + random.choice(_KINDS)
        names[name if name not in names else f"{name}_{len(names)}"] = None
    return [_table(random, f"{schema}.{name}" if schema else name) for name in names]


def _table(random: Random, name: str) -> Table:
    composite = random.random() < 0.1
    required = random.sample(_REQUIRED[:-1] if composite else _REQUIRED, random.randint(1, 4))
    columns = [(column, f"{kind} NOT NULL") for column, kind in required]
    columns += random.sample(_OTHERS, random.randint(1, 6))
    random.shuffle(columns)
    kind = random.choice(("bigint", "bigint", "bigint GENERATED ALWAYS AS IDENTITY", "uuid", "integer"))
    columns.insert(0, ("id", kind))
    if composite:
        columns.insert(0, ("tenant_id", "bigint"))
    key = ("tenant_id", "id") if composite else ("id",)
    return Table(name, tuple(columns), key, tuple(column for column, _ in required))


def definition(random: Random, table: Table) -> str:
    """CREATE TABLE with its key, on one line or on many."""
    keyed = len(table.key) == 1 and random.random() < 0.7
    parts = [f"{name} {kind}{' PRIMARY KEY' if keyed and name == 'id' else ''}" for name, kind in table.columns]
    if not keyed:
        parts.append(f"PRIMARY KEY ({', '.join(table.key)})")
    create = random.choice(("CREATE TABLE", "CREATE TABLE", "create table", "CREATE TABLE IF NOT EXISTS"))
    if random.random() < 0.3:
        return f"{create} {table.name} ({', '.join(parts)});"
    return f"{create} {table.name} (\n" + ",\n".join(f"    {part}" for part in parts) + "\n);"


def partitioned(random: Random, name: str, publication: str) -> Iterator[str]:
    """A table that is partitioned, its partitions, and a publication of the root."""
    yield (
        f"CREATE TABLE {name} (id bigint NOT NULL, region varchar(8) NOT NULL, reading real,"
        " PRIMARY KEY (id, region)) PARTITION BY LIST (region);"
    )
    for region in ("eu", "us", "asia")[: random.randint(1, 3)]:
        yield f"CREATE TABLE {name}_{region} PARTITION OF {name} FOR VALUES IN ('{region}');"
    where = random.choice(("", " WHERE (id > 1000)", " (id, region)"))
    yield f"CREATE PUBLICATION {publication} FOR TABLE {name}{where} WITH (publish_via_partition_root = true);"


def company(random: Random, table: Table, others: list[Table]) -> Iterator[str]:
    """Statements beside a table: what is followed, and what changes nothing."""
    chance = random.random
    if chance() < 0.4:
        yield f"CREATE INDEX {table.plain}_{table.required[0]}_idx ON {table.name} ({table.required[0]});"
    if chance() < 0.15:
        other = random.choice(others)
        if len(other.key) == 1:
            kind = dict(other.columns)["id"].split()[0]
            yield f"ALTER TABLE {table.name} ADD COLUMN {other.plain}_id {kind} REFERENCES {other.name} (id);"
    if chance() < 0.1:
        yield f"COMMENT ON TABLE {table.name} IS 'one row per {table.plain}; it''s never deleted';"
    if chance() < 0.1:
        yield (
            f"CREATE FUNCTION touch_{table.plain}() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n"
            f"    NEW.id := OLD.id; -- never changes; see {table.plain}\n    RETURN NEW;\nEND;\n$$;"
        )
        yield (
            f"CREATE TRIGGER touch BEFORE UPDATE ON {table.name} FOR EACH ROW EXECUTE FUNCTION touch_{table.plain}();"
        )
    if chance() < 0.08:
        yield f"CREATE VIEW {table.name}_view AS SELECT {', '.join(table.key)} FROM {table.name} WHERE true;"
    if chance() < 0.05:
        yield f"GRANT SELECT ON {table.name} TO PUBLIC;"


def inserts(random: Random, table: Table, number: int) -> str:
    """Rows, a statement each, as histories of large products hold them by the thousand."""
    names = ", ".join((*table.key, *table.required))
    rows = (", ".join(_value(random, table, each) for each in (*table.key, *table.required)) for _ in range(number))
    return "\n".join(f"INSERT INTO {table.name} ({names}) VALUES ({row});" for row in rows)


def _value(random: Random, table: Table, column: str) -> str:
    kind = dict(table.columns)[column]
    if kind.startswith(("bigint", "integer", "smallint")):
        return str(random.randint(1, 30_000))
    if kind.startswith("boolean"):
        return random.choice(("true", "false"))
    if kind.startswith("uuid"):
        return f"'{random.getrandbits(128):032x}'"
    if kind.startswith(("date", "timestamptz")):
        return f"'20{random.randint(10, 26)}-0{random.randint(1, 9)}-1{random.randint(0, 9)}'"
    return f"'{random.choice(('new', 'paid', 'eu', 'us', 'è; --', 'its'))}'"


def publication(
    random: Random, name: str, given: list[Table], *, narrow: bool, schema: str | None
) -> tuple[list[str], list[Table]]:
    """The statements that make a publication of some of the tables, and which these are. ``narrow``: it names them."""
    forms = list(_FORMS)
    if not narrow:
        forms += ["all", "all", *(["schema"] if schema else [])]
    form = random.choice(forms)
    if form == "all":
        return [f"CREATE PUBLICATION {name} FOR ALL TABLES;"], given
    if form == "schema":
        return [f"CREATE PUBLICATION {name} FOR TABLES IN SCHEMA {schema};"], given
    some = random.sample(given, min(len(given), random.choice((1, 1, 1, 2, 3))))
    return _of_tables(random, form, name, some, schema), some if form in _OF_SEVERAL else some[:1]


_OF_SEVERAL = ("named", "added", "again", "words")
_FORMS = ("named", *_OF_SEVERAL, "added", "filtered", "identity", "full", "columns", "options")


def _of_tables(random: Random, form: str, name: str, some: list[Table], schema: str | None) -> list[str]:
    table, listed = some[0], ", ".join(each.name for each in some)
    match form:
        case "added":
            return [f"CREATE PUBLICATION {name};"] + [
                f"ALTER PUBLICATION {name} ADD TABLE {each.name};" for each in some
            ]
        case "filtered":
            return [
                f"CREATE PUBLICATION {name} FOR TABLE {table.name}"
                f" WHERE ({table.filter(table.key[0])}){table.unless_long};"
            ]
        case "identity":
            column = table.required[0]
            index = f"{table.plain}_{name}_identity"
            of_schema = f"{schema}." if schema else ""
            return [
                f"CREATE UNIQUE INDEX {index} ON {table.name} ({', '.join((column, *table.key))});",
                f"ALTER TABLE {table.name} REPLICA IDENTITY USING INDEX {index};",
                f"CREATE PUBLICATION {name} FOR TABLE {of_schema}{table.plain}"
                f" WHERE ({table.filter(column)}){table.unless_long};",
            ]
        case "full":
            return [
                f"ALTER TABLE {table.name} REPLICA IDENTITY FULL;",
                f"CREATE PUBLICATION {name}\n  FOR TABLE {table.name}\n  WHERE ({table.filter(table.required[-1])});",
            ]
        case "columns":
            # The whole of the key and some more: what is private stays.
            columns = ", ".join((*table.key, *table.required))
            return [f"CREATE PUBLICATION {name} FOR TABLE {table.name} ({columns});"]
        case "options":
            column = table.required[0]
            return [
                f"CREATE PUBLICATION {name} FOR TABLE {table.name} WHERE ({table.filter(column)})"
                " WITH (publish = 'insert');"
            ]
        case "again":
            return [f"DROP PUBLICATION IF EXISTS {name};", f"CREATE PUBLICATION {name} FOR TABLE {listed};"]
        case "words":
            between = random.choice(("  ", "\n", " -- what the warehouse reads\n", " /* FOR ALL TABLES */ ", "\t"))
            create = random.choice(("create", "Create", "CREATE"))
            return [
                f"{create}{between}publication {name} for table {listed}\nwith (publish = 'insert, update, delete');"
            ]
        case _:
            return [f"CREATE PUBLICATION {name} FOR TABLE {listed};"]


def guarded(name: str, table: Table) -> str:
    """A DO block that looks before it makes, as many write it."""
    return (
        "DO $$\nBEGIN\n"
        f"    IF NOT EXISTS (SELECT 1 FROM pg_publication WHERE pubname = '{name}') THEN\n"
        f"        CREATE PUBLICATION {name} FOR TABLE {table.name};\n"
        "    END IF;\nEND\n$$;"
    )
