"""Several agencies, one reply: it leaves when all have signed."""

from __future__ import annotations

import json

import pytest

from conversations.models import Reply, Turn
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from review import deciding
from review.deciding import Action, Refused
from review.models import ReviewItem, SignOff
from tests.review import desk
from tests.review.desk import BABY, BAD, REASON, Scripted, taken_and_decided, the_item

pytestmark = pytest.mark.usefixtures("published")
ANSWER = "multi_agency_service_answer_v1"


def stopped(text: str = BABY) -> tuple[Turn, ReviewItem, tuple[str, ...]]:
    turn = desk.ask(text, {ANSWER: BAD})
    item = the_item(turn, ANSWER)
    return turn, item, deciding.signing_agencies(item)


def sign(item: ReviewItem, actor: User, agency: str) -> SignOff:
    version = ReviewItem.objects.get(pk=item.pk).version
    return deciding.sign(
        item_id=item.pk, actor=actor, version=version, agency=agency, reason=REASON
    )


def test_it_waits_for_the_signature_of_each_agency() -> None:
    turn, item, agencies = stopped()
    assert len(agencies) == 2
    eva = desk.person("eva", agencies=agencies[:1])
    ben = desk.person("ben", agencies=agencies[1:])
    with pytest.raises(Refused, match="decide the item first"):
        sign(item, ben, agencies[1])

    taken_and_decided(item, eva, Action.WRITE, text="Please come to both offices.", sources=[])
    waiting = ReviewItem.objects.get(pk=item.pk)
    assert (waiting.state, waiting.claimed_by_id) == ("second_opinion", None)
    assert deciding.missing_signatures(waiting) == agencies[1:]
    assert not Reply.objects.exists()
    for actor, agency, told in (
        (eva, agencies[1], "only for your own"),
        (eva, agencies[0], "signed already"),
        (desk.person("cid"), "revenue", "no part"),
    ):
        with pytest.raises(Refused, match=told):
            sign(item, actor, agency)

    sign(item, ben, agencies[1])
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["Please come to both offices."]
    assert ReviewItem.objects.get(pk=item.pk).state == "decided"
    event = AuditEvent.objects.get(chain=turn.session_id, kind="review.signed")
    assert (event.actor, json.loads(event.payload)["agency"]) == ("staff:ben", agencies[1])


def test_it_goes_at_once_when_one_person_answers_for_all() -> None:
    turn, item, _ = stopped()
    taken_and_decided(item, desk.person("eva"), Action.WRITE, text="Please come.", sources=[])
    assert Reply.objects.get(turn=turn).origin == "staff"


def test_it_sends_the_override_of_the_answer_after_the_last_signature() -> None:
    turn, item, agencies = stopped()
    output = desk.ask(BABY, {}).stages.get(contract=ANSWER).output
    assert output is not None
    human = {name: output[name] for name in ("assistantReply", "sourcesUsed")}
    eva = desk.person("eva", agencies=agencies[:1])
    taken_and_decided(item, eva, Action.OVERRIDE, output=human)
    assert Turn.objects.get(pk=turn.pk).state == "needs_review"
    sign(item, desk.person("ben", agencies=agencies[1:]), agencies[1])
    assert desk.run(turn, Scripted()).state == "answered"
    reply = Reply.objects.get(turn=turn)
    assert reply.origin == "staff_override"


def test_it_voids_signatures_under_another_text() -> None:
    turn, item, agencies = stopped()
    eva = desk.person("eva", agencies=agencies[:1])
    ben = desk.person("ben", agencies=agencies[1:])
    taken_and_decided(item, eva, Action.WRITE, text="The first text.", sources=[])
    taken_and_decided(item, ben, Action.WRITE, text="The second text.", sources=[])
    assert deciding.missing_signatures(item) == agencies[:1]
    assert not Reply.objects.exists()
    sign(item, eva, agencies[0])
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["The second text."]


def test_it_asks_nobody_to_sign_what_is_no_reply() -> None:
    turn, item, agencies = stopped()
    eva = desk.person("eva", agencies=agencies[:1])
    taken_and_decided(item, eva, Action.RETRY)
    assert desk.run(turn, Scripted()).state == "answered"


def test_it_wants_both_all_signatures_and_a_second_opinion() -> None:
    turn = desk.ask(f"{BABY} I will kill myself", {})
    item = the_item(turn, "reply")
    agencies = deciding.signing_agencies(item)
    eva = desk.person("eva", agencies=agencies[:1])
    taken_and_decided(item, eva, Action.APPROVE, confirmed=True)
    ben = desk.person("ben", *desk.ALL, agencies=agencies[1:])
    sign(item, ben, agencies[1])
    assert ReviewItem.objects.get(pk=item.pk).state == "second_opinion"
    taken_and_decided(item, ben, Action.AGREE)
    assert desk.run(turn).state == "answered"
