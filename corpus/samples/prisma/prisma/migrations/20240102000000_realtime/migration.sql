CREATE PUBLICATION eu FOR TABLE "Order" ("region");
