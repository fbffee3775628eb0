class PublishOrders < ActiveRecord::Migration[7.1]
  def up
    execute "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu')"
  end

  def down
    execute "DROP PUBLICATION eu"
  end
end
