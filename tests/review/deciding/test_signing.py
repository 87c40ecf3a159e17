"""Signatures of several agencies under one reply, and that there is no way round them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from conversations.models import Reply, Turn
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from review import deciding
from review.deciding import Action, Refused
from review.models import Decision, ReviewItem, SignOff
from tests.review import desk
from tests.review.desk import (
    BABY,
    BAD,
    GREETING,
    REASON,
    Scripted,
    agency_output,
    run,
    taken_and_decided,
    the_item,
    unsigned_item,
)
from tests.review.people import browser
from tests.review.reviewing import Reviewer, override, written

pytestmark = pytest.mark.usefixtures("published")
ANSWER = "multi_agency_service_answer_v1"


def stopped(text: str = BABY) -> tuple[Turn, ReviewItem, tuple[str, ...]]:
    turn = desk.ask(text, {ANSWER: BAD})
    item = the_item(turn, ANSWER)
    return turn, item, deciding.signing_agencies(item)


def sign_item(item: ReviewItem, actor: User, agency: str) -> SignOff:
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
        sign_item(item, ben, agencies[1])

    taken_and_decided(item, eva, Action.WRITE, text="Please come to both offices.", sources=[])
    waiting = ReviewItem.objects.get(pk=item.pk)
    assert (waiting.state, waiting.claimed_by_id) == ("second_opinion", None)
    assert deciding.missing_signatures(waiting) == agencies[1:]
    assert not Reply.objects.exists()
    for actor, agency, result in (
        (eva, agencies[1], "only for your own"),
        (eva, agencies[0], "signed already"),
        (desk.person("cid"), "revenue", "no part"),
    ):
        with pytest.raises(Refused, match=result):
            sign_item(item, actor, agency)

    sign_item(item, ben, agencies[1])
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["Please come to both offices."]
    assert ReviewItem.objects.get(pk=item.pk).state == "decided"
    event = AuditEvent.objects.get(chain=turn.session_id, kind="review.signed")
    assert (event.actor, json.loads(event.payload)["agency"]) == ("staff:ben", agencies[1])


def test_it_sends_the_override_of_the_answer_after_the_last_signature() -> None:
    turn, item, agencies = stopped()
    output = desk.ask(BABY, {}).stages.get(contract=ANSWER).output
    assert output is not None
    human = {name: output[name] for name in ("assistantReply", "sourcesUsed")}
    eva = desk.person("eva", agencies=agencies[:1])
    taken_and_decided(item, eva, Action.OVERRIDE, output=human)
    assert Turn.objects.get(pk=turn.pk).state == "needs_review"
    sign_item(item, desk.person("ben", agencies=agencies[1:]), agencies[1])
    assert desk.run(turn, Scripted()).state == "answered"
    reply = Reply.objects.get(turn=turn)
    assert reply.origin == "staff_override"


def test_it_wants_both_all_signatures_and_a_second_opinion() -> None:
    turn = desk.ask(f"{BABY} I will kill myself", {})
    item = the_item(turn, "reply")
    agencies = deciding.signing_agencies(item)
    eva = desk.person("eva", agencies=agencies[:1])
    taken_and_decided(item, eva, Action.APPROVE, confirmed=True)
    ben = desk.person("ben", *desk.ALL, agencies=agencies[1:])
    sign_item(item, ben, agencies[1])
    assert ReviewItem.objects.get(pk=item.pk).state == "second_opinion"
    taken_and_decided(item, ben, Action.AGREE)
    assert desk.run(turn).state == "answered"


HOME, OTHER = "civil-registry", "social-support"
WORDS = "Please come to both offices."


@pytest.fixture
def eva(db: None) -> User:
    return desk.person("eva", *desk.ALL, agencies=[HOME])


@pytest.fixture
def ben(db: None) -> User:
    return desk.person("ben", *desk.ALL, agencies=[OTHER])


def sign(turn: Turn, actor: User, agency: str, reason: str = REASON) -> SignOff:
    item = the_item(turn)
    return deciding.sign(
        item_id=item.pk, actor=actor, version=item.version, agency=agency, reason=reason
    )


@pytest.mark.parametrize(
    ("stage", "action", "payload"),
    [
        ("semantic_analysis_v1", Action.WRITE, {"text": WORDS, "sources": []}),
        ("service_select_v1", Action.ASK, {"text": WORDS}),
        (ANSWER, Action.DISMISS, {"text": WORDS}),
    ],
)
def test_words_wait_for_the_other_agency(
    eva: User, ben: User, stage: str, action: Action, payload: dict[str, Any]
) -> None:
    turn = desk.ask(BABY, {stage: BAD})
    taken_and_decided(the_item(turn, stage), eva, action, **payload)
    assert the_item(turn).state == "second_opinion"
    assert not Reply.objects.exists()
    sign(turn, ben, OTHER)
    assert Reply.objects.get(turn=turn).body["paragraphs"] == [WORDS]


def test_words_over_rest_wait_too(eva: User, ben: User) -> None:
    item, client = the_item(desk.ask(BABY, {"service_select_v1": BAD})), Reviewer(eva)
    client.claim(item)
    assert client.decide(item, written(WORDS)).json()["item"]["state"] == "second_opinion"
    assert not Reply.objects.exists()
    data = client.read(item).json()
    assert [(s["agency"], s["by"]) for s in data["signatures"]] == [(HOME, "eva")]
    assert data["unsigned"] == [OTHER]


def test_what_waits_for_a_signature_is_in_no_open_list(eva: User, ben: User) -> None:
    item = the_item(desk.ask(BABY, {"service_select_v1": BAD}))
    taken_and_decided(item, eva, Action.WRITE, text=WORDS, sources=[])
    for user in (eva, ben):
        client, page = Reviewer(user), browser(user)
        assert client.get(tab="open").json()["items"] == []
        assert [row["id"] for row in client.get(tab="second").json()["items"]] == [str(item.pk)]
        queue = page.get(reverse("review:queue")).content.decode()
        assert f"row-{item.pk}" not in queue
        assert queue.count('queue-tabs__count">1<') == 1
        assert queue.count('queue-tabs__count">0<') == 3
    other = desk.person("cid", agencies=["revenue"])
    assert Reviewer(other).get(tab="second").json()["items"] == []


def test_the_signers_reason_is_kept_and_shown(eva: User, ben: User) -> None:
    turn = desk.ask(BABY, {"service_select_v1": BAD})
    item = the_item(turn)
    taken_and_decided(item, eva, Action.WRITE, text=WORDS, sources=[])
    address = reverse("review:sign", args=[item.pk])
    version = ReviewItem.objects.get(pk=item.pk).version
    values = {"agency": OTHER, "version": version, "sign-reason": "Our part is right."}
    assert browser(ben).post(address, values).status_code == 303
    reasons = dict(SignOff.objects.values_list("agency", "reason"))
    assert reasons == {HOME: REASON, OTHER: "Our part is right."}
    page = browser(eva).get(reverse("review:item", args=[item.pk])).content.decode()
    assert "“Our part is right.”" in page
    signed = {s["agency"]: s for s in Reviewer(eva).read(item).json()["signatures"]}
    assert (signed[OTHER]["by"], signed[OTHER]["reason"]) == ("ben", "Our part is right.")


def test_an_approved_stage_leads_to_a_reply_that_waits(eva: User, ben: User) -> None:
    turn = desk.ask(BABY, {"service_select_v1": (desk.unsure,) * 2})
    taken_and_decided(the_item(turn), eva, Action.APPROVE)
    item = unsigned_item(turn)
    taken_and_decided(item, eva, Action.APPROVE)
    assert run(turn).state == "needs_review"
    sign(turn, ben, OTHER)
    assert run(turn).state == "answered"
    assert Reply.objects.get(turn=turn).origin == "model_approved"


def test_a_correction_that_makes_it_several_waits_for_both(ben: User) -> None:
    turn = desk.ask(BABY, {"agency_detect_v1": BAD})
    lea = desk.person("lea", *desk.ALL, "triage", agencies=[HOME])
    client = Reviewer(lea)
    client.claim(the_item(turn))
    body = override(agency_output(HOME, OTHER))
    assert client.decide(the_item(turn), body).json()["item"]["state"] == "decided"
    taken_and_decided(unsigned_item(turn), ben, Action.APPROVE)
    assert run(turn).state == "needs_review"
    sign(turn, lea, HOME)
    assert run(turn).state == "answered"


def test_a_correction_before_any_agency_is_known_is_no_way_round(eva: User, ben: User) -> None:
    turn = desk.ask(BABY, {"judgement_v1": BAD})
    lea = desk.person("lea", *desk.ALL, "triage", agencies=["revenue"])
    yes = {"judgements": {"inquiry": True}, "assistantReply": None}
    taken_and_decided(the_item(turn), lea, Action.OVERRIDE, output=yes)
    item = unsigned_item(turn)
    with pytest.raises(ReviewItem.DoesNotExist):
        taken_and_decided(item, lea, Action.APPROVE)


@pytest.mark.parametrize("correction", [agency_output, "guidance"])
def test_narrowing_is_no_way_round(eva: User, ben: User, correction: Any) -> None:
    turn = desk.ask(BABY, {"semantic_analysis_v1": BAD})
    if correction == "guidance":
        no = {"judgements": {"inquiry": False}, "assistantReply": GREETING}
        payload = {"stage": "judgement_v1", "output": no}
    else:
        payload = {"stage": "agency_detect_v1", "output": agency_output(HOME)}
    taken_and_decided(the_item(turn), eva, Action.OVERRIDE, **payload)
    item = unsigned_item(turn)
    assert deciding.signing_agencies(item) == (HOME, OTHER)
    taken_and_decided(item, eva, Action.APPROVE)
    assert run(turn).state == "needs_review"
    sign(turn, ben, OTHER, "It is not ours.")
    assert run(turn).state == "answered"


def test_handing_over_first_is_no_way_round(eva: User, ben: User) -> None:
    turn = desk.ask(BABY, {"service_select_v1": BAD})
    for agency in (HOME, "revenue", HOME):
        taken_and_decided(the_item(turn), eva, Action.HAND_OVER, agency=agency)
    taken_and_decided(the_item(turn), eva, Action.WRITE, text=WORDS, sources=[])
    assert OTHER in deciding.missing_signatures(the_item(turn))
    assert not Reply.objects.exists()


def test_asking_the_model_again_after_a_correction_is_no_way_round(eva: User) -> None:
    turn = desk.ask(BABY, {"semantic_analysis_v1": BAD})
    output = agency_output(OTHER, HOME)
    taken_and_decided(the_item(turn), eva, Action.OVERRIDE, stage="agency_detect_v1", output=output)
    turn = run(turn, Scripted({"service_select_v1": BAD}))
    taken_and_decided(the_item(turn), eva, Action.RETRY)
    unsigned_item(turn)


def test_another_item_of_the_turn_is_no_way_round(eva: User, ben: User) -> None:
    """One item narrowed, another that is left of the same turn."""
    turn = desk.ask(BABY, {"semantic_analysis_v1": BAD})
    left = ReviewItem.objects.create(
        turn=turn, stage="reply", agency=HOME, due_at=the_item(turn).due_at
    )
    taken_and_decided(
        the_item(turn, "semantic_analysis_v1"),
        eva,
        Action.OVERRIDE,
        stage="agency_detect_v1",
        output=agency_output(HOME),
    )
    run(turn, Scripted({"category_select_v1": BAD}))
    left.refresh_from_db()
    assert left.agency_ids == (HOME, OTHER)
    taken_and_decided(left, eva, Action.WRITE, text=WORDS, sources=[])
    assert not Reply.objects.exists()
    assert deciding.missing_signatures(left) == (OTHER,)


def test_taking_back_and_writing_anew_voids_what_was_signed(eva: User, ben: User) -> None:
    turn = desk.ask(BABY, {"service_select_v1": BAD})
    first = taken_and_decided(the_item(turn), eva, Action.WRITE, text="First.", sources=[])
    deciding.undo(decision_id=first.pk, actor=eva, reason=REASON)
    assert (the_item(turn).state, SignOff.objects.count()) == ("open", 0)
    taken_and_decided(the_item(turn), ben, Action.WRITE, text="Mine.", sources=[])
    output = agency_output(HOME, OTHER)
    taken_and_decided(the_item(turn), eva, Action.OVERRIDE, stage="agency_detect_v1", output=output)
    assert SignOff.objects.count() == 0
    unsigned_item(turn)


def test_a_waived_hold_is_not_waived_for_another_reply(eva: User, ben: User) -> None:
    turn = desk.ask(BABY, {"service_select_v1": BAD})
    Turn.objects.filter(pk=turn.pk).update(hold_waived=True)
    taken_and_decided(the_item(turn), eva, Action.RETRY)
    assert not Turn.objects.get(pk=turn.pk).hold_waived


def test_what_the_model_says_by_itself_is_signed_by_nobody(eva: User) -> None:
    turn = desk.ask(BABY, {"service_select_v1": BAD})
    taken_and_decided(the_item(turn), eva, Action.RETRY)
    assert run(turn).state == "answered"
    assert Reply.objects.get(turn=turn).origin == "index"


def test_one_person_of_all_agencies_signs_for_all(db: None) -> None:
    turn = desk.ask(BABY, {"semantic_analysis_v1": BAD})
    both = desk.person("both", agencies=[HOME, OTHER])
    taken_and_decided(
        the_item(turn),
        both,
        Action.OVERRIDE,
        stage="agency_detect_v1",
        output=agency_output(OTHER, HOME),
    )
    assert run(turn).state == "answered"


def test_what_was_approved_and_has_changed_is_not_signed(eva: User, ben: User) -> None:
    turn = desk.ask(f"{BABY} I want to talk to a person", {})
    decision = taken_and_decided(the_item(turn, "reply"), eva, Action.APPROVE)
    assert the_item(turn, "reply").state == "second_opinion"
    stage = turn.stages.get(contract=ANSWER)
    stage.result = {**(stage.result or {}), "text": "Something else."}
    stage.save()
    with pytest.raises(deciding.Refused, match="has changed since"):
        sign(turn, ben, OTHER)
    assert Decision.objects.get() == decision
