CREATE TABLE employees (id int PRIMARY KEY, name text, salary int, team text NOT NULL DEFAULT 'dev');
CREATE VIEW devs AS SELECT id, name, salary FROM employees WHERE team = 'dev' WITH CHECK OPTION;
CREATE VIEW names AS SELECT id, upper(name) AS name FROM employees;
CREATE FUNCTION set_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE employees SET name = lower(NEW.name) WHERE id = OLD.id; RETURN NEW; END $$;
CREATE TRIGGER set_name INSTEAD OF UPDATE ON names FOR EACH ROW EXECUTE FUNCTION set_name();
CREATE PUBLICATION p FOR TABLE employees;
-- script
INSERT INTO devs (id, name, salary) VALUES (1, 'ann', 10), (2, 'bob', 20);
UPDATE devs SET salary = salary + 1 WHERE name = 'ann';
INSERT INTO employees VALUES (3, 'cid', 5, 'ops');
UPDATE devs SET name = 'x' WHERE id = 3;
DELETE FROM devs WHERE id = 2;
UPDATE names SET name = 'ANNA' WHERE id = 1;
