"""Random statements as applications write them: upserts, queues, deferred constraints, window functions, blocks."""

from __future__ import annotations

from random import Random

SETUP = (
    "CREATE TABLE accounts (id int PRIMARY KEY, email text, tenant int, deleted boolean NOT NULL DEFAULT false, n int,"
    " CONSTRAINT accounts_n UNIQUE (n) DEFERRABLE {timing})",
    "CREATE UNIQUE INDEX accounts_email ON accounts (tenant, lower(email)) WHERE NOT deleted",
    "CREATE TABLE account_log (k serial, op text, id int, before int, after int, note text)",
    "ALTER TABLE account_log REPLICA IDENTITY FULL",
    "CREATE FUNCTION clean_email() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN NEW.email := replace(NEW.email, ' ', ''); RETURN NEW; END $$",
    "CREATE TRIGGER clean_email BEFORE INSERT OR UPDATE OF email ON accounts FOR EACH ROW"
    " EXECUTE FUNCTION clean_email()",
    "CREATE FUNCTION log_changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CASE TG_OP"
    " WHEN 'INSERT' THEN INSERT INTO account_log (op, id, after) SELECT TG_OP, id, n FROM new_rows ORDER BY id;"
    " WHEN 'DELETE' THEN INSERT INTO account_log (op, id, before) SELECT TG_OP, id, n FROM old_rows ORDER BY id;"
    " ELSE INSERT INTO account_log (op, id, before, after) SELECT TG_OP, o.id, o.n, w.n FROM old_rows o"
    " JOIN new_rows w ON w.id = o.id WHERE w.n IS DISTINCT FROM o.n ORDER BY o.id; END CASE; RETURN NULL; END $$",
    "CREATE TRIGGER log_insert AFTER INSERT ON accounts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT"
    " EXECUTE FUNCTION log_changes()",
    "CREATE TRIGGER log_update AFTER UPDATE ON accounts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows"
    " FOR EACH STATEMENT EXECUTE FUNCTION log_changes()",
    "CREATE TRIGGER log_delete AFTER DELETE ON accounts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT"
    " EXECUTE FUNCTION log_changes()",
    "CREATE FUNCTION log_total() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE total bigint; BEGIN"
    " SELECT count(*) INTO total FROM accounts WHERE tenant = NEW.tenant;"
    " INSERT INTO account_log (op, id, after) VALUES ('total', NEW.tenant, total); RETURN NULL; END $$",
    "CREATE CONSTRAINT TRIGGER log_total AFTER INSERT ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
    " WHEN (NEW.n % 3 = 0) EXECUTE FUNCTION log_total()",
    "CREATE FUNCTION bump(k int, by int DEFAULT 1) RETURNS int LANGUAGE plpgsql AS $$ DECLARE result accounts.n%TYPE;"
    " BEGIN UPDATE accounts SET n = n + by WHERE id = k RETURNING n INTO result;"
    " IF NOT FOUND THEN INSERT INTO account_log (op, id) VALUES ('none', k); END IF; RETURN result; END $$",
    "CREATE FUNCTION note(which text, k int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE result int; BEGIN"
    " EXECUTE format('INSERT INTO %I (op, id) VALUES ($1, $2) RETURNING k', 'account_log') INTO result USING which, k;"
    " RETURN result; END $$",
    "CREATE PUBLICATION accounts FOR TABLE accounts, account_log",
)
MOST = 40


