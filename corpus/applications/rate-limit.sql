CREATE TABLE buckets (key text PRIMARY KEY, tokens int NOT NULL, at timestamptz NOT NULL);
CREATE FUNCTION take(k text, most int DEFAULT 3) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE have int;
BEGIN
  INSERT INTO buckets AS b VALUES (k, most - 1, now()) ON CONFLICT (key) DO UPDATE SET tokens = b.tokens - 1, at = excluded.at WHERE b.tokens > 0 RETURNING b.tokens INTO have;
  RETURN have IS NOT NULL;
END $$;
CREATE PUBLICATION p FOR TABLE buckets;
-- script
SELECT take('a');
SELECT take('a');
SELECT take('a');
SELECT take('a');
SELECT take(k => 'b', most => 1), take('b', 1);
UPDATE buckets SET tokens = least(3, tokens + 1) WHERE tokens < 3;
DELETE FROM buckets WHERE at < now() - interval '1 hour';
