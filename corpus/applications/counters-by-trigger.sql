CREATE TABLE posts (id int PRIMARY KEY, title text, comment_count int NOT NULL DEFAULT 0);
CREATE TABLE comments (id int PRIMARY KEY, post_id int NOT NULL REFERENCES posts ON DELETE CASCADE, body text);
CREATE FUNCTION count_comments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN UPDATE posts SET comment_count = comment_count + 1 WHERE id = NEW.post_id;
    WHEN 'DELETE' THEN UPDATE posts SET comment_count = comment_count - 1 WHERE id = OLD.post_id;
    ELSE
      IF NEW.post_id <> OLD.post_id THEN
        UPDATE posts SET comment_count = comment_count - 1 WHERE id = OLD.post_id;
        UPDATE posts SET comment_count = comment_count + 1 WHERE id = NEW.post_id;
      END IF;
  END CASE;
  RETURN NULL;
END $$;
CREATE TRIGGER count_comments AFTER INSERT OR UPDATE OR DELETE ON comments FOR EACH ROW EXECUTE PROCEDURE count_comments();
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO posts (id, title) VALUES (1, 'a'), (2, 'b');
INSERT INTO comments VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z');
UPDATE comments SET post_id = 2 WHERE id = 1;
DELETE FROM comments WHERE id = 3;
DELETE FROM posts WHERE id = 2;
