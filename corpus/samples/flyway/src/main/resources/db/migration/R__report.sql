CREATE OR REPLACE VIEW report AS SELECT region, sum(total) AS total FROM orders GROUP BY region;
