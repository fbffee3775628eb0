-- # only a superuser owns a publication for all tables
CREATE PUBLICATION shop FOR ALL TABLES;
ALTER PUBLICATION shop OWNER TO spec_user;
