-- # a cast to an enum
CREATE TYPE status AS ENUM ('open', 'paid');
CREATE TABLE orders (id text PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE ('open'::status = 'paid'::status); -- 0A000
--                                            ^^^^^^ PUB212
