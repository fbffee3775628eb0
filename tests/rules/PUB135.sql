-- # a table that is missing is what a handler is for
CREATE PUBLICATION shop;
DO $$ BEGIN
  ALTER PUBLICATION shop ADD TABLE orders;
EXCEPTION WHEN OTHERS THEN
  NULL;
END $$;
