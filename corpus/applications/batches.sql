CREATE TABLE big (id int PRIMARY KEY, state text NOT NULL DEFAULT 'old', payload text);
CREATE PUBLICATION p FOR TABLE big (id, state);
INSERT INTO big (id, payload) SELECT n, repeat('x', n % 50) FROM generate_series(1, 500) n;
-- script
WITH batch AS (SELECT id FROM big WHERE state = 'old' ORDER BY id LIMIT 100) UPDATE big SET state = 'new' FROM batch WHERE big.id = batch.id;
UPDATE big SET state = 'new' WHERE id IN (SELECT id FROM big WHERE state = 'old' ORDER BY id LIMIT 100);
DO $$
DECLARE n int;
BEGIN
  LOOP
    DELETE FROM big WHERE id IN (SELECT id FROM big WHERE state = 'new' ORDER BY id LIMIT 80);
    GET DIAGNOSTICS n = ROW_COUNT;
    EXIT WHEN n = 0;
  END LOOP;
END $$;
CREATE PROCEDURE migrate(size int) LANGUAGE plpgsql AS $$
DECLARE last int := 0; top int;
BEGIN
  SELECT max(id) INTO top FROM big;
  WHILE last < top LOOP
    UPDATE big SET state = 'migrated' WHERE id > last AND id <= last + size;
    last := last + size;
    COMMIT;
  END LOOP;
END $$;
CALL migrate(250);
