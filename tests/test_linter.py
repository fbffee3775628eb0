"""What the engine promises of a unit: certainty, places, history, majors.

Server answers are those of the specification.
"""

from __future__ import annotations

import pytest

from tests.support.linting import answers, covered, lint, run, writes

T = "CREATE TABLE t (id int PRIMARY KEY, a int, b text);\n"
SEEDS = """\
CREATE TABLE t1 (a int, b int, c text, PRIMARY KEY (a, c));
CREATE TABLE t2 (d int, e int, f int, PRIMARY KEY (d));
CREATE TABLE t3 (g int, h int, i int, PRIMARY KEY (g));
"""


@pytest.mark.parametrize(
    "publication",
    [
        "CREATE PUBLICATION p1 FOR TABLE t1 WHERE (a > 5 AND c = 'NSW');",
        "CREATE PUBLICATION p3 FOR TABLE t2 WHERE (d = 10), t3 WHERE (g = 10);",
        "CREATE PUBLICATION p2 FOR TABLE t1, t2 WHERE (e = 99) WITH (publish = 'insert');",
    ],
)
def test_a_filter_inside_the_key_is_fine(publication: str) -> None:
    assert writes(lint(SEEDS + publication)) == []


def test_a_filter_outside_the_key_is_placed_on_its_column() -> None:
    findings = lint(SEEDS + "CREATE PUBLICATION p2 FOR TABLE t1, t2 WHERE (e = 99);")
    assert writes(findings) == [("public.t2", "update", "certain"), ("public.t2", "delete", "certain")]
    assert [covered(finding.span) for finding in findings] == ["e", "e"]
    assert [(covered(span), span.message) for span in findings[0].related] == [("t2", "the key is (d)")]
    assert findings[0].publications == ("p2",)


