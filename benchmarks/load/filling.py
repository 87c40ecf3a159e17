"""A database with a long history: a few real conversations, copied by the database itself.

The pattern goes through the app, so that its rows are what the app writes. A copy is the same rows
under other keys and at an earlier time, ``TURNS_A_DAY`` of them: a longer history means more days,
not busier ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.utils import timezone

from conversations import ports
from conversations.models import Attempt, MissingTriage, Session, Turn
from conversations.turns import choosing, running, services
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.services import FOR_GOOD
from ieim.config import demo
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from review.metrics import services as metrics
from review.models import DailyFigures, ReviewItem, SearchText

TURNS_A_DAY = 1_000
PATTERN = 100
STEP = 1_000_000
"""What lies between a row's number and that of its next copy."""
CHANCE = "abs(hashtext(old.id::text || n))"
ONCE: Mapping[type[models.Model], Mapping[str, str]] = {
    Session: {"reference": "substr({other}, 1, 12)", "secret_sha256": "{other} || {other}"},
    # A tenth of the items waits for a person; all of the pattern's are decided.
    ReviewItem: {
        "state": f"CASE WHEN {CHANCE} %% 10 = 0 THEN 'open' ELSE 'decided' END",
        "decided_at": f"CASE WHEN {CHANCE} %% 10 > 0 THEN {{earlier}} END",
    },
    SearchText: {"words": f"{{old}} || ' copy' || n || ' some' || {CHANCE} %% 50"},
    # What no list, count or look-up reads, and would fill the disk.
    Attempt: {"asked": "''::bytea", "raw": "''::bytea"},
}
"""What a copy has in a column other than the pattern."""


def publish() -> None:
    """Publish the demo knowledge, and make the demo accounts."""
    bundle = read_bundle(Path(settings.BASE_DIR) / "ieim" / "knowledge" / "demo")
    knowledge.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="demo", by=None)
    demo.create_accounts()


def prepare() -> None:
    """Publish, and have the pattern answered."""
    publish()
    for text in questions(PATTERN):
        turn, _ = services.receive(session=services.new_secret(), text=text, enqueue=False)
        running.run_turn(turn_id=turn.pk)
    # Nothing of it waits for the sweeper: copies of that would all be due at once.
    choosing.expire(now=timezone.now() + timedelta(days=400))
    # A third of them has stopped for a person.
    for turn in Turn.objects.filter(review_items=None)[: PATTERN // 3]:
        ports.reviews().open(turn_id=turn.pk, stage="reply", codes=["policy.unsigned"])
    MissingTriage.objects.all().delete()
    ReviewItem.objects.update(state="decided", decided_at=timezone.now())
    _keep_pattern()


def questions(number: int) -> list[str]:
    """Return so many of the demo's questions, again from the first where there are too few."""
    file = Path(settings.BASE_DIR) / "ieim" / "knowledge" / "demo" / "golden.jsonl"
    texts = [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]
    return [texts[i % len(texts)] for i in range(number)]


def grow(before: int, after: int) -> None:
    """Make ``after`` turns of ``before``, both multiples of the pattern; and what PostgreSQL's
    autovacuum does by itself after a while."""
    with connection.cursor() as cursor:
        # As a restored backup is read in: neither triggers nor foreign keys look at each row.
        cursor.execute("SET session_replication_role = replica")
        for model in _copied():
            fields = model._meta.concrete_fields
            columns = ", ".join(f'"{field.column}"' for field in fields)
            values = ", ".join(map(_copy, fields))
            table = model._meta.db_table
            cursor.execute(
                f"INSERT INTO {table} ({columns}) SELECT {values} "  # noqa: S608 - our own names
                f"FROM generate_series(%s, %s) AS n CROSS JOIN pattern_{table} AS old",
                [before // PATTERN, after // PATTERN - 1],
            )
        cursor.execute("SET session_replication_role = DEFAULT")
        # Copies are noted by no trigger: the days are counted as a worker would have, one by one.
        DailyFigures.objects.all().delete()
        while metrics.roll_up(now=timezone.now()):
            pass
        cursor.execute("VACUUM ANALYZE")


@cache
def _copied() -> tuple[type[models.Model], ...]:
    """Return what belongs to conversations: all that leads to a session, and its audit."""
    fields: dict[type[models.Model], None] = {Session: None, AuditEvent: None, AuditHead: None}
    while more := [m for m in apps.get_models() if m not in fields and _parents(m) & {*fields}]:
        fields |= dict.fromkeys(more)
    return tuple(fields)


def _parents(model: type[models.Model]) -> set[Any]:
    return {field.related_model for field in model._meta.concrete_fields if field.is_relation}


def _keep_pattern() -> None:
    """Put the pattern's rows aside; the chains that belong to no conversation are not of it."""
    with connection.cursor() as cursor:
        for model in _copied():
            table = model._meta.db_table
            own = any(field.name == "chain" for field in model._meta.concrete_fields)
            which = "WHERE chain <> ALL(%s)" if own else ""
            cursor.execute(
                f"CREATE TABLE pattern_{table} AS SELECT * FROM {table} {which}",  # noqa: S608 - ours
                [[*FOR_GOOD]] if own else None,
            )


def _copy(field: models.Field[Any, Any]) -> str:
    """Return what a column of the ``n``-th copy holds."""
    old, model = f'old."{field.column}"', field.model
    other = f"md5({old}::text || n)"
    earlier = f"{old} - n * interval '{86_400 * PATTERN // TURNS_A_DAY} seconds'"
    if field.name in ONCE.get(model, {}):
        return ONCE[model][field.name].format(old=old, other=other, earlier=earlier)
    kind = field.target_field if isinstance(field, models.ForeignKey) else field
    if isinstance(field, models.ForeignKey) and field.related_model not in _copied():
        return old
    while isinstance(kind, models.ForeignKey):  # a key that is another row's
        kind = kind.target_field
    if isinstance(kind, models.UUIDField):
        return f"{other}::uuid"
    if isinstance(kind, models.AutoField) or (kind is not field):
        return f"{old} + n * {STEP}::bigint"
    if isinstance(field, models.DateTimeField):
        return earlier
    return old
