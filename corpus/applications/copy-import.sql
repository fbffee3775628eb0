CREATE TABLE staging (id int, email text, amount numeric, joined date);
CREATE TABLE members (id int PRIMARY KEY, email text NOT NULL, amount numeric(10,2) DEFAULT 0, joined date);
CREATE PUBLICATION p FOR TABLE members;
-- script
COPY staging FROM STDIN WITH (FORMAT csv, HEADER);
id,email,amount,joined
1,ann@example.com,12.5,2024-01-01
2,"bob ""b"" <bob@x.org>",,2024-02-29
3,carl@x.org,7,
\.
INSERT INTO members SELECT id, lower(email), coalesce(amount, 0), joined FROM staging ORDER BY id;
COPY members (id, email) FROM STDIN;
10	ten@x.org
11	tab\tin@x.org
12	\N
\.
COPY members (id, email) FROM STDIN;
10	ten@x.org
11	eleven@x.org
\.
TRUNCATE staging;
COPY staging (id, amount) FROM STDIN (DELIMITER '|', NULL '');
1|99
10|
\.
UPDATE members m SET amount = s.amount FROM staging s WHERE m.id = s.id AND s.amount IS NOT NULL;
DELETE FROM members m USING staging s WHERE s.id = m.id AND s.amount IS NULL;
