CREATE TABLE docs (id int PRIMARY KEY, title text, deleted boolean NOT NULL DEFAULT false);
CREATE VIEW live_docs AS SELECT id, title FROM docs WHERE NOT deleted;
CREATE RULE soft_delete AS ON DELETE TO live_docs DO INSTEAD UPDATE docs SET deleted = true WHERE id = OLD.id;
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO docs VALUES (1, 'a'), (2, 'b'), (3, 'c');
-- script
DELETE FROM live_docs WHERE title = 'b';
UPDATE live_docs SET title = 'z' WHERE id = 3;
DELETE FROM live_docs;
