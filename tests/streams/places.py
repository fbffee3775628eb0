"""Random statements through views and their triggers, recursive queries, MERGE, cursors, frames of windows, and under
an exclusion constraint."""

from __future__ import annotations

from random import Random

SETUP = (
    "CREATE TABLE places (id int PRIMARY KEY, parent int, name text, size int DEFAULT 1, during int4range,"
    " CONSTRAINT places_during EXCLUDE USING gist (during WITH &&){timing})",
    "CREATE TABLE place_log (k serial, what text, id int, value numeric, note text)",
    "ALTER TABLE place_log REPLICA IDENTITY FULL",
    "CREATE VIEW open_places AS SELECT id AS key, name AS label, size, size * 2 AS twice FROM places WHERE size > 0"
    "{check}",
    "CREATE VIEW trees AS SELECT p.id, p.name, q.name AS parent FROM places p LEFT JOIN places q ON q.id = p.parent",
    "CREATE FUNCTION write_tree() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CASE TG_OP"
    " WHEN 'INSERT' THEN INSERT INTO places (id, name) VALUES (NEW.id, NEW.name) ON CONFLICT (id) DO NOTHING;"
    " WHEN 'UPDATE' THEN IF NEW.name = 'skip' THEN RETURN NULL; END IF;"
    " UPDATE places SET name = NEW.name WHERE id = OLD.id;"
    " ELSE DELETE FROM places WHERE id = OLD.id; RETURN OLD; END CASE; RETURN NEW; END $$",
    "CREATE TRIGGER write_tree INSTEAD OF INSERT OR UPDATE OR DELETE ON trees FOR EACH ROW"
    " EXECUTE FUNCTION write_tree()",
    "CREATE PUBLICATION places FOR TABLE places, place_log",
)
MOST = 30


