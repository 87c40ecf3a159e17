
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0020_reply_origins'),
        ('review', '0012_replies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Reading',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveSmallIntegerField(default=1)),
                ('cause', models.CharField(choices=[('random', 'Drawn at random'), ('flagged', 'Drawn because of a sign that it may be wrong'), ('hand', 'Put in by hand')], max_length=16)),
                ('day', models.DateField(db_index=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('taken_at', models.DateTimeField(null=True)),
                ('verdict', models.CharField(blank=True, max_length=16)),
                ('scores', models.JSONField(default=list)),
                ('remark', models.TextField(blank=True)),
                ('done_at', models.DateTimeField(db_index=True, null=True)),
                ('reader', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='readings', to=settings.AUTH_USER_MODEL)),
                ('reply', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='readings', to='conversations.reply')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('verdict', 'skipped'), _negated=True), fields=('reply', 'number'), name='reading_once')],
            },
        ),
    ]
