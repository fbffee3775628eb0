import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0002_changes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL('CREATE TABLE "shop_basket" ("id" bigint NOT NULL, "size" integer NOT NULL)'),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="Basket",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("size", models.IntegerField()),
                    ],
                ),
            ],
        ),
        migrations.AddField(
            model_name="basket",
            name="owner",
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to="people.user"),
        ),
        migrations.RemoveConstraint(model_name="purchase", name="order_created"),
        migrations.RemoveConstraint(model_name="product", name="price_positive"),
        migrations.RemoveField(model_name="product", name="related"),
        migrations.DeleteModel(name="Bill"),
        migrations.DeleteModel(name="Report"),
        migrations.RunSQL(
            "CREATE PUBLICATION shop FOR TABLE shop_purchase, shop_basket, goods",
            reverse_sql="DROP PUBLICATION shop",
        ),
    ]
