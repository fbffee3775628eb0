-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.total := round(NEW.total, 2);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER touch BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();

-- +goose Down
DROP TRIGGER touch ON orders;
DROP FUNCTION touch();
