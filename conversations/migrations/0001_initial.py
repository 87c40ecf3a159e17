import django.db.models.deletion
import ieim.pipeline.canonical
import uuid
from django.conf import settings
from django.db import migrations, models

from conversations.record.guards import GUARDS, guard


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("audit", "0001_initial"),
        ('people', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('content', models.BinaryField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('answered', 'answered'), ('asking', 'asking'), ('needs_review', 'needs_review'), ('awaiting_model', 'awaiting_model'), ('closed', 'closed')], default='queued', max_length=16)),
                ('release_number', models.PositiveIntegerField()),
                ('risks', models.JSONField(blank=True, default=list)),
                ('language', models.CharField(blank=True, max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('queued_at', models.DateTimeField()),
                ('lease', models.UUIDField(blank=True, null=True)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('retry_at', models.DateTimeField(blank=True, null=True)),
                ('unavailable_since', models.DateTimeField(blank=True, null=True)),
                ('runs', models.PositiveSmallIntegerField(default=0)),
                ('resumed', models.BooleanField(default=False)),
                ('hold_waived', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['session_id', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Seat',
            fields=[
                ('number', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('holder', models.UUIDField(null=True)),
                ('until', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('reference', models.CharField(max_length=12, unique=True)),
                ('secret_sha256', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='CorrectionNotice',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('agency', models.CharField(max_length=200)),
                ('service', models.CharField(max_length=200)),
                ('service_sha256', models.CharField(blank=True, max_length=64)),
                ('other_than_sha256', models.CharField(blank=True, default='', max_length=64)),
                ('turns', models.JSONField(null=True)),
                ('text', models.TextField()),
                ('text_sha256', models.CharField(max_length=64)),
                ('total', models.PositiveIntegerField()),
                ('sent', models.PositiveIntegerField(default=0)),
                ('repeated', models.PositiveIntegerField(default=0)),
                ('gone', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('sent_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Delay',
            fields=[
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='delay', serialize=False, to='conversations.turn')),
                ('since', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Choice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage', models.CharField(max_length=64)),
                ('codes', models.JSONField(default=list)),
                ('offered', models.JSONField()),
                ('asked_at', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('outcome', models.CharField(blank=True, choices=[('', 'not yet'), ('chosen', 'one was chosen'), ('none', 'none of these'), ('expired', 'nothing was chosen in time')], max_length=8)),
                ('chosen', models.JSONField(null=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='choice', to='conversations.turn')),
            ],
        ),
        migrations.CreateModel(
            name='Replacement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('by', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='replaces', to='conversations.turn')),
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='replaced', to='conversations.turn')),
            ],
        ),
        migrations.CreateModel(
            name='Reply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('origin', models.CharField(choices=[('model', 'answered by the pipeline'), ('model_approved', 'answered by the pipeline, approved by a person'), ('citizen_choice', 'chosen by the citizen'), ('staff_override', 'answered by the pipeline, corrected by a person'), ('staff', 'written by a person')], max_length=16)),
                ('body', models.JSONField()),
                ('marked', models.JSONField(default=list)),
                ('model', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='reply', to='conversations.turn')),
            ],
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('useful', models.BooleanField()),
                ('at', models.DateTimeField()),
                ('reply', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='rating', to='conversations.reply')),
            ],
        ),
        migrations.CreateModel(
            name='Citation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('agency', models.CharField(max_length=200)),
                ('service', models.CharField(max_length=200)),
                ('service_sha256', models.CharField(max_length=64)),
                ('reply', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='conversations.reply')),
            ],
        ),
        migrations.AddField(
            model_name='turn',
            name='session',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='conversations.session'),
        ),
        migrations.CreateModel(
            name='Correction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text_sha256', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('notice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='corrections', to='conversations.correctionnotice')),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='corrections', to='conversations.turn')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='corrections', to='conversations.session')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ClientTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('client_id', models.CharField(max_length=64)),
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='client_turn', to='conversations.turn')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='client_turns', to='conversations.session')),
            ],
        ),
        migrations.CreateModel(
            name='SessionEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('kind', models.CharField(max_length=16)),
                ('key', models.CharField(max_length=120)),
                ('body', models.JSONField()),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='conversations.session')),
                ('turn', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='conversations.turn')),
            ],
            options={
                'ordering': ['session_id', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('contract', models.CharField(max_length=64)),
                ('order', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('pending', 'pending'), ('running', 'running'), ('passed', 'passed'), ('needs_review', 'needs_review'), ('approved', 'approved'), ('overridden', 'overridden'), ('chosen', 'chosen')], default='pending', max_length=16)),
                ('round', models.PositiveSmallIntegerField(default=1)),
                ('output', models.JSONField(decoder=ieim.pipeline.canonical.DecimalDecoder, encoder=ieim.pipeline.canonical.DecimalEncoder, null=True)),
                ('state_merge', models.JSONField(decoder=ieim.pipeline.canonical.DecimalDecoder, encoder=ieim.pipeline.canonical.DecimalEncoder, null=True)),
                ('findings', models.JSONField(default=list)),
                ('result', models.JSONField(decoder=ieim.pipeline.canonical.DecimalDecoder, encoder=ieim.pipeline.canonical.DecimalEncoder, null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stages', to='conversations.turn')),
            ],
            options={
                'ordering': ['turn_id', 'order'],
            },
        ),
        migrations.CreateModel(
            name='EvidenceSpan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=500)),
                ('source', models.CharField(max_length=32)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
                ('snippet_sha256', models.CharField(max_length=64)),
                ('occurrences', models.PositiveIntegerField()),
                ('stands', models.BooleanField(default=True)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spans', to='conversations.stage')),
            ],
            options={
                'ordering': ['stage_id', 'start', 'end'],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.PositiveSmallIntegerField(default=1)),
                ('number', models.PositiveSmallIntegerField()),
                ('model', models.CharField(max_length=200)),
                ('temperature', models.DecimalField(decimal_places=2, max_digits=4)),
                ('request_sha256', models.CharField(max_length=64)),
                ('contract_sha256', models.CharField(max_length=64)),
                ('prompt_sha256', models.CharField(max_length=64)),
                ('request_bytes', models.PositiveIntegerField()),
                ('asked', models.BinaryField(default=b'')),
                ('raw', models.BinaryField()),
                ('finish_reason', models.CharField(blank=True, max_length=64)),
                ('refusal', models.BinaryField(default=b'')),
                ('prompt_tokens', models.PositiveIntegerField(null=True)),
                ('completion_tokens', models.PositiveIntegerField(null=True)),
                ('cached_tokens', models.PositiveIntegerField(null=True)),
                ('tokens', models.PositiveIntegerField(default=0)),
                ('duration_ms', models.PositiveIntegerField()),
                ('findings', models.JSONField(default=list)),
                ('response_id', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='conversations.stage')),
            ],
            options={
                'ordering': ['stage_id', 'round', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Unused',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('contract', models.CharField(max_length=64)),
                ('request_sha256', models.CharField(max_length=64)),
                ('prompt_tokens', models.PositiveIntegerField(null=True)),
                ('completion_tokens', models.PositiveIntegerField(null=True)),
                ('tokens', models.PositiveIntegerField()),
                ('duration_ms', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unused', to='conversations.turn')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddIndex(
            model_name='correctionnotice',
            index=models.Index(fields=['agency', 'service', '-created_at'], name='correction_of_service'),
        ),
        migrations.AddIndex(
            model_name='choice',
            index=models.Index(fields=['outcome', 'until'], name='choice_until'),
        ),
        migrations.AddIndex(
            model_name='choice',
            index=models.Index(fields=['asked_at'], name='choice_day'),
        ),
        migrations.AddIndex(
            model_name='rating',
            index=models.Index(fields=['at'], name='rating_day'),
        ),
        migrations.AddIndex(
            model_name='citation',
            index=models.Index(fields=['agency', 'service', 'service_sha256'], name='citation_of_service'),
        ),
        migrations.AddConstraint(
            model_name='citation',
            constraint=models.UniqueConstraint(fields=('reply', 'agency', 'service'), name='citation_once_a_reply'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(fields=['state', 'queued_at'], name='turn_state_queued'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(fields=('session', 'number'), name='turn_number_once'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(condition=models.Q(('resumed', False), ('state__in', ['awaiting_model', 'queued', 'running'])), fields=('session',), name='one_pending_turn_a_session'),
        ),
        migrations.AddConstraint(
            model_name='correction',
            constraint=models.UniqueConstraint(fields=('turn', 'text_sha256'), name='correction_once_a_turn'),
        ),
        migrations.AddConstraint(
            model_name='clientturn',
            constraint=models.UniqueConstraint(fields=('session', 'client_id'), name='client_id_once_a_session'),
        ),
        migrations.AddConstraint(
            model_name='sessionevent',
            constraint=models.UniqueConstraint(fields=('session', 'number'), name='event_number_once'),
        ),
        migrations.AddConstraint(
            model_name='sessionevent',
            constraint=models.UniqueConstraint(fields=('session', 'key'), name='event_fact_once'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.UniqueConstraint(fields=('turn', 'contract'), name='stage_once_a_turn'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['created_at'], name='attempt_day'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('stage', 'round', 'number'), name='attempt_once'),
        ),
        migrations.AddIndex(
            model_name='unused',
            index=models.Index(fields=['created_at'], name='unused_day'),
        ),
        *(guard(table) for table in GUARDS),
    ]
