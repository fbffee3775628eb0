CREATE PUBLICATION audit FOR TABLE audit_log WHERE (kind = 'login');
