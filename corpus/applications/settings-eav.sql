CREATE TABLE settings (owner int, key text, value jsonb, PRIMARY KEY (owner, key));
CREATE FUNCTION set_setting(o int, k text, v jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO settings VALUES (o, k, v) ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value WHERE settings.value IS DISTINCT FROM excluded.value
$$;
CREATE PUBLICATION p FOR TABLE settings;
-- script
SELECT set_setting(1, 'theme', '"dark"');
SELECT set_setting(1, 'theme', '"dark"');
SELECT set_setting(1, 'theme', '"light"');
SELECT set_setting(o, 'lang', to_jsonb('en'::text)) FROM generate_series(1, 3) o;
INSERT INTO settings SELECT 9, key, value FROM jsonb_each('{"a": 1, "b": [2]}');
UPDATE settings SET value = to_jsonb((value #>> '{}')::int + 1) WHERE owner = 9 AND key = 'a';
DELETE FROM settings WHERE value @> '[2]';
