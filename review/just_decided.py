"""What the page after a decision tells of it, and taking it back at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext

from ieim.people.access import member
from review import labels
from review.batches import alike
from review.batches.services import ACTIONS
from review.models import Decision
from review.queue.filters import ItemFilter
from review.states import ReviewState

_KEY = "review-just-decided"


@dataclass(frozen=True, slots=True)
class JustDecided:
    """What somebody has just decided, for the next page: in a sentence, and until when
    (``takes_effect_at``) it can be taken back, None for what has happened. ``others`` are how many
    items of the list failed alike, and can be decided like it."""

    decision: Decision
    words: str
    takes_effect_at: datetime | None
    others: int = 0


def remember(request: HttpRequest, decision: Decision) -> None:
    """Let the next page of this session tell of a decision."""
    request.session[_KEY] = str(decision.pk)


def just_decided(request: HttpRequest, filters: ItemFilter) -> JustDecided | None:
    """Return the decision that a page has to tell of, once; None for none, or one that is gone."""
    decision_id = request.session.pop(_KEY, None)
    decisions = Decision.objects.select_related("item__turn__session")
    decision = decisions.filter(pk=decision_id).first() if decision_id else None
    if decision is None:
        return None
    item = decision.item
    texts = {
        ReviewState.SENDING.value: gettext("{reference}: {done}. It takes effect in some seconds."),
        ReviewState.SECOND_OPINION.value: gettext(
            "{reference}: nothing has happened yet. What you decided ({done}) waits until a second"
            " person has agreed or signed."
        ),
    }
    text = texts.get(item.state, gettext("{reference}: {done}."))
    done = gettext(labels.ACTIONS_DONE[decision.action]).lower()
    words = text.format(reference=item.turn.session.reference, done=done)
    is_sending = item.state == ReviewState.SENDING.value
    others = 0
    if item.alike and decision.action in ACTIONS:
        others = alike.members(member(request), filters, item.alike).count()
    at = item.takes_effect_at if is_sending else None
    return JustDecided(decision, words, at, others if others >= alike.MIN_ALIKE - 1 else 0)
