CREATE TABLE tags (id serial PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE post_tags (post int, tag int REFERENCES tags, PRIMARY KEY (post, tag));
CREATE FUNCTION tag_id(wanted text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE result int;
BEGIN
  SELECT id INTO result FROM tags WHERE name = wanted;
  IF result IS NULL THEN
    INSERT INTO tags (name) VALUES (wanted) ON CONFLICT (name) DO NOTHING RETURNING id INTO result;
  END IF;
  RETURN result;
END $$;
CREATE PUBLICATION p FOR ALL TABLES;
-- script
WITH ins AS (INSERT INTO tags (name) VALUES ('sql') ON CONFLICT (name) DO NOTHING RETURNING id) SELECT id FROM ins UNION ALL SELECT id FROM tags WHERE name = 'sql' LIMIT 1;
WITH ins AS (INSERT INTO tags (name) VALUES ('sql') ON CONFLICT (name) DO NOTHING RETURNING id) SELECT id FROM ins UNION ALL SELECT id FROM tags WHERE name = 'sql' LIMIT 1;
INSERT INTO post_tags VALUES (1, tag_id('sql'));
INSERT INTO post_tags VALUES (1, tag_id('new'));
INSERT INTO post_tags SELECT 2, tag_id(t) FROM unnest(string_to_array('sql,new,third', ',')) t;
INSERT INTO post_tags SELECT 2, id FROM tags WHERE name = 'sql' ON CONFLICT DO NOTHING;
