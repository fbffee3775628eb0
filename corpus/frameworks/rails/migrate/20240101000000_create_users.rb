class CreateUsers < ActiveRecord::Migration[7.1]
  def change
    enable_extension "pgcrypto"
    create_enum :user_status, %w[new old]

    create_table :users do |t|
      t.string :email, null: false, limit: 255, index: { unique: true }
      t.string :name
      t.enum :status, enum_type: :user_status, null: false, default: "new"
      t.jsonb :data, null: false, default: {}
      t.integer :visits, limit: 8
      t.decimal :balance, precision: 10, scale: 2
      t.text :tags, array: true
      t.date :born; t.datetime :seen_at
      t.timestamps
    end

    create_table "orders", id: :uuid, default: -> { "gen_random_uuid()" }, force: :cascade do |t|
      t.references :user, null: false, foreign_key: true
      t.belongs_to :thing, polymorphic: true, null: false, type: :uuid
      t.column :region, :string, null: false
      t.virtual :upper_region, type: :string, as: "upper(region)", stored: true
      t.boolean "paid", "sent", null: false
      t.index [:region, :user_id], unique: true
      t.index "lower(region)", name: "orders_lower"
    end

    create_table(:lines, primary_key: [:order_id, :number]) do |t|
      t.uuid :order_id
      t.integer :number
      t.float :weight
    end

    create_table :codes, primary_key: "code", id: :string, comment: "x" do |t|
      t.inet :address
    end

    create_table :facts, id: false do |t|
      t.bigint :fact, null: false
      t.timestamptz :at
    end
  end
end