class Places:
    """Makes statements about places."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def setup(self) -> list[str]:
        timing = self._random.choice(("", "", " DEFERRABLE INITIALLY DEFERRED"))
        check = self._random.choice(("", " WITH CHECK OPTION"))
        return [text.replace("{timing}", timing).replace("{check}", check) for text in SETUP]

    def statement(self) -> str:
        text: str = self._random.choice(
            (self._view, self._view, self._tree, self._recursive, self._merge, self._range, self._cursor, self._window)
        )()
        return text

    def _key(self) -> int:
        return self._random.randint(1, MOST)

    def _view(self) -> str:
        key, size = self._key(), self._random.randint(-1, 9)
        insert = f"INSERT INTO open_places (key, label, size) VALUES ({key}, 'v{size}', {size})"
        return self._random.choice(
            (
                insert,
                f"{insert} ON CONFLICT (key) DO NOTHING",
                f"{insert} ON CONFLICT (key) DO UPDATE SET label = excluded.label || open_places.twice",
                f"{insert} ON CONFLICT (key) DO UPDATE SET size = open_places.size - 2 WHERE open_places.label <> 'v3'",
                f"UPDATE open_places SET size = twice - {size} WHERE key = {key}",
                f"UPDATE open_places SET label = label || '!' WHERE twice > {size} AND key BETWEEN {key} AND {key + 1}",
                f"DELETE FROM open_places WHERE key = {key} AND twice <> {size}",
                f"WITH gone AS (DELETE FROM open_places WHERE key = {key} RETURNING label, twice)"
                " INSERT INTO place_log (what, value, note) SELECT 'gone', twice, label FROM gone",
            )
        )

    def _tree(self) -> str:
        key = self._key()
        return self._random.choice(
            (
                f"INSERT INTO trees (id, name) VALUES ({key}, 'tree {key}')",
                f"INSERT INTO places (id, parent, name) VALUES ({key}, {key // 2}, 'leaf {key}')",
                f"UPDATE trees SET name = left(name, 8) || coalesce(parent, '-') WHERE id = {key}",
                f"UPDATE trees SET name = 'skip' WHERE id = {key}",
                f"DELETE FROM trees WHERE id = {key}",
                f"WITH changed AS (UPDATE trees SET name = upper(name) WHERE id = {key} RETURNING id, name)"
                " INSERT INTO place_log (what, id, note) SELECT 'tree', id, name FROM changed",
            )
        )

    def _recursive(self) -> str:
        key = self._key()
        below = (
            f"WITH RECURSIVE below (id, depth) AS (SELECT id, 0 FROM places WHERE id = {key % 6 + 1} UNION ALL"
            " SELECT p.id, b.depth + 1 FROM places p JOIN below b ON p.parent = b.id WHERE b.depth < 4)"
        )
        numbers = f"WITH RECURSIVE n (k) AS (VALUES ({key}) UNION ALL SELECT k + 7 FROM n WHERE k < {key + 20})"
        return self._random.choice(
            (
                f"{below} INSERT INTO place_log (what, id, value) SELECT 'below', id, depth FROM below ORDER BY 3, 2",
                f"{below} INSERT INTO place_log (what, value) SELECT 'most', max(depth) FROM below",
                f"{below} UPDATE places SET size = (SELECT count(*) FROM below) WHERE id = {key}",
                f"{numbers} INSERT INTO place_log (what, id) SELECT 'number', k FROM n",
                f"{numbers} INSERT INTO places (id, name) SELECT k, 'n' || k FROM n ON CONFLICT DO NOTHING",
            )
        )

    def _merge(self) -> str:
        key, size = self._key(), self._random.randint(1, 8)
        merge = f"MERGE INTO places p USING (VALUES ({key}, 'm', {size})) v (id, name, size) ON p.id = v.id"
        changes = (
            " WHEN MATCHED AND p.size > 5 THEN DELETE"
            " WHEN MATCHED THEN UPDATE SET name = v.name || p.size, size = p.size + v.size"
            " WHEN NOT MATCHED THEN INSERT (id, name, size) VALUES (v.id, v.name, v.size)"
        )
        into = "INSERT INTO place_log (what, id, note) SELECT action, id, name FROM done"
        return self._random.choice(
            (
                merge + changes,
                f"WITH done AS ({merge}{changes} RETURNING merge_action() AS action, p.id, p.name) {into}",
                f"{merge}{changes} RETURNING *",
                f"{merge} WHEN NOT MATCHED BY SOURCE AND p.id = {self._key()} THEN DELETE",
                f"{merge} WHEN NOT MATCHED BY SOURCE AND p.id = {self._key()} THEN UPDATE SET size = 7"
                " RETURNING merge_action(), v.id, p.id",
            )
        )

    def _range(self) -> str:
        key, low = self._key(), self._random.randint(1, 60)
        during = f"int4range({low}, {low + self._random.randint(0, 4)})"
        insert = f"INSERT INTO places (id, name, during) VALUES ({key}, 'range', {during})"
        return self._random.choice(
            (
                insert,
                f"{insert} ON CONFLICT DO NOTHING",
                f"{insert} ON CONFLICT (id) DO UPDATE SET during = excluded.during",
                f"UPDATE places SET during = {during} WHERE id = {key}",
                f"UPDATE places SET during = NULL WHERE during && {during} AND id <> {key}",
            )
        )

    def _cursor(self) -> str:
        key = self._key()
        body = self._random.choice(
            (
                "OPEN c; LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; UPDATE places SET size = r.size + 1 WHERE id = r.id;"
                " total := total + 1; END LOOP; CLOSE c;",
                "FOR q IN d({k}) LOOP INSERT INTO place_log (what, id, note) VALUES ('cursor', q.id, q.name);"
                " total := total + q.id; EXIT WHEN total > 40; END LOOP;",
                "OPEN s SCROLL FOR SELECT id FROM places ORDER BY id; FETCH LAST FROM s INTO total; FETCH PRIOR FROM s"
                " INTO total; MOVE RELATIVE -2 FROM s; FETCH s INTO total; CLOSE s;",
            )
        ).replace("{k}", str(key))
        return (
            "DO $$ DECLARE r record; total int := 0; s refcursor;"
            f" c CURSOR FOR SELECT id, size FROM places WHERE id > {key} ORDER BY size, id LIMIT 3;"
            " d CURSOR (least int) FOR SELECT id, name FROM places WHERE id >= least ORDER BY id DESC;"
            f" BEGIN {body} INSERT INTO place_log (what, value) VALUES ('total', total); END $$"
        )

    def _window(self) -> str:
        window = self._random.choice(
            (
                "count(*) FILTER (WHERE size > 2) OVER (ORDER BY id)",
                "sum(size) OVER (ORDER BY size GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                "sum(id) OVER (ORDER BY size RANGE UNBOUNDED PRECEDING EXCLUDE TIES)",
                "max(id) OVER (w ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW)",
                "ntile(3) OVER w",
            )
        )
        query = f"SELECT 'window', id, {window} FROM places WHERE id < {self._key()} WINDOW w AS (ORDER BY id DESC)"
        return f"INSERT INTO place_log (what, id, value) {query} ORDER BY id"
