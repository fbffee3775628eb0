CREATE TABLE prices (sku text PRIMARY KEY, price numeric(8,2), seen int NOT NULL DEFAULT 1);
CREATE PUBLICATION p FOR TABLE prices;
-- script
INSERT INTO prices (sku, price) SELECT * FROM unnest(ARRAY['a', 'b', 'c'], ARRAY[1.5, 2, 3]::numeric[]);
INSERT INTO prices (sku, price) SELECT * FROM unnest('{c,d}'::text[], '{9,4}'::numeric[]) AS t (sku, price) ON CONFLICT (sku) DO UPDATE SET price = excluded.price, seen = prices.seen + 1;
UPDATE prices SET price = v.price FROM (VALUES ('a', 1.75), ('d', 4.5)) AS v (sku, price) WHERE prices.sku = v.sku;
DELETE FROM prices WHERE sku = ANY (ARRAY['b', 'zzz']);
INSERT INTO prices SELECT 'n' || n, n FROM generate_series(1, 3) AS n WHERE NOT EXISTS (SELECT FROM prices WHERE sku = 'n' || n);
UPDATE prices SET (price, seen) = (SELECT max(price), count(*) FROM prices) WHERE sku = 'a';
