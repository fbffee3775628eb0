CREATE TABLE events (id int PRIMARY KEY, kind text, n int);
CREATE TABLE archive (id int, kind text, n int);
CREATE PUBLICATION p FOR TABLE archive;
INSERT INTO events VALUES (30, 'c', 1), (10, 'a', 2), (20, 'b', 3), (40, 'd', 4), (15, 'e', 5);
-- script
INSERT INTO archive SELECT * FROM events WHERE id BETWEEN 10 AND 30;
INSERT INTO archive SELECT * FROM events WHERE id > 12;
INSERT INTO archive SELECT * FROM events WHERE id IN (40, 10, 20);
WITH moved AS (DELETE FROM events WHERE id < 25 RETURNING *) INSERT INTO archive SELECT * FROM moved;
INSERT INTO archive (id) SELECT id FROM events WHERE id >= 0 AND id <= 1000;