class TestOpenWorld:
    def test_a_name_made_elsewhere_gives_one_note(self) -> None:
        findings = lint("ALTER PUBLICATION elsewhere ADD TABLE x, y; ALTER PUBLICATION elsewhere ADD TABLE z;")
        assert [
            (finding.severity, finding.certainty, finding.server and finding.server.message) for finding in findings
        ] == [
            ("note", "assumed", 'publication "elsewhere" does not exist'),
            ("note", "assumed", 'relation "z" does not exist'),
        ]
        assert [covered(span) for span in findings[0].related] == ["x", "y"]

    def test_a_table_made_elsewhere_is_not_refused_for_its_columns(self) -> None:
        findings = lint(
            "CREATE PUBLICATION p FOR TABLE auth.users (id, email); ALTER PUBLICATION p DROP TABLE auth.users;"
        )
        assert answers(findings) == [("3F000", 'schema "auth" does not exist', "assumed")]
        assert writes(findings) == []

    def test_the_identity_of_a_table_made_elsewhere_is_unknown(self) -> None:
        publication = "CREATE PUBLICATION p FOR TABLE x WHERE (region = 'EU');"
        assert writes(lint(publication)) == []
        assert writes(lint(publication + "ALTER TABLE x REPLICA IDENTITY DEFAULT;")) == []
        assert writes(lint(publication + "ALTER TABLE x ADD PRIMARY KEY (id);")) == [
            ("public.x", "update", "assumed"),
            ("public.x", "delete", "assumed"),
        ]

    def test_what_the_unit_says_of_a_table_made_elsewhere_counts(self) -> None:
        assert (
            writes(lint("ALTER TABLE x REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE x WHERE (a = 1);")) == []
        )

    def test_a_name_that_the_unit_dropped_is_certainly_gone(self) -> None:
        moved = "CREATE SCHEMA elsewhere; ALTER TABLE t SET SCHEMA elsewhere;"
        for sql in (T + "DROP TABLE t;", T + "ALTER TABLE t RENAME TO u;", T + moved):
            findings = lint(sql + "CREATE PUBLICATION p FOR TABLE t;")
            assert ("42P01", 'relation "t" does not exist', "certain") in answers(findings), sql

    def test_complete_makes_missing_names_certain_and_changes_nothing(self) -> None:
        findings = lint("CREATE PUBLICATION p FOR TABLE x; ALTER PUBLICATION p DROP TABLE x;", complete=True)
        assert answers(findings) == [
            ("42P01", 'relation "x" does not exist', "certain"),
            ("42704", 'publication "p" does not exist', "certain"),
        ]

    def test_what_runs_unseen_makes_missing_names_assumed_even_when_complete(self) -> None:
        findings = lint("DO LANGUAGE plperl 'make_tables()'; CREATE PUBLICATION p FOR TABLE x;", complete=True)
        assert answers(findings) == [("42P01", 'relation "x" does not exist', "assumed")]

    def test_a_table_that_an_extension_may_make_is_not_certainly_missing(self) -> None:
        publication = "CREATE PUBLICATION p FOR TABLE spatial_ref_sys;"
        assert [answer[2] for answer in answers(lint("CREATE EXTENSION postgis;" + publication, complete=True))] == [
            "assumed"
        ]
        assert [answer[2] for answer in answers(lint("CREATE EXTENSION citext;" + publication, complete=True))] == [
            "certain"
        ]

    def test_without_its_name_a_database_may_be_any_that_is_granted_on(self) -> None:
        roles = "CREATE ROLE app; GRANT CREATE ON DATABASE shop TO app; SET ROLE app;"
        assert answers(lint(roles + "CREATE PUBLICATION p;", complete=True)) == []

    def test_another_database_in_a_filter_is_assumed_while_the_own_name_is_not_known(self) -> None:
        findings = lint(T + "CREATE PUBLICATION p FOR TABLE t WHERE (other.public.t.a > 1);", complete=True)
        message = "cross-database references are not implemented: other.public.t.a"
        assert answers(findings) == [("0A000", message, "assumed")]

    def test_an_unseen_block_that_may_set_identities_makes_writes_assumed(self) -> None:
        block = "DO $$ BEGIN EXECUTE 'ALTER TABLE t REPLICA IDENTITY ' || current_setting('my.identity'); END $$;"
        findings = lint(T + "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);" + block)
        assert {certainty for _, _, certainty in writes(findings)} == {"assumed"}

    def test_a_real_table_takes_the_place_of_an_assumed_one(self) -> None:
        findings = lint(
            "COMMENT ON TABLE t IS ''; ALTER TABLE t ADD COLUMN z int;" + T + "CREATE PUBLICATION p FOR TABLE t (z);"
        )
        assert answers(findings) == [("42703", 'column "z" of relation "t" does not exist', "certain")]

    @pytest.mark.parametrize(
        "statement",
        [
            "ALTER TABLE t ALTER a TYPE bigint;",
            "ALTER TABLE t DROP a;",
            "ALTER TABLE t SET UNLOGGED;",
            "ALTER PUBLICATION p ADD TABLE t;",
        ],
    )
    def test_what_rests_on_a_collation_of_this_machine_is_assumed(self, statement: str) -> None:
        publication = "CREATE PUBLICATION p FOR TABLE t WHERE (b COLLATE \"de_DE\" = 'x' AND a > 1);"
        findings = lint(T + publication + statement, complete=True)
        assert len(answers(findings)) == 2
        assert {finding.certainty for finding in findings} == {"assumed"}

    def test_what_an_assumed_refusal_would_have_made_is_not_certainly_missing(self) -> None:
        block, publication = "DO LANGUAGE plpython3u $$ x() $$;", "CREATE PUBLICATION p FOR TABLE t WHERE (later = 1);"
        rest = "CREATE TABLE u (id int PRIMARY KEY); ALTER PUBLICATION p ADD TABLE u; ALTER PUBLICATION p DROP TABLE u;"
        findings = lint(T + block + publication + rest, complete=True)
        assert [(answer[0], answer[2]) for answer in answers(findings)] == [("42703", "assumed"), ("42704", "assumed")]

    def test_what_rests_on_an_extension_is_assumed_and_what_follows_from_it(self) -> None:
        publication = "CREATE EXTENSION postgis; CREATE PUBLICATION p FOR TABLE t WHERE (st_x(a) = 1);"
        findings = lint(T + publication + "ALTER PUBLICATION p ADD TABLE t;", complete=True)
        assert [(answer[0], answer[2]) for answer in answers(findings)] == [("42883", "assumed"), ("42704", "assumed")]

    def test_a_key_on_a_column_whose_type_is_not_visible_is_not_proposed(self) -> None:
        table = "CREATE TABLE t (a elsewhere NOT NULL, b int); CREATE PUBLICATION p FOR TABLE t;"
        assert writes(lint(table)) == [("public.t", "update", "certain"), ("public.t", "delete", "certain")]

    def test_a_real_publication_takes_the_place_of_an_assumed_one(self) -> None:
        publication = "CREATE PUBLICATION p FOR TABLE t WHERE (b COLLATE \"de_DE\" = 'x');"
        assert writes(lint(T + publication + "CREATE PUBLICATION p;", complete=True)) == []


