CREATE TABLE invoices (id int PRIMARY KEY, customer text, total int, reminded int NOT NULL DEFAULT 0);
CREATE TABLE mails (id serial PRIMARY KEY, customer text, subject text);
CREATE FUNCTION remind(minimum int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  inv record;
  n int := 0;
BEGIN
  FOR inv IN SELECT id, customer, total FROM invoices WHERE total >= minimum ORDER BY id LOOP
    INSERT INTO mails (customer, subject) VALUES (inv.customer, format('Invoice %s: %s', inv.id, inv.total));
    UPDATE invoices SET reminded = reminded + 1 WHERE id = inv.id;
    n := n + 1;
  END LOOP;
  RETURN n;
END $$;
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO invoices VALUES (1, 'ann', 10), (2, 'bob', 200), (3, 'cid', 300);
-- script
SELECT remind(100);
DO $$
DECLARE r invoices%ROWTYPE; total int;
BEGIN
  SELECT * INTO r FROM invoices WHERE id = 2;
  UPDATE invoices SET total = r.total + 1 WHERE id = r.id RETURNING total INTO total;
  IF NOT FOUND THEN RAISE EXCEPTION 'no invoice'; END IF;
  INSERT INTO mails (customer, subject) VALUES (r.customer, 'now ' || total);
  FOR r IN SELECT * FROM invoices ORDER BY id DESC LOOP
    CONTINUE WHEN r.id = 2;
    DELETE FROM invoices WHERE id = r.id;
  END LOOP;
END $$;
DO $$ DECLARE name text; BEGIN FOREACH name IN ARRAY ARRAY['x', 'y'] LOOP INSERT INTO mails (customer, subject) VALUES (name, 'hi'); END LOOP; END $$;
