CREATE TABLE wallets (owner text PRIMARY KEY, cents bigint NOT NULL CHECK (cents >= 0));
CREATE TABLE transfers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, source text NOT NULL, target text NOT NULL, cents bigint NOT NULL CHECK (cents > 0), CHECK (source <> target));
CREATE FUNCTION transfer(a text, b text, amount bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE new_id bigint; have bigint;
BEGIN
  PERFORM 1 FROM wallets WHERE owner IN (a, b) ORDER BY owner FOR UPDATE;
  SELECT cents INTO STRICT have FROM wallets WHERE owner = a;
  IF have < amount THEN
    RAISE EXCEPTION 'insufficient funds' USING ERRCODE = 'P0100', DETAIL = format('%s has %s', a, have);
  END IF;
  UPDATE wallets SET cents = cents - amount WHERE owner = a;
  UPDATE wallets SET cents = cents + amount WHERE owner = b;
  INSERT INTO transfers (source, target, cents) VALUES (a, b, amount) RETURNING id INTO new_id;
  RETURN new_id;
END $$;
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO wallets VALUES ('ann', 1000), ('bob', 0);
-- script
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT transfer('ann', 'bob', 400);
COMMIT;
SELECT transfer('bob', 'ann', 500);
SELECT transfer('zed', 'ann', 500);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sum(cents) FROM wallets;
-- session: b
SELECT transfer('bob', 'ann', 100);
-- session: a
UPDATE wallets SET cents = 0 WHERE owner = 'bob';
ROLLBACK;
SELECT transfer(b => 'bob', a => 'ann', amount => 1);