class TestRefusedStatements:
    def test_a_refused_statement_changes_nothing(self) -> None:
        findings = lint(
            T + "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'x'); ALTER PUBLICATION p ADD TABLE t;", complete=True
        )
        assert [answer[0] for answer in answers(findings)] == ["42601", "42704"]

    def test_other_ddl_that_the_server_refuses_is_left_out_in_silence(self) -> None:
        findings = lint(T + "CREATE TABLE t (x int); CREATE PUBLICATION p FOR TABLE t (id, a);")
        assert findings == []

    def test_a_refused_statement_does_not_abort_the_transaction(self) -> None:
        findings = lint(
            T
            + "BEGIN; CREATE PUBLICATION p FOR TABLE t, t (id); CREATE PUBLICATION p FOR TABLE t; COMMIT; "
            + "CREATE PUBLICATION p;"
        )
        assert [answer[1] for answer in answers(findings)] == [
            'conflicting or redundant column lists for table "t"',
            'publication "p" already exists',
        ]

    def test_one_diagnostic_a_refused_statement_with_the_first_error(self) -> None:
        findings = lint(
            T + "CREATE PUBLICATION p FOR TABLE t (nosuch, id, id) WITH (nosuch, publish = 'y');", complete=True
        )
        assert answers(findings) == [("42601", 'unrecognized publication parameter: "nosuch"', "certain")]


class TestTransactions:
    BAD = "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);"

    @pytest.mark.parametrize(
        ("script", "refused"),
        [
            (f"BEGIN; {BAD} ROLLBACK;", False),
            (f"BEGIN; {BAD} COMMIT;", True),
            (f"BEGIN; SAVEPOINT s; {BAD} ROLLBACK TO s; COMMIT;", False),
            (f"BEGIN; SAVEPOINT s; {BAD} RELEASE s; COMMIT;", True),
            (f"BEGIN; SAVEPOINT s; {BAD} RELEASE s; ROLLBACK;", False),
            (f"{BAD} BEGIN; DROP PUBLICATION p; ROLLBACK;", True),
            (f"{BAD} BEGIN; ALTER TABLE t REPLICA IDENTITY FULL; ROLLBACK;", True),
            (f"{BAD} ROLLBACK;", True),
        ],
    )
    def test_what_is_rolled_back_did_not_happen(self, script: str, refused: bool) -> None:
        assert bool(writes(lint(T + script))) is refused


