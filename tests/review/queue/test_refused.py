"""Messages that a model refused to read: below those that show danger, and dismissed together."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.models import Turn
from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from review import claims
from review.batches import services as batches
from review.crisis import is_crisis
from review.models import CRISIS, REFUSED, Batch, ReviewItem
from review.queue import selectors
from review.queue.filters import ItemFilter
from review.services import open_item
from tests.conversations.turns.triage.test_on_demand import Refusing
from tests.fixtures import VISA, Ask
from tests.review.conftest import make_turn
from tests.review.people import browser, person

pytestmark = pytest.mark.usefixtures("published")
BATCH = reverse("review:batch")
RULE = {"code": "violence", "start": 0, "end": 5, "source": "rule"}
DANGER = "My son is unconscious and does not breathe. What does an ambulance cost?"


class RefusingEverything(Refusing):
    """Refuses whatever it is asked."""

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        return ModelAnswer("", refusal="I cannot help with that.")


def refused(number: int) -> list[ReviewItem]:
    """Items of messages that a model refused to classify, as the pipeline leaves them."""
    items = []
    for _ in range(number):
        turn = make_turn()
        sign = {"code": "self_harm", "start": 0, "end": len(turn.text), "source": "refusal"}
        turn.risks, turn.state = [sign], "answered"
        turn.save()
        items.append(open_item(turn_id=turn.pk, stage="classify", codes=["model.refusal"]))
    return items


def test_a_refusal_is_no_crisis_and_makes_one_item(ask: Ask) -> None:
    for _ in range(2):
        ask(VISA, model=Refusing())
    ask(DANGER, model=Refusing())
    user = person("eva", Role.CASEWORKER)
    listed = selectors.page(selectors.listing(user, ItemFilter(), timezone.now())).items
    assert [item.rank for item in listed] == [CRISIS, CRISIS, REFUSED, REFUSED]
    assert {item.stage for item in listed[2:]} == {"classify"}
    assert {item.turn.text for item in listed[:2]} == {DANGER}
    assert not any(is_crisis(item) or item.needs_second for item in listed[2:])
    html = browser(user).get(reverse("review:queue")).content.decode()
    crises, others = html.split("All other items")
    assert "My son is unconscious" in crises
    assert "The model refused to answer." in others
    assert "Self-harm" not in others


@pytest.mark.parametrize("code", ["model.rejected", "model.context_length"])
def test_what_a_server_does_not_take_is_sorted_as_a_refusal(code: str) -> None:
    turn = make_turn()
    assert open_item(turn_id=turn.pk, stage="classify", codes=[code]).rank == REFUSED
    Turn.objects.filter(pk=turn.pk).update(risks=[RULE])
    assert open_item(turn_id=turn.pk, stage="judgement_v1", codes=[code]).rank == CRISIS


def test_who_waits_for_a_refused_answer_stands_before_ordinary_urgencies(ask: Ask) -> None:
    turn = ask(VISA, model=RefusingEverything())
    ranks = dict(ReviewItem.objects.filter(turn=turn).values_list("stage", "rank"))
    assert (ranks["judgement_v1"], ranks["classify"]) == (REFUSED, REFUSED)
    assert min(ranks["extract"], ranks["identity_assist"]) > REFUSED


def test_a_caseworker_dismisses_them_together_once_they_have_read_them() -> None:
    items, client = refused(3), browser(person("eva", Role.CASEWORKER))
    form = {"item": [item.pk for item in items], "action": "dismiss", "reason": "Ordinary."}
    html = client.post(BATCH, {**form, "look": "yes"}).content.decode()
    assert html.count("refused to read this message") == 3
    html = client.post(BATCH, {**form, "again": "change"}).content.decode()
    assert "I have read the chosen messages that a model refused to read." in html
    client.post(BATCH, {**form, "read": "1", "confirm": "yes"})
    batches.run(batch_id=Batch.objects.get().pk)
    assert ReviewItem.objects.filter(state="sending").count() == 3
    assert AuditEvent.objects.filter(kind="review.decided").count() == 3


def test_who_may_not_dismiss_one_dismisses_none() -> None:
    items = refused(2)
    form = {"item": [item.pk for item in items], "action": "dismiss", "reason": "Fine."}
    response = browser(person("ada", Role.AUDITOR)).post(BATCH, {**form, "confirm": "yes"})
    assert response.status_code == 403
    assert not Batch.objects.exists()


def test_a_sign_of_the_message_itself_is_a_crisis_whatever_was_refused() -> None:
    (item,) = refused(1)
    turn = item.turn
    turn.risks = [*turn.risks, RULE]
    turn.save()
    item = open_item(turn_id=turn.pk, stage="classify", codes=["model.refusal"])
    assert item.rank == CRISIS
    eva = person("eva", Role.CASEWORKER)
    claims.claim(item_id=item.pk, actor=eva)
    form = {"item": [item.pk], "action": "dismiss", "reason": "It is nothing.", "read": "1"}
    html = browser(eva).post(BATCH, {**form, "look": "yes"}).content.decode()
    assert "An item in crisis is not decided with others." in html
