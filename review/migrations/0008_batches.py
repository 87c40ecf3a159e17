import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import ieim.pipeline.canonical


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0007_quick_decisions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='reviewitem',
            name='alike',
            field=models.CharField(blank=True, max_length=255, null=True),
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('action', models.CharField(max_length=16)),
                ('reason', models.TextField(blank=True)),
                ('payload', models.JSONField(decoder=ieim.pipeline.canonical.DecimalDecoder, default=dict, encoder=ieim.pipeline.canonical.DecimalEncoder)),
                ('has_read', models.BooleanField(default=False)),
                ('token', models.CharField(blank=True, max_length=32)),
                ('language', models.CharField(max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('takes_effect_at', models.DateTimeField()),
                ('undone_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('leased_until', models.DateTimeField(null=True)),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to=settings.AUTH_USER_MODEL)),
            ],
            options={'default_permissions': ()},
        ),
        migrations.CreateModel(
            name='BatchEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('pending', 'Not decided yet'), ('decided', 'Decided'), ('refused', 'Left in the queue'), ('undone', 'Taken back'), ('final', 'Could not be taken back')], default='pending', max_length=8)),
                ('problem', models.TextField(blank=True)),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='review.batch')),
                ('decision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='review.decision')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batch_entries', to='review.reviewitem')),
            ],
            options={'default_permissions': ()},
        ),
    ]