class TestHistory:
    def test_the_statement_after_which_writes_are_refused_is_named(self) -> None:
        findings = lint(T + "CREATE PUBLICATION p FOR TABLE t;\nALTER TABLE t DROP CONSTRAINT t_pkey;")
        assert {(finding.statement and finding.statement.index, covered(finding.span)) for finding in findings} == {
            (2, "t")
        }

    def test_a_refusal_that_was_healed_on_the_way_counts_from_the_last_time(self) -> None:
        findings = lint(
            T + "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);\nALTER TABLE t REPLICA IDENTITY FULL;\n"
            "ALTER TABLE t REPLICA IDENTITY DEFAULT;"
        )
        assert {finding.statement and finding.statement.index for finding in findings} == {3}

    def test_a_healed_table_is_not_reported(self) -> None:
        sql = "CREATE TABLE t (id int); CREATE PUBLICATION p FOR ALL TABLES; ALTER TABLE t ADD PRIMARY KEY (id);"
        assert lint(sql) == []

    def test_a_table_made_under_for_all_tables_is_placed_at_its_name(self) -> None:
        findings = lint("CREATE PUBLICATION p FOR ALL TABLES; CREATE TABLE u (x int);")
        assert [covered(finding.span) for finding in findings] == ["u", "u"]
        assert writes(findings) == [("public.u", "update", "certain"), ("public.u", "delete", "certain")]

    def test_a_column_list_is_the_culprit_as_a_whole(self) -> None:
        findings = lint(T + 'CREATE PUBLICATION p FOR TABLE ONLY public . t /* the ( */ ( a , "b" );')
        assert [covered(finding.span) for finding in findings] == ['a , "b"', 'a , "b"']

    def test_each_publication_at_fault_has_a_finding_in_the_servers_order(self) -> None:
        findings = lint(
            T + "CREATE PUBLICATION z FOR TABLE t WHERE (a > 1); CREATE PUBLICATION y FOR TABLE t;"
            "CREATE PUBLICATION x FOR TABLE t WHERE (b = 'x');"
        )
        assert [
            (finding.publications, finding.operation, finding.after_count)
            for finding in findings
            if finding.phase == "write"
        ] == [
            (("z",), "update", 0),
            (("z",), "delete", 0),
            (("x",), "update", 1),
            (("x",), "delete", 1),
        ]

    def test_a_partitioned_root_gets_none_for_its_leaves(self) -> None:
        findings = lint(
            "CREATE TABLE pt (id int, k int) PARTITION BY LIST (k); CREATE TABLE p1 PARTITION OF pt FOR VALUES IN (1);"
            "CREATE PUBLICATION p FOR TABLE pt;"
        )
        assert writes(findings) == [("public.p1", "update", "certain"), ("public.p1", "delete", "certain")]

    def test_the_order_of_files_is_the_order_of_history(self) -> None:
        findings = lint(T, "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);", "ALTER TABLE t REPLICA IDENTITY NOTHING;")
        assert [(finding.rule, finding.operation, finding.span.source.label) for finding in findings] == [
            *(("PUB301", operation, "2.sql") for operation in ("update", "delete")),
            *(("PUB302", operation, "3.sql") for operation in ("update", "delete")),
        ]
        assert [{span.source.label for span in finding.related} for finding in findings] == [{"1.sql"}] * 2 + [
            {"1.sql", "2.sql"}
        ] * 2


class TestMajors:
    def test_equal_findings_merge_and_different_ones_do_not(self) -> None:
        sql = "CREATE TABLE t (id int, g int GENERATED ALWAYS AS (id * 2) STORED);CREATE PUBLICATION p FOR TABLE t (g);"
        findings = [finding for finding in lint(sql, postgres=(15, 16, 17, 18)) if finding.phase == "ddl"]
        assert [finding.postgres for finding in findings] == [(15, 16, 17)]

    def test_wordings_that_differ_stay_apart(self) -> None:
        findings = lint("CREATE TYPE ct AS (a int); CREATE PUBLICATION p FOR TABLE ct;", postgres=(15, 16, 17, 18))
        assert [(finding.postgres, finding.server and finding.server.message) for finding in findings] == [
            ((15,), '"ct" is a composite type'),
            ((16, 17, 18), 'cannot open relation "ct"'),
        ]

    def test_a_dump_header_chooses_the_major(self) -> None:
        assert run("-- Dumped from database version 16.3\nSELECT 1;", postgres=()).postgres == (16,)
        beta = run("-- Dumped from database version 19beta3\nSELECT 1;", postgres=())
        assert (beta.postgres, beta.diagnostics) == ((19,), ())
        assert run("SELECT 1;", postgres=()).postgres == (18,)

    def test_a_dump_of_another_major_is_judged_as_the_nearest_with_a_note(self) -> None:
        result = run("-- Dumped from database version 13.3\nDROP PUBLICATION IF EXISTS p;", postgres=())
        assert result.postgres == (15,)
        assert [finding.name for finding in result.diagnostics] == ["dump-of-another-major"]
        assert run("-- Dumped from database version 20.1\nSELECT 1;", postgres=()).postgres == (19,)


