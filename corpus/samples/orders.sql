-- A shop publishes its European orders. CREATE PUBLICATION succeeds; the first UPDATE or DELETE afterwards does not.
CREATE TABLE orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    region text NOT NULL,
    total numeric(12, 2) NOT NULL
);

CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
