-- @prisma/schema-engine-wasm 8.1.0-2: diff from empty to schema.prisma
CREATE TYPE "Role" AS ENUM ('ADMIN', 'user');
CREATE TABLE "users" (
    "id" SERIAL NOT NULL,
    "email" VARCHAR(255) NOT NULL,
    "full_name" TEXT,
    "role" "Role" NOT NULL DEFAULT 'user',
    "tags" TEXT[],
    "created" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "Order" (
    "tenant" BIGINT NOT NULL,
    "number" UUID NOT NULL,
    "userId" INTEGER NOT NULL,
    "total" DECIMAL(10,2) NOT NULL,
    "data" JSONB,
    "body" BYTEA,
    "weight" DOUBLE PRECISION NOT NULL,
    "paid" BOOLEAN NOT NULL,
    CONSTRAINT "Order_pkey" PRIMARY KEY ("tenant","number")
);
CREATE TABLE "Event" (
    "at" TIMESTAMPTZ(6) NOT NULL,
    "kind" point,
    "label" TEXT NOT NULL
);
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");
CREATE INDEX "Order_paid_idx" ON "Order"("paid");
CREATE UNIQUE INDEX "order_user" ON "Order"("userId", "number");
CREATE UNIQUE INDEX "Event_at_label_key" ON "Event"("at", "label");
ALTER TABLE "Order" ADD CONSTRAINT "Order_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