class TestText:
    def test_postgresql_19_forms_get_the_syntax_error_and_the_remark(self) -> None:
        for form in ("FOR ALL TABLES EXCEPT (TABLE t)", "FOR ALL SEQUENCES", "FOR ALL TABLES, ALL SEQUENCES"):
            (finding,) = lint(T + f"CREATE PUBLICATION p {form};")
            assert finding.server is not None
            assert finding.server.sqlstate == "42601"
            assert "19" in (finding.help or "")

    def test_one_bad_statement_does_not_cost_its_neighbours(self) -> None:
        findings = lint(
            "#JsonB\n"
            + T
            + "foo bar;\nCREATE PUBLICATION p FOR TABLE t WHERE (a > 1);\nINSERT INTO t VALUES ('it''s'', 1);\n"
            + "CREATE PUBLICATION q FOR TABLE t, t (id);"
        )
        assert [finding.name for finding in findings if finding.phase == "ddl"] == [
            "text-skipped",
            "statement-not-parsed",
            "text-skipped",
            "duplicate-table",
        ]
        assert len(writes(findings)) == 2

    def test_a_psql_variable_is_filled_in_and_all_that_rests_on_it_assumed(self) -> None:
        findings = lint(
            T
            + "CREATE PUBLICATION :name FOR TABLE t WHERE (a > 1); ALTER PUBLICATION p ADD TABLE :tab WHERE (x = :'v');"
        )
        assert {finding.certainty for finding in findings} == {"assumed"}
        assert all(finding.severity == "note" for finding in findings if finding.phase == "ddl")

    @pytest.mark.parametrize("operators", [100_000])
    def test_an_expression_too_deep_to_judge_is_never_refused(self, operators: int) -> None:
        deep = f"CREATE PUBLICATION p FOR TABLE t WHERE (a {'+ 1 ' * operators}> 1);"
        findings = lint(
            T + deep + "ALTER PUBLICATION p ADD TABLE t; CREATE PUBLICATION q FOR TABLE t, t (id);", complete=True
        )
        assert [finding.name for finding in findings if finding.refused] == ["duplicate-table"]

    def test_places_count_characters_in_any_script(self) -> None:
        text = "/* ß */ CREATE TABLE é (ü int PRIMARY KEY, ä int); CREATE PUBLICATION p FOR TABLE é WHERE (ä > 1);"
        findings = lint(text)
        assert [covered(finding.span) for finding in findings] == ["ä", "ä"]
        assert [covered(span) for span in findings[0].related] == ["é"]

    def test_a_position_counts_characters_from_the_statements_first_token(self) -> None:
        (finding,) = lint("/* ß */ CREATE PUBLICATION é FOR TABLE t WHERE a > 5;")
        assert finding.server is not None
        assert finding.server.position == len("CREATE PUBLICATION é FOR TABLE t WHERE ") + 1

    def test_a_long_name_is_noticed(self) -> None:
        (finding,) = lint(T + f"CREATE PUBLICATION {'x' * 70} FOR TABLE t;")
        assert finding.notices == (f'identifier "{"x" * 70}" will be truncated to "{"x" * 63}"',)
        assert finding.severity == "note"

    def test_statements_are_counted_with_refused_and_unparsable_ones(self) -> None:
        assert run("SELECT 1;; -- x\nfoo;\n\\echo x\nCOPY t FROM stdin;\n1\n\\.\nDO $$ $$;").statements == 4


