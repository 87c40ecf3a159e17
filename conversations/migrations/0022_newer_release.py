from django.db import migrations, models

from conversations.record.guards import guard


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0021_line_cards'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='first_release',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='turn',
            name='renewed_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        guard('conversations_turn'),
    ]
