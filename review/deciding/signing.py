"""The second pair of eyes: confirmations, second opinions, and signatures of several agencies.

A signature stands under words that are there to be read: those of a person, the reply that was
held, the common answer. What is decided before there are any goes on unsigned, and :func:`unsigned`
holds what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext

from conversations.turns import languages
from conversations.turns.choosing import choice_of
from conversations.turns.models import ChoiceOutcome
from ieim.audit import services as audit
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.people.tokens import selectors as tokens
from ieim.pipeline.stages import multi_agency_answer
from ieim.pipeline.topology import ANSWERING, REPLY
from review import crisis, scope
from review.audited import SIGN_OFF
from review.deciding import answers
from review.deciding.locking import Refused, Unchosen, Unconfirmed
from review.models import Action, Decision, ReviewItem, SignOff
from review.states import UNDECIDED, ReviewState

FIELD = "confirmed"
"""The payload field that confirms an action with ``true``."""


def why_confirm(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> str:
    """Return why an action has to be confirmed on a step of its own; empty when it has not.

    Of ``payload`` it reads the service that a person chose to send.
    """
    if action not in (Action.APPROVE, Action.SERVICE) or item.stage not in (*ANSWERING, REPLY):
        return ""
    if danger := _danger(item):
        return danger
    if action is Action.APPROVE:
        return _refused(item, _services(item))
    return _refused(item, {(str(payload.get("agency")), str(payload.get("service")))})


def require_confirmed(item: ReviewItem, action: Action, payload: Mapping[str, Any]) -> None:
    """Raise :class:`Unconfirmed` where an action has to be confirmed and is not."""
    message = why_confirm(item, action, payload)
    if message and payload.get(FIELD) is not True:
        raise Unconfirmed(message) if crisis.labels(item.turn) else Unchosen(message)


def _danger(item: ReviewItem) -> str:
    names = ", ".join(label.name for label in crisis.labels(item.turn))
    if not names:
        return ""
    return gettext(
        "The message shows a danger ({names}), and what the assistant has is an answer to"
        " something else. Write the reply yourself, or confirm that this one is right."
    ).format(names=names)


def _refused(item: ReviewItem, sent: set[tuple[str, str]] | None) -> str:
    """Return that the citizen was offered what would be ``sent`` (None: what is not known yet), and
    said that it is not that."""
    choice = choice_of(item.turn)
    if choice is None or choice.outcome != ChoiceOutcome.NONE:
        return ""
    offered = {(agency, key) for agency, key in choice.offered}
    refused = offered if sent is None else offered & sent
    if not refused:
        return ""
    services = languages.release_of(item.turn).services
    names = ", ".join(sorted(services[key].name for key in refused if key in services))
    return gettext(
        "The citizen was offered this ({names}) and said: none of these. Write the reply or correct"
        " the step, or confirm that this answer is right all the same."
    ).format(names=names)


def _services(item: ReviewItem) -> set[tuple[str, str]] | None:
    """Return the services that an approval would send, None where the assistant has still to
    choose: then it may well choose again what it had offered."""
    try:
        stage = None if item.stage == REPLY else answers.stage_of(item.turn, item.stage)
        answer = answers.approving(stage) if stage is not None else None
    except Refused:
        return set()
    replaced = {answer.contract: (answer.output, answer.state_merge)} if answer else {}
    reply = answers.follow(item.turn, replaced).reply
    return None if reply is None else {(s.agency_id, s.service_key) for s in reply.sources}


LABEL_SETS: Mapping[str, frozenset[str]] = {
    "classify": frozenset({"intents", "product_lines", "urgencies", "risk_flags"}),
    "extract": frozenset({"entity_types"}),
    "identity_assist": frozenset({"key_types"}),
}
"""The label sets that a triage contract gives labels of."""

PROPOSALS = frozenset(
    {
        *(Action.APPROVE, Action.OVERRIDE, Action.SERVICE, Action.RETRY, Action.WRITE, Action.ASK),
        *(Action.DONE, Action.DISMISS),
    }
)
"""Decisions that may wait, for others or for the time in which they can be taken back. Handing over
decides nothing, so it is done at once."""


def needs_second(item: ReviewItem) -> bool:
    """Whether a second person has to agree: the item is in crisis, or the deployment says so.

    ``IEIM_SECOND_OPINION`` names ``agencies`` (whose turns all need it) and ``label_sets`` (items
    of the contract that gives their labels; for ``risk_flags`` every turn that has a flag). What
    was known when the item was opened counts as well as what is known now.
    """
    if item.needs_second or crisis.is_crisis(item) or crisis.labels(item.turn):
        return True
    config = settings.IEIM_SECOND_OPINION
    sets = frozenset(config["label_sets"])
    return (
        for_agencies(item.turn_id)
        or item.agency in config["agencies"]
        or not sets.isdisjoint(LABEL_SETS.get(item.stage, ()))
        or ("risk_flags" in sets and bool(item.turn.risks))
    )


def for_agencies(turn_id: UUID) -> bool:
    """Whether an agency that has, or had, a part in a turn wants a second person to agree."""
    return not scope.agencies_ever(turn_id).isdisjoint(settings.IEIM_SECOND_OPINION["agencies"])


def proposal_of(item: ReviewItem) -> Decision | None:
    """Return the decision of an undecided item that has not taken effect; None for none.

    It waits for a second opinion, or for the signatures of other agencies. A later one replaces an
    earlier one; one that was disagreed with or undone waits no more.
    """
    if ReviewState(item.state) not in UNDECIDED:
        return None
    last = last_proposal(item)
    return None if last is None or last.answers.exists() else last


def last_proposal(item: ReviewItem) -> Decision | None:
    """Return the newest decision that waits, or has waited, for others; None for none."""
    # In their order; a page has loaded them already.
    proposals = [decision for decision in item.decisions.all() if decision.action in PROPOSALS]
    return proposals[-1] if proposals else None


def waiting_state(item: ReviewItem) -> ReviewState:
    """Return the state of an item that nobody has: free, or with a decision that waits."""
    waits = proposal_of(item) is not None
    return ReviewState.SECOND_OPINION if waits else ReviewState.OPEN


ANSWER = multi_agency_answer.STAGE.id
_WHOLE = frozenset({"", ANSWER})
"""Stages of a decision on the whole reply: the reply itself (no stage), the common answer."""
_SHAPING = frozenset({Action.APPROVE, Action.OVERRIDE, Action.SERVICE})


def signing_agencies(item: ReviewItem) -> tuple[str, ...]:
    """Return the ids of the agencies that have to sign an item's reply; none for most items."""
    if item.stage not in (*ANSWERING, REPLY) or not scope.agencies_together(item.turn_id):
        return ()
    return tuple(sorted(scope.agencies_of_item(item)))


