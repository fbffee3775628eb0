from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0002_publication")]
    operations = [
        migrations.AddField(model_name="order", name="code", field=models.SlugField(default="", unique=True)),
        migrations.RunSQL("ALTER TABLE shop_order REPLICA IDENTITY USING INDEX shop_order_code_key"),
    ]
