"""Random DO blocks and functions about publications: guards, handlers, loops, EXECUTE; the same for a seed."""

from __future__ import annotations

from random import Random

from tests.support.generating import Choices

TABLES = ("a", "b", "c", '"D d"', "s.a", "gone")
PUBLICATIONS = ("p", "q", '"P q"')
CONDITIONS = (
    "duplicate_object", "undefined_object", "undefined_table", "duplicate_table", "OTHERS", "undefined_column",
    "syntax_error_or_access_rule_violation", "SQLSTATE '42710'", "raise_exception", "datatype_mismatch",
    "invalid_parameter_value", "duplicate_object OR undefined_object",
)  # fmt: skip

MAY_FAIL = (
    "PERFORM 1/0", "PERFORM 1/n", "n := 'x'", "n := 1/n", "n := t::int", "PERFORM 'x'::date", "PERFORM 'a'::regclass",
    "PERFORM missing FROM a", "PERFORM id FROM a", "PERFORM missing()", "ASSERT n < 1", "ASSERT false, 'no'",
    "INSERT INTO b VALUES (1, 2)", "INSERT INTO a VALUES (1, 2)", "INSERT INTO missing VALUES (1)", "SELECT 1 INTO t",
    "SELECT id INTO STRICT n FROM a", "SELECT pubname INTO STRICT t FROM pg_publication WHERE pubname = 'p'",
    "SELECT count(*) INTO STRICT n FROM pg_publication", "EXECUTE t", "EXECUTE NULL", "EXECUTE 'SELECT ' || n",
    "EXECUTE 'SELECT 1/0'", "EXECUTE 'SELECT n'", "RAISE division_by_zero", "r.pubname := 'p'", "t := r.pubname",
    "t := r.missing", "COMMENT ON TABLE a IS 'x'", "COMMENT ON TABLE gone IS 'x'", "TRUNCATE b",
    "GRANT SELECT ON a TO PUBLIC",
    "PERFORM pg_notify('x', t)", "t := upper(t)", "t := format('%s')", "t := format('%I', NULL)", "LOCK TABLE a",
    "CREATE INDEX CONCURRENTLY ON a (x)", "CREATE TABLE f (id int REFERENCES b)",
    "CREATE VIEW v AS SELECT missing FROM a",
    "SET LOCAL work_mem = '4MB'", "SET search_path = public", "PERFORM 1 WHERE n > 1/0", "n := coalesce(NULL, '7')",
    "n := (SELECT 1 WHERE false)", "n := (SELECT x FROM a)", "n := array_length(ARRAY[1, 2], 1)",
    "n := CASE WHEN n > 0 THEN 1/n ELSE 0 END", "t := split_part('a.b', '.', n)", "CALL missing()",
)  # fmt: skip
"""What fails, or may, for what is not about publications."""


HELPERS = (
    "CREATE FUNCTION checked(given int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF given > 1 THEN RAISE EXCEPTION"
    " 'too many: %', given USING HINT = 'fewer'; END IF; RETURN given + 1; END $$",
    "CREATE FUNCTION named(given text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE one name; BEGIN SELECT tablename"
    " INTO one FROM pg_publication_tables WHERE tablename = given; RETURN coalesce(one::text, given); END $$",
    "CREATE FUNCTION is_member(given text, pub text DEFAULT 'p') RETURNS boolean LANGUAGE sql AS $$ SELECT EXISTS"
    " (SELECT 1 FROM pg_publication_tables WHERE pubname = pub AND tablename = given) $$",
    "CREATE FUNCTION tables_of(pub text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT"
    " tablename::text FROM pg_publication_tables WHERE pubname = pub ORDER BY 1; END $$",
    "CREATE FUNCTION unfinished(given int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN IF given > 0 THEN RETURN 'a';"
    " END IF; END $$",
)
"""Functions that change nothing: they give something, or raise."""


