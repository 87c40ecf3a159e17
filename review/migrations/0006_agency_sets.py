"""Items belong to a set of agencies; a signature keeps its reason."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("review", "0005_queue_filters")]

    operations = [
        migrations.CreateModel(
            name="AgencySet",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ids", models.JSONField()),
                ("digest", models.CharField(max_length=64, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="SetMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("agency", models.CharField(max_length=200)),
                (
                    "set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="review.agencyset",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="setmember",
            constraint=models.UniqueConstraint(fields=("agency", "set"), name="member_once_a_set"),
        ),
        migrations.AlterModelOptions(
            name="reviewitem",
            options={
                "ordering": ["due_at", "id"],
                "permissions": [
                    ("decide_reviewitem", "Can claim and decide review items"),
                    ("supervise_reviewitem", "Can assign and take over review items"),
                    ("second_reviewitem", "Can give a second opinion"),
                    ("triage_reviewitem", "Can work on items without an agency"),
                    ("view_metrics", "Can see the metrics"),
                ],
            },
        ),
        migrations.RemoveIndex(model_name="reviewitem", name="review_agency"),
        migrations.AddField(
            model_name="reviewitem",
            name="agencies",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="items",
                to="review.agencyset",
            ),
        ),
        migrations.AddIndex(
            model_name="reviewitem",
            index=models.Index(
                fields=["state", "agencies", "due_at", "id"], name="review_agencies"
            ),
        ),
        migrations.AddField(
            model_name="signoff", name="reason", field=models.TextField(blank=True)
        ),
    ]
