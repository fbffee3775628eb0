CREATE TABLE subscriptions (id serial PRIMARY KEY, user_id int NOT NULL, plan text NOT NULL, cancelled_at date);
CREATE UNIQUE INDEX one_active ON subscriptions (user_id) WHERE cancelled_at IS NULL;
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO subscriptions (user_id, plan) VALUES (1, 'free') ON CONFLICT (user_id) WHERE cancelled_at IS NULL DO UPDATE SET plan = excluded.plan;
INSERT INTO subscriptions (user_id, plan) VALUES (1, 'pro') ON CONFLICT (user_id) WHERE cancelled_at IS NULL DO UPDATE SET plan = excluded.plan RETURNING id, plan;
INSERT INTO subscriptions (user_id, plan) VALUES (1, 'team');
UPDATE subscriptions SET cancelled_at = '2024-06-01' WHERE user_id = 1;
INSERT INTO subscriptions (user_id, plan) VALUES (1, 'team'), (2, 'free') ON CONFLICT (user_id) WHERE cancelled_at IS NULL DO NOTHING;
INSERT INTO subscriptions (user_id, plan) VALUES (2, 'free') ON CONFLICT (user_id) DO NOTHING;
INSERT INTO subscriptions (user_id, plan) VALUES (2, 'free') ON CONFLICT (user_id) WHERE plan = 'x' DO NOTHING;
INSERT INTO subscriptions (user_id, plan, cancelled_at) VALUES (2, 'old', '2020-01-01') ON CONFLICT (user_id) WHERE cancelled_at IS NULL DO NOTHING;
