CREATE TABLE ledger (id int PRIMARY KEY, account text NOT NULL, amount int NOT NULL, balance int, previous int, place int);
CREATE PUBLICATION p FOR TABLE ledger;
INSERT INTO ledger (id, account, amount) VALUES (1, 'x', 10), (2, 'x', -3), (3, 'x', 7), (4, 'y', 5), (5, 'y', -7);
-- script
UPDATE ledger l SET balance = t.total FROM (SELECT id, sum(amount) OVER (PARTITION BY account ORDER BY id) AS total FROM ledger) t WHERE t.id = l.id;
UPDATE ledger l SET previous = t.before, place = t.place FROM (SELECT id, lag(amount) OVER w AS before, rank() OVER (PARTITION BY account ORDER BY amount DESC) AS place FROM ledger WINDOW w AS (PARTITION BY account ORDER BY id)) t WHERE t.id = l.id AND l.account = 'x';
INSERT INTO ledger (id, account, amount, place) SELECT id + 100, account, amount, dense_rank() OVER (ORDER BY amount) FROM ledger WHERE account = 'y' ORDER BY id;
