-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";
-- CreateEnum
CREATE TYPE "Role" AS ENUM ('USER', 'ADMIN');
-- CreateTable
CREATE TABLE "User" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" "Role" NOT NULL DEFAULT 'USER',
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "User_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "Post" (
    "id" SERIAL NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "content" TEXT,
    "published" BOOLEAN NOT NULL DEFAULT false,
    "authorId" TEXT NOT NULL,
    "views" INTEGER NOT NULL DEFAULT 0,
    "meta" JSONB,
    "rating" DOUBLE PRECISION,
    "price" DECIMAL(65,30) NOT NULL DEFAULT 0,
    CONSTRAINT "Post_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "_CategoryToPost" (
    "A" INTEGER NOT NULL,
    "B" INTEGER NOT NULL
);
CREATE TABLE "Category" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    CONSTRAINT "Category_pkey" PRIMARY KEY ("id")
);
-- CreateIndex
CREATE UNIQUE INDEX "User_email_key" ON "User"("email");
CREATE UNIQUE INDEX "_CategoryToPost_AB_unique" ON "_CategoryToPost"("A", "B");
CREATE INDEX "_CategoryToPost_B_index" ON "_CategoryToPost"("B");
CREATE INDEX "Post_meta_idx" ON "Post" USING GIN ("meta" jsonb_path_ops);
CREATE INDEX "Post_title_idx" ON "Post" USING HASH ("title");
-- AddForeignKey
ALTER TABLE "Post" ADD CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "_CategoryToPost" ADD CONSTRAINT "_CategoryToPost_A_fkey" FOREIGN KEY ("A") REFERENCES "Category"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "_CategoryToPost" ADD CONSTRAINT "_CategoryToPost_B_fkey" FOREIGN KEY ("B") REFERENCES "Post"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE PUBLICATION "app" FOR TABLE "User", "Post", "_CategoryToPost";
-- AlterEnum
BEGIN;
CREATE TYPE "Role_new" AS ENUM ('USER', 'ADMIN', 'OWNER');
ALTER TABLE "User" ALTER COLUMN "role" DROP DEFAULT;
ALTER TABLE "User" ALTER COLUMN "role" TYPE "Role_new" USING ("role"::text::"Role_new");
ALTER TYPE "Role" RENAME TO "Role_old";
ALTER TYPE "Role_new" RENAME TO "Role";
DROP TYPE "Role_old";
ALTER TABLE "User" ALTER COLUMN "role" SET DEFAULT 'USER';
COMMIT;
-- AlterTable
ALTER TABLE "_CategoryToPost" ADD CONSTRAINT "_CategoryToPost_AB_pkey" PRIMARY KEY ("A", "B");
-- DropIndex
DROP INDEX "_CategoryToPost_AB_unique";
ALTER TABLE "Post" ADD COLUMN "slug" TEXT, ALTER COLUMN "views" SET DATA TYPE BIGINT;
ALTER TABLE "Post" ADD COLUMN "updatedAt" TIMESTAMP(3) NOT NULL;
/*
  Warnings:
  - The primary key for the `Post` table will be changed.
*/
ALTER TABLE "_CategoryToPost" DROP CONSTRAINT "_CategoryToPost_B_fkey";
ALTER TABLE "Post" DROP CONSTRAINT "Post_pkey",
ALTER COLUMN "id" DROP DEFAULT,
ALTER COLUMN "id" SET DATA TYPE TEXT,
ADD CONSTRAINT "Post_pkey" PRIMARY KEY ("id");
DROP SEQUENCE "Post_id_seq";
ALTER TABLE "_CategoryToPost" DROP CONSTRAINT "_CategoryToPost_AB_pkey",
ALTER COLUMN "B" SET DATA TYPE TEXT,
ADD CONSTRAINT "_CategoryToPost_AB_pkey" PRIMARY KEY ("A", "B");
ALTER TABLE "_CategoryToPost" ADD CONSTRAINT "_CategoryToPost_B_fkey" FOREIGN KEY ("B") REFERENCES "Post"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- RedefineTables
ALTER TABLE "Category" RENAME TO "Tag";
ALTER INDEX "Category_pkey" RENAME TO "Tag_pkey";
ALTER SEQUENCE "Category_id_seq" RENAME TO "Tag_id_seq";
CREATE PUBLICATION "p1" FOR TABLE "Category";
CREATE PUBLICATION "p1" FOR TABLE "Tag" WHERE ("name" = 'x');
CREATE PUBLICATION "p2" FOR TABLE "User" WHERE ("role" = 'OWNER');
CREATE PUBLICATION "p2" FOR TABLE "User" WHERE (role = 'OWNER' AND email LIKE '%@x');
CREATE PUBLICATION "p3" FOR TABLE "User" WHERE ("role" = 'NOBODY');
CREATE PUBLICATION "p3" FOR TABLE "User" WHERE ("createdAt" > now());
CREATE PUBLICATION "p3" FOR TABLE "User" WHERE ("createdAt" > '2024-01-01');
CREATE PUBLICATION "p4" FOR TABLE "Post" WHERE ("published");
CREATE PUBLICATION "p5" FOR TABLE "Post" WHERE ("views" > '10');
CREATE PUBLICATION "p6" FOR TABLE "Post" WHERE ("meta" -> 'a' = '1');
CREATE PUBLICATION "p7" FOR TABLE "Post" WHERE ("authorid" = '1');
CREATE PUBLICATION "p8" FOR TABLE "Post" ("id", "title"), "User" ("id", "email");
CREATE PUBLICATION "p9" FOR TABLE "Post" ("title", "nope");
CREATE PUBLICATION "p10" FOR TABLE "Post" ("title", "title");
CREATE PUBLICATION p11 FOR TABLE Post;
CREATE PUBLICATION p12 FOR TABLES IN SCHEMA "public", "private";
CREATE PUBLICATION p12 FOR TABLES IN SCHEMA "public", TABLE "Post" ("id");
CREATE PUBLICATION p13 FOR TABLES IN SCHEMA CURRENT_SCHEMA;
ALTER PUBLICATION p13 ADD TABLE "Post" WHERE (published);
ALTER PUBLICATION "app" SET TABLE "User" (id), "Post" (id, title) WHERE (title <> '');
ALTER TABLE "User" DROP COLUMN "role";
ALTER TABLE "Post" DROP COLUMN "title";
ALTER TABLE "Post" DROP COLUMN "published", DROP COLUMN "views";
DROP TABLE "Post" CASCADE;
DROP TABLE "User";
DROP TABLE IF EXISTS "User" CASCADE;
DROP PUBLICATION IF EXISTS p2, p3, nope;
DROP PUBLICATION p4, nope;
DROP PUBLICATION p4;
