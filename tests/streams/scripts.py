"""Random scripts over random partition trees and publications; the same for the same seed."""

from __future__ import annotations

from tests.replication.trees import Trees
from tests.streams.accounts import Accounts
from tests.streams.places import Places
from tests.support.recorded_streams import Step

_DOCS = (
    "CREATE TABLE docs (id int {key}, n numeric(12, 3), day date, title text, body text, tags text[], data jsonb)",
    "ALTER TABLE docs ALTER body SET STORAGE EXTERNAL",
)
_ROUTINES = (
    "CREATE FUNCTION twice(k int) RETURNS int LANGUAGE plpgsql AS"
    " $$ BEGIN IF k > 50 THEN RETURN k; END IF; k := k + 0; RETURN k * 2; END $$",
    "CREATE FUNCTION slug(words text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS"
    " $$ SELECT lower(replace(words, ' ', '-')) || length($1) $$",
    "CREATE FUNCTION known(k int) RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT count(*) FROM docs WHERE id < k $$",
    "CREATE FUNCTION titled(k int) RETURNS text LANGUAGE plpgsql STABLE AS"
    " $$ DECLARE t text; BEGIN SELECT d.title INTO t FROM docs d WHERE d.id = k; RETURN coalesce(t, 'none'); END $$",
    "CREATE FUNCTION add_docs(k int, words text) RETURNS int LANGUAGE plpgsql AS"
    " $$ DECLARE m int; BEGIN INSERT INTO docs (id, title) VALUES (k, words); UPDATE docs SET n = k WHERE id = k;"
    " SELECT count(*)::int INTO m FROM docs d WHERE d.id = k; RETURN m; END $$",
    "CREATE FUNCTION add_in_sql(k int, words text) RETURNS void LANGUAGE sql AS"
    " $$ INSERT INTO docs (id, title) VALUES (k, $2); DELETE FROM docs WHERE id = $1 AND title = 'gone' $$",
    "CREATE FUNCTION ambiguous(id int) RETURNS void LANGUAGE plpgsql AS"
    " $$ BEGIN UPDATE docs SET title = 'x' WHERE id = id; END $$",
    "CREATE PROCEDURE fill(first int, words text) LANGUAGE plpgsql AS"
    " $$ BEGIN FOR k IN 1..3 LOOP INSERT INTO docs (id, title) VALUES (first + k, slug(words));"
    " IF k = 2 AND words = 'in parts' THEN COMMIT; END IF; END LOOP; END $$",
)


