class ChangeUsers < ActiveRecord::Migration[7.1]
  disable_ddl_transaction!

  def up
    add_column :users, :nickname, :string, null: false, default: ""
    add_reference :users, :team, index: { unique: true }
    add_timestamps :codes, null: true
    rename_column :users, :email, :mail
    change_column :users, :name, :text, null: false
    change_column_null :users, :visits, false
    change_column_default :users, :visits, from: nil, to: 0
    remove_column :orders, :paid, :boolean
    remove_index :orders, name: "orders_lower"
    remove_index :users, :team_id
    add_index :facts, :fact, unique: true, algorithm: :concurrently
    add_index :facts, [:at], where: "at IS NOT NULL", name: "facts_at", using: :btree
    rename_table :facts, :truths
    change_table :lines, bulk: true do |t|
      t.string :note, :remark
      t.rename :weight, :mass
      t.index :note, unique: true, name: "lines_note"
    end
    safety_assured { remove_reference :orders, :thing, polymorphic: true }
    drop_table :codes
    execute <<~SQL
      ALTER TABLE truths REPLICA IDENTITY USING INDEX index_truths_on_fact;
      CREATE PUBLICATION everything FOR TABLE users, orders, lines, truths;
    SQL
  end

  def down
    drop_table :users
  end
end
