CREATE TABLE target (id int PRIMARY KEY, v text);
CREATE UNLOGGED TABLE cache (k text PRIMARY KEY, v text);
CREATE PUBLICATION p FOR ALL TABLES;
-- script
BEGIN;
CREATE TEMP TABLE incoming (id int, v text) ON COMMIT DROP;
INSERT INTO incoming VALUES (1, 'a'), (2, 'b');
INSERT INTO target SELECT * FROM incoming ON CONFLICT (id) DO UPDATE SET v = excluded.v;
COMMIT;
INSERT INTO cache VALUES ('x', 'y') ON CONFLICT (k) DO UPDATE SET v = excluded.v;
CREATE TEMP TABLE changes AS SELECT id, v || '!' AS v FROM target;
UPDATE target t SET v = c.v FROM changes c WHERE c.id = t.id;
DROP TABLE changes;
ALTER TABLE cache SET LOGGED;
INSERT INTO cache VALUES ('z', 'z');
