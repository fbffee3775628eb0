"""Publications, transactions, psql's lines, and what is reported of them."""

from __future__ import annotations

from pubcheck.report import FORMATS
from tests.benchmarks.dimensions.parts import EMPTY, RANGE, TABLE, Dimension, each, nested, with_tables

_REFUSED = "CREATE TABLE t (id int PRIMARY KEY, v text);\n"
_UPDATES = f"{_REFUSED}CREATE PUBLICATION p FOR TABLE t WHERE (v = 'x');\n"
PUBLICATIONS = (
    Dimension(
        "publications on one refused table", each("CREATE PUBLICATION p@ FOR TABLE t WHERE (v = '@');", before=_REFUSED)
    ),
    Dimension(
        "publications on one table without key",
        each("CREATE PUBLICATION p@ FOR TABLE t;", before="CREATE TABLE t (id int);\n"),
    ),
    Dimension(
        "refused tables in one publication",
        with_tables("ALTER PUBLICATION p ADD TABLE t@ WHERE (v = 'x');", before="CREATE PUBLICATION p;\n"),
    ),
    Dimension(
        "refused tables of one statement",
        lambda size: (
            with_tables("")(size)
            + each("t@ WHERE (v = 'x')", joint=", ", before="CREATE PUBLICATION p FOR TABLE ", after=";")(size)
        ),
    ),
    Dimension("publications of unknown tables", each("CREATE PUBLICATION p@ FOR TABLE unknown@;")),
    Dimension(
        "publications of unknown tables, filtered", each("CREATE PUBLICATION p@ FOR TABLE unknown@ WHERE (id > 5);")
    ),
    Dimension("publications of one unknown table", each("CREATE PUBLICATION p@ FOR TABLE unknown;")),
    Dimension(
        "publications of tables with similar names",
        lambda size: (
            each("CREATE TABLE profiles@ (id int);")(size) + each("CREATE PUBLICATION p@ FOR TABLE profile@;")(size)
        ),
    ),
    Dimension(
        "column lists and generated columns of one table",
        each(
            "CREATE PUBLICATION p@ FOR TABLE t (v);\nCREATE PUBLICATION q@ FOR TABLE t;",
            before="CREATE TABLE t (id int NOT NULL, v text, g int GENERATED ALWAYS AS (id) STORED NOT NULL);\n"
            "CREATE UNIQUE INDEX i ON t (id, g);\nALTER TABLE t REPLICA IDENTITY USING INDEX i;\n",
        ),
        most=480,
    ),
    Dimension("unknown publications", each("ALTER PUBLICATION p@ ADD TABLE t;", before=TABLE)),
    Dimension("publications of all tables", each("CREATE PUBLICATION p@ FOR ALL TABLES;", before=TABLE)),
    Dimension("column lists", with_tables("CREATE PUBLICATION p@ FOR TABLE t@ (id, v);")),
    Dimension("column lists of one table", each("CREATE PUBLICATION p@ FOR TABLE t (id, a);", before=TABLE)),
    Dimension(
        "ADD and DROP again", each("ALTER PUBLICATION p ADD TABLE t;\nALTER PUBLICATION p DROP TABLE t;", before=EMPTY)
    ),
    Dimension("SET TABLE again", each("ALTER PUBLICATION p SET TABLE t WHERE (id > @);", before=EMPTY)),
    Dimension("SET publish again", each("ALTER PUBLICATION p SET (publish = 'insert');", before=EMPTY)),
    Dimension(
        "publications renamed",
        each("ALTER PUBLICATION p@- RENAME TO p@;", before=f"{TABLE}CREATE PUBLICATION p0 FOR TABLE t;\n"),
    ),
    Dimension("subscriptions", each("CREATE SUBSCRIPTION s@ CONNECTION '' PUBLICATION p;", before=EMPTY)),
    Dimension(
        "publications of one subscription",
        lambda size: (
            each("CREATE PUBLICATION p@ FOR TABLE t;", before=TABLE)(size)
            + each("p@", joint=", ", before="CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION ", after=";")(size)
        ),
    ),
    Dimension("updates of a refused table", each("UPDATE t SET v = '@' WHERE id = @;", before=_UPDATES)),
    Dimension(
        "updates of many refused tables",
        with_tables(
            "UPDATE t@ SET v = 'y';", before="CREATE PUBLICATION p FOR ALL TABLES WITH (publish = 'update');\n"
        ),
    ),
    Dimension("inserts", each("INSERT INTO t VALUES (@, 'x');", before=_UPDATES)),
    Dimension(
        "updates in WITH", each("WITH w AS (UPDATE t SET v = '@' RETURNING id) SELECT * FROM w;", before=_UPDATES)
    ),
    Dimension("prepared updates", each("PREPARE q@ AS UPDATE t SET v = '@';\nEXECUTE q@;", before=_UPDATES)),
    Dimension("rows of a COPY", each("@\tx", before=f"{_UPDATES}COPY t (id, v) FROM stdin;\n", after="\n\\.")),
    Dimension("transactions", each("BEGIN;\nCREATE TABLE t@ (id int);\nCOMMIT;")),
    Dimension("transactions rolled back", with_tables("BEGIN;\nALTER TABLE t@ ADD COLUMN w int;\nROLLBACK;")),
    Dimension("savepoints", each("SAVEPOINT s@;\nCREATE TABLE t@ (id int);", before="BEGIN;\n", after="\nCOMMIT;")),
    Dimension(
        "savepoints rolled back",
        with_tables(
            "SAVEPOINT s;\nALTER TABLE t@ ADD COLUMN w int;\nROLLBACK TO s;", before="BEGIN;\n", after="COMMIT;"
        ),
    ),
    Dimension(
        "search_path set again",
        each(
            "SET search_path = s@, public;\nCREATE TABLE u@ (id int);\nALTER PUBLICATION p ADD TABLE t;\n"
            "ALTER PUBLICATION p DROP TABLE t;".replace("u@", "public.u@"),
            before=EMPTY,
        ),
    ),
    Dimension(
        "a long search_path",
        lambda size: (
            each("CREATE SCHEMA s@;\nCREATE TABLE t@ (id int);")(size)
            + each("s@", joint=", ", before="SET search_path = public, ", after=";\n")(size)
            + each("CREATE PUBLICATION p@ FOR TABLE t@;")(size)
        ),
    ),
    Dimension("roles set again", each("SET ROLE r;\nRESET ROLE;", before=f"CREATE ROLE r;\n{TABLE}")),
    Dimension("comments", each("-- a comment, number @\nSELECT @;", before=TABLE)),
    Dimension(
        "suppressions",
        each("-- pubcheck: ignore=PUB302\nCREATE PUBLICATION p@ FOR TABLE t WHERE (v = '@');", before=_REFUSED),
    ),
    Dimension(
        "suppressions of many tables",
        with_tables("-- pubcheck: ignore=PUB301\nCREATE PUBLICATION p@ FOR TABLE t@ WHERE (v = 'x');"),
    ),
    Dimension("psql: \\set", each("\\set v@ t\nCREATE PUBLICATION p@ FOR TABLE :v@;", before=TABLE)),
    Dimension("psql: \\set of the one before", each("\\set v@ :v@-", before="\\set v0 t\n")),
    Dimension("psql: \\if in a row", each("\\if true\nSELECT @;\n\\else\nSELECT 0;\n\\endif", before=TABLE)),
    Dimension("psql: \\if in \\if", nested("\\if true\n", "\\endif\n", before=TABLE, inside="SELECT 1;\n")),
    Dimension("psql: \\connect", each("\\connect d@\nCREATE TABLE t (id int);")),
    Dimension("psql: \\echo", each("\\echo number @", before=TABLE)),
    Dimension("SELECT statements", each("SELECT @;", before=TABLE)),
    Dimension("dollar quotes", each("SELECT $q@$ text $q@$;", before=TABLE)),
    Dimension("syntax errors", each("CREATE PUBLICATION p@ FOR TABL t;", before=TABLE)),
    Dimension("placeholders of one table", each("CREATE PUBLICATION p@ FOR TABLE {{ t }};", before=TABLE)),
    Dimension("placeholders", each("CREATE PUBLICATION p@ FOR TABLE {{ table@ }};", before=TABLE)),
    Dimension("explained: tables", with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (id > @);"), ("explain",)),
    Dimension(
        "explained: publications of one table",
        each("CREATE PUBLICATION p@ FOR TABLE t WHERE (id > @);", before=TABLE),
        ("explain",),
    ),
    Dimension(
        "explained: publications on one refused table",
        each("CREATE PUBLICATION p@ FOR TABLE t WHERE (v = '@');", before=_REFUSED),
        ("explain",),
    ),
    Dimension(
        "explained: tables of one publication",
        with_tables("", before="CREATE PUBLICATION p FOR ALL TABLES;\n"),
        ("explain",),
    ),
    Dimension(
        "explained: refused tables",
        with_tables("ALTER PUBLICATION p ADD TABLE t@ WHERE (v = 'x');", before="CREATE PUBLICATION p;\n"),
        ("explain",),
    ),
    Dimension("explained: column lists", with_tables("CREATE PUBLICATION p@ FOR TABLE t@ (id);"), ("explain",)),
    Dimension(
        "explained: schemas",
        each("CREATE SCHEMA s@;\nCREATE TABLE s@.t (id int);\nCREATE PUBLICATION p@ FOR TABLES IN SCHEMA s@;"),
        ("explain",),
    ),
    Dimension(
        "explained: inheritance",
        each("CREATE TABLE u@ () INHERITS (t);", before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t;\n"),
        ("explain",),
    ),
    Dimension(
        "explained: views",
        each("CREATE VIEW v@ AS SELECT * FROM t;", before=f"{TABLE}CREATE PUBLICATION p FOR TABLE t;\n"),
        ("explain",),
    ),
    Dimension(
        "explained: ADD and DROP again",
        each("ALTER PUBLICATION p ADD TABLE t;\nALTER PUBLICATION p DROP TABLE t;", before=EMPTY),
        ("explain",),
    ),
    Dimension("explained: unknown tables", each("CREATE PUBLICATION p@ FOR TABLE unknown@;"), ("explain",)),
    Dimension(
        "explained: partitions",
        each(
            "CREATE TABLE t@ PARTITION OF root FOR VALUES IN (@);",
            before=f"{RANGE}LIST (id);\nCREATE PUBLICATION p FOR TABLE root;\n",
        ),
        ("explain",),
    ),
    Dimension(
        "explained: subscriptions",
        each("CREATE PUBLICATION p@ FOR TABLE t;\nCREATE SUBSCRIPTION s@ CONNECTION '' PUBLICATION p@;", before=TABLE),
        ("explain",),
    ),
    *(
        Dimension(
            f"explained as {format_}",
            with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (v = 'x');"),
            ("explain", "--format", format_),
        )
        for format_ in ("json", "html")
    ),
    *(
        Dimension(
            f"findings as {format_}",
            with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (v = 'x');"),
            ("lint", "--format", format_),
        )
        for format_ in FORMATS
    ),
    Dimension(
        "fixes",
        with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (v = 'x');"),
        ("lint", "--diff", "--unsafe-fixes"),
    ),
    Dimension(
        "ignore comments added",
        with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (v = 'x');"),
        ("lint", "--diff", "--add-ignore"),
    ),
    Dimension(
        "findings in two majors",
        with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (v = 'x');"),
        ("lint", "--postgres", "15,18"),
    ),
)
