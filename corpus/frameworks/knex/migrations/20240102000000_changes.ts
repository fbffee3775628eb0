import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('users', (table) => {
    table.string('nickname', 20).notNullable().defaultTo('');
    table.text('name').notNullable().alter();
    table.dropNullable('age');
    table.setNullable('data');
    table.renameColumn('email', 'mail');
    table.dropUnique(['email']);
    table.unique(['nickname'], { indexName: 'users_nick' });
    table.dropColumns('bio', 'status');
    table.dropTimestamps();
  });
  await knex.schema.table('visits', (table) => {
    table.bigIncrements('id');
  });
  await knex.schema.renameTable('visits', 'calls');
  await knex.schema.alterTable('lines', (table) => {
    table.dropPrimary();
    table.primary(['number', 'order_id'], { constraintName: 'lines_key' });
  });
  await knex.schema.dropTableIfExists('nothing');
  await knex.raw('CREATE PUBLICATION everything FOR TABLE users, orders, lines, calls');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP PUBLICATION everything');
}