def missing_signatures(item: ReviewItem) -> tuple[str, ...]:
    """Return the agencies that have not signed yet."""
    signed = _signed(item)
    return tuple(agency for agency in signing_agencies(item) if agency not in signed)


def sends_reply(action: Action, contract: str, *, words: bool) -> bool:
    """Whether an action on the answer of ``contract`` lets the citizen read something.

    ``words`` says whether a person wrote some. A correction of an earlier stage is followed by an
    answer that is judged anew.
    """
    return (action not in _SHAPING and words) or (action in _SHAPING and contract in _WHOLE)


def waits_for_signatures(item: ReviewItem, decision: Decision) -> bool:
    """Whether a decision that has not taken effect waits for signatures, not for an opinion."""
    contract, words = decision.artifacts.get("stage", ""), decision.output is not None
    sends = sends_reply(Action(decision.action), contract, words=words)
    return sends and bool(missing_signatures(item))


def add_signatures(
    item: ReviewItem, names: frozenset[str] | None, actor: User, reason: str
) -> None:
    """Put the signatures of ``names`` (None: of all) under an item that ``actor`` decides."""
    signed = SignOff.objects.bulk_create(
        SignOff(item=item, agency=agency, by_id=actor.pk, reason=reason)
        for agency in missing_signatures(item)
        if names is None or agency in names
    )
    _record(item, "review.signed_by_author", signed, actor)


def unsigned(turn_id: UUID) -> bool:
    """Whether a reply that the pipeline has ready lacks a signature or a second opinion.

    Looked at are the decisions on its stages, back to the last one on the whole reply: who decided
    has signed for their own agencies.
    """
    signers, opinion = scope.agencies_together(turn_id), for_agencies(turn_id)
    if not signers and not opinion:
        return False
    decided = ReviewItem.objects.filter(
        turn=turn_id, state=ReviewState.DECIDED.value, stage__in=[*ANSWERING, REPLY]
    )
    for item in decided.order_by("-decided_at"):
        decision = last_proposal(item)
        if decision is None or decision.action not in _SHAPING:
            continue
        # Where a program decided, it signed for the agencies of its token.
        agencies = agencies_of(tokens.acting(decision.actor, decision.artifacts.get("token", "")))
        if agencies is not None and not signers <= agencies | _signed(item):
            return True
        if opinion and not item.decisions.filter(action=Action.AGREE).exists():
            return True
        if decision.artifacts.get("stage", "") in _WHOLE:
            break
    return False


def _signed(item: ReviewItem) -> frozenset[str]:
    return frozenset(item.sign_offs.values_list("agency", flat=True))


def withdraw_signatures(item: ReviewItem, actor: User) -> None:
    """Withdraw an item's signatures, because the signed text has changed or is gone."""
    signatures = list(item.sign_offs.all())
    item.sign_offs.update(stands=False)
    for signature in signatures:
        signature.stands = False
    _record(item, "review.signatures_withdrawn", signatures, actor)


def _record(item: ReviewItem, kind: str, signatures: Sequence[SignOff], actor: User) -> None:
    if signatures:
        audit.record(
            chain=item.turn.session_id,
            kind=kind,
            actor=actor.actor,
            payload={"item": str(item.pk), "agencies": [s.agency for s in signatures]},
            rows=[SIGN_OFF.row(signature) for signature in signatures],
        )