class Blocks(Choices):
    """Grows one script: some tables, then DO blocks, functions and calls of them. ``failing`` is the share of small
    statements that fail, or may, for what is not about publications."""

    def __init__(self, seed: int, length: int = 6, failing: float = 0) -> None:
        self.failing = failing
        super().__init__(Random(seed))
        self.depth = 0
        self.loops = 0
        self.functions: list[tuple[str, str]] = []
        self.statements = [
            "CREATE SCHEMA s",
            "CREATE TABLE a (id int PRIMARY KEY, x int, y text)",
            "CREATE TABLE b (id int, x int)",
            "CREATE TABLE s.a (id int PRIMARY KEY)",
            'CREATE TABLE "D d" (id int PRIMARY KEY, "X" text)',
        ]
        if self.chance(0.5):
            self.statements.append("CREATE PUBLICATION p FOR TABLE a")
        self.helped = self.chance(0.4)
        if self.helped:
            self.statements += HELPERS
        for _ in range(length):
            kind = self.random.random()
            if kind < 0.2:
                self.statements.append(self.function())
            elif kind < 0.35 and self.functions:
                self.statements.append(self.call())
            elif kind < 0.42:
                self.statements.append(self.plain())
            else:
                self.statements.append(self.do())

    def table(self) -> str:
        return self.pick(*TABLES)

    def publication(self) -> str:
        return self.pick("p", "p", "p", "q", '"P q"')

    @staticmethod
    def bare(name: str) -> str:
        return name.rsplit(".", 1)[-1].strip('"')

    # SQL.

    def plain(self) -> str:
        publication, table = self.publication(), self.table()
        return self.pick(
            f"CREATE PUBLICATION {publication}",
            f"CREATE PUBLICATION {publication} FOR TABLE {table}",
            f"CREATE PUBLICATION {publication} FOR TABLE {table} WITH (publish = 'insert')",
            f"ALTER PUBLICATION {publication} ADD TABLE {table}",
            f"ALTER PUBLICATION {publication} ADD TABLE {table}",
            f"ALTER PUBLICATION {publication} DROP TABLE {table}",
            f"ALTER PUBLICATION {publication} SET TABLE {table}, b",
            f"ALTER PUBLICATION {publication} ADD TABLE a WHERE (x > 1)",
            f"ALTER PUBLICATION {publication} ADD TABLE a WHERE (nope > 1)",
            f"ALTER PUBLICATION {publication} ADD TABLE a (id, x)",
            f"ALTER PUBLICATION {publication} ADD TABLE a WHERE (y)",
            f"ALTER PUBLICATION {publication} SET (publish_via_partition_root = true)",
            f"ALTER PUBLICATION {publication} ADD TABLES IN SCHEMA s",
            f"DROP PUBLICATION {publication}",
            f"DROP PUBLICATION IF EXISTS {publication}",
            f"CREATE TABLE {self.pick('c', 'e')} (id int PRIMARY KEY)",
            f"CREATE TABLE IF NOT EXISTS {self.pick('a', 'c')} (id int)",
            f"DROP TABLE IF EXISTS {self.pick('c', 'e')}",
            f"ALTER TABLE {self.pick('a', 'b')} REPLICA IDENTITY FULL",
            f"ALTER TABLE {self.pick('a', 'b')} ADD COLUMN z int",
            "ALTER TABLE b ADD PRIMARY KEY (id)",
        )

    # Expressions.

    def guard(self) -> str:
        publication, table = self.bare(self.publication()), self.table()
        name, schema = self.bare(table), "s" if table.startswith("s.") else "public"
        condition = self.pick(
            f"EXISTS (SELECT 1 FROM pg_publication WHERE pubname = '{publication}')",
            f"EXISTS (SELECT FROM pg_catalog.pg_publication p WHERE p.pubname = '{publication}'"
            " AND NOT p.puballtables)",
            f"EXISTS (SELECT 1 FROM pg_publication_tables WHERE pubname = '{publication}'"
            f" AND schemaname = '{schema}' AND tablename = '{name}')",
            f"EXISTS (SELECT 1 FROM pg_publication_tables WHERE pubname = '{publication}' AND tablename = '{name}')",
            "EXISTS (SELECT 1 FROM pg_publication_rel pr JOIN pg_publication p ON p.oid = pr.prpubid"
            f" JOIN pg_class c ON c.oid = pr.prrelid WHERE p.pubname = '{publication}' AND c.relname = '{name}')",
            "EXISTS (SELECT 1 FROM pg_publication_rel pr, pg_class c, pg_namespace n, pg_publication pub"
            f" WHERE pr.prrelid = c.oid AND n.oid = c.relnamespace AND pr.prpubid = pub.oid AND n.nspname = '{schema}'"
            f" AND c.relname = '{name}' AND pub.pubname = '{publication}')",
            f"EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = '{schema}'"
            f" AND table_name = '{name}')",
            f"EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = '{schema}' AND tablename = '{name}')",
            "EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'a'"
            f" AND column_name = '{self.pick('x', 'z', 'y')}')",
            "EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE n.nspname = '{schema}' AND c.relname = '{name}' AND c.relkind = 'r')",
            f"(SELECT count(*) FROM pg_publication WHERE pubname = '{publication}') > 0",
            f"(SELECT count(*) FROM pg_publication_tables WHERE pubname = '{publication}')"
            f" {self.pick('>', '=', '<')} 1",
            f"to_regclass('{schema}.\"{name}\"') IS NOT NULL",
            "EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = 'b'::regclass AND contype = 'p')",
            "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = 'public.a'::regclass AND attname = 'z')",
            f"'{publication}' IN (SELECT pubname FROM pg_publication)",
            f"'{name}' = ANY (ARRAY(SELECT tablename::text FROM pg_publication_tables"
            f" WHERE pubname = '{publication}'))",
            f"(SELECT puballtables FROM pg_publication WHERE pubname = '{publication}')",
            f"EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '{self.pick('s', 'public', 'nos')}')",
            f"n {self.pick('>', '<', '=', '<>')} {self.random.randint(0, 3)}",
            f"t = '{name}'",
            f"t LIKE '%{self.pick('a', 'b')}%'",
            "found",
        )
        return condition if self.chance(0.5) else f"NOT {condition}"

    def condition(self) -> str:
        if self.helped and self.chance(0.3):
            return self.pick("is_member(t)", "NOT is_member('b', 'q')", "checked(n) > 1", "named(t) = 'a'")
        if self.chance(0.25):
            return f"{self.guard()} {self.pick('AND', 'OR')} {self.guard()}"
        return self.guard()

    def executed(self) -> str:
        sql = self.plain()
        quoted = sql.replace("'", "''")
        publication = self.publication()
        return self.pick(
            f"EXECUTE '{quoted}'",
            f"EXECUTE $q${sql}$q$",
            f"EXECUTE '{quoted}; ALTER PUBLICATION p ADD TABLE b'",
            f"EXECUTE format('ALTER PUBLICATION %I ADD TABLE %I', '{self.bare(publication)}', t)",
            f"EXECUTE format('ALTER PUBLICATION %s ADD TABLE %I.%I', '{publication}', 'public', t)",
            f"EXECUTE format('ALTER PUBLICATION %2$s DROP TABLE %1$I', t, '{publication}')",
            "EXECUTE 'ALTER PUBLICATION p ADD TABLE ' || quote_ident(t)",
            f"EXECUTE 'ALTER PUBLICATION ' || quote_ident('{self.bare(publication)}') || ' ADD TABLE ' || t",
            "EXECUTE concat('ALTER PUBLICATION p DROP TABLE ', quote_ident(t))",
            "EXECUTE 'DO $z$ BEGIN ALTER PUBLICATION p ADD TABLE b; END $z$'",
            "EXECUTE 'SELECT 1; nonsense'",
            "EXECUTE 'ALTER PUBLICATION IF EXISTS p ADD TABLE a'",
        )

    # Statements.

    def statements_of(self, number: int | None = None) -> str:
        count = number or self.random.choice((1, 1, 2, 2, 3))
        return "\n".join(self.statement() for _ in range(count))

    def statement(self) -> str:
        self.depth += 1
        try:
            kind = self.random.random() * (1 if self.depth < 4 else 0.45)
            if kind < 0.28:
                return self.plain() + ";"
            if kind < 0.38:
                return self.executed() + ";"
            if kind < 0.46:
                return self.little() + ";"
            if kind < 0.68:
                return self.if_()
            if kind < 0.78:
                return self.handled()
            if kind < 0.93:
                return self.loop()
            if kind < 0.97:
                return self.declared()
            return self.case()
        finally:
            self.depth -= 1

    def little(self) -> str:
        choices = [
            f"t := '{self.pick('a', 'b', 'gone', 'D d')}'",
            "n := n + 1",
            f"n := (SELECT count(*) FROM pg_publication_tables WHERE pubname = '{self.bare(self.publication())}')",
            "SELECT count(*) INTO n FROM pg_publication",
            f"SELECT p.pubname INTO t FROM pg_publication p WHERE p.pubname = '{self.bare(self.publication())}'",
            f"PERFORM 1 FROM pg_publication WHERE pubname = '{self.bare(self.publication())}'",
            "SELECT tablename, schemaname INTO r FROM pg_publication_tables WHERE pubname = 'p' AND tablename = 'a'",
            "RAISE NOTICE 'here %', t",
            "PERFORM pg_sleep(0)",
        ]
        if self.chance(0.12):
            raised = "RAISE EXCEPTION USING ERRCODE = '42710'"
            choices = ["RAISE EXCEPTION 'no %', t", "RAISE duplicate_object", "RETURN", raised]
        if self.chance(self.failing):
            choices = list(MAY_FAIL)
        if self.helped and self.chance(0.4):
            choices = ["n := checked(n)", "t := named(t)", "PERFORM checked(n)", "t := unfinished(n)"]
        if self.loops and self.chance(0.3):
            choices = [f"EXIT WHEN {self.condition()}", "CONTINUE", f"CONTINUE WHEN {self.condition()}", "EXIT"]
        if self.chance(0.05):
            choices = ["COMMIT", "ROLLBACK"]
        return self.pick(*choices)

    def if_(self) -> str:
        text = f"IF {self.condition()} THEN\n{self.statements_of()}\n"
        while self.chance(0.25):
            text += f"ELSIF {self.condition()} THEN\n{self.statements_of()}\n"
        if self.chance(0.4):
            text += f"ELSE\n{self.statements_of()}\n"
        return text + "END IF;"

    def handled(self) -> str:
        text = f"BEGIN\n{self.statements_of()}\nEXCEPTION\n"
        for _ in range(self.random.choice((1, 1, 2))):
            action = self.pick("NULL;", "RAISE NOTICE '%', SQLERRM;", self.statement(), "RAISE;")
            text += f"WHEN {self.pick(*CONDITIONS)} THEN {action}\n"
        return text + "END;"

    def loop(self) -> str:
        self.loops += 1
        try:
            body = self.statements_of()
        finally:
            self.loops -= 1
        sample = self.random.sample(("a", "b", "D d", "gone"), self.random.randint(1, 3))
        names = ", ".join(f"'{name}'" for name in sample)
        head = self.pick(
            f"FOREACH t IN ARRAY ARRAY[{names}] LOOP",
            f"FOREACH t IN ARRAY ARRAY[{names}]::text[] LOOP",
            "FOREACH t IN ARRAY '{a,b,\"D d\"}'::text[] LOOP",
            f"FOR t IN SELECT unnest(ARRAY[{names}]) LOOP",
            f"FOR t IN SELECT x FROM unnest(ARRAY[{names}]) AS x LOOP",
            "FOR t IN SELECT * FROM (VALUES ('a'), ('b')) AS v (name) LOOP",
            "FOR i IN 1..2 LOOP",
            "FOR i IN REVERSE 2..1 LOOP",
            "FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1 LOOP",
            "FOR r IN SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = 'p' ORDER BY 1, 2"
            " LOOP t := r.tablename;",
            "FOR t IN SELECT pubname FROM pg_publication ORDER BY pubname LOOP",
            "FOR t IN EXECUTE 'SELECT pubname FROM pg_publication WHERE pubname = $1' USING 'p' LOOP",
            "WHILE k < 2 LOOP k := k + 1;",
            "LOOP k := k + 1; EXIT WHEN k > 2;",
        )
        if self.helped and self.chance(0.2):
            head = f"FOR t IN SELECT {self.pick('* FROM ', '')}tables_of('p') LOOP"
        return f"{head}\n{body}\nEND LOOP;"

    def declared(self) -> str:
        """A block with variables of its own, which may hide those of others."""
        own = self.pick("t text := 'b';", "n int := 5;", "t text; n int := 1;", "own text := t;")
        used = "EXECUTE 'ALTER PUBLICATION p ADD TABLE ' || quote_ident(own);\n" if "own" in own else ""
        return f"DECLARE\n{own}\nBEGIN\n{used}{self.statements_of()}\nEND;"

    def case(self) -> str:
        return (
            f"CASE {self.pick('t', 'n::text')} WHEN 'a', '1' THEN {self.statement()} "
            f"WHEN 'b' THEN {self.statement()} {self.pick('ELSE NULL;', '')} END CASE;"
        )

    # Bodies.

    def body(self) -> str:
        declared = self.pick("n int := 0; k int := 0;", "n bigint DEFAULT 1; k int := 0;")
        first = self.pick("t text := 'a';", "t text;", "t text := 'b';")
        inside = self.statements_of(self.random.randint(1, 4))
        text = f"DECLARE\n  {first}\n  {declared}\n  r record;\nBEGIN\n{inside}\n"
        if self.chance(0.25):
            text += f"EXCEPTION WHEN {self.pick(*CONDITIONS)} THEN {self.pick('NULL;', self.statement())}\n"
        return text + "END"

    def quoted(self, body: str) -> str:
        return self.pick(f"$do${body}$do$", f"$do${body}$do$", "'" + body.replace("'", "''") + "'")

    def do(self) -> str:
        return "DO " + self.pick("", "", "LANGUAGE plpgsql ") + self.quoted(self.body())

    def function(self) -> str:
        name = f"f{len(self.functions)}"
        procedure = self.chance(0.3)
        kind = "PROCEDURE" if procedure else "FUNCTION"
        returns = "" if procedure else " RETURNS void"
        self.functions.append((name, "CALL" if procedure else "SELECT"))
        if self.chance(0.25):
            body = "; ".join(self.plain() for _ in range(self.random.randint(1, 2)))
            return f"CREATE {kind} {name}(given text DEFAULT 'a'){returns} LANGUAGE sql AS {self.quoted(body)}"
        body = self.body().replace("'gone'", "given", 2)
        return f"CREATE {kind} {name}(given text DEFAULT 'a'){returns} LANGUAGE plpgsql AS {self.quoted(body)}"

    def call(self) -> str:
        name, how = self.random.choice(self.functions)
        arguments = self.pick("", "'a'", "'b'", "given => 'D d'", "NULL")
        if how == "SELECT" and self.chance(0.2):
            return f"SELECT {name}(v) FROM unnest(ARRAY['a', 'b']) AS v"
        if self.chance(0.3):
            verb = "PERFORM" if how == "SELECT" else "CALL"
            return f"DO $do$ BEGIN {verb} {name}({arguments}); END $do$"
        return f"{how} {name}({arguments})"
