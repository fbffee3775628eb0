CREATE TABLE prices (id int PRIMARY KEY, price int NOT NULL);
CREATE TABLE price_log (n serial PRIMARY KEY, id int, before int, after int, op text);
CREATE FUNCTION log_prices() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO price_log (id, after, op) SELECT id, price, TG_OP FROM new_rows;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO price_log (id, before, op) SELECT id, price, TG_OP FROM old_rows;
  ELSE
    INSERT INTO price_log (id, before, after, op) SELECT o.id, o.price, n.price, TG_OP FROM old_rows o JOIN new_rows n USING (id) WHERE o.price <> n.price ORDER BY o.id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ins AFTER INSERT ON prices REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_prices();
CREATE TRIGGER upd AFTER UPDATE ON prices REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_prices();
CREATE TRIGGER del AFTER DELETE ON prices REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION log_prices();
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO prices VALUES (1, 10), (2, 20), (3, 30);
UPDATE prices SET price = price + 5 WHERE id < 3;
UPDATE prices SET price = price;
INSERT INTO prices VALUES (3, 33), (4, 44) ON CONFLICT (id) DO UPDATE SET price = excluded.price;
DELETE FROM prices WHERE price > 30;
DELETE FROM prices WHERE id = 99;
