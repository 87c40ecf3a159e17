import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from ieim.audit.triggers import append_only


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("audit", "0001_initial"),
        ('people', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='Release',
            fields=[
                ('number', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('content', models.JSONField()),
                ('note', models.TextField(blank=True, help_text='What changed, for other editors.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-number'],
            },
        ),
        migrations.CreateModel(
            name='Publication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('published_at', models.DateTimeField(auto_now_add=True)),
                ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='publications', to='knowledge.release')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Vector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('embedder', models.CharField(max_length=100)),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('value', models.BinaryField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('embedder', 'sha256'), name='one_vector_a_text')],
            },
        ),
        migrations.CreateModel(
            name='Directive',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('agency', models.CharField(blank=True, max_length=200)),
                ('text', models.CharField(max_length=500)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-starts_at', '-id'],
                'indexes': [models.Index(fields=['ends_at', 'starts_at'], name='directive_when')],
                'constraints': [models.CheckConstraint(condition=models.Q(('ends_at__gte', models.F('starts_at'))), name='directive_ends_after_start')],
            },
        ),
        append_only("knowledge_release", keys=[["number"]]),
        append_only("knowledge_publication", keys=[]),
    ]
