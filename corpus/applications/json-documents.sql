CREATE TABLE profiles (id int PRIMARY KEY, data jsonb NOT NULL DEFAULT '{}');
CREATE PUBLICATION p FOR TABLE profiles;
-- script
INSERT INTO profiles VALUES (1, '{"name": "Ann", "tags": ["a"], "address": {"city": "Rome"}}'), (2, '{}');
UPDATE profiles SET data = jsonb_set(data, '{address,city}', '"Paris"') WHERE id = 1;
UPDATE profiles SET data = data || '{"active": true}' WHERE data ? 'name';
UPDATE profiles SET data = data - 'tags' WHERE id = 1;
UPDATE profiles SET data = data #- '{address,city}' WHERE data @> '{"active": true}';
UPDATE profiles SET data['visits'] = '1' WHERE id = 2;
UPDATE profiles SET data = jsonb_set(data, '{visits}', ((data ->> 'visits')::int + 1)::text::jsonb) WHERE id = 2;
UPDATE profiles SET data = jsonb_insert(data, '{list}', '[1, 2]') WHERE id = 2;
UPDATE profiles SET data = jsonb_strip_nulls(jsonb_build_object('a', NULL, 'b', data -> 'visits', 'c', array_length(ARRAY[1,2], 1))) WHERE id = 2;
INSERT INTO profiles (id, data) SELECT (item ->> 'id')::int, item - 'id' FROM jsonb_array_elements('[{"id": 7, "x": 1}, {"id": 8, "y": [true]}]') item;
INSERT INTO profiles SELECT id, to_jsonb(r) FROM jsonb_to_recordset('[{"id": 20, "name": "z"}]') AS r (id int, name text);
