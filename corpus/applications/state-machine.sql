CREATE TABLE orders (id int PRIMARY KEY, state text NOT NULL DEFAULT 'draft');
CREATE FUNCTION check_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.state, NEW.state) NOT IN (('draft', 'sent'), ('sent', 'paid'), ('sent', 'draft')) THEN
    RAISE EXCEPTION 'invalid change from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', HINT = 'Ask first.';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER check_state BEFORE UPDATE OF state ON orders FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION check_state();
CREATE PUBLICATION p FOR TABLE orders;
-- script
INSERT INTO orders VALUES (1), (2);
UPDATE orders SET state = 'sent' WHERE id = 1;
UPDATE orders SET state = 'paid' WHERE id = 2;
BEGIN;
UPDATE orders SET state = 'paid' WHERE id = 1;
SAVEPOINT s;
UPDATE orders SET state = 'draft' WHERE id = 1;
ROLLBACK TO s;
COMMIT;
