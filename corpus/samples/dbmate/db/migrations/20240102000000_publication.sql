-- migrate:up
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');

-- migrate:down
DROP PUBLICATION eu;
