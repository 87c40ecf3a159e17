from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0018_stage_fallback'),
    ]

    operations = [
        migrations.AlterField(
            model_name='choice',
            name='outcome',
            field=models.CharField(blank=True, choices=[('', 'not yet'), ('chosen', 'one was chosen'), ('none', 'none of these'), ('expired', 'nothing was chosen in time'), ('replaced', 'something else was asked')], max_length=8),
        ),
    ]
