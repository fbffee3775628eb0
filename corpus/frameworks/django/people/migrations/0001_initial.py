from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("email", models.EmailField(max_length=254, unique=True)),
                ("nickname", models.CharField(max_length=30, null=True)),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="Team",
            fields=[
                ("code", models.SlugField(primary_key=True, serialize=False)),
                ("members", models.ManyToManyField(related_name="teams", to="people.user")),
                ("rivals", models.ManyToManyField(to="people.team")),
            ],
            options={"db_table": "teams", "verbose_name": "team"},
        ),
    ]
