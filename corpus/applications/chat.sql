CREATE TABLE rooms (id serial PRIMARY KEY, name text UNIQUE, last_message int);
CREATE TABLE messages (id serial PRIMARY KEY, room int NOT NULL REFERENCES rooms ON DELETE CASCADE, author text NOT NULL, body text NOT NULL CHECK (length(body) < 200), sent timestamptz NOT NULL DEFAULT now());
ALTER TABLE rooms ADD FOREIGN KEY (last_message) REFERENCES messages ON DELETE SET NULL;
CREATE FUNCTION new_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rooms SET last_message = NEW.id WHERE id = NEW.room;
  PERFORM pg_notify('room_' || NEW.room, json_build_object('id', NEW.id, 'author', NEW.author)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER new_message AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION new_message();
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO rooms (name) VALUES ('lobby'), ('help');
INSERT INTO messages (room, author, body) VALUES (1, 'ann', 'hi'), (1, 'bob', 'hello'), (2, 'ann', 'help!');
INSERT INTO messages (room, author, body) VALUES (1, 'ann', repeat('x', 500));
DELETE FROM messages WHERE id = (SELECT last_message FROM rooms WHERE name = 'lobby');
DELETE FROM rooms WHERE name = 'lobby';
NOTIFY lobby, 'closed';
