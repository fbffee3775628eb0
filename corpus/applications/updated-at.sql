CREATE TABLE notes (id int PRIMARY KEY, body text, version int NOT NULL DEFAULT 1, updated_at timestamptz NOT NULL DEFAULT now());
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at = now();
  NEW.version := OLD.version + 1;
  RETURN NEW;
END;
$$;
CREATE TRIGGER notes_touch BEFORE UPDATE ON notes FOR EACH ROW WHEN (OLD.body IS DISTINCT FROM NEW.body) EXECUTE FUNCTION touch();
CREATE PUBLICATION p FOR TABLE notes;
-- script
INSERT INTO notes (id, body) VALUES (1, 'first');
UPDATE notes SET body = 'second' WHERE id = 1;
UPDATE notes SET body = 'second' WHERE id = 1;
INSERT INTO notes (id, body) VALUES (1, 'third') ON CONFLICT (id) DO UPDATE SET body = excluded.body RETURNING version;
INSERT INTO notes (id, body) VALUES (2, 'new') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
