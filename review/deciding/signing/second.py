"""The second pair of eyes: which items need it, and what waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings

from review import crisis
from review.models import Action, Decision, ReviewItem
from review.scope import belonging
from review.states import UNDECIDED, ReviewState

LABEL_SETS: Mapping[str, frozenset[str]] = {
    "classify": frozenset({"intents", "product_lines", "urgencies", "risk_flags"}),
    "extract": frozenset({"entity_types"}),
    "identity_assist": frozenset({"key_types"}),
}
"""The label sets that a triage contract gives labels of."""

PROPOSALS = frozenset(
    {Action.APPROVE, Action.OVERRIDE, Action.RETRY, Action.WRITE, Action.ASK, Action.DISMISS}
)
"""What waits for others. Handing over decides nothing, so it is done at once."""


def needed(item: ReviewItem) -> bool:
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
    return not belonging.ever(turn_id).isdisjoint(settings.IEIM_SECOND_OPINION["agencies"])


def proposal_of(item: ReviewItem) -> Decision | None:
    """Return the decision of an undecided item that has not taken effect; None for none.

    It waits for a second opinion, or for the signatures of other agencies. A later one replaces an
    earlier one; one that was disagreed with or undone waits no more.
    """
    if ReviewState(item.state) not in UNDECIDED:
        return None
    made = item.decisions.filter(action__in=[action.value for action in PROPOSALS])
    last = made.select_related("actor").order_by("created_at", "id").last()
    return None if last is None or last.answers.exists() else last
