import django.db.models.deletion
from django.db import migrations, models

from ieim.audit.triggers import append_only


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='AuditCheckpoint',
            fields=[
                ('number', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('chains', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['-number'],
            },
        ),
        migrations.CreateModel(
            name='AuditHead',
            fields=[
                ('chain', models.UUIDField(primary_key=True, serialize=False)),
                ('seq', models.PositiveBigIntegerField()),
                ('hash', models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.UUIDField()),
                ('seq', models.PositiveBigIntegerField()),
                ('kind', models.CharField(max_length=64)),
                ('actor', models.CharField(max_length=160)),
                ('at', models.DateTimeField()),
                ('payload', models.TextField()),
                ('prev_hash', models.CharField(max_length=64)),
                ('hash', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['kind', '-id'], name='audit_event_kind')],
                'constraints': [models.UniqueConstraint(fields=('chain', 'seq'), name='audit_event_once')],
            },
        ),
        migrations.CreateModel(
            name='CheckpointHead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.UUIDField()),
                ('seq', models.PositiveBigIntegerField()),
                ('hash', models.CharField(max_length=64)),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='heads', to='audit.auditcheckpoint')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('chain', 'seq'), name='audit_checkpoint_head_once')],
            },
        ),
        append_only("audit_auditevent", keys=[["chain", "seq"]]),
        append_only("audit_auditcheckpoint", keys=[["number"]]),
        append_only("audit_checkpointhead", keys=[["chain", "seq"]]),
        append_only(
            "audit_audithead",
            keys=[["chain"]],
            update_if="NEW.chain = OLD.chain AND NEW.seq = OLD.seq + 1",
        ),
    ]
