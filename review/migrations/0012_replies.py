import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0011_notes'),
    ]

    operations = [
        migrations.CreateModel(
            name='MessageVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('embedder', models.CharField(max_length=200)),
                ('value', models.BinaryField()),
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='vector', to='review.reviewitem')),
            ],
        ),
        migrations.CreateModel(
            name='SavedReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=80)),
                ('language', models.CharField(max_length=8)),
                ('agency', models.CharField(blank=True, max_length=200)),
                ('text', models.TextField(max_length=4000)),
                ('used', models.PositiveIntegerField(default=0)),
                ('last_used_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['title', 'id'],
                'indexes': [models.Index(fields=['agency'], name='saved_reply_agency')],
            },
        ),
        migrations.CreateModel(
            name='MessageTranslation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=8)),
                ('text', models.TextField(blank=True)),
                ('tokens', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='translations', to='review.reviewitem')),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='translated_day')],
            },
        ),
    ]
