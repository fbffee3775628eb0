CREATE TABLE contacts (phone text PRIMARY KEY, name text NOT NULL, seen int NOT NULL DEFAULT 0);
CREATE FUNCTION clean_phone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.phone := regexp_replace(NEW.phone, '[^0-9+]', '', 'g');
  IF NEW.name IS NULL THEN NEW.name := 'unknown'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER clean BEFORE INSERT OR UPDATE ON contacts FOR EACH ROW EXECUTE FUNCTION clean_phone();
CREATE PUBLICATION p FOR TABLE contacts;
-- script
INSERT INTO contacts (phone, name) VALUES ('+1 (555) 123', 'Ann');
INSERT INTO contacts (phone, name) VALUES ('+1555-123', NULL) ON CONFLICT (phone) DO UPDATE SET name = excluded.name, seen = contacts.seen + 1 RETURNING *;
INSERT INTO contacts (phone, name) VALUES ('+1555-123', 'x') ON CONFLICT DO NOTHING;
INSERT INTO contacts (phone) VALUES ('42') ON CONFLICT (phone) DO NOTHING;
