
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0020_reply_origins'),
        ('review', '0007_quick_decisions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('cause', models.CharField(choices=[('random', 'Drawn at random'), ('flagged', 'Drawn because of a sign that it may be wrong'), ('hand', 'Put in by hand')], max_length=16)),
                ('wanted', models.PositiveSmallIntegerField(default=1)),
                ('day', models.DateField(db_index=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('added_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reply', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='sample', to='conversations.reply')),
            ],
        ),
        migrations.CreateModel(
            name='Reading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('taken_at', models.DateTimeField()),
                ('verdict', models.CharField(blank=True, max_length=16)),
                ('scores', models.JSONField(default=list)),
                ('remark', models.TextField(blank=True)),
                ('done_at', models.DateTimeField(db_index=True, null=True)),
                ('reader', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='readings', to=settings.AUTH_USER_MODEL)),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='readings', to='review.sample')),
            ],
            options={
                'ordering': ['done_at', 'id'],
                'constraints': [models.UniqueConstraint(fields=('sample', 'reader'), name='reading_once_a_reader')],
            },
        ),
    ]