class TestWhatIsNotFollowed:
    MISSING = "CREATE PUBLICATION p FOR TABLE t WHERE (later = 1);"
    ADDING = "LANGUAGE plpgsql AS $$ BEGIN EXECUTE current_setting('my.statement'); END $$;"

    @pytest.mark.parametrize(
        ("script", "certainty"),
        [
            (f"CREATE FUNCTION add_it() RETURNS void {ADDING} SELECT add_it();", "assumed"),
            (f"CREATE FUNCTION add_it() RETURNS void {ADDING} SELECT * FROM add_it();", "assumed"),
            (f"CREATE FUNCTION add_it() RETURNS void {ADDING}", "certain"),
            (f"CREATE PROCEDURE add_it() {ADDING} CALL add_it();", "assumed"),
            (
                f"CREATE FUNCTION add_it() RETURNS void {ADDING}"
                "CREATE FUNCTION all_of_it() RETURNS void LANGUAGE sql AS 'SELECT add_it()'; SELECT all_of_it();",
                "assumed",
            ),
            ("CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'; SELECT one();", "certain"),
            ("SELECT pg_catalog.setval('s', 1), now();", "certain"),
        ],
    )
    def test_a_function_that_changes_the_catalog_makes_what_is_missing_assumed(
        self, script: str, certainty: str
    ) -> None:
        assert [answer[2] for answer in answers(lint(T + script + self.MISSING, complete=True))] == [certainty]

    def test_a_function_made_elsewhere_may_change_the_catalog(self) -> None:
        assert [answer[2] for answer in answers(lint(T + "SELECT add_it();" + self.MISSING))] == ["assumed"]

    def test_a_procedure_that_may_set_identities_makes_writes_assumed(self) -> None:
        body = "LANGUAGE plpgsql AS $$ BEGIN EXECUTE current_setting('x') || ' REPLICA IDENTITY FULL'; END $$;"
        script = f"CREATE PUBLICATION p FOR TABLE t WHERE (a > 1); CREATE PROCEDURE mend() {body} CALL mend();"
        assert {certainty for _, _, certainty in writes(lint(T + script))} == {"assumed"}


def test_a_unit_that_speaks_of_no_replication_is_read_and_what_it_holds_is_counted() -> None:
    result = run("CREATE TABLE t (id int);\nALTER TABLE t ADD UNIQUE (id);\nnonsense here;\n")
    assert result.diagnostics == ()
    assert result.statements == 3


@pytest.mark.parametrize(
    "named", ["ALTER TABLE t REPLICA IDENTITY FULL;", "DROP SUBSCRIPTION IF EXISTS s;", "CREATE PUBLICATION p;"]
)
@pytest.mark.parametrize("rule", ["PUB004", "PUB005", "PUB007"])
def test_how_well_a_file_was_read_is_said_where_the_unit_is_about_replication(named: str, rule: str) -> None:
    text = {
        "PUB004": "CREATE TABLE u (id int);\nnonsense here;\n",
        "PUB005": "INSERT INTO n VALUES ('it's fine');\nCREATE TABLE v (id int);\n",
        "PUB007": "-- Dumped from database version 13.3\nSELECT 1;\n",
    }[rule]
    assert rule not in [finding.rule for finding in run(text, postgres=()).diagnostics]
    about = "CREATE TABLE t (id int PRIMARY KEY);\n" + named
    assert rule in [finding.rule for finding in run(text, about, postgres=()).diagnostics]


def test_what_is_created_too_late_leaves_only_assumptions() -> None:
    """Either k is missing and line 1 fails, or it is there and line 2 fails (servers)."""
    findings = lint("CREATE PUBLICATION p FOR TABLE k;\nCREATE TABLE k (id int);")
    assert {finding.certainty for finding in findings} == {"assumed"}
    assert findings[0].message == 'table "k" is created later'


def test_a_schema_created_too_late_leaves_only_assumptions() -> None:
    findings = lint("CREATE PUBLICATION p FOR TABLES IN SCHEMA s; CREATE SCHEMA s; CREATE TABLE s.k (id int);")
    assert {finding.certainty for finding in findings} == {"assumed"}


