-- Custom SQL migration file, put your code below! --
CREATE PUBLICATION sync FOR TABLE "orders", "events";
