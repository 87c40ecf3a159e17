import django.db.models.deletion
import ieim.pipeline.canonical
import uuid
from django.conf import settings
from django.db import migrations, models

from review.queue import fulltext
from review.audited import GUARDS
from review.audited import guard


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("audit", "0001_initial"),
        ('conversations', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AgencySet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ids', models.JSONField()),
                ('digest', models.CharField(max_length=64, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name='ReviewItem',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('stage', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('open', 'open'), ('claimed', 'claimed'), ('decided', 'decided'), ('second_opinion', 'second_opinion')], default='open', max_length=16)),
                ('reasons', models.JSONField(default=list)),
                ('reason', models.CharField(blank=True, max_length=64)),
                ('priority', models.PositiveSmallIntegerField(choices=[(1, 'high'), (2, 'normal'), (3, 'low')], default=2)),
                ('agency', models.CharField(blank=True, max_length=200)),
                ('urgency', models.CharField(blank=True, max_length=64)),
                ('rank', models.PositiveIntegerField(default=1440)),
                ('language', models.CharField(blank=True, max_length=8)),
                ('needs_second', models.BooleanField(default=False)),
                ('claimed_until', models.DateTimeField(blank=True, null=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('opened_at', models.DateTimeField(auto_now_add=True)),
                ('due_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('agencies', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='review.agencyset')),
                ('claimed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='claimed_items', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='follow_ups', to='review.reviewitem')),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_items', to='conversations.turn')),
            ],
            options={
                'ordering': ['rank', 'due_at', 'id'],
                'permissions': [('decide_reviewitem', 'Can claim and decide review items'), ('supervise_reviewitem', 'Can assign and take over review items'), ('second_reviewitem', 'Can give a second opinion'), ('triage_reviewitem', 'Can work on items without an agency'), ('view_metrics', 'Can see the metrics')],
            },
        ),
        migrations.CreateModel(
            name='ItemFlag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=64)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='review.reviewitem')),
            ],
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('action', models.CharField(choices=[('approve', 'Approve'), ('override', 'Correct'), ('retry', 'Ask the model again'), ('write', 'Write the reply'), ('ask', 'Ask the citizen for more'), ('hand_over', 'Hand to another agency'), ('dismiss', 'Dismiss'), ('agree', 'Agree'), ('disagree', 'Disagree'), ('undo', 'Undo')], max_length=16)),
                ('reason', models.TextField()),
                ('patch', models.JSONField(decoder=ieim.pipeline.canonical.DecimalDecoder, encoder=ieim.pipeline.canonical.DecimalEncoder, null=True)),
                ('output', models.JSONField(decoder=ieim.pipeline.canonical.DecimalDecoder, encoder=ieim.pipeline.canonical.DecimalEncoder, null=True)),
                ('artifacts', models.JSONField(default=dict)),
                ('evidence', models.JSONField(default=list)),
                ('seconds', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('about', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='review.decision')),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='review.reviewitem')),
            ],
            options={
                'ordering': ['created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('query', models.CharField(blank=True, max_length=500)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='SearchText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('words', models.TextField()),
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='search_text', to='review.reviewitem')),
            ],
        ),
        migrations.CreateModel(
            name='SetMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('agency', models.CharField(max_length=200)),
                ('set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='review.agencyset')),
            ],
        ),
        migrations.CreateModel(
            name='SignOff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('agency', models.CharField(max_length=200)),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('stands', models.BooleanField(default=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sign_offs', to=settings.AUTH_USER_MODEL)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sign_offs', to='review.reviewitem')),
            ],
        ),
        migrations.AddIndex(
            model_name='reviewitem',
            index=models.Index(fields=['state', 'rank', 'due_at', 'id', 'stage', 'reason', 'urgency', 'language', 'opened_at'], name='review_queue'),
        ),
        migrations.AddIndex(
            model_name='reviewitem',
            index=models.Index(fields=['state', 'agencies', 'rank', 'due_at', 'id'], name='review_agencies'),
        ),
        migrations.AddIndex(
            model_name='reviewitem',
            index=models.Index(fields=['claimed_by', 'state', 'rank', 'due_at'], name='review_mine'),
        ),
        migrations.AddIndex(
            model_name='reviewitem',
            index=models.Index(fields=['decided_at'], name='review_decided'),
        ),
        migrations.AddConstraint(
            model_name='reviewitem',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['claimed', 'open', 'second_opinion'])), fields=('turn', 'stage'), name='one_undecided_item_a_stage'),
        ),
        migrations.AddConstraint(
            model_name='itemflag',
            constraint=models.UniqueConstraint(fields=('code', 'item'), name='flag_once_an_item'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['actor', 'created_at'], name='decision_actor'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='view_once_a_name'),
        ),
        migrations.AddConstraint(
            model_name='setmember',
            constraint=models.UniqueConstraint(fields=('agency', 'set'), name='member_once_a_set'),
        ),
        migrations.AddConstraint(
            model_name='signoff',
            constraint=models.UniqueConstraint(condition=models.Q(('stands', True)), fields=('item', 'agency'), name='signed_once_an_agency'),
        ),
        migrations.RunPython(fulltext.create, fulltext.drop),
        *(guard(table) for table in GUARDS),
    ]
