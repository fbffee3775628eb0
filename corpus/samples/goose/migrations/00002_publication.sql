-- +goose Up
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');

-- +goose Down
DROP PUBLICATION eu;
