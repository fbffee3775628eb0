-- # a block that fails after a publication was created
DO $$ BEGIN
    CREATE PUBLICATION shop;
    PERFORM 1 / 0;
--  ^^^^^^^ PUB137
END $$; -- 22012

-- # a handler takes the error
DO $$ BEGIN
  CREATE PUBLICATION shop;
  BEGIN
    PERFORM 1 / 0;
  EXCEPTION WHEN division_by_zero THEN
    NULL;
  END;
END $$;
