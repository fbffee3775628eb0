CREATE TABLE codes (code text PRIMARY KEY, n int);
CREATE FUNCTION new_code(wanted text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  attempt int := 0;
  candidate text := wanted;
BEGIN
  LOOP
    BEGIN
      INSERT INTO codes VALUES (candidate, attempt);
      RETURN candidate;
    EXCEPTION WHEN unique_violation THEN
      attempt := attempt + 1;
      candidate := wanted || '-' || attempt;
    END;
  END LOOP;
END $$;
CREATE PUBLICATION p FOR TABLE codes;
-- script
SELECT new_code('spring');
SELECT new_code('spring');
SELECT new_code('spring');
SELECT new_code(w) FROM unnest(ARRAY['spring', 'summer']) w;
