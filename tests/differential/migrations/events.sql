CREATE TABLE IF NOT EXISTS event_store (
  global_position BIGINT GENERATED ALWAYS AS IDENTITY,
  stream_id VARCHAR(100) NOT NULL,
  version INT NOT NULL,
  type VARCHAR(255) NOT NULL,
  data JSONB NOT NULL,
  meta JSONB NOT NULL DEFAULT '{}',
  created_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  tenant SMALLINT NOT NULL,
  CONSTRAINT pk_event PRIMARY KEY (tenant, stream_id, version)
) PARTITION BY LIST (tenant);
CREATE TABLE event_store_t1 PARTITION OF event_store FOR VALUES IN (1);
CREATE TABLE event_store_t2 PARTITION OF event_store FOR VALUES IN (2) PARTITION BY HASH (stream_id);
DO $do$
BEGIN
  FOR i IN 0..3 LOOP
    EXECUTE format('CREATE TABLE event_store_t2_%s PARTITION OF event_store_t2 FOR VALUES WITH (MODULUS 4, REMAINDER %s)', i, i);
  END LOOP;
END
$do$;
CREATE TABLE event_store_t2_4 PARTITION OF event_store_t2 FOR VALUES WITH (MODULUS 4, REMAINDER 3);
CREATE INDEX idx_event_created ON event_store (created_at);
CREATE INDEX idx_event_type ON event_store ((data ->> 'type'));
CREATE INDEX CONCURRENTLY idx_event_x ON event_store (type);
CREATE UNIQUE INDEX idx_event_gp ON event_store (global_position);
CREATE UNIQUE INDEX idx_event_gp ON event_store (global_position, tenant);
CREATE PUBLICATION cdc FOR TABLE event_store;
CREATE PUBLICATION cdc_root FOR TABLE event_store WITH (publish_via_partition_root = true);
CREATE PUBLICATION cdc_t1 FOR TABLE event_store_t1 WHERE (type = 'OrderPlaced' AND tenant = 1);
CREATE PUBLICATION cdc_leaf FOR TABLE event_store_t2_0 (stream_id, version, data);
CREATE PUBLICATION cdc_leaf2 FOR TABLE event_store_t2_0 (tenant, stream_id, version, data), event_store_t2_1 (stream_id);
CREATE PUBLICATION cdc_f FOR TABLE event_store WHERE (data ->> 'type' = 'x');
CREATE PUBLICATION cdc_f2 FOR TABLE event_store WHERE (data ->> 'type' = 'x') WITH (publish_via_partition_root, publish = 'insert');
CREATE PUBLICATION cdc_f3 FOR TABLE event_store_t2 WHERE (version > 1);
ALTER TABLE event_store REPLICA IDENTITY USING INDEX pk_event;
ALTER TABLE event_store_t1 REPLICA IDENTITY USING INDEX event_store_t1_pkey;
ALTER TABLE event_store_t1 REPLICA IDENTITY NOTHING;
ALTER TABLE ONLY event_store_t2_1 REPLICA IDENTITY USING INDEX event_store_t2_1_global_position_tenant_idx;
DO $$
DECLARE r record;
BEGIN
  FOR r IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'event_store_t2'::regclass ORDER BY 1 LOOP
    EXECUTE format('ALTER TABLE %I REPLICA IDENTITY FULL', r.relname);
  END LOOP;
END $$;
ALTER TABLE event_store DROP COLUMN global_position;
ALTER TABLE event_store ADD COLUMN seq BIGSERIAL, ADD COLUMN actor TEXT NOT NULL DEFAULT 'system';
ALTER TABLE event_store_t1 ADD COLUMN extra int;
ALTER TABLE event_store_t1 DROP COLUMN meta;
ALTER TABLE event_store ALTER COLUMN stream_id TYPE TEXT;
ALTER TABLE event_store ALTER COLUMN version TYPE BIGINT;
ALTER TABLE event_store ALTER COLUMN type TYPE TEXT;
ALTER TABLE event_store RENAME COLUMN type TO event_type;
ALTER TABLE event_store RENAME CONSTRAINT pk_event TO event_pk;
ALTER TABLE event_store_t1 RENAME TO event_store_tenant_one;
ALTER TABLE event_store DETACH PARTITION event_store_tenant_one;
ALTER TABLE event_store_tenant_one DROP CONSTRAINT event_store_t1_pkey;
ALTER TABLE event_store ATTACH PARTITION event_store_tenant_one FOR VALUES IN (1, 3);
ALTER TABLE event_store_tenant_one REPLICA IDENTITY DEFAULT;
CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), aggregate text NOT NULL, payload jsonb, processed_at timestamptz);
CREATE TABLE outbox_archive (LIKE outbox INCLUDING ALL EXCLUDING INDEXES);
CREATE TABLE outbox_copy AS SELECT * FROM outbox WITH NO DATA;
CREATE TABLE outbox_typed AS TABLE outbox;
SELECT * INTO outbox_into FROM outbox WHERE processed_at IS NULL;
ALTER PUBLICATION cdc ADD TABLE outbox WHERE (processed_at IS NULL), outbox_archive, outbox_copy, outbox_typed, outbox_into;
ALTER PUBLICATION cdc SET TABLE outbox WHERE (processed_at IS NULL), outbox_archive WHERE (id IS NOT NULL), ONLY outbox_copy, outbox_typed *;
ALTER TABLE outbox ADD COLUMN topic text GENERATED ALWAYS AS ('t.' || aggregate) STORED;
ALTER PUBLICATION cdc SET TABLE outbox (id, topic);
ALTER PUBLICATION cdc SET TABLE outbox WHERE (topic = 'x');
ALTER TABLE outbox ALTER COLUMN topic DROP EXPRESSION;
ALTER PUBLICATION cdc SET TABLE outbox (id, topic);
ALTER TABLE outbox ALTER COLUMN id DROP DEFAULT, ALTER COLUMN id TYPE text USING id::text;
ALTER TABLE outbox DROP CONSTRAINT outbox_pkey, ADD CONSTRAINT outbox_pk PRIMARY KEY (id, aggregate);
ALTER TABLE outbox RENAME TO out_box;
ALTER TABLE out_box DROP COLUMN topic;
ALTER TABLE out_box SET (autovacuum_enabled = false), ALTER COLUMN payload SET STORAGE EXTERNAL, ALTER COLUMN aggregate SET STATISTICS 500;
ALTER TABLE out_box ALTER COLUMN payload SET STORAGE nope;
ALTER TABLE out_box INHERIT outbox_copy;
ALTER TABLE out_box SET UNLOGGED;
ALTER TABLE outbox_copy SET LOGGED;
ALTER PUBLICATION cdc OWNER TO CURRENT_USER;
ALTER PUBLICATION cdc SET (publish = '');
ALTER PUBLICATION cdc ADD TABLES IN SCHEMA public;
ALTER PUBLICATION cdc SET TABLES IN SCHEMA public;
CREATE PUBLICATION whole FOR ALL TABLES WITH (publish = 'delete');
ALTER PUBLICATION whole ADD TABLE out_box;
ALTER PUBLICATION whole DROP TABLE out_box;
ALTER PUBLICATION whole SET TABLE out_box;
