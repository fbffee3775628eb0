CREATE TABLE categories (id int PRIMARY KEY, name text NOT NULL, parent int REFERENCES categories ON UPDATE CASCADE ON DELETE CASCADE);
CREATE TABLE goods (id int PRIMARY KEY, category int REFERENCES categories ON UPDATE CASCADE ON DELETE SET DEFAULT, category_name text);
CREATE FUNCTION copy_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT name INTO NEW.category_name FROM categories WHERE id = NEW.category;
  RETURN NEW;
END $$;
CREATE TRIGGER copy_name BEFORE INSERT OR UPDATE OF category ON goods FOR EACH ROW EXECUTE FUNCTION copy_name();
CREATE FUNCTION push_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE goods SET category_name = NEW.name WHERE category = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER push_name AFTER UPDATE OF name ON categories FOR EACH ROW WHEN (NEW.name <> OLD.name) EXECUTE FUNCTION push_name();
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO categories VALUES (1, 'all', NULL), (2, 'tools', 1), (3, 'saws', 2);
INSERT INTO goods (id, category) VALUES (1, 2), (2, 3), (3, 3), (4, NULL);
UPDATE categories SET name = 'sharp' WHERE id = 3;
UPDATE categories SET id = 20 WHERE id = 2;
UPDATE goods SET category = 1 WHERE id = 4;
DELETE FROM categories WHERE id = 3;
DELETE FROM categories WHERE id = 1;
