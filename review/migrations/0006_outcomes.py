from django.db import migrations


def count_again(apps, schema_editor):
    """Have the days counted anew: questions have outcomes more than when they were counted."""
    apps.get_model('review', 'DailyFigures').objects.update(is_stale=True)


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0005_daily_figures'),
    ]

    operations = [
        migrations.RunPython(count_again, migrations.RunPython.noop),
    ]
