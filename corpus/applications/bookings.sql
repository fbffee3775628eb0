CREATE TABLE bookings (id int PRIMARY KEY, room int NOT NULL, during daterange NOT NULL, EXCLUDE USING gist (during WITH &&) WHERE (room = 1));
CREATE PUBLICATION p FOR TABLE bookings;
-- script
INSERT INTO bookings VALUES (1, 1, '[2024-01-01,2024-01-05)'), (2, 2, '[2024-01-01,2024-01-05)');
INSERT INTO bookings VALUES (3, 1, '[2024-01-04,2024-01-06)');
INSERT INTO bookings VALUES (3, 1, '[2024-01-05,2024-01-06)');
INSERT INTO bookings VALUES (4, 1, '[2024-01-05,2024-01-07)') ON CONFLICT DO NOTHING;
UPDATE bookings SET during = '[2024-01-02,2024-01-03)' WHERE id = 1;
UPDATE bookings SET room = 1 WHERE id = 2;
