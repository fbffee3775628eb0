--liquibase formatted sql

--changeset ann:2
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
--rollback DROP PUBLICATION eu;
