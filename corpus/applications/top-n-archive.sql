CREATE TABLE scores (id int PRIMARY KEY, player text, points int);
CREATE TABLE best (player text PRIMARY KEY, points int, place int);
CREATE PUBLICATION p FOR TABLE best;
INSERT INTO scores VALUES (1, 'ann', 5), (2, 'bob', 9), (3, 'ann', 12), (4, 'cid', 9), (5, 'bob', 1);
-- script
INSERT INTO best (player, points) SELECT player, max(points) FROM scores GROUP BY player ORDER BY player;
UPDATE best SET place = r.place FROM (SELECT player, row_number() OVER (ORDER BY points DESC, player) AS place FROM best) r WHERE r.player = best.player;
INSERT INTO best (player, points) SELECT DISTINCT ON (player) player || '!', points FROM scores ORDER BY player, points DESC;
DELETE FROM best WHERE place > 2;
TRUNCATE best;
INSERT INTO best (player, points) SELECT player, sum(points) FROM scores GROUP BY player HAVING sum(points) > 9 ORDER BY 2 DESC, 1;
