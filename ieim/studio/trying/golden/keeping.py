"""Golden questions: kept by people, without anybody's personal data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from ieim.audit.services import record_system
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.personal.redaction import prepare
from ieim.studio.models import GoldenQuestion


def redacted(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation case with its texts redacted, and its ``note`` where it has one."""
    history = [{**said, "text": prepare(said["text"]).text} for said in case["history"]]
    note = {"note": prepare(case["note"]).text} if "note" in case else {}
    return {**case, "text": prepare(case["text"]).text, "history": history, **note}


@transaction.atomic
def keep(*, case: Mapping[str, Any], by: User) -> tuple[GoldenQuestion, bool]:
    """Keep an evaluation case as a golden question; ``(question, whether it is new)``.

    Its texts are redacted: the question outlives the conversation that it came from.
    """
    question, new = GoldenQuestion.objects.get_or_create(
        name=case["id"], defaults={"case": redacted(case), "created_by": by}
    )
    if new:
        record_system(
            kind="golden.kept",
            actor=by.actor,
            payload={"name": question.name, "tags": list(case["tags"])},
        )
    return question, new


@transaction.atomic
def remove(*, question: GoldenQuestion, by: User) -> None:
    """Throw a golden question away; one that is gone already stays gone."""
    gone, _ = GoldenQuestion.objects.filter(pk=question.pk).delete()
    if gone:
        record_system(
            kind="golden.removed",
            actor=by.actor,
            payload={"name": question.name, "tags": list(question.case["tags"])},
        )


def visible(question: GoldenQuestion, scope: frozenset[str] | None) -> bool:
    """Whether somebody of ``scope`` (None: every agency) may see a question.

    One that no agency is expected for belongs to nobody, and everybody may see it.
    """
    agencies = question.case["expected"]["agencies"]
    return scope is None or not agencies or not scope.isdisjoint(agencies)


def questions_of(user: AbstractBaseUser | AnonymousUser) -> list[GoldenQuestion]:
    """Return the golden questions that ``user`` may see, the newest first."""
    scope = agencies_of(user)
    kept = GoldenQuestion.objects.select_related("created_by")
    return [question for question in kept if visible(question, scope)]
