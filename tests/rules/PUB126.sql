-- # a word that is no value (18)
CREATE PUBLICATION shop WITH (publish_generated_columns = virtual); -- 42601
--                            ^^^^^^^^^^^^^^^^^^^^^^^^^ PUB126

-- # none and stored (18)
CREATE PUBLICATION shop WITH (publish_generated_columns = none);
ALTER PUBLICATION shop SET (publish_generated_columns = stored);
