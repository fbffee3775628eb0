"""Random partition trees several levels deep, with publications over parts of them; the same for a seed."""

from __future__ import annotations

from random import Random

from msgspec import Struct

from tests.support.generating import Choices


class Node(Struct):
    """A table of a tree: its key's range and what stands below it; a leaf has nothing."""

    name: str
    low: int
    high: int
    parent: str = ""
    leaf: bool = True
    level: int = 0
    persistence: str = ""
    order: tuple[str, ...] = ("a", "b", "c", "d")


COLUMNS = ("a", "b", "c", "d")


class Trees(Choices):
    """``statements`` make the schema and its publications; ``nodes`` are the tables, by name, roots first.

    Every table has the columns a, b, c and d, all int, d of some trees generated. Trees are ranges of ``a``.
    Partitions that are attached have their columns in another order, some with a hole.
    """

    def __init__(self, seed: int, publications: int = 6) -> None:
        super().__init__(Random(seed))
        self.nodes: dict[str, Node] = {}
        self.statements = ["CREATE SCHEMA s", "CREATE SCHEMA s2"]
        self.names: list[str] = []
        self.generated: dict[str, str] = {}
        for number in range(self.random.randint(2, 4)):
            self._root(f"t{number}")
        for number in range(publications):
            self._publication(f"p{number}")
        for _ in range(self.random.randint(0, 3)):
            self._later()

    def schema(self) -> str:
        return self.pick("public.", "public.", "public.", "s.", "s.", "s2.")

    def _root(self, name: str) -> None:
        name = self.schema() + name
        d = self.pick("d int", "d int", "d int", "d int GENERATED ALWAYS AS (b + 1) STORED")
        self.generated[name] = d
        if self.chance(0.3):
            self.nodes[name] = Node(name, 0, 100)
            kind = self.pick("", "", "", "UNLOGGED ")
            self.nodes[name].persistence = kind
            self.statements.append(f"CREATE {kind}TABLE {name} (a int NOT NULL, b int, c int, {d})")
            return
        self.nodes[name] = Node(name, 0, 100, leaf=False)
        self.statements.append(f"CREATE TABLE {name} (a int NOT NULL, b int, c int, {d}) PARTITION BY RANGE (a)")
        self._below(name, d)

    def _below(self, parent: str, d: str) -> None:
        node = self.nodes[parent]
        count = self.random.randint(1, 3)
        step = (node.high - node.low) // count
        for number in range(count):
            schema, _, base = parent.partition(".")
            name = (f"{schema}." if self.chance(0.7) else self.schema()) + f"{base}_{number}"
            low = node.low + number * step
            child = Node(name, low, low + step, parent, level=node.level + 1)
            self.nodes[name] = child
            child.leaf = node.level >= 2 or step < 4 or self.chance(0.6)
            by = "" if child.leaf else " PARTITION BY RANGE (a)"
            if child.leaf:
                child.persistence = self.pick("", "", "", "", "", "", "UNLOGGED ")
            bound = f"FOR VALUES FROM ({low}) TO ({low + step})"
            if self.chance(0.5):
                self.statements.append(f"CREATE {child.persistence}TABLE {name} PARTITION OF {parent} {bound}{by}")
            else:
                child.order = tuple(self.random.sample(COLUMNS, 4))
                texts = {"a": "a int NOT NULL", "b": "b int", "c": "c int", "d": d}
                columns = [texts[column] for column in child.order]
                hole = self.chance(0.4)
                if hole:
                    columns.insert(self.random.randint(0, 3), "hole int")
                self.statements.append(f"CREATE {child.persistence}TABLE {name} ({', '.join(columns)}){by}")
                if hole:
                    self.statements.append(f"ALTER TABLE {name} DROP COLUMN hole")
                self.statements.append(f"ALTER TABLE {parent} ATTACH PARTITION {name} {bound}")
            if not child.leaf:
                self._below(name, d)

    def filter(self) -> str:
        column = self.pick("a", "b", "c", "c", "d")
        return f"({column} {self.pick('>', '<')} {self.random.choice((10, 30, 50, 70, 90))})"

    def member(self, lists: bool = True) -> str:
        text = self.random.choice(list(self.nodes))
        if lists and self.chance(0.3):
            chosen = self.random.choice((("a", "b"), ("a", "b", "c"), COLUMNS, ("a", "c", "d"), ("a", "b")))
            text += f" ({', '.join(chosen)})"
        if self.chance(0.5):
            text += f" WHERE {self.filter()}"
        return "TABLE " + text

    def _publication(self, name: str) -> None:
        self.names.append(name)
        with_schema = self.chance(0.3)
        objects = [self.member(not with_schema) for _ in range(self.random.choice((1, 1, 2, 2, 3)))]
        if with_schema:
            objects.append(f"TABLES IN SCHEMA {self.pick('s', 's', 's2', 'public')}")
        scope = "ALL TABLES" if self.chance(0.12) else ", ".join(objects)
        options = []
        if self.chance(0.6):
            options.append("publish_via_partition_root")
        if self.chance(0.4):
            operations = self.random.sample(("insert", "update", "delete", "truncate"), self.random.randint(0, 3))
            options.append(f"publish = '{', '.join(operations)}'")
        if self.chance(0.25):
            options.append("publish_generated_columns = stored")
        ending = f" WITH ({', '.join(options)})" if options else ""
        self.statements.append(f"CREATE PUBLICATION {name} FOR {scope}{ending}")
        # Where that was refused, as much of it as is left.
        if "ALL TABLES" not in scope:
            root = " WITH (publish_via_partition_root)" if self.chance(0.5) else ""
            table = objects[0].split(" (")[0].split(" WHERE")[0]
            self.statements.append(f"CREATE PUBLICATION {name} FOR {table}{root}")

    def _later(self) -> None:
        name, table = self.random.choice(self.names), self.random.choice(list(self.nodes))
        self.statements.append(
            self.pick(
                f"ALTER PUBLICATION {name} ADD {self.member()}",
                f"ALTER PUBLICATION {name} DROP TABLE {table}",
                f"ALTER PUBLICATION {name} SET (publish_via_partition_root = {self.pick('true', 'false')})",
                f"ALTER PUBLICATION {name} SET {self.member()}",
                f"ALTER TABLE {table} SET SCHEMA {self.pick('s', 's2')}",
                f"ALTER TABLE {table} DROP COLUMN c",
                f"ALTER TABLE {table} ADD COLUMN e int",
                f"ALTER TABLE {self.nodes[table].parent or table} DETACH PARTITION {table}",
            )
        )

    def identities(self) -> list[str]:
        """A replica identity for most leaves, and one for some roots, which only changes a letter."""
        made = []
        for node in self.nodes.values():
            if node.leaf:
                made.append(
                    self.pick(
                        f"ALTER TABLE {node.name} REPLICA IDENTITY FULL",
                        f"ALTER TABLE {node.name} REPLICA IDENTITY FULL",
                        f"ALTER TABLE {node.name} ADD PRIMARY KEY (a)",
                        "SELECT 1",
                    )
                )
            elif self.chance(0.3):
                made.append(f"ALTER TABLE {node.name} REPLICA IDENTITY {self.pick('FULL', 'NOTHING')}")
        return made

    def dml(self, length: int = 40) -> list[str]:
        """INSERT, UPDATE, DELETE and TRUNCATE; some are refused."""
        made = [self._insert() for _ in range(length)]
        return made + [self._write() for _ in range(length)]

    def _insert(self) -> str:
        node = self.random.choice(list(self.nodes.values()))
        low, b, c = self.random.randint(node.low, node.high - 1), self.random.randint(0, 99), self.random.randint(0, 99)
        c_text = "NULL" if self.chance(0.1) else str(c)
        return f"INSERT INTO {node.name} (a, b, c) VALUES ({low}, {b}, {c_text})"

    def _write(self) -> str:
        node = self.random.choice(list(self.nodes.values()))
        if self.chance(0.1):
            return f"TRUNCATE {node.name}"
        if self.chance(0.2):
            return self._insert()
        key = self.random.randint(node.low, node.high - 1)
        where = f" WHERE a = {key}" if not node.leaf or self.chance(0.3) else ""
        if self.chance(0.25):
            return f"DELETE FROM {node.name}{where}"
        column = self.pick("a", "b", "c", "c")
        to = self.random.randint(node.low, node.high - 1) if column == "a" else self.random.randint(0, 99)
        return f"UPDATE {node.name} SET {column} = {to}{where}"
