CREATE TABLE stock (item text PRIMARY KEY, n int NOT NULL);
CREATE TABLE reservations (id serial PRIMARY KEY, item text NOT NULL REFERENCES stock, n int NOT NULL);
CREATE FUNCTION reserve(wanted text, amount int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE stock SET n = n - amount WHERE item = wanted AND n >= amount;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO reservations (item, n) VALUES (wanted, amount);
  RETURN true;
END $$;
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO stock VALUES ('chair', 4), ('desk', 1);
-- script
SELECT reserve('chair', 3);
SELECT reserve('chair', 3);
SELECT item, reserve(item, 1) FROM stock ORDER BY item;
SELECT reserve(x.item, x.n) FROM (VALUES ('chair', 0), ('desk', 1)) AS x (item, n);
BEGIN;
SELECT reserve('desk', 0) AS ok;
ROLLBACK;
