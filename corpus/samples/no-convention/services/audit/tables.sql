CREATE TABLE audit_log (id bigint PRIMARY KEY, kind text NOT NULL);
