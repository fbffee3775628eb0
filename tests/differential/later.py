"""Random DDL on tables that are published: dropped and altered columns, CASCADE, indexes, persistence, moves."""

from __future__ import annotations

from tests.differential.scripts import COLUMNS, TYPES, Maker
from tests.differential.trees import Trees


class Later(Trees):
    """A few tables in many publications with filters and lists, and views, keys and columns that depend on them."""

    def grow(self, length: int) -> None:
        self.names = False
        self.members: list[str] = []
        self.publications: list[str] = []
        self.tree()
        self.hierarchy()
        for _ in range(3):
            self.statements.append(self.plain())
        self.make([(3, self.depend), (2, self.generated), (2, self.identify), (1, self.key)], 8)
        for _ in range(self.random.randint(5, 10)):
            self.statements.append(self.create_publication())
        changes: list[tuple[int, Maker]] = [
            (14, self.lose_column), (6, self.retype), (4, self.persistence), (4, self.expression), (3, self.drop),
            (3, self.lose), (2, self.set_schema), (2, self.rename), (2, self.move), (2, self.inherit),
            (3, self.depend), (3, self.generated), (2, self.identify), (2, self.not_null),
            (8, self.create_publication), (4, self.alter_publication), (1, self.drop_publication),
            (2, self.drop_schema),
        ]  # fmt: skip
        self.make(changes, length)

    def plain_table(self) -> str:
        return self.random.choice(self.tables)

    def only(self) -> str:
        return self.pick("", "", "", "", "ONLY ")

    def column_of(self) -> str:
        return self.pick(*COLUMNS, *COLUMNS, "g", "x")

    def object(self) -> str:
        table = self.plain_table()
        text = f"TABLE {self.only()}{table}"
        if self.chance(0.5):
            columns = dict.fromkeys(self.pick(*COLUMNS, "g") for _ in range(self.random.randint(1, 5)))
            text += f" ({', '.join(columns)})"
        if self.chance(0.5):
            text += f" WHERE {self.filter()}"
        return text if self.chance(0.93) else "TABLES IN SCHEMA public"

    def lose_column(self) -> str:
        """One column or several in one statement."""
        behaviour = self.pick("", "", " CASCADE", " RESTRICT")
        columns = dict.fromkeys(self.column_of() for _ in range(self.pick_count()))
        commands = ", ".join(f"DROP COLUMN {column}{behaviour}" for column in columns)
        return f"ALTER TABLE {self.only()}{self.plain_table()} {commands}"

    def retype(self) -> str:
        column = self.column_of()
        kind = self.pick(TYPES.get(column, "int"), "bigint" if TYPES.get(column, "int") == "int" else "varchar(50)")
        more = self.pick("", "", f" USING {column}", ' COLLATE "C"' if TYPES.get(column, "int") != "int" else "")
        return f"ALTER TABLE {self.only()}{self.plain_table()} ALTER COLUMN {column} TYPE {kind}{more}"

    def expression(self) -> str:
        change = self.pick("SET EXPRESSION AS (a + 3)", "SET EXPRESSION AS (8)", "DROP EXPRESSION")
        return f"ALTER TABLE {self.only()}{self.plain_table()} ALTER COLUMN g {change}"

    def depend(self) -> str:
        """What else depends on columns, so that the server has more than publications to name."""
        table, column = self.plain_table(), self.pick(*COLUMNS)
        return self.pick(
            f"CREATE VIEW {self.name('v')} AS SELECT {column} FROM {table}",
            f"CREATE VIEW {self.name('v')} AS SELECT a, b FROM {table} WHERE {column} IS NULL",
            f"CREATE TABLE {self.name('f')} (z int REFERENCES {table} (b))",
            f"ALTER TABLE {table} ADD CONSTRAINT {self.name('k')} CHECK ({column} IS NOT NULL)",
            f"CREATE INDEX {self.name('i')} ON {table} ({column})",
            f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS h text GENERATED ALWAYS AS (c) STORED",
        )

    def drop(self) -> str:
        behaviour = self.pick("", " CASCADE", " CASCADE", " RESTRICT")
        return self.pick(
            f"DROP TABLE {self.plain_table()}{behaviour}",
            f"DROP TABLE {self.plain_table()}, {self.plain_table()}{behaviour}",
        )

    def drop_schema(self) -> str:
        return self.pick("DROP SCHEMA s", 'DROP SCHEMA "S2"', 'DROP SCHEMA "S2" CASCADE', "DROP SCHEMA s CASCADE")
