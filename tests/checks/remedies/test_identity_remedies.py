"""Ways out of refused writes: each that is offered ends its cause, on servers, and says what it costs and leaves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from msgspec import Struct
from pglast.parser import split

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.differential.compare import answer_alone, without_roles
from tests.differential.trees import Trees
from tests.support.servers import MAJORS, Server, Servers, execute


def lint(sql: str, major: int = 18) -> list[Diagnostic]:
    """The refused writes of a script."""
    unit = Unit((Source("script.sql", sql),))
    findings = Linter(Config(postgres=(major,), complete=True, select=("PUB",))).lint(unit).diagnostics
    return [finding for finding in findings if finding.phase == "write"]


def offered(finding: Diagnostic) -> list[tuple[str, str]]:
    """The SQL of each way out, and its cost."""
    lines = (finding.help or "").split("\n")[1:]
    ways = [re.fullmatch(r"- (.*?\S)  \((.+)\)", line) for line in lines]
    assert None not in ways, lines
    return [(match[1], match[2]) for match in ways if match is not None]


def ways(finding: Diagnostic) -> list[str]:
    """The SQL of each way out, without its cost."""
    return [remedy for remedy, _ in offered(finding)]


class Example(Struct, frozen=True):
    """A script whose last finding has these ways out; ``majors``: of these servers."""

    sql: str
    ways: list[str]
    majors: tuple[int, ...] = MAJORS


FILTER = """
CREATE TABLE t (id int PRIMARY KEY, r text NOT NULL, n numeric);
CREATE PUBLICATION p FOR TABLE t WHERE (r = 'eu');
"""
INSERTS = "ALTER PUBLICATION p SET (publish = 'insert')"
FULL = "ALTER TABLE t REPLICA IDENTITY FULL"

EXAMPLES = {
    "a filter": Example(
        FILTER,
        [
            "CREATE UNIQUE INDEX t_identity ON t (id, r); ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
            FULL,
            INSERTS,
            "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id, r)",
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t",
        ],
    ),
    "an index that is there": Example(
        FILTER + 'CREATE UNIQUE INDEX "Both" ON t (r, id);',
        [
            'ALTER TABLE t REPLICA IDENTITY USING INDEX "Both"',
            FULL,
            INSERTS,
            "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id, r)",
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t",
        ],
    ),
    "a nullable column, other conditions, a key that others point to": Example(
        """
        CREATE TABLE t (id int PRIMARY KEY, r text);
        CREATE TABLE u (t int REFERENCES t);
        CREATE PUBLICATION p FOR TABLE t (id, r) WHERE (id > 5 AND t.r = 'a AND b');
        """,
        [
            "ALTER TABLE t ALTER COLUMN r SET NOT NULL; CREATE UNIQUE INDEX t_identity ON t (id, r); "
            "ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
            INSERTS,
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t (id, r) WHERE (id > 5)",
        ],
    ),
    "a type that no index takes": Example(
        """
        CREATE TABLE t (id int PRIMARY KEY, j json);
        CREATE PUBLICATION p FOR TABLE t WHERE (j IS NOT NULL OR id > 5);
        """,
        [FULL, INSERTS, "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t"],
    ),
    "the identity was set aside": Example(
        "CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t; "
        "ALTER TABLE t REPLICA IDENTITY NOTHING;",
        ["ALTER TABLE t REPLICA IDENTITY DEFAULT", FULL, INSERTS],
    ),
    "no key": Example(
        "CREATE SCHEMA s; CREATE TABLE s.t (id text); CREATE PUBLICATION p FOR TABLES IN SCHEMA s;",
        [
            "ALTER TABLE s.t ADD COLUMN row_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            "ALTER TABLE s.t REPLICA IDENTITY FULL",
            INSERTS,
        ],
    ),
    "the name of one of the server's own": Example(
        "CREATE TABLE public.pg_class (id int PRIMARY KEY, c json); "
        "CREATE PUBLICATION p FOR TABLE public.pg_class WHERE (c IS NULL);",
        [
            "ALTER TABLE public.pg_class REPLICA IDENTITY FULL",
            INSERTS,
            "ALTER PUBLICATION p DROP TABLE public.pg_class; ALTER PUBLICATION p ADD TABLE public.pg_class",
        ],
    ),
    "a deferrable key": Example(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE); CREATE PUBLICATION p FOR ALL TABLES;",
        [
            "CREATE UNIQUE INDEX t_identity ON t (id); ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
            FULL,
            INSERTS,
        ],
    ),
    "a unique index that was not chosen, over a nullable column": Example(
        "CREATE TABLE t (id int UNIQUE); CREATE PUBLICATION p FOR TABLE t WITH (publish = 'update');",
        ["ALTER TABLE t ALTER COLUMN id SET NOT NULL; ALTER TABLE t REPLICA IDENTITY USING INDEX t_id_key", FULL],
    ),
    "a column list": Example(
        'CREATE TABLE t (id int PRIMARY KEY, "R" text); '
        'CREATE PUBLICATION p FOR TABLE t ("R") WHERE (id > 5 OR id < 1);',
        [
            'ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t ("R", id) WHERE (id > 5 OR id < 1)',
            INSERTS,
        ],
    ),
    "a column list under FULL": Example(
        "CREATE TABLE t (id int PRIMARY KEY, r text); ALTER TABLE t REPLICA IDENTITY FULL; "
        "CREATE PUBLICATION p FOR TABLE t (id);",
        [
            "ALTER TABLE t REPLICA IDENTITY DEFAULT",
            INSERTS,
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t",
        ],
    ),
    "a stored column in the key": Example(
        "CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a) STORED PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;",
        ["ALTER PUBLICATION p SET (publish_generated_columns = stored)", INSERTS],
        majors=(18,),
    ),
    "a virtual column under FULL": Example(
        "CREATE TABLE t (a int NOT NULL UNIQUE, g int GENERATED ALWAYS AS (a)); ALTER TABLE t REPLICA IDENTITY FULL; "
        "CREATE PUBLICATION p FOR TABLE t;",
        ["ALTER TABLE t REPLICA IDENTITY USING INDEX t_a_key", INSERTS],
        majors=(18,),
    ),
    "a virtual column in the filter": Example(
        "CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL, g int GENERATED ALWAYS AS (a + b)); "
        "CREATE PUBLICATION p FOR TABLE t WHERE (g > 1 AND a > 1);",
        [
            "CREATE UNIQUE INDEX t_identity ON t (a, b); ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
            INSERTS,
            "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (a, b)",
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t WHERE (a > 1)",
        ],
        majors=(18,),
    ),
    "a partition, filtered at its root": Example(
        """
        CREATE TABLE r (id int, day int, v text, PRIMARY KEY (id, day)) PARTITION BY LIST (day);
        CREATE TABLE t PARTITION OF r FOR VALUES IN (1);
        CREATE PUBLICATION p FOR TABLE r WHERE (v > 'a') WITH (publish_via_partition_root);
        """,
        [
            "ALTER TABLE t ALTER COLUMN v SET NOT NULL; CREATE UNIQUE INDEX t_identity ON t (id, day, v); "
            "ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
            FULL,
            INSERTS,
            "ALTER TABLE r DROP CONSTRAINT r_pkey, ADD PRIMARY KEY (id, day, v)",
            "ALTER PUBLICATION p DROP TABLE r; ALTER PUBLICATION p ADD TABLE r",
        ],
    ),
    "publications that ask for different things": Example(
        """
        CREATE TABLE t (id int PRIMARY KEY, r text NOT NULL);
        CREATE PUBLICATION p FOR TABLE t WHERE (r = 'eu');
        CREATE PUBLICATION q FOR TABLE t (id);
        """,
        [INSERTS, "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t"],
    ),
    "two filters": Example(
        """
        CREATE TABLE t (id int PRIMARY KEY, c text NOT NULL, d text NOT NULL);
        CREATE PUBLICATION a FOR TABLE t WHERE (c = 'x');
        CREATE PUBLICATION p FOR TABLE t (id, c, d) WHERE (d = 'y');
        """,
        [
            "CREATE UNIQUE INDEX t_identity ON t (id, c, d); ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
            INSERTS,
            "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id, c, d)",
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t (id, c, d)",
        ],
    ),
    "a filter, and lists that keep its column out of the identity": Example(
        """
        CREATE TABLE t (id int PRIMARY KEY, c text NOT NULL, d text NOT NULL);
        CREATE PUBLICATION a FOR TABLE t WHERE (c = 'x');
        CREATE PUBLICATION b FOR TABLE t (id);
        CREATE PUBLICATION p FOR TABLE t (d) WHERE (id > 1);
        """,
        [
            "ALTER PUBLICATION p DROP TABLE t; ALTER PUBLICATION p ADD TABLE t (d, id) WHERE (id > 1)",
            INSERTS,
        ],
    ),
    "nothing but leaving the publication": Example(
        "CREATE TABLE t (id int, r text); CREATE PUBLICATION p FOR TABLE t (id) WITH (publish = 'update');",
        ["ALTER PUBLICATION p DROP TABLE t"],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_best_way_comes_first(name: str) -> None:
    example = EXAMPLES[name]
    for major in example.majors:
        assert ways(lint(example.sql, major)[-1]) == example.ways


def test_every_way_has_its_cost() -> None:
    finding = lint(FILTER)[0]
    assert (finding.help or "").splitlines()[0] == (
        "put r into the replica identity, or publish without it; the best first:"
    )
    costs = [line[line.index("  (") + 3 : -1] for line in (finding.help or "").splitlines()[1:]]
    assert costs == [
        "one more index; old rows are logged with (id, r)",
        "logs every old row whole; a subscriber without a key searches its table for each change",
        "only inserts are published then, for all its tables",
        "rebuilds the key under a lock; (id) alone is no longer kept unique",
        "in one transaction; all its rows are published then",
    ]


def test_a_filter_is_not_repeated_with_names_that_are_gone() -> None:
    script = "CREATE TABLE t (id int PRIMARY KEY, r int); CREATE PUBLICATION p FOR TABLE t (r) WHERE (id > 5);"
    assert any("WHERE (id > 5)" in remedy for remedy in ways(lint(script)[0]))
    assert not any("WHERE" in remedy for remedy in ways(lint(f"{script} ALTER TABLE t RENAME id TO nr;")[0]))


def test_a_hundred_publications_at_fault_are_not_all_listed() -> None:
    made = "".join(f"CREATE PUBLICATION p{n} FOR ALL TABLES;" for n in range(100))
    finding = lint(f"CREATE TABLE t (id int);{made}")[0]
    assert len(finding.help or "") < 1000


def disproved(server: Server, statements: list[str], told: Counter[str]) -> Iterator[str]:
    """The ways out offered for a script's refused writes after which a server still refuses for the same cause; all are
    counted. What other causes it then gives is what is found of the script with the way at its end."""
    afterwards: dict[str, list[Diagnostic]] = {}
    with without_roles(server), server.database() as name, server.connect(name) as conn:
        for statement in (*statements, *CLOSING):
            answer_alone(conn, statement)
        for finding in lint(";\n".join(statements), server.major):
            schema, table = (finding.object or "").split(".", 1)
            quoted = f'"{schema}"."{table}"'
            column = conn.execute(
                "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
                "AND NOT attisdropped AND attgenerated = '' LIMIT 1",
                (quoted,),
            ).fetchall()[0][0]
            write = {"update": f"UPDATE ONLY {quoted} SET {column} = {column}", "delete": f"DELETE FROM ONLY {quoted}"}
            for remedy, cost in offered(finding):
                told.update(kind for kind, pattern in KINDS.items() if re.search(pattern, remedy))
                execute(conn, "BEGIN")
                answers = [execute(conn, sql) for sql in (*split(remedy), f"EXPLAIN {write[finding.operation or '']}")]
                execute(conn, "ROLLBACK")
                *before, last = answers
                if remedy not in afterwards:
                    afterwards[remedy] = lint(";\n".join((*statements, *CLOSING, remedy)), server.major)
                same = (finding.object, finding.operation)
                left = [
                    diagnostic
                    for diagnostic in afterwards[remedy]
                    if diagnostic.server and (diagnostic.object, diagnostic.operation) == same
                ]
                first = next(
                    (diagnostic.server for diagnostic in left if diagnostic.server and not diagnostic.after_count), None
                )
                expected = (first.sqlstate, first.message, first.detail) if first is not None else (None, None, None)
                gone = (finding.publication, finding.rule) not in {
                    (diagnostic.publication, diagnostic.rule) for diagnostic in left
                }
                agreed = all(answer.ok for answer in before) and (last.sqlstate, last.message, last.detail) == expected
                remaining = re.search(r"(\d+) other causes? remains?$", cost)
                if not (gone and agreed and len(left) == (int(remaining[1]) if remaining else 0)):
                    yield f"{finding.message}\n{remedy}  ({cost})\n{last.sqlstate} {last.message} {last.detail or ''}"


CLOSING = ("COMMIT", "RESET search_path")
PROVED = range(500, 507)
"""Random scripts; a major takes every other one."""
KINDS = {
    "the primary key": r"REPLICA IDENTITY DEFAULT$",
    "an index that is there": r"^ALTER TABLE \S+ REPLICA IDENTITY USING INDEX",
    "an index that is there, once NOT NULL": r"^ALTER TABLE \S+ ALTER.* SET NOT NULL; ALTER TABLE \S+ REPLICA",
    "a new index": r"^CREATE UNIQUE INDEX .* USING INDEX",
    "a new index, once NOT NULL": r"SET NOT NULL; CREATE UNIQUE INDEX",
    "a new key": r"ADD COLUMN",
    "full": r"REPLICA IDENTITY FULL$",
    "only inserts": r"SET \(publish = 'insert'\)",
    "a wider key": r"DROP CONSTRAINT .*, ADD PRIMARY KEY",
    "a list": r"ADD TABLE .* \(",
    "another filter or none": r"^ALTER PUBLICATION .* DROP TABLE .* ADD TABLE",
    "no publication": r"^ALTER PUBLICATION .* DROP TABLE [^;]*$",
}
"""Of each there must be some, for the proof to be worth something."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_each_way_out_ends_the_refusal_on_a_server(major: int, servers: Servers) -> None:
    told: Counter[str] = Counter()
    wrong: list[str] = []
    for seed in PROVED[major % 2 :: 2]:
        wrong += disproved(servers[major], Trees(seed).statements, told)
    for example in EXAMPLES.values():
        if major in example.majors:
            wrong += disproved(servers[major], list(split(example.sql)), told)
    assert not wrong
    assert told.keys() == KINDS.keys()


@pytest.mark.parametrize(
    ("sql", "title"),
    [
        (
            "CREATE TABLE t (id int PRIMARY KEY, r text NOT NULL); CREATE PUBLICATION p FOR TABLE t WHERE (r = 'x');",
            "Append CREATE UNIQUE INDEX t_identity ON t (id, r); ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity",
        ),
        (
            "CREATE TABLE t (r text); CREATE PUBLICATION p FOR TABLE t;",
            "Append ALTER TABLE t REPLICA IDENTITY FULL, because a new column is for you to choose",
        ),
        (
            "CREATE TABLE t (r text NOT NULL UNIQUE); CREATE PUBLICATION p FOR TABLE t;",
            "Append ALTER TABLE t REPLICA IDENTITY USING INDEX t_r_key",
        ),
    ],
)
def test_a_fix_names_all_its_statements_and_why_it_is_not_the_best_remedy(sql: str, title: str) -> None:
    assert [fix.title for fix in lint(sql)[0].fixes] == [title]