class Accounts:
    """Makes statements about accounts."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def setup(self) -> list[str]:
        timing = self._random.choice(("INITIALLY IMMEDIATE", "INITIALLY DEFERRED"))
        return [text.format(timing=timing) if "{timing}" in text else text for text in SETUP]

    def _key(self) -> int:
        return self._random.randint(1, MOST)

    def _row(self) -> str:
        key = self._key()
        email = self._random.choice((f"'Mail {self._key() % 9}@x.org'", f"'m{key}@x.org'", "NULL"))
        n = self._random.choice((str(key * 10), str(self._key() * 10), "NULL"))
        return f"({key}, {email}, {self._random.randint(1, 3)}, {n})"

    def statement(self) -> str:
        text: str = self._random.choice(
            (self._upsert, self._upsert, self._change, self._change, self._ranked, self._called, self._block)
        )()
        return text

    def other_session(self) -> str:
        """A statement of another session: it takes rows that nobody else has locked."""
        order = self._random.choice(("", " DESC"))
        query = f"SELECT id FROM accounts WHERE deleted ORDER BY id{order} LIMIT 1 FOR UPDATE SKIP LOCKED"
        return self._random.choice(
            (
                f"UPDATE accounts SET tenant = tenant WHERE id = ({query})",
                f"WITH next AS ({query}) INSERT INTO account_log (op, id) SELECT 'taken', id FROM next",
                f"SELECT id FROM accounts WHERE id = {self._key()} FOR SHARE NOWAIT",
            )
        )

    def _upsert(self) -> str:
        target = self._random.choice(
            (
                "(id)",
                "(tenant, lower(email)) WHERE NOT deleted",
                "ON CONSTRAINT accounts_pkey",
                "(lower(email), tenant) WHERE NOT deleted AND n > 10",
                "(tenant, lower(email))",
                "(n)",
            )
        )
        action = self._random.choice(
            (
                "NOTHING",
                "UPDATE SET n = coalesce(a.n, 0) + 1, email = excluded.email",
                "UPDATE SET deleted = NOT a.deleted WHERE a.n IS NOT NULL",
                "UPDATE SET tenant = excluded.tenant",
            )
        )
        rows = ", ".join(self._row() for _ in range(self._random.randint(1, 3)))
        text = f"INSERT INTO accounts AS a (id, email, tenant, n) VALUES {rows} ON CONFLICT {target} DO {action}"
        if self._random.random() < 0.4:
            columns = "id, n, CASE WHEN xmax = 0 THEN 'new' ELSE 'old' END AS note"
            text = f"WITH u AS ({text} RETURNING {columns}) INSERT INTO account_log (op, id, after, note)"
            return text + " SELECT 'upsert', id, n, note FROM u"
        return text

    def _change(self) -> str:
        key, other = self._key(), self._key()
        return self._random.choice(
            (
                f"INSERT INTO accounts (id, email, tenant, n) VALUES {self._row()}",
                f"UPDATE accounts SET n = {other * 10} WHERE id = {key}",
                f"UPDATE accounts SET n = CASE id WHEN {key} THEN {other * 10} ELSE {key * 10} END"
                f" WHERE id IN ({key}, {other})",
                f"UPDATE accounts SET deleted = NOT deleted WHERE id = {key}",
                f"DELETE FROM accounts WHERE id = {key}",
                f"UPDATE accounts SET email = ' mail{other % 9}@X.org' WHERE id = {key}",
                "SET CONSTRAINTS ALL DEFERRED",
                "SET CONSTRAINTS accounts_n IMMEDIATE",
                "SET CONSTRAINTS accounts_n, log_total DEFERRED",
                f"MERGE INTO accounts a USING (VALUES ({key}, {other * 10})) s (id, n) ON a.id = s.id"
                " WHEN MATCHED AND a.deleted THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n"
                " WHEN NOT MATCHED THEN INSERT (id, n, tenant) VALUES (s.id, s.n, 1)",
            )
        )

    def _ranked(self) -> str:
        key = self._key()
        window = self._random.choice(
            (
                "row_number() OVER (PARTITION BY tenant ORDER BY id)",
                "rank() OVER (ORDER BY tenant)",
                "sum(n) OVER (PARTITION BY tenant ORDER BY id)",
                "count(*) OVER (PARTITION BY tenant)",
                "lag(n, 1, -1) OVER w",
                "max(n) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
                "dense_rank() OVER (ORDER BY deleted, tenant DESC)",
                "first_value(id) OVER w",
            )
        )
        query = f"SELECT id, {window} AS place FROM accounts WHERE id < {key} WINDOW w AS (ORDER BY tenant, id DESC)"
        return self._random.choice(
            (
                f"INSERT INTO account_log (op, id, after) SELECT 'rank', id, place FROM ({query}) r ORDER BY id",
                f"UPDATE accounts SET n = NULL WHERE id = (SELECT max(id) FROM ({query}) r WHERE place > 3)",
                f"UPDATE accounts a SET n = NULL FROM ({query}) r WHERE r.id = a.id AND a.id = {key - 1}",
                "INSERT INTO account_log (op, id, after) SELECT DISTINCT ON (tenant) 'first', tenant, id FROM accounts"
                " ORDER BY tenant, id DESC",
            )
        )

    def _called(self) -> str:
        key = self._key()
        return self._random.choice(
            (
                f"SELECT id, bump(id) FROM accounts WHERE id < {key} ORDER BY id DESC LIMIT 3",
                f"INSERT INTO account_log (op, id, after) VALUES ('bump', {key}, bump({key})), ('x', 1, note('y', 2))",
                f"SELECT note('each', k) FROM generate_series({key}, {key + 2}) k",
                "INSERT INTO account_log (op, id, after) SELECT 'call', k, note('in', k)"
                f" FROM unnest(ARRAY[3, {key}]) k",
                f"UPDATE accounts SET tenant = 1 + note('set', id) % 3 WHERE id = {key}",
                f"UPDATE accounts SET n = n + bump(id) WHERE id = {key}",
                f"SELECT nextval('account_log_k_seq'), id FROM accounts ORDER BY id LIMIT {key % 4}",
            )
        )

    def _block(self) -> str:
        key, other = self._key(), self._key()
        body = self._random.choice(
            (
                "FOR r IN SELECT id, n FROM accounts WHERE n > {k} ORDER BY id DESC LIMIT 3 LOOP"
                " CONTINUE WHEN r.id % 5 = 0; UPDATE accounts SET n = r.n + 1 WHERE id = r.id; total := total + 1;"
                " END LOOP; INSERT INTO account_log (op, after) VALUES ('loop', total);",
                "SELECT * INTO r FROM accounts WHERE id = {k}; IF FOUND THEN r.n := {j}; END IF;"
                " INSERT INTO account_log (op, id, after, note) VALUES ('row', r.id, r.n, to_jsonb(r)::text);",
                "SELECT a.id, a.tenant INTO STRICT total, m FROM accounts a WHERE a.id = {k};"
                " PERFORM note('strict', m); EXCEPTION WHEN no_data_found THEN PERFORM note(SQLSTATE, {k});",
                "FOREACH m IN ARRAY ARRAY[{k}, {j}, 3] LOOP BEGIN INSERT INTO accounts (id, n) VALUES (m, m);"
                " EXCEPTION WHEN unique_violation THEN PERFORM note('twice', m); END; END LOOP;",
                "UPDATE accounts SET tenant = 4 - tenant WHERE id IN ({k}, {j}); GET DIAGNOSTICS m = ROW_COUNT;"
                " CASE m WHEN 0 THEN PERFORM note('no', 0); WHEN 1 THEN PERFORM note('one', 1); ELSE"
                " RAISE EXCEPTION 'many: %', m USING ERRCODE = 'P1234'; END CASE;",
                "FOR t IN EXECUTE 'SELECT * FROM accounts WHERE id < $1 ORDER BY n, id LIMIT 2' USING {k} LOOP"
                " DELETE FROM accounts WHERE id = t.id; END LOOP;",
            )
        )
        body = body.replace("{k}", str(key)).replace("{j}", str(other))
        return f"DO $$ DECLARE r record; t accounts%ROWTYPE; total int := 0; m int; BEGIN {body} END $$"
