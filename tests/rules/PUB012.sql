-- # a code that no rule has
-- pubcheck: ignore[PUB999]
--                  ^^^^^^ PUB012
CREATE PUBLICATION shop;

-- # a misspelt word
-- pubcheck: ignoer[PUB301]
--^^^^^^^^^^^^^^^^^^^^^^^^^ PUB012
CREATE PUBLICATION shop;
