-- CreateTable
CREATE TABLE "Order" (
    "id" BIGINT NOT NULL,
    "region" TEXT NOT NULL,

    CONSTRAINT "Order_pkey" PRIMARY KEY ("id")
);
