"""Several agencies, one reply: each signs its part, and it leaves when all have."""

from __future__ import annotations

from conversations.services import REPLY
from conversations.states import DONE_STAGE_STATUSES
from ieim.pipeline.stages import multi_agency_answer
from review.models import Action, Decision, ReviewItem, SignOff

ANSWER = multi_agency_answer.STAGE.id


def agencies(item: ReviewItem) -> tuple[str, ...]:
    """Return the ids of the agencies that have to sign an item's reply; none for most items."""
    if item.stage not in (REPLY, ANSWER):
        return ()
    found = item.turn.stages.filter(contract="agency_detect_v1").first()
    done = {status.value for status in DONE_STAGE_STATUSES}
    if found is None or found.status not in done or found.state_merge is None:
        return ()
    detected = found.state_merge["agency_detect_v1"]
    return tuple(detected["agencyDetected"]) if detected["complexity"] == "high" else ()


def missing(item: ReviewItem) -> tuple[str, ...]:
    """Return the agencies that have not signed yet."""
    signed = set(item.sign_offs.values_list("agency", flat=True))
    return tuple(agency for agency in agencies(item) if agency not in signed)


def sends_reply(action: Action, contract: str) -> bool:
    """Whether an action on the answer of ``contract`` sends a reply that the agencies answer for.

    Asking back or dismissing speaks for nobody, and a correction of an earlier stage is followed by
    an answer that is judged anew.
    """
    leaves = {Action.APPROVE, Action.WRITE}
    return action in leaves or (action is Action.OVERRIDE and contract == ANSWER)


def waits(item: ReviewItem, decision: Decision) -> bool:
    """Whether a decision that has not taken effect waits for signatures, not for an opinion."""
    sends = sends_reply(Action(decision.action), decision.artifacts.get("stage", ""))
    return sends and bool(missing(item))


def put(item: ReviewItem, names: frozenset[str] | None, actor_id: int) -> None:
    """Put the signatures of ``names`` (None: of all) under an item."""
    SignOff.objects.bulk_create(
        SignOff(item=item, agency=agency, by_id=actor_id)
        for agency in missing(item)
        if names is None or agency in names
    )
