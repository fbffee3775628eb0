"""Storage parameters, tablespaces and access methods: what is refused is not made."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

SCRIPTS = {
    "tables, indexes and views, once each": r"""
        CREATE TABLE a1 (id int) WITH (nosuch=1); -- 22023
        CREATE TABLE a2 (id int) WITH (fillfactor=5); -- 22023
        CREATE TABLE a3 (id int) WITH (fillfactor=abc); -- 22023
        CREATE TABLE a4 (id int) WITH (autovacuum_enabled=false, fillfactor=90);
        CREATE TABLE a5 (id int) WITH (toast.autovacuum_enabled=false);
        CREATE TABLE a6 (id int) WITH (toast.fillfactor=80); -- 22023
        CREATE TABLE a7 (id int) WITH (nosuch.x=1); -- 22023
        CREATE TABLE a8 (id int) WITH (oids=false);
        CREATE TABLE a9 (id int) WITH (oids=true); -- 0A000
        CREATE TABLE a10 (id int) WITH (oids); -- 0A000
        CREATE TABLE a11 (id int) WITH (fillfactor=50, fillfactor=60); -- 22023
        CREATE TABLE a12 (id int) WITH (user_catalog_table=true);
        CREATE TABLE a13 (id int) WITH (user_catalog_table=maybe); -- 22023
        CREATE TABLE a14 (id int) WITH (parallel_workers=2);
        CREATE TABLE a15 (id int) WITH (parallel_workers=-1); -- 22023
        CREATE TABLE a16 (id int) WITH (vacuum_index_cleanup=auto);
        CREATE TABLE a17 (id int) WITH (vacuum_index_cleanup=sometimes); -- 22023
        CREATE TABLE a18 (id int) WITH (autovacuum_vacuum_scale_factor=0.05);
        CREATE TABLE a19 (id int) WITH (autovacuum_vacuum_scale_factor=200); -- 22023
        CREATE TABLE a20 (id int) WITH (autovacuum_vacuum_max_threshold=100); -- 15: 22023, 16: 22023, 17: 22023
        CREATE TABLE a21 (id int) WITH (vacuum_max_eager_freeze_failure_rate=0.1); -- 15: 22023, 16: 22023, 17: 22023
        CREATE TABLE a22 (id int) WITH (vacuum_truncate=false);
        CREATE TABLE a23 (id int) WITH (toast_tuple_target=128);
        CREATE TABLE a24 (id int) WITH (toast_tuple_target=1); -- 22023
        CREATE TABLE a25 (id int) WITH (log_autovacuum_min_duration=0);
        CREATE TABLE a26 (id int) WITH (autovacuum_freeze_max_age=1000); -- 22023
        CREATE TABLE a27 (id int) WITH ("FillFactor"=50); -- 22023
        CREATE TABLE a28 (id int) WITH (FILLFACTOR=50);
        CREATE TABLE a29 (id int) WITH (fillfactor); -- 22023
        CREATE TABLE a30 (id int) WITH (fillfactor='70');
        CREATE TABLE a31 (id int) WITH (fillfactor=70.5);
        CREATE TABLE a32 (id int) WITH (security_barrier); -- 22023
        CREATE TABLE b2 (id int) PARTITION BY LIST (id) WITH (nosuch=50); -- 15: 22023, 16: 42809, 17: 42809, 18: 42809
        CREATE TABLE c2 (id int) TABLESPACE pg_global; -- 22023
        CREATE TABLE c3 (id int) TABLESPACE pg_default;
        CREATE TABLE d1 (id int) USING nosuch; -- 42704
        CREATE TABLE d2 (id int) USING heap;
        CREATE TABLE d3 (id int) USING btree; -- 55000
        CREATE TABLE d4 (id int) PARTITION BY LIST (id) USING heap; -- 15: 0A000, 16: 0A000
        CREATE TABLE d5 (id int) PARTITION BY LIST (id) USING nosuch; -- 15: 0A000, 16: 0A000, 17: 42704, 18: 42704
        CREATE VIEW v1 WITH (security_barrier) AS SELECT 1 AS a;
        CREATE VIEW v2 WITH (security_invoker=true) AS SELECT 1 AS a;
        CREATE VIEW v3 WITH (nosuch=true) AS SELECT 1 AS a; -- 22023
        CREATE VIEW v5 WITH (check_option=local) AS SELECT * FROM a14;
        CREATE VIEW v6 WITH (check_option=nosuch) AS SELECT * FROM a14; -- 22023
        CREATE MATERIALIZED VIEW m1 WITH (fillfactor=50) AS SELECT 1 AS a;
        CREATE MATERIALIZED VIEW m2 WITH (nosuch=50) AS SELECT 1 AS a; -- 22023
        CREATE MATERIALIZED VIEW m3 USING nosuch AS SELECT 1 AS a; -- 42704
        CREATE TABLE e1 WITH (nosuch=50) AS SELECT 1 AS a; -- 22023
        CREATE TABLE e2 USING nosuch AS SELECT 1 AS a; -- 42704
        CREATE INDEX i1 ON a14 (id) WITH (fillfactor=50);
        CREATE INDEX i2 ON a14 (id) WITH (nosuch=50); -- 22023
        CREATE UNIQUE INDEX i3 ON a14 (id) WITH (fillfactor=5); -- 22023
        CREATE INDEX i4 ON a14 USING nosuch (id); -- 42704
        CREATE INDEX i6 ON a14 USING hash (id) WITH (deduplicate_items=off); -- 22023
        CREATE INDEX i7 ON a14 (id) WITH (deduplicate_items=off);
        CREATE INDEX i8 ON a14 USING brin (id) WITH (pages_per_range=32, autosummarize=on);
        CREATE INDEX i9 ON a14 USING brin (id) WITH (fillfactor=32); -- 22023
        CREATE INDEX i10 ON a14 USING btree (id) WITH (fastupdate=off); -- 22023
        CREATE TABLE f1 (id int PRIMARY KEY WITH (fillfactor=50));
        CREATE TABLE f2 (id int PRIMARY KEY WITH (nosuch=50)); -- 22023
        ALTER TABLE a14 SET (nosuch=1); -- 22023
        ALTER TABLE a14 SET (fillfactor=5); -- 22023
        ALTER TABLE a14 RESET (nosuch);
        ALTER TABLE a14 RESET (fillfactor);
        ALTER TABLE a14 SET ACCESS METHOD nosuch; -- 42704
        ALTER TABLE a14 SET ACCESS METHOD heap;
        ALTER TABLE a14 SET ACCESS METHOD btree; -- 55000
        ALTER TABLE a14 SET (fillfactor=70), ADD COLUMN zz int;
        ALTER TABLE a14 ADD COLUMN yy int, SET (nosuch=1); -- 22023
        ALTER TABLE a14 ALTER id SET (n_distinct=5);
        ALTER TABLE a14 ALTER id SET (nosuch=5); -- 22023
        ALTER TABLE a14 ALTER id SET (n_distinct=-5); -- 22023
        ALTER INDEX i1 SET (nosuch=1); -- 22023
        CREATE INDEX j1 ON a14 (id int4_ops);
        CREATE TEMP TABLE t1 (id int) WITH (nosuch=1); -- 22023
        CREATE TABLE IF NOT EXISTS a14 (id int) WITH (nosuch=1);
        CREATE FOREIGN TABLE ff (id int) SERVER nosuch OPTIONS (x 'y'); -- 42704
    """,
    "values, namespaces and ALTER": r"""
        CREATE TABLE s1 (id int) WITH (fillfactor=' 70 ');
        CREATE TABLE s2 (id int) WITH (fillfactor='0x32');
        CREATE TABLE s3 (id int) WITH (fillfactor='7e1');
        CREATE TABLE s4 (id int) WITH (fillfactor='70kB'); -- 22023
        CREATE TABLE s5 (id int) WITH (fillfactor=''); -- 22023
        CREATE TABLE s6 (id int) WITH (autovacuum_enabled=''); -- 22023
        CREATE TABLE s7 (id int) WITH (autovacuum_enabled=ON);
        CREATE TABLE s8 (id int) WITH (autovacuum_enabled=0);
        CREATE TABLE s9 (id int) WITH (autovacuum_enabled=2); -- 22023
        CREATE TABLE s10 (id int) WITH (autovacuum_enabled='t');
        CREATE TABLE s11 (id int) WITH (autovacuum_enabled='of');
        CREATE TABLE s12 (id int) WITH (autovacuum_enabled='o'); -- 22023
        CREATE TABLE s13 (id int) WITH (vacuum_index_cleanup=ON);
        CREATE TABLE s14 (id int) WITH (vacuum_index_cleanup='AUTO');
        CREATE TABLE s15 (id int) WITH (vacuum_index_cleanup='au'); -- 22023
        CREATE TABLE s16 (id int) WITH (vacuum_index_cleanup);
        CREATE TABLE s17 (id int) WITH (autovacuum_vacuum_scale_factor='abc'); -- 22023
        CREATE TABLE s18 (id int) WITH (autovacuum_vacuum_scale_factor='1e-2');
        CREATE TABLE s19 (id int) WITH (autovacuum_vacuum_scale_factor=-0.1); -- 22023
        CREATE TABLE s20 (id int) WITH (autovacuum_vacuum_cost_delay='10ms'); -- 22023
        CREATE TABLE s21 (id int) WITH (log_autovacuum_min_duration='1s'); -- 22023
        CREATE TABLE s22 (id int) WITH (toast.autovacuum_analyze_threshold=5); -- 22023
        CREATE TABLE s23 (id int) WITH (toast.autovacuum_enabled=maybe); -- 22023
        CREATE TABLE s24 (id int) WITH (fillfactor=70, toast.autovacuum_enabled=true, autovacuum_enabled=false);
        CREATE TABLE s27 (id int) WITH (oids='off', fillfactor=90);
        CREATE TABLE s28 (id int) WITHOUT OIDS;
        CREATE TABLE s29 (id int) WITH (fillfactor=+70);
        CREATE TABLE s30 (id int) WITH (fillfactor=70.4);
        CREATE TABLE s31 (id int) WITH (fillfactor=100.4);
        CREATE TABLE s32 (id int) WITH (fillfactor=100.6); -- 22023
        CREATE TABLE s33 (id int) WITH (fillfactor=99999999999); -- 22023
        CREATE TABLE s34 (id int) WITH (autovacuum_vacuum_insert_threshold=-1, autovacuum_vacuum_insert_scale_factor=0);
        CREATE TABLE s35 (id int) WITH (autovacuum_vacuum_insert_threshold=-2); -- 22023
        CREATE TABLE s36 (id int) WITH (toast_tuple_target=8160);
        CREATE TABLE s37 (id int) WITH (toast_tuple_target=8161); -- 22023
        CREATE TABLE s38 (id int) WITH (parallel_workers=1025); -- 22023
        CREATE TABLE s39 (id int) WITH (security_barrier=true); -- 22023
        CREATE VIEW w1 WITH (security_barrier=maybe) AS SELECT 1 a; -- 22023
        CREATE VIEW w2 WITH (security_barrier=off, security_invoker) AS SELECT 1 a;
        CREATE VIEW w3 WITH (fillfactor=50) AS SELECT 1 a; -- 22023
        CREATE VIEW w4 WITH (check_option) AS SELECT * FROM s1; -- 22023
        CREATE VIEW w5 WITH (check_option='LOCAL') AS SELECT * FROM s1;
        ALTER VIEW w2 SET (security_barrier=maybe); -- 22023
        ALTER VIEW w2 SET (nosuch); -- 22023
        ALTER VIEW w2 RESET (nosuch);
        CREATE INDEX i1 ON s1 (id) WITH (vacuum_cleanup_index_scale_factor=1);
        CREATE INDEX i2 ON s1 USING gist (point(id,id)) WITH (buffering=auto);
        CREATE INDEX i3 ON s1 USING gist (point(id,id)) WITH (buffering=maybe); -- 22023
        CREATE INDEX i4 ON s1 USING gin ((ARRAY[id])) WITH (fastupdate=off, gin_pending_list_limit=64);
        CREATE INDEX i5 ON s1 USING gin ((ARRAY[id])) WITH (gin_pending_list_limit=1); -- 22023
        CREATE INDEX i6 ON s1 USING spgist (point(id,id)) WITH (fillfactor=9); -- 22023
        CREATE INDEX i7 ON s1 USING hash (id) WITH (fillfactor=9); -- 22023
        CREATE INDEX i8 ON s1 USING brin (id) WITH (pages_per_range=0); -- 22023
        CREATE INDEX i9 ON s1 (id) WITH (toast.fillfactor=9); -- 22023
        CREATE INDEX i10 ON s1 (id) WITH (fillfactor=50, fillfactor=60); -- 22023
        CREATE TABLE u1 (id int, UNIQUE (id) WITH (fillfactor=5)); -- 22023
        CREATE TABLE u2 (id int, EXCLUDE USING hash (id WITH =) WITH (fillfactor=5)); -- 22023
        CREATE TABLE u3 (id int, EXCLUDE USING hash (id WITH =) WITH (fillfactor=50));
        CREATE TABLE pt (id int) PARTITION BY LIST (id);
        CREATE TABLE pt1 PARTITION OF pt FOR VALUES IN (1) WITH (fillfactor=50);
        CREATE TABLE pt2 PARTITION OF pt FOR VALUES IN (2) WITH (nosuch=50); -- 22023
        ALTER TABLE pt SET (fillfactor=50); -- 15: 22023, 16: 42809, 17: 42809, 18: 42809
        ALTER TABLE pt SET (nosuch=50); -- 15: 22023, 16: 42809, 17: 42809, 18: 42809
        ALTER TABLE pt1 SET (fillfactor=60, parallel_workers=2);
        ALTER TABLE s1 SET (fillfactor=60, fillfactor=61); -- 22023
        ALTER TABLE s1 SET (toast.nosuch=1);
        ALTER TABLE s1 SET (bla.nosuch=1); -- 22023
        ALTER TABLE s1 SET (oids=true); -- 22023
        ALTER INDEX i1 SET (fillfactor=60);
        ALTER INDEX i1 SET (fillfactor=5); -- 22023
        ALTER TABLE i1 SET (fillfactor=60);
        ALTER TABLE w2 SET (security_barrier=true);
        ALTER SEQUENCE nosuch SET (x=1); -- 42P01
        ALTER TABLE s1 ADD PRIMARY KEY (id) WITH (fillfactor=5); -- 22023
        ALTER TABLE s1 ADD PRIMARY KEY (id) WITH (fillfactor=50);
        ALTER TABLE s2 ADD PRIMARY KEY (id) WITH (nosuch); -- 22023
        CREATE TABLE li (LIKE s1 INCLUDING ALL) WITH (fillfactor=50);
        CREATE TABLE li2 (LIKE s1 INCLUDING ALL) WITH (nosuch=50); -- 22023
        CREATE UNLOGGED TABLE un (id int) WITH (autovacuum_enabled=false);
        CREATE MATERIALIZED VIEW mv WITH (autovacuum_enabled=false, nosuch) AS SELECT 1 a; -- 22023
        CREATE MATERIALIZED VIEW mv2 WITH (autovacuum_enabled=false) AS SELECT 1 a;
        ALTER MATERIALIZED VIEW mv2 SET (nosuch=1); -- 22023
        CREATE TABLE IF NOT EXISTS s1 (id int) WITH (nosuch=1);
        CREATE ACCESS METHOD my TYPE TABLE HANDLER heap_tableam_handler;
        CREATE TABLE am1 (id int) USING my;
        CREATE TABLE am2 (id int) USING my WITH (nosuch=1); -- 22023
        SET default_table_access_method = my;
        CREATE TABLE am3 (id int);
        CREATE ACCESS METHOD myi TYPE INDEX HANDLER bthandler;
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...
