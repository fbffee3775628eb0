#!/bin/bash
set -e

psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname shop <<-EOSQL
	CREATE TABLE customers (id bigint PRIMARY KEY, region text NOT NULL);
	ALTER PUBLICATION eu ADD TABLE customers WHERE (region = 'eu');
EOSQL
