"""Random schemas about who may write: partition trees, inheritance, keys and identities of all sorts, publications."""

from __future__ import annotations

from tests.differential.scripts import COLUMNS, TYPES, Maker, Script

_ENDINGS = ("_pkey", "_a_key", "_b_key", "_a_b_key", "_a_b_idx", "_b_a_idx", "_b_idx")


class Trees(Script):
    """Some 50 tables in trees and hierarchies, published in several ways, and then changed under the publications."""

    def grow(self, length: int) -> None:
        self.names = False
        self.members: list[str] = []
        self.publications: list[str] = []
        for _ in range(self.random.randint(2, 3)):
            self.tree()
        for _ in range(self.random.randint(1, 2)):
            self.hierarchy()
        for _ in range(self.random.randint(4, 7)):
            self.statements.append(self.plain())
        keys: list[tuple[int, Maker]] = [(4, self.identify), (2, self.key), (1, self.generated)]
        self.make(keys, len(self.tables) // 2)
        for _ in range(self.random.randint(3, 8)):
            self.statements.append(self.create_publication())
        changes: list[tuple[int, Maker]] = [
            (6, self.identify), (4, self.key), (3, self.lose), (2, self.column), (3, self.rename), (2, self.generated),
            (4, self.move), (3, self.inherit), (2, self.not_null), (1, self.named_not_null), (1, self.retype),
            (1, self.persistence), (2, self.set_schema), (1, self.invalid), (1, self.drop), (1, self.exclude),
            (4, self.create_publication), (6, self.alter_publication), (3, self.options), (1, self.drop_publication),
            (1, self.transaction), (1, self.rename_publication), (1, self.virtual), (1, self.rename_schema),
        ]  # fmt: skip
        self.make(changes, length)

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def any_table(self) -> str:
        """Members of trees and hierarchies twice as often as others."""
        return self.random.choice(self.members if self.members and self.chance(0.3) else self.tables)

    def new_member(self) -> str:
        name = self.new_table(self.pick("", "", "", "s.", '"S2".'))
        self.members.append(name)
        return name

    # Trees.

    def tree(self) -> None:
        root = self.new_table(self.pick("", "", "s."))
        key = self.pick(
            "", "", ", PRIMARY KEY (a, b)", ", PRIMARY KEY (b, a)", ", PRIMARY KEY (a, b, c)", ", UNIQUE (a, b)",
            ", PRIMARY KEY (a, b) DEFERRABLE", ", UNIQUE (a, b, d)",
        )  # fmt: skip
        strategy, clause = self.strategy()
        body = f"(a int NOT NULL, b int NOT NULL, c text, d varchar(20){key})"
        self.statements.append(f"CREATE TABLE {root} {body} {clause}")
        self.grow_leaves(root, strategy, 1)

    def strategy(self) -> tuple[str, str]:
        strategy = self.pick("RANGE", "RANGE", "LIST", "LIST", "HASH")
        return strategy, f"PARTITION BY {strategy} ({self.pick('a', 'b')})"

    def grow_leaves(self, parent: str, strategy: str, level: int) -> None:
        """Up to five levels; bounds in no order, so that the order of the tables' making is not that of the bounds."""
        self.partitioned[parent] = strategy
        number = self.random.randint(2, 4) if level < 3 else self.random.randint(1, 2)
        for bound in self.bounds(strategy, number):
            name = self.new_member()
            below, clause = self.strategy()
            divided = level < 5 and self.chance(0.45 / level)
            ending = f" {clause}" if divided else ""
            if self.chance(0.35):
                self.statements.append(f"CREATE TABLE {name} {self.other_order()}{ending}")
                if self.chance(0.4):
                    self.statements.append(f"ALTER TABLE {name} DROP COLUMN IF EXISTS x")
                if divided:
                    self.grow_leaves(name, below, level + 1)
                self.statements.append(f"ALTER TABLE {parent} ATTACH PARTITION {name} {bound}")
            else:
                elements = self.pick("", "", "", "(PRIMARY KEY (a, b)) ", "(UNIQUE (a, b)) ", "(c NOT NULL) ")
                self.statements.append(f"CREATE TABLE {name} PARTITION OF {parent} {elements}{bound}{ending}")
                if divided:
                    self.grow_leaves(name, below, level + 1)

    def bounds(self, strategy: str, number: int) -> list[str]:
        """Free bounds of one table."""
        if strategy == "HASH":
            chosen = self.random.sample([(4, 0), (4, 1), (4, 2), (8, 3), (8, 7), (2, 1)][: number + 2], number)
            return [f"FOR VALUES WITH (MODULUS {modulus}, REMAINDER {rest})" for modulus, rest in chosen]
        lows = self.random.sample(range(-100, 100, 10), number)
        if strategy == "LIST":
            texts = [f"FOR VALUES IN ({self.pick(f'{low}', f'{low + 3}, {low}', f'{low + 7}')})" for low in lows]
            if self.chance(0.3):
                texts[0] = f"FOR VALUES IN ({self.pick('NULL', f'NULL, {lows[0]}')})"
        else:
            texts = [f"FOR VALUES FROM ({low}) TO ({low + 10})" for low in lows]
            if self.chance(0.2):
                lowest = min(lows)
                texts[lows.index(lowest)] = f"FOR VALUES FROM (MINVALUE) TO ({lowest + 10})"
        if self.chance(0.25):
            texts[self.random.randrange(number)] = "DEFAULT"
        return texts

    def other_order(self, *, key: bool = True) -> str:
        """The columns of a partition to be, in any order and with one more that goes again or none."""
        names = self.random.sample(COLUMNS, len(COLUMNS))
        parts = [f"{name} {TYPES[name]}{' NOT NULL' if name in 'ab' else ''}" for name in names]
        if self.chance(0.5):
            parts.insert(self.random.randint(0, 4), "x int")
        if key and self.chance(0.5):
            more = self.pick("", "", "", " DEFERRABLE")
            parts.append(
                f"{self.pick('PRIMARY KEY', 'PRIMARY KEY', 'UNIQUE')} ({self.pick('a, b', 'b, a', 'b')}){more}"
            )
        return f"({', '.join(parts)})"

    def hierarchy(self) -> None:
        """A parent with children of children, some of two parents."""
        parent = self.new_table(self.pick("", "", "s."))
        self.statements.append(f"CREATE TABLE {parent} {self.other_order()}")
        family = [parent]
        for _ in range(self.random.randint(3, 7)):
            parents = self.random.sample(family, min(len(family), self.pick_count() if self.chance(0.4) else 1))
            body = self.pick("()", "()", "(PRIMARY KEY (a))", "(PRIMARY KEY (a, b))", "(x int UNIQUE)", "(UNIQUE (b))")
            name = self.new_member()
            self.statements.append(f"CREATE TABLE {name} {body} INHERITS ({', '.join(parents)})")
            family.append(name)

    def plain(self) -> str:
        name = self.new_table(self.pick("", "", "", "s.", '"S2".'))
        kind = "UNLOGGED " if self.chance(0.05) else ""
        return f"CREATE {kind}TABLE {name} {self.other_order()}"

    def move(self) -> list[str] | str:
        """ATTACH and DETACH, of leaves and of whole branches."""
        parent = self.random.choice(list(self.partitioned))
        chosen = self.random.choice(self.members)
        [bound] = self.bounds(self.partitioned[parent], 1)
        attach = f"ALTER TABLE {parent} ATTACH PARTITION "
        if self.chance(0.4):
            return f"ALTER TABLE {parent} DETACH PARTITION {chosen}"
        if self.chance(0.3):
            return f"{attach}{chosen} {bound}"
        name = self.new_member()
        return [
            f"CREATE TABLE {name} {self.other_order()}",
            f"ALTER TABLE {name} DROP IF EXISTS x",
            f"{attach}{name} {bound}",
        ]

    def inherit(self) -> list[str] | str:
        child, parent = self.random.choice(self.members), self.random.choice(self.tables)
        return f"ALTER TABLE {child} {self.pick('INHERIT', 'NO INHERIT')} {parent}"

    # Keys.

    def key(self) -> str:
        table = self.any_table()
        columns = self.pick("a", "b", "a, b", "b, a", "c", "a, b, d", "d, b")
        index = self.name("i")
        unique = f"CREATE UNIQUE INDEX {index} ON {self.pick('', '', 'ONLY ')}{table}"
        name = self.name("u")
        if self.chance(0.5):
            self.indexes.append((index, table))
            where = self.pick("", "", " INCLUDE (d)", " INCLUDE (c, a)", " WHERE a > 1", " NULLS NOT DISTINCT")
            return f"{unique} ({self.pick(columns, columns, columns, 'lower(c)', 'a, (b + 1)')}){where}"
        self.indexes.append((name, table))
        more = self.pick("", "", "", " DEFERRABLE", " INCLUDE (d)", " DEFERRABLE INITIALLY DEFERRED")
        return f"ALTER TABLE {self.pick('', '', 'ONLY ')}{table} ADD " + self.pick(
            f"PRIMARY KEY ({columns}){more}",
            f"CONSTRAINT {name} PRIMARY KEY ({columns}){more}",
            f"CONSTRAINT {name} UNIQUE ({columns}){more}",
            f"PRIMARY KEY USING INDEX {self.index_name(table)}{self.pick('', ' DEFERRABLE')}",
        )

    def index_name(self, table: str) -> str:
        own = [name for name, of in self.indexes if of == table]
        return self.random.choice(own) if own and self.chance(0.7) else self.derived(table, self.pick(*_ENDINGS))

    def identify(self) -> list[str] | str:
        table = self.any_table()
        alter = f"ALTER TABLE {table} "
        if self.chance(0.45):
            index = self.name("i")
            self.indexes.append((index, table))
            columns = self.pick("a, b", "b, a", "b", "a", "b, c", "c, a", "a, b, d", "d")
            more = self.pick("", "", "", " INCLUDE (c)")
            return [
                *(f"{alter}ALTER {column} SET NOT NULL" for column in columns.split(", ") if self.chance(0.95)),
                f"CREATE UNIQUE INDEX {index} ON {table} ({columns}){more}",
                f"{alter}REPLICA IDENTITY USING INDEX {index}",
            ]
        return alter + self.pick(
            "REPLICA IDENTITY FULL",
            "REPLICA IDENTITY FULL",
            "REPLICA IDENTITY NOTHING",
            "REPLICA IDENTITY DEFAULT",
            f"REPLICA IDENTITY USING INDEX {self.index_name(table)}",
            f"REPLICA IDENTITY USING INDEX {self.derived(table, '_pkey')}",
        )

    def lose(self) -> str:
        """What took part in an identity goes, or takes another name."""
        table = self.any_table()
        index = self.index_name(table)
        return self.pick(
            f"DROP INDEX {index}",
            f"DROP INDEX IF EXISTS {index} CASCADE",
            f"ALTER TABLE {table} DROP CONSTRAINT {index}",
            f"ALTER TABLE {table} DROP CONSTRAINT {self.derived(table, '_pkey')}",
            f"ALTER TABLE {table} DROP CONSTRAINT {self.derived(table, '_pkey')}, ADD PRIMARY KEY (b)",
            f"ALTER TABLE {table} DROP COLUMN {self.pick(*COLUMNS)}{self.pick('', ' CASCADE')}",
            f"ALTER INDEX {index} RENAME TO {self.name('i')}",
            f"ALTER TABLE {table} RENAME CONSTRAINT {index} TO {self.name('u')}",
        )

    def generated(self) -> str:
        table = self.any_table()
        kind = self.pick("STORED", "STORED", "VIRTUAL")
        added = f"ALTER TABLE {table} ADD COLUMN g int GENERATED ALWAYS AS ({self.pick('a', 'b + 1', '7')}) {kind}"
        # What is 18's alone stands in no statement that is judged.
        full = ", REPLICA IDENTITY FULL" if kind == "STORED" else ""
        return added + self.pick("", " NOT NULL", " UNIQUE", " PRIMARY KEY", full)

    def rename_schema(self) -> str:
        return self.pick("ALTER SCHEMA s RENAME TO t", "ALTER SCHEMA t RENAME TO s", 'ALTER SCHEMA "S2" RENAME TO u')

    def set_schema(self) -> str:
        return f"ALTER TABLE {self.any_table()} SET SCHEMA " + self.pick("public", "s", '"S2"')

    # Publications.

    def filter(self) -> str:
        first, other = self.pick(*COLUMNS), self.pick(*COLUMNS)
        return self.pick(
            f"({first} IS NOT NULL)", f"({first} IS NOT NULL)", f"({first} IS NULL OR {other} IS NULL)", "(true)",
            "(a > 1 AND b > 1)", "(b > 1)", "(g > 1)", f"({first} IS DISTINCT FROM {first})",
        )  # fmt: skip

    def object(self) -> str:
        if self.chance(0.1):
            return "TABLES IN SCHEMA " + self.pick("public", "s", '"S2"', "t")
        table = self.random.choice(list(self.partitioned)) if self.chance(0.35) else self.any_table()
        text = f"TABLE {self.pick('', '', '', 'ONLY ')}{table}"
        if self.chance(0.3):
            columns = dict.fromkeys(self.pick("a", "b", *COLUMNS, "g") for _ in range(self.random.randint(2, 6)))
            text += f" ({', '.join(columns)})"
        if self.chance(0.4):
            text += f" WHERE {self.filter()}"
        return text

    def option(self) -> str:
        return self.pick(
            "publish = 'insert'", "publish = 'update'", "publish = 'delete, insert'", "publish = 'update, delete'",
            "publish = 'insert, update, delete, truncate'", "publish_generated_columns = stored",
            "publish_generated_columns = none",
        )  # fmt: skip

    def create_publication(self) -> str:
        name = self.name("p")
        self.publications.append(name)
        objects = "FOR ALL TABLES" if self.chance(0.08) else f"FOR {self.objects()}"
        options = [f"publish_via_partition_root = {self.pick('true', 'true', 'false')}"] if self.chance(0.7) else []
        if self.chance(0.35):
            options.append(self.option())
        return f"CREATE PUBLICATION {name} {objects}" + (f" WITH ({', '.join(options)})" if options else "")

    def publication(self) -> str:
        return self.random.choice(self.publications)

    def options(self) -> str:
        option = self.pick(self.option(), "publish_via_partition_root = true", "publish_via_partition_root = false")
        return f"ALTER PUBLICATION {self.publication()} SET ({option})"

    def rename_publication(self) -> str:
        name = self.name("p")
        self.publications.append(name)
        return f"ALTER PUBLICATION {self.publication()} RENAME TO {name}"
