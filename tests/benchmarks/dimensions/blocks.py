"""DO blocks, functions and triggers."""

from __future__ import annotations

from tests.benchmarks.dimensions.parts import EMPTY, TABLE, Dimension, each, nested, with_tables

GUARD = "SELECT 1 FROM pg_publication_tables WHERE pubname = 'p' AND schemaname = 'public' AND tablename = 't@'"
BLOCKS = (
    Dimension(
        "DO blocks",
        each("DO $$ BEGIN CREATE TABLE t@ (id int); ALTER PUBLICATION p ADD TABLE t@; END $$;", before=EMPTY),
    ),
    Dimension(
        "DO with ADD TABLE guards",
        with_tables(
            f"DO $$ BEGIN IF NOT EXISTS ({GUARD}) THEN ALTER PUBLICATION p ADD TABLE t@; END IF; END $$;",
            before="CREATE PUBLICATION p;\n",
        ),
    ),
    Dimension(
        "DO with guards of publications",
        with_tables(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'p@') THEN"
            " CREATE PUBLICATION p@ FOR TABLE t@; END IF; END $$;"
        ),
    ),
    Dimension(
        "DO with guards of tables",
        each(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM information_schema.tables WHERE table_schema = 'public'"
            " AND table_name = 't@') THEN CREATE TABLE t@ (id int); END IF; END $$;"
        ),
    ),
    Dimension(
        "DO with guards of columns",
        with_tables(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 't@'::regclass"
            " AND attname = 'more') THEN ALTER TABLE t@ ADD COLUMN more int; END IF; END $$;"
        ),
    ),
    Dimension(
        "DO with handlers",
        with_tables(
            "DO $$ BEGIN ALTER PUBLICATION p ADD TABLE t@; EXCEPTION WHEN duplicate_object THEN NULL; END $$;",
            before="CREATE PUBLICATION p;\n",
        ),
    ),
    Dimension(
        "DO that refuses",
        each("DO $$ BEGIN CREATE TABLE u@ (id int); ALTER PUBLICATION nothing ADD TABLE t; END $$;", before=EMPTY),
    ),
    Dimension(
        "statements of one block",
        each(
            "ALTER PUBLICATION p ADD TABLE t; ALTER PUBLICATION p DROP TABLE t;",
            before=f"{EMPTY}DO $$ BEGIN\n",
            after="END $$;",
        ),
    ),
    Dimension(
        "turns of a loop over a catalog",
        with_tables(
            "",
            before="CREATE PUBLICATION p;\n",
            after="DO $$ DECLARE r record; BEGIN FOR r IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            " ORDER BY 1 LOOP EXECUTE format('ALTER PUBLICATION p ADD TABLE %I', r.tablename); END LOOP; END $$;",
        ),
    ),
    Dimension(
        "turns of a loop over names",
        lambda size: (
            with_tables("", before="CREATE PUBLICATION p;\n")(size)
            + each(
                "'t@'",
                joint=", ",
                before="DO $$ DECLARE n text; BEGIN FOREACH n IN ARRAY ARRAY[",
                after="] LOOP EXECUTE 'ALTER PUBLICATION p ADD TABLE ' || quote_ident(n); END LOOP; END $$;",
            )(size)
        ),
    ),
    Dimension(
        "turns of a loop over numbers",
        lambda size: (
            f"CREATE TABLE t (id int);\nDO $$ DECLARE n int := 0; BEGIN FOR i IN 1..{size} LOOP n := n + i;"
            " END LOOP; END $$;\n"
        ),
    ),
    Dimension(
        "blocks in blocks",
        nested("BEGIN ", "END; ", before=f"{EMPTY}DO $$ ", inside="ALTER PUBLICATION p ADD TABLE t; ", after=" $$;"),
        most=3200,
    ),
    Dimension(
        "branches of a CASE in a block",
        each(
            "WHEN @ THEN NULL;",
            before="CREATE TABLE t (id int);\nDO $$ DECLARE n int := 0; BEGIN CASE n\n",
            after="\nELSE NULL; END CASE; END $$;",
        ),
    ),
    Dimension(
        "functions",
        each("CREATE FUNCTION f@(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n + @; END $$;"),
    ),
    Dimension(
        "functions of SQL",
        each("CREATE FUNCTION f@(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n + @ $$;"),
    ),
    Dimension(
        "functions replaced",
        each("CREATE OR REPLACE FUNCTION f(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n + @ $$;"),
    ),
    Dimension(
        "functions called",
        each(
            "CREATE FUNCTION f@() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ALTER PUBLICATION p ADD TABLE t;"
            " ALTER PUBLICATION p DROP TABLE t; END $$;\nSELECT f@();",
            before=EMPTY,
        ),
    ),
    Dimension(
        "one function called",
        each(
            "SELECT f();",
            before=f"{EMPTY}CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ALTER"
            " PUBLICATION p ADD TABLE t; ALTER PUBLICATION p DROP TABLE t; END $$;\n",
        ),
    ),
    Dimension(
        "functions that publish and are never called",
        each(
            "CREATE FUNCTION f@() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ALTER PUBLICATION p ADD TABLE t; END $$;",
            before=EMPTY,
        ),
    ),
    Dimension(
        "triggers of one table",
        each(
            "CREATE TRIGGER g@ BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f();",
            before=f"{TABLE}CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;\n",
        ),
    ),
)
