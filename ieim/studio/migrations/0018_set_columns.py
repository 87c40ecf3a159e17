from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0017_situation_sources'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='changedentry',
            name='entry_in_one_set',
        ),
        migrations.AddField(
            model_name='changedentry',
            name='columns',
            field=models.JSONField(db_default=models.Value(['*'], models.JSONField()), default=list),
        ),
        migrations.AddIndex(
            model_name='changedentry',
            index=models.Index(fields=['table', 'entry'], name='changed_entry'),
        ),
    ]
