exports.up = async function (knex) {
  await knex.schema.createTable('users', (table) => {
    table.increments('id').primary();
    table.string('email', 100).notNullable().unique();
    table.string('name');
    table.text('bio').nullable();
    table.integer('age').unsigned().defaultTo(0);
    table.enu('status', ['new', 'old']).notNullable();
    table.decimal('balance', 10, 2);
    table.jsonb('data').notNullable();
    table.specificType('tags', 'text[]');
    table.timestamp('seen', { useTz: false });
    table.timestamps(true, true);
  });
  await knex.schema
    .createTable('orders', function (t) {
      t.uuid('id').primary().defaultTo(knex.raw('gen_random_uuid()'));
      t.integer('user_id').notNullable().references('id').inTable('users').onDelete('CASCADE').index();
      t.string('region').notNullable();
      t.boolean('paid');
      t.unique(['region', 'user_id']);
      t.index(['paid'], 'orders_paid');
    })
    .createTable('lines', (t) => {
      t.uuid('order_id').references('orders.id');
      t.integer('number');
      t.float('weight');
      t.double('height');
      t.primary(['order_id', 'number']);
      t.comment('lines');
    })
    .createTable('visits', (t) => {
      t.bigint('visit').notNullable();
      t.date('day');
      t.datetime('at');
      t.time('hour');
      t.binary('body');
    });
};

exports.down = async function (knex) {
  await knex.schema.dropTable('visits');
};