class Script(Trees):
    """``setup`` are the statements before the slots are created, ``steps`` those after."""

    def __init__(self, seed: int, transactions: int = 60) -> None:
        super().__init__(seed, publications=3)
        self.transactions = 0
        key = self.pick("PRIMARY KEY", "PRIMARY KEY", "")
        self.setup = [Step(text) for text in (*self.statements, *self.identities())]
        self.setup += [Step(text.format(key=key)) for text in _DOCS]
        self.setup += map(Step, _ROUTINES)
        self._accounts = Accounts(self.random)
        self._places = Places(self.random)
        self.setup += map(Step, [*self._accounts.setup(), *self._places.setup()])
        if not key or self.chance(0.3):
            self.setup.append(Step("ALTER TABLE docs REPLICA IDENTITY FULL"))
        columns = self.pick("", "", " (id, title, body)")
        condition = self.pick("", "", " WHERE (id > 20)", " WHERE (id % 2 = 0)")
        self.setup.append(Step(f"CREATE PUBLICATION docs FOR TABLE docs{columns}{condition}"))
        self.steps: list[Step] = []
        self.transaction_of: list[int] = []
        """The number of each step's transaction."""
        self._id = 0
        while self.transactions < transactions:
            self._transaction()

    def publication_sets(self) -> list[str]:
        """Some sets of publications to ask for."""
        names = sorted(set(self.names))
        return [
            ",".join([*self.random.sample(names, min(len(names), 2)), "docs", "accounts", "places"]),
            self.random.choice(names),
        ]

    def _run(self, *texts: str, session: str = "a") -> None:
        self.steps += [Step(text, session) for text in texts]
        self.transaction_of += [self.transactions] * len(texts)

    def _transaction(self) -> None:
        self.transactions += 1
        kind = self.random.random()
        if kind < 0.25:
            self._run(self._statement())
            return
        if kind < 0.32:
            self._large()
            return
        self._run("BEGIN")
        for _ in range(self.random.randint(1, 4)):
            self._part()
        end = self.random.random()
        if end < 0.1:
            self._run("ROLLBACK")
        elif end < 0.2:
            gid = f"g{self.transactions}"
            self._run(f"PREPARE TRANSACTION '{gid}'")
            self._run(f"{self.pick('COMMIT', 'COMMIT', 'ROLLBACK')} PREPARED '{gid}'")
        else:
            self._run("COMMIT")

    def _part(self) -> None:
        kind = self.random.random()
        if kind < 0.25:
            self._run("SAVEPOINT s", self._statement(), self._statement())
            self._run(self.pick("RELEASE s", "ROLLBACK TO s"))
        elif kind < 0.3:
            self._run(f"SELECT pg_logical_emit_message({self.pick('true', 'false')}, 'p', 'm{self.transactions}')")
        elif kind < 0.38:
            self._run(self._insert_doc(1) if self.chance(0.6) else self._accounts.other_session(), session="b")
        else:
            self._run(self._statement())

    def _large(self) -> None:
        """A transaction of more than the least logical_decoding_work_mem."""
        self._run("BEGIN", self._insert_doc(self.random.randint(200, 500), "repeat('x', 100)"))
        if self.chance(0.4):
            self._run("SAVEPOINT s", self._insert_doc(self.random.randint(1, 300), "repeat('y', 90)"))
            self._run(self.pick("RELEASE s", "ROLLBACK TO s"))
        elif self.chance(0.4):
            self._run(self.pick("UPDATE docs SET n = n + 1", "DELETE FROM docs"))
        self._run("COMMIT", "TRUNCATE docs")  # rows in pages that were pruned may come in another order

    def _write(self) -> str:
        """As for trees, without changes of whole tables: their pages would be pruned, and rows change their order."""
        text = super()._write()
        if text.startswith(("UPDATE", "DELETE")) and "WHERE" not in text:
            node = next(node for node in self.nodes.values() if node.name in text.split())
            text += f" WHERE a = {self.random.randint(node.low, node.high - 1)}"
        return text

    def _statement(self) -> str:
        if self.chance(0.12):
            return self._call()
        if self.chance(0.35):
            return self._accounts.statement()
        if self.chance(0.35):
            return self._places.statement()
        return self._doc() if self.chance(0.4) else self._write()

    def _call(self) -> str:
        """A call of a function or procedure."""
        key, self._id = self._id + 1, self._id + 5
        older = self.random.randint(1, key)
        words = self.pick("'gone'", "'A b'", "'in parts'", "slug('C d')")
        return self.pick(
            f"SELECT add_docs({key}, {words})",
            f"SELECT add_in_sql({key}, {words})",
            f"SELECT ambiguous({older})",
            f"CALL fill({key}, {words})",
            f"INSERT INTO docs (id, title, n) VALUES ({key}, slug('A b'), twice({older}))",
            f"INSERT INTO docs (id, title, n) VALUES ({key}, titled({older}), known({older}))",
            f"UPDATE docs SET n = twice(id), title = slug(title) WHERE id = {older}",
            f"UPDATE docs SET n = known(id) WHERE id = {older}",
            f"DO $$ DECLARE m int; BEGIN m := add_docs({key}, 'x'); PERFORM add_in_sql({key + 1}, slug('y') || m);"
            f" CALL fill({key + 1}, 'z'); END $$",
        )

    def _insert_doc(self, count: int, title: str = "") -> str:
        first, self._id = self._id + 1, self._id + count
        if count > 1:
            rows = f"SELECT k, k / 8.0, DATE '2024-01-01' + k % 300, 'large ' || {title} FROM generate_series"
            return f"INSERT INTO docs (id, n, day, title) {rows}({first}, {self._id}) k"
        body = self.pick("NULL", "'short'", "repeat('b', 3000)", "repeat('long', 1500)")
        data = self.pick("NULL", """'{"a": [1, null], "b": "x"}'""", "'[]'")
        tags = self.pick("NULL", "'{}'", "'{a,NULL,\"b c\"}'")
        return (
            f"INSERT INTO docs VALUES ({first}, {first}.25, '2024-02-{1 + first % 28:02}', 'title {first}',"
            f" {body}, {tags}, {data})"
        )

    def _doc(self) -> str:
        key = self.random.randint(1, max(1, self._id))
        if self.chance(0.5):
            return self._insert_doc(1)
        where = f"WHERE id = {key}"
        if self.chance(0.2):
            return f"DELETE FROM docs {where}"
        change = self.pick(
            "title = title || '!'",
            "n = n * 2",
            "body = body || 'more'",
            "day = day + 1",
            "tags = ARRAY['x', 'y z']",
            "id = id + 100000",
            "body = NULL",
        )
        return f"UPDATE docs SET {change} {where}"
