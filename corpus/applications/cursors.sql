CREATE TABLE items (id int PRIMARY KEY, kind text, amount int, done boolean DEFAULT false);
CREATE TABLE notes (k serial PRIMARY KEY, note text, n int);
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO items SELECT k, 'k' || k % 3, k * 10 FROM generate_series(1, 9) k;
-- script
DO $$ DECLARE c CURSOR FOR SELECT * FROM items WHERE NOT done ORDER BY id DESC; r items%ROWTYPE; BEGIN
OPEN c; LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; UPDATE items SET done = true WHERE id = r.id AND r.amount > 50;
INSERT INTO notes (note, n) VALUES (r.kind, r.amount); END LOOP; CLOSE c; END $$;
DO $$ DECLARE some CURSOR (least int, word text) FOR SELECT id, kind FROM items WHERE id >= least AND kind <> word ORDER BY id; BEGIN
FOR q IN some(4, 'k1') LOOP INSERT INTO notes (note, n) VALUES (q.kind, q.id); UPDATE items SET kind = 'x' WHERE id > q.id; END LOOP;
FOR q IN some(word := 'x', least := 1) LOOP EXIT WHEN q.id > 3; INSERT INTO notes (note, n) VALUES ('again ' || q.kind, q.id); END LOOP;
INSERT INTO notes (note) VALUES (CASE WHEN FOUND THEN 'looped' ELSE 'not' END); END $$;
DO $$ DECLARE e refcursor; a int; b text; BEGIN
OPEN e SCROLL FOR SELECT id, kind FROM items ORDER BY id; FETCH LAST FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('last', a);
FETCH PRIOR FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('prior', a); FETCH ABSOLUTE 2 FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('second', a);
FETCH RELATIVE 3 FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('fifth', a); MOVE FORWARD 3 FROM e; GET DIAGNOSTICS a = ROW_COUNT; INSERT INTO notes (note, n) VALUES ('moved', a);
MOVE FORWARD ALL FROM e; GET DIAGNOSTICS a = ROW_COUNT; INSERT INTO notes (note, n) VALUES ('rest', a); FETCH e INTO a, b; INSERT INTO notes (note, n) VALUES (CASE WHEN FOUND THEN 'found' ELSE 'end' END, a);
FETCH FIRST FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('first', a); FETCH ABSOLUTE -2 FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('last but one', a);
FETCH RELATIVE 0 FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('same', a); FETCH ABSOLUTE 0 FROM e INTO a, b; INSERT INTO notes (note, n) VALUES ('before', a); MOVE ABSOLUTE 20 FROM e; INSERT INTO notes (note) VALUES (FOUND::text);
CLOSE e; OPEN e FOR EXECUTE 'SELECT count(*) FROM items WHERE id < $1' USING 5; FETCH NEXT FROM e INTO a; INSERT INTO notes (note, n) VALUES ('count', a); CLOSE e; END $$;
DO $$ DECLARE c CURSOR FOR SELECT id FROM items ORDER BY id; a int; BEGIN FETCH c INTO a; EXCEPTION WHEN invalid_cursor_name THEN INSERT INTO notes (note) VALUES ('no cursor'); WHEN null_value_not_allowed THEN INSERT INTO notes (note) VALUES ('null'); END $$;
DO $$ DECLARE c refcursor; a int; BEGIN FETCH c INTO a; END $$;
DO $$ DECLARE c CURSOR FOR SELECT id FROM items ORDER BY id; BEGIN OPEN c; OPEN c; END $$;
DO $$ DECLARE c CURSOR FOR SELECT id FROM items ORDER BY id; a int; BEGIN OPEN c; CLOSE c; FETCH c INTO a; END $$;
DO $$ DECLARE c CURSOR FOR SELECT id FROM items ORDER BY id; a int; BEGIN OPEN c; INSERT INTO items VALUES (0, 'new', 0); FETCH c INTO a; INSERT INTO notes (note, n) VALUES ('sees', a); FETCH ABSOLUTE NULL::int FROM c INTO a; END $$;
CREATE FUNCTION spend(budget int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE c CURSOR (most int) FOR SELECT i.id, i.amount FROM items i WHERE i.amount <= most ORDER BY i.amount, i.id; total int := 0; BEGIN
FOR line IN c(budget) LOOP EXIT WHEN total + line.amount > budget; total := total + line.amount; UPDATE items SET done = NOT done WHERE id = line.id; END LOOP; RETURN total; END $$;
INSERT INTO notes (note, n) VALUES ('spent', spend(65));
SELECT spend(20);
