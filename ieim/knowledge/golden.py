"""Golden questions: kept by people, without anybody's personal data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from ieim.audit.services import record_system
from ieim.knowledge.models import GoldenQuestion
from ieim.pipeline.redaction import prepare


@transaction.atomic
def keep(*, case: Mapping[str, Any], by: User) -> tuple[GoldenQuestion, bool]:
    """Keep an evaluation case as a golden question; ``(question, whether it is new)``.

    Its texts are redacted: the question outlives the conversation that it came from.
    """
    history = [{**said, "text": prepare(said["text"]).text} for said in case["history"]]
    kept = {**case, "text": prepare(case["text"]).text, "history": history}
    question, new = GoldenQuestion.objects.get_or_create(
        name=case["id"], defaults={"case": kept, "created_by": by}
    )
    if new:
        record_system(
            kind="golden.kept",
            actor=f"staff:{by.get_username()}",
            payload={"name": question.name, "tags": list(case["tags"])},
        )
    return question, new
