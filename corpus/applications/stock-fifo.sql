CREATE TABLE lots (id serial PRIMARY KEY, sku text NOT NULL, left_over int NOT NULL CHECK (left_over >= 0));
CREATE TABLE picks (id serial PRIMARY KEY, lot int NOT NULL REFERENCES lots, n int NOT NULL);
CREATE PROCEDURE pick(wanted text, amount int) LANGUAGE plpgsql AS $$
DECLARE
  lot lots%ROWTYPE;
  rest int := amount;
  n int;
BEGIN
  FOR lot IN SELECT * FROM lots WHERE sku = wanted AND left_over > 0 ORDER BY id FOR UPDATE LOOP
    n := least(rest, lot.left_over);
    UPDATE lots SET left_over = left_over - n WHERE id = lot.id;
    INSERT INTO picks (lot, n) VALUES (lot.id, n);
    rest := rest - n;
    EXIT WHEN rest = 0;
  END LOOP;
  IF rest > 0 THEN
    RAISE EXCEPTION '% of % missing', rest, wanted;
  END IF;
END $$;
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO lots (sku, left_over) VALUES ('a', 3), ('b', 9), ('a', 4);
-- script
CALL pick('a', 5);
CALL pick('a', 5);
CALL pick('b', 9);
BEGIN;
CALL pick('a', 1);
SAVEPOINT s;
CALL pick('a', 100);
ROLLBACK TO s;
COMMIT;
