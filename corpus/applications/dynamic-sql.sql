CREATE TABLE log_a (id serial PRIMARY KEY, note text);
CREATE TABLE log_b (id serial PRIMARY KEY, note text);
CREATE FUNCTION add_log(which text, note text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE new_id int;
BEGIN
  EXECUTE format('INSERT INTO %I (note) VALUES ($1) RETURNING id', 'log_' || which) INTO new_id USING note;
  RETURN new_id;
END $$;
CREATE PUBLICATION p FOR ALL TABLES;
-- script
SELECT add_log('a', 'one');
SELECT add_log('b', 'two');
SELECT add_log('b', add_log('a', 'three')::text);
SELECT add_log('c', 'nowhere');
DO $$ BEGIN EXECUTE 'UPDATE log_a SET note = upper(note) WHERE id = $1' USING 1; EXECUTE 'DELETE FROM ' || quote_ident('log_b'); END $$;
