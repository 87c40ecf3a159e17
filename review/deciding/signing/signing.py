"""Several agencies, one reply: each signs it, and it leaves when all have.

A signature stands under words that are there to be read: those of a person, the reply that was
held, the common answer. What is decided before there are any goes on unsigned, and :func:`unsigned`
holds what came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from ieim.audit import services as audit
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.stages import multi_agency_answer
from ieim.pipeline.topology import ANSWERING, REPLY
from review.corrections import records
from review.deciding.signing import second
from review.models import Action, Decision, ReviewItem, SignOff
from review.scope import belonging
from review.states import ReviewState
from review.vouched import SIGN_OFF

ANSWER = multi_agency_answer.STAGE.id
_WHOLE = frozenset({"", ANSWER})
"""What a decision on the whole reply is about: the reply itself (no stage), the common answer."""
_SHAPING = frozenset({Action.APPROVE, Action.OVERRIDE})


def agencies(item: ReviewItem) -> tuple[str, ...]:
    """Return the ids of the agencies that have to sign an item's reply; none for most items."""
    if item.stage not in (*ANSWERING, REPLY) or not belonging.together(item.turn_id):
        return ()
    return tuple(sorted(belonging.of_item(item)))


def missing(item: ReviewItem) -> tuple[str, ...]:
    """Return the agencies that have not signed yet."""
    signed = _signed(item)
    return tuple(agency for agency in agencies(item) if agency not in signed)


def sends_reply(action: Action, contract: str, *, words: bool) -> bool:
    """Whether an action on the answer of ``contract`` lets the citizen read something.

    ``words`` says whether a person wrote some. A correction of an earlier stage is followed by an
    answer that is judged anew.
    """
    return (action not in _SHAPING and words) or (action in _SHAPING and contract in _WHOLE)


def waits(item: ReviewItem, decision: Decision) -> bool:
    """Whether a decision that has not taken effect waits for signatures, not for an opinion."""
    contract, words = decision.artifacts.get("stage", ""), decision.output is not None
    sends = sends_reply(Action(decision.action), contract, words=words)
    return sends and bool(missing(item))


def put(item: ReviewItem, names: frozenset[str] | None, actor: User, reason: str) -> None:
    """Put the signatures of ``names`` (None: of all) under an item that ``actor`` decides."""
    signed = SignOff.objects.bulk_create(
        SignOff(item=item, agency=agency, by_id=actor.pk, reason=reason)
        for agency in missing(item)
        if names is None or agency in names
    )
    _record(item, "review.signed_by_author", signed, actor)


def unsigned(turn_id: UUID) -> bool:
    """Whether a reply that the pipeline has ready lacks a signature or a second opinion.

    Looked at are the decisions on its stages, back to the last one on the whole reply: who decided
    has signed for their own agencies.
    """
    signers, opinion = belonging.together(turn_id), second.for_agencies(turn_id)
    if not signers and not opinion:
        return False
    decided = ReviewItem.objects.filter(
        turn=turn_id, state=ReviewState.DECIDED.value, stage__in=[*ANSWERING, REPLY]
    )
    for item in decided.order_by("-decided_at"):
        made = item.decisions.filter(action__in=second.PROPOSALS).select_related("actor")
        decision = made.order_by("created_at", "id").last()
        if decision is None or decision.action not in _SHAPING:
            continue
        scope = agencies_of(decision.actor)
        if scope is not None and not signers <= scope | _signed(item):
            return True
        if opinion and not item.decisions.filter(action=Action.AGREE).exists():
            return True
        if decision.artifacts.get("stage", "") in _WHOLE:
            break
    return False


def _signed(item: ReviewItem) -> frozenset[str]:
    return frozenset(item.sign_offs.values_list("agency", flat=True))


def withdraw(item: ReviewItem, actor: User) -> None:
    """Let an item's signatures stand no longer: the text above them is another one, or none."""
    standing = list(item.sign_offs.all())
    item.sign_offs.update(stands=False)
    for signature in standing:
        signature.stands = False
    _record(item, "review.signatures_withdrawn", standing, actor)


def _record(item: ReviewItem, kind: str, signatures: Sequence[SignOff], actor: User) -> None:
    if signatures:
        audit.record(
            chain=item.turn.session_id,
            kind=kind,
            actor=records.actor_of(actor),
            payload={"item": str(item.pk), "agencies": [s.agency for s in signatures]},
            rows=[SIGN_OFF.row(signature) for signature in signatures],
        )
