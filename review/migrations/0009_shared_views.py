
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0008_batches'),
    ]

    operations = [
        migrations.AddField(
            model_name='savedview',
            name='shared_with',
            field=models.CharField(blank=True, max_length=200, null=True),
        ),
    ]
