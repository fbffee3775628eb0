CREATE TABLE entries (id int PRIMARY KEY, account int NOT NULL, amount int NOT NULL);
CREATE TABLE totals (account int PRIMARY KEY, total bigint NOT NULL);
CREATE FUNCTION add_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO totals SELECT account, sum(amount) FROM added GROUP BY account ORDER BY account
  ON CONFLICT (account) DO UPDATE SET total = totals.total + excluded.total;
  RETURN NULL;
END $$;
CREATE TRIGGER add_totals AFTER INSERT ON entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_totals();
CREATE PUBLICATION p FOR TABLE totals;
-- script
INSERT INTO entries VALUES (1, 1, 10), (2, 2, 5), (3, 1, 7);
INSERT INTO entries SELECT n, 3, n FROM generate_series(10, 20) n;
COPY entries FROM STDIN;
30	1	100
31	4	1
\.
