"""Corrections as evaluation cases: what a person decided is what is right."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from conversations import selectors
from conversations.models import Turn
from ieim.pipeline.topology import REPLY
from review.deciding import answers
from review.deciding.signing import last_proposal
from review.metrics.selectors import WITHOUT_A_PERSON
from review.models import Action, Decision, Reading, ReviewItem
from review.quality.models import Score
from review.states import ReviewState

Expected = dict[str, Any]
_FAULTY = (Score.INCOMPLETE, Score.WRONG, Score.HARMFUL)


class NoCase(Exception):
    """An item whose decision does not say what the right answer is; the message says why."""


def cases(*, since: datetime | None = None) -> Iterator[dict[str, Any] | None]:
    """Yield the case of each decided item, oldest decision first, None for one that makes none;
    then that of each answer without a person that every reader of the sample found right."""
    items = ReviewItem.objects.filter(state=ReviewState.DECIDED.value)
    if since is not None:
        items = items.filter(decided_at__gte=since)
    items = items.select_related("turn__session", "turn__reply").order_by("decided_at", "id")
    for item in items.iterator():
        try:
            yield case_of(item)
        except NoCase:
            yield None
    read = Reading.objects.filter(verdict=Score.RIGHT, reply__origin__in=WITHOUT_A_PERSON)
    if since is not None:
        read = read.filter(done_at__gte=since)
    faulty = Reading.objects.filter(verdict__in=_FAULTY).values("reply")
    rows = read.exclude(reply__in=faulty).filter(number=1).select_related("reply__turn__session")
    for reading in rows.order_by("done_at", "pk"):
        name, tags = f"reading-{reading.pk}", ["sample", reading.verdict]
        expected = _expect_from_reply(reading.reply.body)
        yield _case(name, reading.reply.turn, expected, tags, f"reading {reading.pk}")


def case_id(item_id: UUID) -> str:
    """Return the id of the evaluation case that an item's decision makes."""
    return f"correction-{item_id}"


def case_of(item: ReviewItem) -> dict[str, Any]:
    """Return a decided item as an evaluation case, as ``ieim/studio/evaluation/cases.py`` reads.

    Expected is only what the person vouched for; the rest is null ("not labelled"). Raises
    :class:`NoCase`.
    """
    decision = _effective_decision(item)
    if Reading.objects.filter(reply__turn=item.turn, verdict__in=_FAULTY).exists():
        raise NoCase(gettext("Somebody who read the answer again did not find it right."))
    tags = ["correction", decision.action, decision.artifacts.get("stage") or item.stage]
    expected = _expected(item, decision)
    return _case(case_id(item.pk), item.turn, expected, tags, f"review item {item.pk}")


def _case(name: str, turn: Turn, expected: Expected, tags: list[str], source: str) -> Expected:
    return {
        "id": name,
        "lang": turn.language or "und",
        "text": turn.text,
        "history": [
            {**message, "role": "user" if message["role"] == "user" else "agent"}
            for message in selectors.history(turn)
        ],
        "expected": expected,
        "tags": tags,
        "labels": "human",
        "source": f"IEIM {source}",
    }


def _effective_decision(item: ReviewItem) -> Decision:
    """Return the decision that took effect."""
    if item.state != ReviewState.DECIDED.value:
        raise NoCase(gettext("This item has not been decided yet."))
    last = last_proposal(item)
    against = [Action.DISAGREE.value, Action.UNDO.value]
    if last is None or last.answers.filter(action__in=against).exists():
        raise NoCase(gettext("The decision was undone."))
    return last


def _expected(item: ReviewItem, decision: Decision) -> Expected:
    action = Action(decision.action)
    if action is Action.ASK:
        return _expect_inquiry(agencies=None)
    if action in (Action.WRITE, Action.SERVICE) or (
        action is Action.APPROVE and item.stage == REPLY
    ):
        return _expect_from_reply(decision.output)
    if action in (Action.APPROVE, Action.OVERRIDE):
        return _expect_from_stage(item.turn, decision)
    raise NoCase(gettext("This decision does not say what the right answer is."))


def _expect_from_reply(body: Any) -> Expected:
    if body["kind"] == "guidance":
        return {"inquiry": False, "agencies": [], "service": None, "acceptable_services": []}
    sources = body["sources"]
    if not sources:
        return _expect_inquiry(agencies=None)
    return _expect_inquiry(
        agencies=[source["agency_id"] for source in sources],
        services=[source["service_key"] for source in sources],
    )


def _expect_from_stage(turn: Turn, decision: Decision) -> Expected:
    stage: str = decision.artifacts["stage"]
    output: Any = decision.output
    if stage == "judgement_v1":
        inquiry = output["judgements"]["inquiry"]
        return (
            _expect_inquiry(agencies=None) if inquiry else _expect_from_reply({"kind": "guidance"})
        )
    if stage == "agency_detect_v1":
        return _expect_inquiry(agencies=output["judgements"]["agencyDetected"])
    if stage == "multi_agency_service_answer_v1":
        sources = output["sourcesUsed"]
        return _expect_inquiry(
            agencies=[source["agencyId"] for source in sources],
            services=[source["serviceKey"] for source in sources],
        )
    if stage == "service_select_v1":
        services = [output["serviceSelection"]["serviceKey"]]
        return _expect_inquiry(agencies=_detected(turn), services=services)
    if stage in ("category_select_v1", "semantic_analysis_v1"):
        return _expect_inquiry(agencies=_detected(turn))
    raise NoCase(gettext("Cases say nothing of intents, facts and keys."))


def _detected(turn: Turn) -> list[str]:
    """Return the agencies that the decision took for granted."""
    context = answers.context_for(turn, "service_select_v1")
    return list(context.detected)


def _expect_inquiry(*, agencies: list[str] | None, services: list[str] | None = None) -> Expected:
    acceptable = list(dict.fromkeys(services or []))
    return {
        "inquiry": True,
        "agencies": None if agencies is None else list(dict.fromkeys(agencies)),
        "service": acceptable[0] if acceptable else None,
        "acceptable_services": acceptable,
    }
