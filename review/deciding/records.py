"""Correction records: a person's decision compared with the model's answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jsonpatch

from conversations.models import Attempt, Stage
from ieim.audit import services as audit
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.pipeline.canonical import dumps
from ieim.pipeline.gate import strict_json
from ieim.pipeline.gate.gate import EvidenceDict, with_two_decimals
from review.audited import DECISION
from review.models import Action, Decision, ReviewItem

CLAIMS = ("review.claimed", "review.taken_over", "review.assigned")
"""The audit events by which somebody gets an item; their payload names it as ``item``."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a record holds: the new answer, and what it is compared with.

    ``original`` is the model's last readable answer to the same stage, None for none.
    ``contract`` is the stage whose last attempt was judged, empty where none was.
    """

    output: Any = None
    original: Any = None
    evidence: Sequence[EvidenceDict] = ()
    contract: str = ""


def write(
    *,
    item: ReviewItem,
    actor: User,
    action: Action,
    reason: str,
    content: Content,
    now: datetime,
    about: Decision | None = None,
    live_release: int | None = None,
) -> Decision:
    """Store a record with its audit event, inside the caller's transaction.

    ``live_release`` is the release whose changes the actor has confirmed, None for none.

    The event has digests and codes, never a word of the citizen's or of the reason.
    """
    patch = patch_of(content)
    artifacts = _artifacts(item, content.contract)
    if actor.limits is not None:
        artifacts["token"] = actor.limits.prefix
    if live_release is not None:
        artifacts["live_release"] = live_release
    decision = Decision.objects.create(
        item=item,
        actor_id=actor.pk,
        action=action.value,
        reason=reason,
        patch=patch,
        output=content.output,
        artifacts=artifacts,
        evidence=list(content.evidence),
        seconds=_seconds(item, now),
        about=about,
    )
    audit.record(
        chain=item.turn.session_id,
        kind="review.decided",
        actor=actor.actor,
        payload={
            "item": str(item.pk),
            "turn": str(item.turn_id),
            "stage": item.stage,
            "decision": str(decision.pk),
            "action": action.value,
            "about": None if about is None else str(about.pk),
            "artifacts": decision.artifacts,
        },
        rows=[DECISION.row(decision)],
    )
    return decision


def patch_of(content: Content) -> list[dict[str, Any]] | None:
    """Return the RFC 6902 patch from the model's answer to the new one."""
    if content.original is None or content.output is None:
        return None
    patch = jsonpatch.JsonPatch.from_diff(content.original, content.output, dumps=dumps)
    return [dict(operation) for operation in patch.patch]


def last_readable(stage: Stage | None) -> Mapping[str, Any] | None:
    """Return the last answer of a stage's attempts that can be read as JSON; None for none."""
    for attempt in _newest_first(stage):
        output, _ = strict_json.parse(bytes(attempt.raw).decode("utf-8", "surrogatepass"))
        if output is not None:
            # As the gate writes scores: 0.9 is no change of 0.90.
            answer: Mapping[str, Any] = with_two_decimals(output)
            return answer
    return None


def last_attempt(stage: Stage | None) -> Attempt | None:
    """Return the attempt that was judged last."""
    return next(_newest_first(stage), None)


def _newest_first(stage: Stage | None) -> Iterator[Attempt]:
    if stage is not None:
        yield from stage.attempts.order_by("-round", "-number")


def _artifacts(item: ReviewItem, contract: str) -> dict[str, str | int]:
    stage = item.turn.stages.filter(contract=contract).first()
    attempt = last_attempt(stage)
    found: dict[str, str | int] = {"stage": contract} if contract else {}
    if attempt is not None:
        found |= {
            "attempt": f"{attempt.round}.{attempt.number}",
            "contract_sha256": attempt.contract_sha256,
            "prompt_sha256": attempt.prompt_sha256,
        }
    return found


def _seconds(item: ReviewItem, now: datetime) -> int:
    """Return the seconds since the item was last claimed, as the audit record has it."""
    claims = AuditEvent.objects.filter(
        chain=item.turn.session_id, kind__in=CLAIMS, payload__contains=str(item.pk)
    )
    at = claims.order_by("-seq").values_list("at", flat=True).first()
    return 0 if at is None else max(0, round((now - at).total_seconds()))
