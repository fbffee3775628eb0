import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial"), ("people", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="order",
            name="parent",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="shop.order"),
        ),
        migrations.AddField(model_name="order", name="code", field=models.SlugField(default="", unique=True)),
        migrations.AddField(model_name="product", name="related", field=models.ManyToManyField(to="shop.product")),
        migrations.AlterField(model_name="order", name="region", field=models.CharField(max_length=40, null=True)),
        migrations.AlterField(model_name="order", name="number", field=models.CharField(max_length=20)),
        migrations.AlterField(model_name="invoice", name="note", field=models.TextField(default="", unique=True)),
        migrations.AlterField(
            model_name="order",
            name="id",
            field=models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
        ),
        migrations.RenameField(model_name="order", old_name="made", new_name="created"),
        migrations.RenameField(model_name="order", old_name="buyer", new_name="customer"),
        migrations.RemoveField(model_name="order", name="paid"),
        migrations.AlterUniqueTogether(name="order", unique_together={("code", "region"), ("customer", "code")}),
        migrations.AddConstraint(
            model_name="order",
            constraint=models.UniqueConstraint(fields=("created", "customer"), name="order_created"),
        ),
        migrations.AddConstraint(
            model_name="order",
            constraint=models.UniqueConstraint(
                fields=("code",), condition=models.Q(("region", "eu")), name="order_code_eu"
            ),
        ),
        migrations.AddConstraint(
            model_name="product",
            constraint=models.CheckConstraint(condition=models.Q(("price__gt", 0)), name="price_positive"),
        ),
        migrations.AddIndex(model_name="product", index=models.Index(fields=["-name", "price"], name="product_name")),
        migrations.AlterModelTable(name="product", table="goods"),
        migrations.RenameModel(old_name="Invoice", new_name="Bill"),
        migrations.RenameModel(old_name="Order", new_name="Purchase"),
        migrations.AddField(model_name="purchase", name="product_count", field=models.PositiveSmallIntegerField(default=0)),
    ]
