from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial"), ("people", "0001_initial")]
    operations = [
        migrations.RunSQL(
            sql="CREATE PUBLICATION eu FOR TABLE shop_order WHERE (region = 'eu'), people_visit (page, person_id)",
            reverse_sql="DROP PUBLICATION eu",
        ),
    ]
