-- # a new child (19)
CREATE TABLE events (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE events);
CREATE TABLE new_events (PRIMARY KEY (id)) INHERITS (events);
--           ^^^^^^^^^^ PUB718

-- # ONLY means the children to stay (19)
CREATE TABLE events (id bigint PRIMARY KEY);
CREATE TABLE old_events (PRIMARY KEY (id)) INHERITS (events);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE ONLY events);
CREATE TABLE new_events (PRIMARY KEY (id)) INHERITS (events);

-- # a renamed table stays out (19)
CREATE TABLE secrets (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE secrets);
ALTER TABLE secrets RENAME TO old_secrets;

-- # a child that leaves its parent stays out (19)
CREATE TABLE events (id bigint PRIMARY KEY);
CREATE TABLE old_events (PRIMARY KEY (id)) INHERITS (events);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE events);
ALTER TABLE old_events NO INHERIT events;
