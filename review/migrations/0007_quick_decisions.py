
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0006_outcomes'),
    ]

    operations = [
        migrations.AddField(
            model_name='reviewitem',
            name='likely_agency',
            field=models.CharField(blank=True, max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='reviewitem',
            name='takes_effect_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='decision',
            name='action',
            field=models.CharField(choices=[('approve', 'Approve'), ('override', 'Correct'), ('service', 'Send this service'), ('retry', 'Ask the model again'), ('write', 'Write the reply'), ('ask', 'Ask the citizen for more'), ('hand_over', 'Hand to another agency'), ('done', 'Reached the citizen'), ('dismiss', 'Dismiss'), ('agree', 'Agree'), ('disagree', 'Disagree'), ('undo', 'Undo')], max_length=16),
        ),
        migrations.AlterField(
            model_name='reviewitem',
            name='state',
            field=models.CharField(choices=[('open', 'open'), ('claimed', 'claimed'), ('decided', 'decided'), ('sending', 'sending'), ('second_opinion', 'second_opinion')], default='open', max_length=16),
        ),
    ]
