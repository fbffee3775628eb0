CREATE TABLE "orders" (
	"id" bigint PRIMARY KEY NOT NULL,
	"region" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"at" timestamp NOT NULL,
	"kind" text NOT NULL
);
