"""Random scripts, run by the simulator and by servers: `python -m tests.simulate.random_scripts [--scripts N]
[--seed N] [--major N]` compares their errors and the contents of their tables.

A script has partition trees, foreign keys with actions, generated columns, long values, and transactions of several
sessions with savepoints; the sessions keep to rows of their own, so that none waits for another.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from typing import Any

import psycopg

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.not_followed import NotFollowed
from tests.support.servers import Server, Servers

Step = tuple[str, str]


class Script:
    """A schema and steps, made by chance from a seed."""

    def __init__(self, seed: int, length: int = 60) -> None:
        self.random = random.Random(seed)
        self.setup: list[str] = []
        self.steps: list[Step] = []
        self.tables: dict[str, list[str]] = {}
        self.columns: dict[str, list[str]] = {}
        self._schema()
        self.open: dict[str, list[str]] = {}
        while len(self.steps) < length:
            self._step()
        self.steps += [(session, "COMMIT") for session in self.open]

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # Schema.

    def _schema(self) -> None:
        pick = self.random.choice
        checks = ", CHECK (n < 90)" if self.chance(0.5) else ""
        default = " DEFAULT 'd'" if self.chance(0.5) else ""
        self._table("a", f"id int PRIMARY KEY, n int{pick(['', ' DEFAULT 5', ' NOT NULL'])}, v text{default}{checks}")
        generated = ", g int GENERATED ALWAYS AS (id * 2 + coalesce(n, 0)) STORED" if self.chance(0.5) else ""
        unique = ", UNIQUE (n)" if self.chance(0.4) else ""
        serial = ", s serial" if self.chance(0.5) else ""
        self._table("b", f"id int, n int, v text{generated}{serial}, PRIMARY KEY (id){unique}")
        action = pick(["CASCADE", "SET NULL", "RESTRICT", "NO ACTION", "SET DEFAULT"])
        on_update = pick(["CASCADE", "NO ACTION", "SET NULL"])
        reference = f"REFERENCES a ON DELETE {action} ON UPDATE {on_update}"
        self._table("f", f"id int PRIMARY KEY, n int {reference}, v varchar(20)")
        strategy = pick(["RANGE", "LIST", "HASH"])
        self._table("p", f"id int, n int, v text, PRIMARY KEY (id, n)) PARTITION BY {strategy} (n", closed=True)
        for number, bound in enumerate(_BOUNDS[strategy]):
            self.setup.append(f"CREATE TABLE p{number} PARTITION OF p {bound}")
        if self.chance(0.4):
            self.setup.append("CREATE TABLE i () INHERITS (a)")
        for table in "abp":
            if self.chance(0.3):
                leaves = [table] if table != "p" else [f"p{number}" for number in range(len(_BOUNDS[strategy]))]
                self.setup += [f"ALTER TABLE {leaf} ALTER v SET STORAGE EXTERNAL" for leaf in leaves]
        if self.chance(0.5):
            self.setup.append("CREATE PUBLICATION pub FOR ALL TABLES")
            self.setup += [f"ALTER TABLE {t} REPLICA IDENTITY {pick(_IDENTITIES)}" for t in "ab" if self.chance(0.4)]

    def _table(self, name: str, columns: str, *, closed: bool = False) -> None:
        self.setup.append(f"CREATE TABLE {name} ({columns})")
        self.columns[name] = ["id", "n", "v"]

    # Steps.

    def _step(self) -> None:
        session = self.random.choice("xy")
        levels = self.open.get(session)
        if levels is None:
            if self.chance(0.3):
                self.open[session] = []
                self.steps.append((session, "BEGIN"))
                return
        elif self.chance(0.35):
            self._end(session, levels)
            return
        self.steps.append((session, self._statement(session)))

    def _end(self, session: str, levels: list[str]) -> None:
        choice = self.random.random()
        if choice < 0.35:
            levels.append(f"s{len(levels)}")
            self.steps.append((session, f"SAVEPOINT {levels[-1]}"))
        elif choice < 0.55 and levels:
            number = self.random.randrange(len(levels))
            self.steps.append((session, f"ROLLBACK TO {levels[number]}"))
            del levels[number + 1 :]
        elif choice < 0.65 and levels:
            number = self.random.randrange(len(levels))
            self.steps.append((session, f"RELEASE {levels[number]}"))
            del levels[number:]
        else:
            self.steps.append((session, "COMMIT" if choice < 0.9 else "ROLLBACK"))
            del self.open[session]

    def _id(self, session: str) -> int:
        return self.random.randrange(40) * 2 + (session == "y")

    def _value(self) -> str:
        pick = self.random.random()
        if pick < 0.15:
            return "NULL"
        if pick < 0.25:
            return f"repeat('{self.random.choice('xyz')}', {self.random.choice([20, 300, 2500, 9000])})"
        return f"'v{self.random.randrange(100)}'"

    def _n(self, session: str, table: str) -> str:
        if self.chance(0.1) and table != "p":
            return "NULL"
        return str(self._id(session))

    def _row(self, session: str, table: str) -> str:
        value = self._value() if table != "f" else f"'v{self.random.randrange(9)}'"
        return f"({self._id(session)}, {self._n(session, table)}, {value})"

    def _condition(self, session: str) -> str:
        parity = f"id % 2 = {int(session == 'y')}"
        number = self._id(session)
        return self.random.choice(
            [
                f"id = {number}",
                f"{parity} AND n > {number}",
                f"{parity} AND n % 3 = {number % 3}",
                f"{parity} AND v IS NULL",
                f"{parity} AND v LIKE 'v{number % 10}%'",
                f"id IN ({number}, {number + 2}, {number + 20})",
                f"{parity} AND id BETWEEN {number} AND {number + 20}",
            ]
        )

    def _statement(self, session: str) -> str:
        table = self.random.choice("aabbffpp")
        rows = ", ".join(self._row(session, table) for _ in range(self.random.randrange(1, 4)))
        insert = f"INSERT INTO {table} (id, n, v) VALUES {rows}"
        key = "id, n" if table == "p" else "id"
        kinds = [
            insert,
            insert,
            f"{insert} ON CONFLICT DO NOTHING",
            f"{insert} ON CONFLICT ({key}) DO UPDATE SET v = excluded.v",
            f"UPDATE {table} SET v = {self._short(table)} WHERE {self._condition(session)}",
            f"UPDATE {table} SET n = n + 2 WHERE {self._condition(session)}",
            f"UPDATE {table} SET id = id + 2 WHERE {self._condition(session)}",
            f"UPDATE {table} SET v = v || 'y', n = {self._id(session)} WHERE {self._condition(session)}",
            f"DELETE FROM {table} WHERE {self._condition(session)}",
            f"DELETE FROM {table} WHERE id = {self._id(session)}",
            f"INSERT INTO {table} (id, n, v) SELECT i * 2 + {int(session == 'y')}, i, 'g' || i "
            f"FROM generate_series({self._id(session)}, {self._id(session) + 3}) i ON CONFLICT DO NOTHING",
        ]
        if self.chance(0.25):
            return self._joined(session, table)
        return self.random.choice(kinds)

    def _joined(self, session: str, table: str) -> str:
        """MERGE, UPDATE ... FROM, DELETE ... USING, WITH queries that change rows, RETURNING."""
        ids = self.random.sample(range(int(session == "y"), 80, 2), 3)
        values = ", ".join(f"({number}, {self._id(session)}, 'j{number}')" for number in sorted(ids))
        source = f"(VALUES {values}) s (id, n, v)"
        matched = f"{table}.id = s.id" + (f" AND {table}.n = s.n" if table == "p" else "")
        return self.random.choice(
            [
                f"MERGE INTO {table} USING {source} ON {matched} WHEN MATCHED AND s.n > 40 THEN DELETE "
                "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, n, v) "
                "VALUES (s.id, s.n, s.v)",
                f"UPDATE {table} SET v = s.v FROM {source} WHERE {matched}",
                f"DELETE FROM {table} USING {source} WHERE {matched} RETURNING {table}.id",
                f"WITH gone AS (DELETE FROM {table} WHERE {self._condition(session)} RETURNING id, n) "
                f"INSERT INTO b (id, n, v) SELECT id + 100, n, 'moved' FROM gone ON CONFLICT DO NOTHING",
                f"INSERT INTO {table} (id, n, v) VALUES {self._row(session, table)} RETURNING id, v",
                f"UPDATE {table} SET (n, v) = ROW ({self._id(session)}, 'r') WHERE id = {self._id(session)}",
                f"INSERT INTO f (id, n, v) SELECT id + 200, id, 'sub' FROM a WHERE {self._condition(session)} "
                "AND id IN (SELECT id FROM b) ON CONFLICT DO NOTHING",
            ]
        )

    def _short(self, table: str) -> str:
        return self._value() if table != "f" else "'w'"


_IDENTITIES = ("FULL", "NOTHING", "DEFAULT")
_BOUNDS = {
    "RANGE": ["FOR VALUES FROM (MINVALUE) TO (30)", "FOR VALUES FROM (30) TO (60)", "DEFAULT"],
    "LIST": [f"FOR VALUES IN ({', '.join(map(str, range(k, 60, 3)))})" for k in range(3)] + ["DEFAULT"],
    "HASH": [f"FOR VALUES WITH (MODULUS 3, REMAINDER {k})" for k in range(3)],
}
_CONTENTS = ("a", "b", "f", "p")

Outcome = tuple[str, str, str | None]


def on_server(server: Server, script: Script) -> tuple[list[tuple[int, Outcome]], dict[str, Any], int | None]:
    """The errors of a script on a server, the contents afterwards, and the step that waited for another session."""
    errors: list[tuple[int, Outcome]] = []
    waited: int | None = None
    with server.database() as name:
        connections: dict[str, psycopg.Connection[Any]] = {}
        try:
            for key in ("x", "y"):
                connections[key] = psycopg.connect(server.conninfo(name), autocommit=True)
                connections[key].execute("SET statement_timeout = '400ms'")
            for text in script.setup:
                connections["x"].execute(text)
            for number, (session, text) in enumerate(script.steps):
                try:
                    connections[session].execute(text)
                except psycopg.Error as error:
                    if error.sqlstate == "57014":
                        waited = number
                        break
                    errors.append((number, (error.sqlstate or "", error.diag.message_primary or "", _detail(error))))
            contents = {}
            if waited is None:
                for table in _CONTENTS:
                    rows = connections["x"].execute(f"SELECT * FROM {table}").fetchall()
                    contents[table] = sorted(map(repr, rows))
            return errors, contents, waited
        finally:
            for connection in connections.values():
                connection.close()


def _detail(error: psycopg.Error) -> str | None:
    return error.diag.message_detail


def simulated(major: int, script: Script, until: int | None) -> tuple[list[tuple[int, Outcome]], dict[str, Any]]:
    database = Database(major, script.setup)
    errors: list[tuple[int, Outcome]] = []
    for number, (session, text) in enumerate(script.steps[:until]):
        try:
            database.session(session).run(text)
        except ServerError as error:
            errors.append((number, (error.sqlstate, error.message, error.detail)))
    contents = {}
    if until is None:
        for table in _CONTENTS:
            rows = database.session("x").run(f"SELECT * FROM {table}").rows
            contents[table] = sorted(map(repr, rows))
    return errors, contents


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.simulate.random_scripts", description=__doc__)
    parser.add_argument("--scripts", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--major", type=int, action="append")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    with Servers() as servers:
        for major in options.major or (15, 16, 17, 18):
            for seed in range(options.seed, options.seed + options.scripts):
                script = Script(seed)
                errors, contents, waited = on_server(servers[major], script)
                counts["statements"] += len(script.steps) if waited is None else waited
                try:
                    ours = simulated(major, script, waited)
                except NotFollowed as unknown:
                    counts[f"not followed: {unknown.reason}"] += 1
                    continue
                if ours == (errors, contents):
                    counts["equal"] += 1
                    continue
                counts["different"] += 1
                print(f"seed {seed} on {major}")
                _show(script, errors, contents, *ours)
    for name, count in counts.most_common():
        print(f"{count:6} {name}")
    return 1 if counts["different"] else 0


def _show(script: Script, errors: Any, contents: Any, our_errors: Any, our_contents: Any) -> None:
    theirs, ours = dict(errors), dict(our_errors)
    for number in sorted(theirs.keys() | ours.keys()):
        if theirs.get(number) != ours.get(number):
            print(f"  step {number}: {script.steps[number]}\n    server    {theirs.get(number)}")
            print(f"    simulated {ours.get(number)}")
            return
    for table in contents:
        if contents[table] != our_contents.get(table):
            print(
                f"  {table}: server {str(contents[table])[:300]}\n  {table}: simulated {str(our_contents[table])[:300]}"
            )
            return


if __name__ == "__main__":
    sys.exit(main())
