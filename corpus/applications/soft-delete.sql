CREATE TABLE documents (id uuid PRIMARY KEY, title text NOT NULL, deleted_at timestamptz);
CREATE UNIQUE INDEX documents_title ON documents (title) WHERE deleted_at IS NULL;
CREATE VIEW live_documents AS SELECT id, title FROM documents WHERE deleted_at IS NULL;
CREATE RULE soft_delete AS ON DELETE TO live_documents DO INSTEAD UPDATE documents SET deleted_at = '2024-01-01' WHERE id = OLD.id;
CREATE PUBLICATION live FOR TABLE documents WHERE (deleted_at IS NULL);
ALTER TABLE documents REPLICA IDENTITY FULL;
-- script
INSERT INTO documents (id, title) VALUES ('11111111-1111-4111-8111-111111111111', 'a'), ('22222222-2222-4222-8222-222222222222', 'b');
UPDATE documents SET deleted_at = now() WHERE title = 'a';
INSERT INTO live_documents (id, title) VALUES ('33333333-3333-4333-8333-333333333333', 'a');
UPDATE live_documents SET title = 'c' WHERE title = 'b';
UPDATE documents SET deleted_at = NULL WHERE id = '11111111-1111-4111-8111-111111111111';
DELETE FROM documents WHERE deleted_at IS NOT NULL;
