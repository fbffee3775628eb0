"""Tables and other objects of a schema, except publications."""

from __future__ import annotations

from tests.benchmarks.dimensions.parts import EMPTY, RANGE, TABLE, Dimension, each

_COLUMNS = each("c@ int NOT NULL", joint=", ", before="CREATE TABLE t (", after=", PRIMARY KEY (c1));")
_LISTED = each("c@", joint=", ", before="CREATE PUBLICATION p FOR TABLE t (", after=");")


def _columns_listed(size: int) -> str:
    return _COLUMNS(size) + _LISTED(size)


def _refused_columns(size: int) -> str:
    return _COLUMNS(size) + each(
        "c@ > 0", joint=" AND ", before="CREATE PUBLICATION p FOR TABLE t WHERE (", after=");"
    )(size)


TABLES = (
    Dimension("columns", _columns_listed, most=1600),
    Dimension(
        "columns, all in the key",
        lambda size: (
            each("c@ int NOT NULL", joint=", ", before="CREATE TABLE t (", after=");\n")(size)
            + each(
                "c@",
                joint=", ",
                before="ALTER TABLE t REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE t (",
                after=");",
            )(size)
        ),
        most=1600,
    ),
    Dimension("columns that a filter reads", _refused_columns, most=400),
    Dimension("columns added one by one", each("ALTER TABLE t ADD COLUMN c@ int;", before=TABLE), most=1590),
    Dimension(
        "columns added to a published table",
        each("ALTER TABLE t ADD COLUMN c@ int;", before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t;\n"),
        most=1590,
    ),
    Dimension(
        "columns added beside a column list",
        each("ALTER TABLE t ADD COLUMN c@ int;", before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t (id, v);\n"),
        most=1590,
    ),
    Dimension(
        "columns added in one statement",
        each("ADD COLUMN c@ int", joint=", ", before=f"{TABLE}ALTER TABLE t ", after=";"),
        most=1590,
    ),
    Dimension(
        "columns added and dropped",
        each("ALTER TABLE t ADD COLUMN c@ int; ALTER TABLE t DROP COLUMN c@;", before=TABLE),
        most=1590,
    ),
    Dimension(
        "columns renamed", each("ALTER TABLE t RENAME c@- TO c@;", before="CREATE TABLE t (c0 int PRIMARY KEY);\n")
    ),
    Dimension("columns altered", each("ALTER TABLE t ALTER a SET DEFAULT @;", before=TABLE)),
    Dimension("columns by LIKE", each("CREATE TABLE u@ (LIKE t INCLUDING ALL);", before=TABLE)),
    Dimension("explained: columns that a filter reads", _refused_columns, ("explain",), most=400),
    Dimension("explained: columns", _columns_listed, ("explain",), most=1600),
    Dimension(
        "explained: columns without a list",
        lambda size: _COLUMNS(size) + "CREATE PUBLICATION p FOR TABLE t;\n",
        ("explain",),
        most=1600,
    ),
    Dimension(
        "hash partitions",
        each(
            "CREATE TABLE t@ PARTITION OF root FOR VALUES WITH (MODULUS @@, REMAINDER @-);",
            before=f"{RANGE}HASH (id);\n",
        ),
    ),
    Dimension(
        "list partitions", each("CREATE TABLE t@ PARTITION OF root FOR VALUES IN (@);", before=f"{RANGE}LIST (id);\n")
    ),
    Dimension(
        "list partitions of texts",
        each("CREATE TABLE t@ PARTITION OF root FOR VALUES IN ('a@');", before=f"{RANGE}LIST (v);\n"),
    ),
    Dimension(
        "range partitions",
        each("CREATE TABLE t@ PARTITION OF root FOR VALUES FROM (@-) TO (@);", before=f"{RANGE}RANGE (id);\n"),
    ),
    Dimension(
        "range partitions of two columns",
        each(
            "CREATE TABLE t@ PARTITION OF root FOR VALUES FROM (@-, MINVALUE) TO (@, MINVALUE);",
            before=f"{RANGE}RANGE (id, v);\n",
        ),
    ),
    Dimension(
        "partitions beside a default one",
        each(
            "CREATE TABLE t@ PARTITION OF root FOR VALUES IN (@);",
            before=f"{RANGE}LIST (id);\nCREATE TABLE other PARTITION OF root DEFAULT;\n",
        ),
    ),
    Dimension(
        "values of one partition",
        each(
            "@", joint=", ", before=f"{RANGE}LIST (id);\nCREATE TABLE t1 PARTITION OF root FOR VALUES IN (", after=");"
        ),
    ),
    Dimension(
        "partitions detached",
        each(
            "CREATE TABLE t@ PARTITION OF root FOR VALUES IN (@);\nALTER TABLE root DETACH PARTITION t@;",
            before=f"{RANGE}LIST (id);\n",
        ),
    ),
    Dimension(
        "partitions published each",
        each(
            "CREATE TABLE t@ PARTITION OF root FOR VALUES IN (@);\nCREATE PUBLICATION p@ FOR TABLE t@;",
            before=f"{RANGE}LIST (id);\nCREATE PUBLICATION p FOR TABLE root;\n",
        ),
    ),
    Dimension(
        "partitioned tables",
        each("CREATE TABLE t@ (id int) PARTITION BY LIST (id);\nCREATE TABLE u@ PARTITION OF t@ FOR VALUES IN (1);"),
    ),
    Dimension(
        "partitions in partitions",
        each(
            "CREATE TABLE t@ PARTITION OF t@- FOR VALUES IN (@) PARTITION BY LIST (id);",
            before="CREATE TABLE t0 (id int) PARTITION BY LIST (id);\n",
        ),
        most=400,
    ),
    Dimension(
        "CHECK constraints of one table",
        each("CHECK (a > @)", joint=", ", before="CREATE TABLE t (a int, ", after=");"),
    ),
    Dimension("CHECK constraints added", each("ALTER TABLE t ADD CONSTRAINT c@ CHECK (a > @);", before=TABLE)),
    Dimension("CHECK constraints without names", each("ALTER TABLE t ADD CHECK (a > @);", before=TABLE)),
    Dimension(
        "CHECK constraints, explained",
        each(
            "CHECK (a > @)",
            joint=", ",
            before="CREATE TABLE t (id int PRIMARY KEY, a int, ",
            after=");\nCREATE PUBLICATION p FOR TABLE t WHERE (id > 5);",
        ),
        ("explain",),
    ),
    Dimension(
        "CHECK constraints of many tables", each("CREATE TABLE t@ (id int CHECK (id > 0), v text, CHECK (v <> ''));")
    ),
    Dimension("indexes of one table", each("CREATE INDEX i@ ON t (a);", before=TABLE)),
    Dimension("indexes without names", each("CREATE INDEX ON t (a);", before=TABLE)),
    Dimension("unique indexes of one table", each("CREATE UNIQUE INDEX i@ ON t (id) WHERE a > @;", before=TABLE)),
    Dimension(
        "unique indexes of a refused table",
        each("CREATE UNIQUE INDEX i@ ON t (a);", before="CREATE TABLE t (a int);\nCREATE PUBLICATION p FOR TABLE t;\n"),
    ),
    Dimension(
        "foreign keys of one table",
        each(
            "ALTER TABLE u ADD CONSTRAINT f@ FOREIGN KEY (id) REFERENCES t ON DELETE CASCADE;",
            before=f"{TABLE}CREATE TABLE u (id int);\nCREATE PUBLICATION p FOR ALL TABLES;\n",
        ),
    ),
    Dimension(
        "foreign keys in a row",
        each(
            "CREATE TABLE t@ (id int PRIMARY KEY, f int REFERENCES t@- ON DELETE CASCADE);",
            before="CREATE TABLE t0 (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR ALL TABLES;\n",
        ),
    ),
    Dimension(
        "indexes as replica identity",
        each(
            "CREATE UNIQUE INDEX i@ ON t (id);\nALTER TABLE t REPLICA IDENTITY USING INDEX i@;",
            before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t;\n",
        ),
    ),
    Dimension("foreign keys to one table", each("CREATE TABLE u@ (id int REFERENCES t);", before=TABLE)),
    Dimension("inheritance from one table", each("CREATE TABLE u@ () INHERITS (t);", before=TABLE)),
    Dimension(
        "inheritance from one published table",
        each("CREATE TABLE u@ () INHERITS (t);", before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t;\n"),
    ),
    Dimension(
        "inheritance from many tables",
        lambda size: (
            each("CREATE TABLE t@ (id int);")(size)
            + each("t@", joint=", ", before="CREATE TABLE u () INHERITS (", after=");")(size)
        ),
    ),
    Dimension("schemas with tables in them", each("CREATE SCHEMA s@;\nCREATE TABLE s@.t (id int);")),
    Dimension(
        "schemas published one by one",
        each("CREATE SCHEMA s@;\nALTER PUBLICATION p ADD TABLES IN SCHEMA s@;", before="CREATE PUBLICATION p;\n"),
    ),
    Dimension("views", each("CREATE VIEW v@ AS SELECT * FROM t;", before=TABLE)),
    Dimension(
        "views of views",
        each("CREATE VIEW v@ AS SELECT * FROM v@-;", before=f"{TABLE}CREATE VIEW v0 AS SELECT * FROM t;\n"),
    ),
    Dimension("views replaced", each("CREATE OR REPLACE VIEW v AS SELECT id FROM t;", before=TABLE)),
    Dimension("materialised views", each("CREATE MATERIALIZED VIEW v@ AS SELECT * FROM t;", before=TABLE)),
    Dimension("rules of one table", each("CREATE RULE r@ AS ON INSERT TO t DO ALSO NOTHING;", before=TABLE)),
    Dimension("policies of one table", each("CREATE POLICY p@ ON t USING (id > @);", before=TABLE)),
    Dimension("roles and grants", each("CREATE ROLE r@;\nGRANT SELECT ON t TO r@;", before=TABLE)),
    Dimension("roles dropped", lambda size: each("CREATE ROLE r@;")(size) + each("DROP ROLE r@;")(size)),
    Dimension("roles in roles", each("CREATE ROLE r@;\nGRANT r@- TO r@;", before="CREATE ROLE r0;\n")),
    Dimension(
        "grants of many tables",
        lambda size: (
            each("CREATE TABLE t@ (id int);")(size)
            + each("t@", joint=", ", before="CREATE ROLE r;\nGRANT SELECT ON ", after=" TO r;")(size)
        ),
    ),
    Dimension("owners changed", each("CREATE ROLE r@;\nALTER TABLE t OWNER TO r@;", before=TABLE)),
    Dimension(
        "tables renamed",
        each("ALTER TABLE t@- RENAME TO t@;", before="CREATE TABLE t0 (id int);\nCREATE PUBLICATION p FOR TABLE t0;\n"),
    ),
    Dimension(
        "tables moved",
        each(
            "CREATE SCHEMA s@;\nALTER TABLE s@-.t SET SCHEMA s@;",
            before="CREATE SCHEMA s0;\nCREATE TABLE s0.t (id int);\n",
        ),
    ),
    Dimension(
        "tables made and dropped", each("CREATE TABLE t (id int);\nDROP TABLE t;", before="CREATE PUBLICATION p;\n")
    ),
    Dimension(
        "tables made again and published",
        each("DROP TABLE t;\nCREATE TABLE t (id int);\nALTER PUBLICATION p ADD TABLE t;", before=EMPTY),
    ),
    Dimension("tables IF NOT EXISTS", each("CREATE TABLE IF NOT EXISTS t (id int);")),
    Dimension(
        "tables dropped in one statement",
        lambda size: (
            each("CREATE TABLE t@ (id int);")(size) + each("t@", joint=", ", before="DROP TABLE ", after=";")(size)
        ),
    ),
    Dimension(
        "a schema dropped with its tables",
        lambda size: "CREATE SCHEMA s;\n" + each("CREATE TABLE s.t@ (id int);")(size) + "DROP SCHEMA s CASCADE;\n",
    ),
    Dimension(
        "replica identities",
        each(
            "ALTER TABLE t REPLICA IDENTITY FULL;\nALTER TABLE t REPLICA IDENTITY DEFAULT;",
            before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t;\n",
        ),
    ),
    Dimension("sequences", each("CREATE SEQUENCE s@ OWNED BY t.id;", before=TABLE)),
    Dimension("enums", each("CREATE TYPE e@ AS ENUM ('a', 'b');\nCREATE TABLE t@ (e e@);")),
    Dimension("labels of an enum", each("'l@'", joint=", ", before="CREATE TYPE e AS ENUM (", after=");")),
    Dimension("labels added to an enum", each("ALTER TYPE e ADD VALUE 'l@';", before="CREATE TYPE e AS ENUM ();\n")),
    Dimension("domains", each("CREATE DOMAIN d@ AS int CHECK (VALUE > 0);\nCREATE TABLE t@ (d d@);")),
    Dimension("domains of domains", each("CREATE DOMAIN d@ AS d@-;", before="CREATE DOMAIN d0 AS int;\n"), most=320),
    Dimension("composite types", each("CREATE TYPE c@ AS (a int, b text);")),
    Dimension("statistics", each("CREATE STATISTICS s@ ON a, b FROM t;", before=TABLE)),
    Dimension("comments on a table", each("COMMENT ON TABLE t IS 'number @';", before=TABLE)),
)
