-- # a partitioned table of a schema
CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE PUBLICATION app FOR TABLES IN SCHEMA public;
--                 ^^^ PUB513
-- # only the partition is named
CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE PUBLICATION app FOR TABLE events_2026;
-- # it has no partition yet
CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE PUBLICATION app FOR TABLE events;
-- # the option is set later
CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE PUBLICATION app FOR TABLE events;
ALTER PUBLICATION app SET (publish_via_partition_root = true);
