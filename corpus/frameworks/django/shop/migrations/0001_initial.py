import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def forwards(apps, schema_editor):
    Order = apps.get_model("shop", "Order")
    Order.objects.filter(region="").update(region="eu")


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("people", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Product",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("name", models.TextField()),
                ("price", models.DecimalField(decimal_places=2, max_digits=10)),
                ("stock", models.PositiveIntegerField(default=0)),
                ("tags", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None)),
                ("data", models.JSONField(null=True)),
                ("picture", models.ImageField(upload_to="x", null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.CharField(max_length=20, unique=True)),
                ("region", models.CharField(db_index=True, max_length=10)),
                ("paid", models.BooleanField(default=False)),
                ("made", models.DateTimeField(auto_now_add=True)),
                ("buyer", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ("team", models.ForeignKey(db_column="team_code", null=True, on_delete=django.db.models.deletion.SET_NULL, to="people.team")),
                ("products", models.ManyToManyField(to="shop.product")),
            ],
            options={"unique_together": {("region", "number")}},
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("order", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="shop.order")),
                ("text", models.TextField(blank=True)),
                ("note", models.TextField(null=True)),
                ("span", models.DurationField(null=True)),
                ("address", models.GenericIPAddressField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("body", models.BinaryField()),
            ],
            options={"managed": False},
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
