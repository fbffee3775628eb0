-- # bytes count, not characters
CREATE PUBLICATION "ääääääääääääääääääääääääääääääää";
--                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ PUB104

-- # 63 bytes are short enough
CREATE PUBLICATION p23456789_123456789_123456789_123456789_123456789_123456789_123;