def test_extensions_put_tables_into_pg_catalog() -> None:
    """Citus has pg_dist_node there (its manual)."""
    text = "ALTER TABLE pg_catalog.pg_dist_node REPLICA IDENTITY FULL;"
    assert [(finding.rule, finding.certainty) for finding in lint(text)] == [("PUB107", "assumed")]
    assert answers(lint(text, complete=True)) == [
        ("42P01", 'relation "pg_catalog.pg_dist_node" does not exist', "certain")
    ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("COMMENT ON PUBLICATION p 'x'", """syntax error at or near "'x'\""""),
        ("ALTER TABLE t REPLICA IDENTITY FUL", 'syntax error at or near "FUL"'),
        ("ALTER TABLE t REPLICA IDENTITY USING t_pk", 'syntax error at or near "t_pk"'),
        ("CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION 'p'", """syntax error at or near "'p'\""""),
        ("ALTER SUBSCRIPTION s ENABLED", 'syntax error at or near "ENABLED"'),
        ("DROP SUBSCRIPTION s, t", 'syntax error at or near ","'),
    ],
)
def test_statements_of_replication_that_the_grammar_refuses(statement: str, message: str) -> None:
    """As PostgreSQL 15 to 18 refuse them."""
    findings = lint(f"{T} CREATE PUBLICATION p FOR TABLE t; {statement};")
    assert ("42601", message, "certain") in answers(findings)


@pytest.mark.parametrize("statement", ["CREATE PUBLICATION p", "ALTER PUBLICATION p ADD TABLE t", "DROP PUBLICATION p"])
def test_a_body_of_standard_sql_holds_no_publications(statement: str) -> None:
    findings = lint(f"CREATE FUNCTION f() RETURNS void LANGUAGE sql BEGIN ATOMIC {statement}; END;")
    message = f"{' '.join(statement.split()[:2])} is not yet supported in unquoted SQL function body"
    assert answers(findings) == [("0A000", message, "certain")]


def test_a_comment_on_a_publication_that_there_is_not() -> None:
    findings = lint("COMMENT ON PUBLICATION p IS 'x';", complete=True)
    assert answers(findings) == [("42704", 'publication "p" does not exist', "certain")]


def test_influxql_has_subscriptions_of_its_own() -> None:
    assert not answers(lint("CREATE TABLE a (b int);\nDROP SUBSCRIPTION s ON db.policy;"))


def test_what_a_statement_did_that_names_something_not_visible_is_only_assumed() -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY, a int); "
    for made in (
        "CREATE PUBLICATION p FOR TABLE elsewhere, t WHERE (a > 1);",
        "CREATE PUBLICATION p FOR TABLES IN SCHEMA elsewhere, TABLE t WHERE (a > 1);",
        "CREATE PUBLICATION p; ALTER PUBLICATION p ADD TABLE elsewhere, t WHERE (a > 1);",
    ):
        assert writes(lint(table + made)) == [("public.t", "update", "assumed"), ("public.t", "delete", "assumed")]
        # The second publication is there if the first one failed for want of what is elsewhere.
        assert not any(
            answer[2] == "certain" for answer in answers(lint(f"{table}{made} CREATE PUBLICATION p FOR TABLE t;"))
        )


def test_of_a_publication_that_was_made_for_certain_only_what_is_added_with_something_not_visible_is_assumed() -> None:
    made = "CREATE TABLE t (id int PRIMARY KEY, a int); CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);"
    refused_writes = writes(lint(f"{made} ALTER PUBLICATION p ADD TABLE elsewhere;"))
    assert refused_writes == [("public.t", "update", "certain"), ("public.t", "delete", "certain")]


def test_what_a_refused_statement_is_split_into_is_assumed() -> None:
    """psql would have sent it as one statement."""
    wrong = "ALTER PUBLICATION p ADD TABLE t (a, a);\n"
    findings = lint(f"{T}CREATE PUBLICATION p;\nALTER PUBLICATION p ADD t\n{wrong}{wrong}")
    assert [finding.certainty for finding in findings if finding.rule == "PUB403"] == ["assumed", "certain"]


def test_that_a_file_is_not_read_is_said_where_something_could_rest_on_it() -> None:
    include = "\\i other.sql\n"
    assert [finding.rule for finding in lint(f"{include}SELECT ctid FROM t;")] == []
    assert [finding.rule for finding in lint(f"{include}DROP PUBLICATION IF EXISTS p;", include)] == ["PUB009"]
