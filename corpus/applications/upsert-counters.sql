CREATE TABLE page_views (path text, day date, views bigint NOT NULL DEFAULT 1, PRIMARY KEY (path, day));
CREATE PUBLICATION stats FOR TABLE page_views;
-- script
INSERT INTO page_views (path, day) VALUES ('/', '2024-05-01') ON CONFLICT (path, day) DO UPDATE SET views = page_views.views + 1;
INSERT INTO page_views (path, day) VALUES ('/', '2024-05-01') ON CONFLICT (path, day) DO UPDATE SET views = page_views.views + 1;
INSERT INTO page_views AS v (path, day, views) VALUES ('/', '2024-05-01', 10), ('/about', '2024-05-01', 4) ON CONFLICT ON CONSTRAINT page_views_pkey DO UPDATE SET views = v.views + excluded.views WHERE excluded.views > 5 RETURNING path, views;
INSERT INTO page_views AS v (path, day, views) VALUES ('/', '2024-05-01', 1) ON CONFLICT (path, day) DO NOTHING;
WITH up AS (INSERT INTO page_views (path, day, views) VALUES ('/b', '2024-05-02', 7) ON CONFLICT (path, day) DO UPDATE SET views = excluded.views RETURNING path, (xmax = 0) AS inserted) SELECT path, inserted FROM up;
