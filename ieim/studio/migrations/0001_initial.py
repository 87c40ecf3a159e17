import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from ieim.audit.triggers import append_only


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("audit", "0001_initial"),
        ('knowledge', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Agency',
            fields=[
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('id', models.CharField(help_text='Short and lasting, such as the usual abbreviation. It cannot be changed later.', max_length=200, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=500)),
                ('path', models.CharField(blank=True, help_text="The agency's page (http:// or https://), or where it is to be found, in words.", max_length=2048)),
                ('description', models.TextField(blank=True, help_text='What it is for, in words that citizens use: the search reads it.', max_length=10000)),
            ],
            options={
                'verbose_name_plural': 'agencies',
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='CheckRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'waits for a worker'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('sha256', models.CharField(max_length=64, unique=True, verbose_name='SHA-256')),
                ('remarks', models.JSONField(default=list)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='CaseText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('case', models.CharField(choices=[('greeting', 'greeting'), ('thanks', 'thanks'), ('off_topic', 'off topic'), ('unclear', 'unclear'), ('abuse', 'abuse')], help_text='What the message is. Unclear is also what nothing else fits.', max_length=200)),
                ('language', models.CharField(help_text='ISO 639-1, such as fr.', max_length=8)),
                ('text', models.TextField(help_text='Two or three short sentences: what people can ask here, and that they may.', max_length=800)),
            ],
            options={
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('case', 'language'), name='knowledge_case_text_once')],
            },
        ),
        migrations.CreateModel(
            name='GoldenQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True)),
                ('case', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', 'name'],
            },
        ),
        migrations.CreateModel(
            name='HelpLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('language', models.CharField(help_text='ISO 639-1, such as fr.', max_length=8)),
                ('flag', models.CharField(help_text="The code of a risk flag's label.", max_length=200)),
                ('text', models.TextField(help_text="Whom to call, with the same numbers as in the label's description.", max_length=10000)),
            ],
            options={
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('language', 'flag'), name='knowledge_help_line_once')],
            },
        ),
        migrations.CreateModel(
            name='Label',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('set', models.CharField(choices=[('intents', 'intents'), ('product_lines', 'product lines'), ('urgencies', 'urgencies'), ('risk_flags', 'risk flags'), ('entity_types', 'entity types'), ('key_types', 'key types')], max_length=200)),
                ('code', models.CharField(help_text='What the model answers and reports count; it should last.', max_length=200)),
                ('name', models.CharField(max_length=500)),
                ('description', models.TextField(blank=True, help_text='When the label applies: the model reads it. Of a risk flag that escalates, what citizens are shown at once: whom to call.', max_length=10000)),
                ('threshold', models.DecimalField(blank=True, decimal_places=2, help_text='A person looks when the model is less sure than this (0.00 to 1.00).', max_digits=3, null=True)),
                ('effect', models.CharField(blank=True, help_text='Risk flags: none, hold or escalate. Urgencies: target minutes. Others: blank.', max_length=200)),
            ],
            options={
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('set', 'code'), name='knowledge_label_once')],
            },
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('open', 'waits for a second person'), ('published', 'published'), ('refused', 'turned down'), ('withdrawn', 'withdrawn by its author')], default='open', max_length=12)),
                ('content', models.JSONField()),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('note', models.TextField(help_text='What changes, for other editors.')),
                ('checks', models.JSONField(default=list)),
                ('proposed_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True, help_text='Why it was turned down, or published although answers get worse.')),
                ('again', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.release')),
                ('base', models.ForeignKey(help_text='Current then.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.release')),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('proposed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('release', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='knowledge.release')),
            ],
            options={
                'ordering': ['-id'],
                'permissions': [('publish_proposal', 'Can publish what somebody else proposed')],
            },
        ),
        migrations.CreateModel(
            name='GoldenRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'waits for a worker'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('losses', models.PositiveIntegerField(default=0)),
                ('result', models.JSONField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('proposal', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='golden_runs', to='studio.proposal')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='RiskExample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('language', models.CharField(help_text='ISO 639-1, such as fr.', max_length=8)),
                ('text', models.CharField(help_text="As people write it, in a sentence or two; nobody's own words or data.", max_length=400)),
                ('flag', models.CharField(help_text="The code of a risk flag's label.", max_length=200)),
                ('kind', models.CharField(choices=[('danger', 'danger'), ('near_miss', 'near miss')], help_text='Danger: this shall be flagged. Near miss: it only sounds like it.', max_length=200)),
            ],
            options={
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('language', 'text'), name='knowledge_example_once')],
            },
        ),
        migrations.CreateModel(
            name='Service',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('key', models.CharField(help_text='Unique within the agency.', max_length=200)),
                ('name', models.CharField(help_text='What the citizen gets or does.', max_length=500)),
                ('path', models.CharField(blank=True, help_text="The service's page (http:// or https://), or where it is to be found, in words.", max_length=2048)),
                ('overview', models.TextField(blank=True, help_text='What it is, in a few short sentences.', max_length=10000)),
                ('applicability_summary', models.TextField(blank=True, help_text='Who it is for.', max_length=10000)),
                ('categories', models.JSONField(blank=True, default=list, help_text="Keys of entries in the same agency's dictionary.")),
                ('requirements', models.JSONField(blank=True, default=list, help_text='What the citizen needs.')),
                ('fees', models.TextField(blank=True, max_length=10000)),
                ('processing_time', models.TextField(blank=True, max_length=10000)),
                ('how_to_apply', models.JSONField(blank=True, default=list, help_text='The steps, in order.')),
                ('contact', models.TextField(blank=True, max_length=10000)),
                ('url', models.CharField(blank=True, help_text='Where to apply; must begin with http:// or https://.', max_length=2048)),
                ('agency', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='services', to='studio.agency')),
            ],
            options={
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Translation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('language', models.CharField(help_text='ISO 639-1, such as fr.', max_length=8)),
                ('category', models.CharField(blank=True, max_length=200)),
                ('service', models.CharField(blank=True, max_length=200)),
                ('name', models.CharField(blank=True, help_text='A name, or a category as citizens say it.', max_length=1000)),
                ('description', models.TextField(blank=True, help_text="An agency's description.", max_length=10000)),
                ('keywords', models.JSONField(blank=True, default=list, help_text="A category's.")),
                ('overview', models.TextField(blank=True, max_length=10000)),
                ('applicability_summary', models.TextField(blank=True, max_length=10000)),
                ('requirements', models.JSONField(blank=True, default=list)),
                ('fees', models.TextField(blank=True, max_length=10000)),
                ('processing_time', models.TextField(blank=True, max_length=10000)),
                ('how_to_apply', models.JSONField(blank=True, default=list)),
                ('contact', models.TextField(blank=True, max_length=10000)),
                ('agency', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='translations', to='studio.agency')),
            ],
            options={
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, help_text='Entries are listed in this order, lowest first.')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('key', models.CharField(help_text='Unique within the agency.', max_length=200)),
                ('value', models.CharField(blank=True, help_text='The category as citizens would say it.', max_length=1000)),
                ('keywords', models.JSONField(blank=True, default=list, help_text='Other words that citizens use for it.')),
                ('agency', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='studio.agency')),
            ],
            options={
                'verbose_name': 'dictionary entry',
                'verbose_name_plural': 'dictionary entries',
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('agency', 'key'), name='knowledge_category_once')],
            },
        ),
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.CharField(max_length=16)),
                ('entry', models.CharField(max_length=620)),
                ('agency', models.CharField(blank=True, max_length=200)),
                ('kind', models.CharField(choices=[('added', 'added'), ('changed', 'changed'), ('removed', 'removed')], max_length=8)),
                ('source', models.CharField(choices=[('admin', 'by hand'), ('file', 'from a file'), ('api', 'over the API'), ('bundle', 'from a bundle')], max_length=8)),
                ('fields', models.JSONField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['table', 'entry', '-id'], name='change_of_entry')],
            },
        ),
        migrations.AddConstraint(
            model_name='proposal',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('state',), name='one_open_proposal'),
        ),
        migrations.AddConstraint(
            model_name='service',
            constraint=models.UniqueConstraint(fields=('agency', 'key'), name='knowledge_service_once'),
        ),
        migrations.AddConstraint(
            model_name='translation',
            constraint=models.UniqueConstraint(fields=('language', 'agency', 'category', 'service'), name='knowledge_translation_once'),
        ),
        append_only("studio_change", keys=[]),
    ]
