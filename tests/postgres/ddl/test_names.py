"""Names that PostgreSQL makes up, at the limit of 63 bytes and beyond ASCII."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

SCRIPTS = {
    "long names": r"""
        CREATE TABLE a_name_of_a_table_that_is_longer_than_what_a_name_may_have_in_bytes (a int PRIMARY KEY, b int);
        ALTER TABLE a_name_of_a_table_that_is_longer_than_what_a_name_may_have_in_bytes ADD UNIQUE (b);
        CREATE UNIQUE INDEX ON a_name_of_a_table_that_is_longer_than_what_a_name_may_have_in_bytes (a, b);
        ALTER INDEX a_name_of_a_table_that_is_longer_than_what_a_name_may_have_pkey RENAME TO i1;
        ALTER INDEX a_name_of_a_table_that_is_longer_than_what_a_name_may_hav_b_key RENAME TO i2;
        ALTER INDEX a_name_of_a_table_that_is_longer_than_what_a_name_may_h_a_b_idx RENAME TO i3;
        DROP TABLE a_name_of_a_table_that_is_longer_than_what_a_name_may_have_in_b;
        CREATE TABLE "éééééééééééééééééééééééééééééééééééééééé" (a int PRIMARY KEY);
        ALTER INDEX "ééééééééééééééééééééééééééééé_pkey" RENAME TO j1;
        DROP TABLE "ééééééééééééééééééééééééééééééé";
    """,
    "names that are taken": r"""
        CREATE TABLE t (a int PRIMARY KEY);
        ALTER TABLE t RENAME TO u;
        CREATE TABLE t (a int PRIMARY KEY);
        ALTER TABLE t DROP CONSTRAINT t_pkey; -- 42704
        ALTER TABLE t DROP CONSTRAINT t_pkey1;
        CREATE TABLE "T.1" (a int UNIQUE, "B c" int UNIQUE, UNIQUE (a, "B c"));
        ALTER TABLE "T.1" DROP CONSTRAINT "T.1_a_key";
        ALTER TABLE "T.1" DROP CONSTRAINT "T.1_B c_key";
        ALTER TABLE "T.1" DROP CONSTRAINT "T.1_a_B c_key";
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...
