CREATE TABLE items (id int PRIMARY KEY, name text, price numeric(8,2), tags text[]);
CREATE TABLE audit (id bigserial PRIMARY KEY, tab text, op text, old_row jsonb, new_row jsonb);
CREATE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO audit (tab, op, new_row) VALUES (TG_TABLE_NAME, TG_OP, to_jsonb(NEW));
    RETURN NEW;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO audit (tab, op, old_row, new_row) VALUES (TG_TABLE_NAME, TG_OP, to_jsonb(OLD), to_jsonb(NEW));
    RETURN NEW;
  END IF;
  INSERT INTO audit (tab, op, old_row) VALUES (TG_TABLE_NAME, TG_OP, row_to_json(OLD)::jsonb);
  RETURN OLD;
END $$;
CREATE TRIGGER audit_items AFTER INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION audit_row();
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO items VALUES (1, 'Tea', 3.5, '{hot,green}'), (2, NULL, NULL, NULL);
UPDATE items SET price = 4 WHERE id = 1;
DELETE FROM items WHERE id = 2;
BEGIN;
UPDATE items SET name = 'Black tea';
ROLLBACK;
