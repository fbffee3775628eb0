CREATE TABLE scores (player text, game int, points int, PRIMARY KEY (player, game));
CREATE MATERIALIZED VIEW leaders AS SELECT player, sum(points) AS total FROM scores GROUP BY player ORDER BY total DESC, player;
CREATE TABLE snapshots (taken int, player text, total bigint, PRIMARY KEY (taken, player));
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO scores VALUES ('ann', 1, 5), ('bob', 1, 7), ('ann', 2, 9);
REFRESH MATERIALIZED VIEW leaders;
INSERT INTO snapshots SELECT 1, player, total FROM leaders;
UPDATE scores SET points = points + 10 WHERE player = 'bob';
REFRESH MATERIALIZED VIEW leaders;
INSERT INTO snapshots SELECT 2, player, total FROM leaders ORDER BY player;
DELETE FROM snapshots WHERE taken = 1;
