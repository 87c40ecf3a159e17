"""The item page as it is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from conversations.models import Attempt, Turn
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.pipeline import contract as contracts
from ieim.pipeline.message.screen import BIDI_CONTROLS
from review.models import Action, ReviewItem
from tests.audit.owner import triggers_lifted
from tests.conversations.chat.page.test_shown import SIGN
from tests.review import desk
from tests.review.desk import BAD, Says, the_item, words
from tests.review.people import browser

pytestmark = pytest.mark.usefixtures("published")

TEXT = "I want to extend my tourist visa before 3 March. My case number is AB-123456."
RISKY = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"


def page(item: ReviewItem, user: User, query: str = "") -> str:
    response = browser(user).get(reverse("review:item", args=[item.pk]) + query)
    assert response.status_code == 200
    return str(response.content.decode())


@pytest.fixture
def eva() -> User:
    return desk.person("eva")


@pytest.mark.parametrize("contract", ["judgement_v1", "service_select_v1", "extract"])
def test_it_shows_the_step_that_stopped(contract: str, eva: User) -> None:
    turn = desk.ask(TEXT, {contract: BAD})
    item = desk.take(the_item(turn, contract), eva)
    text = words(page(item, eva))
    assert "The model’s answer was not in the form it must have." in text
    assert "Stopped here" in text
    assert "reading stopped here" in text
    assert "Correct the step" in text


def test_it_shows_the_models_text_and_what_the_citizen_reads_in_its_place(eva: User) -> None:
    turn = desk.ask(f"{desk.BABY} I want to talk to a person", {})
    stage = turn.stages.get(contract="multi_agency_service_answer_v1")
    text = words(page(the_item(turn, "reply"), eva))
    assert stage.output is not None
    assert stage.output["assistantReply"].split("\n")[0] in text
    assert "The services that it names, as they stand in the service list" in text


def test_it_marks_the_evidence_in_the_message(eva: User) -> None:
    turn = desk.ask(TEXT, {"service_select_v1": BAD})
    html = page(the_item(turn, "service_select_v1"), eva)
    message = html.split('id="message"')[1].split("</p>")[0]
    assert "mark--fact" in message
    assert "mark--key" in message
    numbers = re.findall(r"</span>(\d+)<span", message)
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
    without = re.sub(r"<sup.*?</sup>", "", message.partition(">")[2])
    assert re.sub(r"<[^>]+>", "", without) == escape(TEXT)


def test_it_shows_the_citizens_words_and_not_their_markup(eva: User) -> None:
    turn = desk.ask("<script>alert(1)</script> where is my visa?", {"judgement_v1": BAD})
    html = page(the_item(turn, "judgement_v1"), eva)
    assert "&lt;script&gt;" in html
    assert "<script>alert" not in html


def test_it_shows_what_would_turn_a_text_as_signs_and_keeps_marks_in_place(eva: User) -> None:
    def overrides(answer: dict[str, Any]) -> None:
        answer["intents"][0]["evidence_snippets"] = ["extend \u202eher tourist visa", "extend my"]

    text = "Can I ext\u202eend my\u2066 tourist visa?"
    turn = desk.ask(text, {"classify": [overrides, overrides]})
    item = the_item(turn, "classify")
    html = page(item, eva)
    assert not set(BIDI_CONTROLS) & set(html)
    message = html.split('id="message"')[1].split("</p>")[0].partition(">")[2]
    marked = re.findall(r"<mark[^>]*><bdi>(.*?)</bdi></mark>", SIGN.sub("", message))
    assert "extend my" in marked
    assert "<td>6–16</td>" in html
    without = re.sub(r"<sup.*?</sup>", "", SIGN.sub("", message))
    assert re.sub(r"<[^>]+>", "", without) == "Can I extend my tourist visa?"
    assert 'The model quotes “<bdi>extend <bdi class="sign"' in html
    row = browser(eva).get("/review/?tab=triage").content.decode().split(f'id="row-{item.pk}"')[1]
    assert 'Can I ext<bdi class="sign" dir="ltr" title="Right-to-left override (U+202E)"' in row


def test_it_points_into_the_formatted_answer(eva: User) -> None:
    turn = desk.ask(TEXT, {"service_select_v1": [desk.unsure]})
    html = page(the_item(turn, "service_select_v1"), eva)
    wrong = re.findall(r'json__line--wrong"><code>(.*?)</code>', html)
    # Once: an honest low score is not asked again.
    assert [line.strip() for line in wrong] == ["&quot;score&quot;: 0.41"]
    assert "<code>score.minimum</code> at <code>/serviceSelection/score</code>" in html
    assert "The model said" in words(html)


def test_it_shows_what_the_model_was_told_without_personal_data(eva: User) -> None:
    text = "I want to extend my tourist visa. Write to jane.roe@mail.example."
    item = the_item(desk.ask(text, {"service_select_v1": BAD}))
    html = page(item, eva)
    given = re.findall(r'aria-label="What the model was given[^>]*>(.*?)</pre>', html, re.DOTALL)
    assert len(given) > len(BAD)
    assert all("extend my tourist visa" in result for result in given)
    assert not any("jane.roe" in result for result in given)
    line = contracts.load("service_select_v1").directive.splitlines()[0]
    assert escape(line) in html
    assert "They were not kept" not in html
    with triggers_lifted():
        Attempt.objects.update(prompt_sha256="0" * 64)
    changed = page(item, eva)
    assert escape(line) not in changed
    assert "They were not kept" in changed


def test_it_asks_what_a_wrong_quote_meant(eva: User) -> None:
    def misquote(answer: dict[str, Any]) -> None:
        answer["intents"][0]["evidence_snippets"] = ["extend her tourist visa"]

    turn = desk.ask(TEXT, {"classify": [misquote, misquote]})
    text = words(page(the_item(turn, "classify"), eva))
    assert "“ extend her tourist visa ”, which is not in the message." in text
    assert "Did it mean “ extend my tourist visa" in text


def test_it_marks_successive_places_for_a_failed_answers_equal_quotes(eva: User) -> None:
    def repeat(answer: dict[str, Any]) -> None:
        fact = {"entity_type": "date", "value_redacted": "3 May", "confidence": 0.9}
        lost = {**fact, "evidence_snippets": ["5 May"]}
        answer["entities"] = [*[{**fact, "evidence_snippets": ["3 May"]}] * 2, lost]

    text = "Can I extend my tourist visa of 3 May from 3 May on?"
    html = page(the_item(desk.ask(text, {"extract": [repeat, repeat]}), "extract"), eva)
    assert "<td>32–37</td>" in html
    assert "<td>43–48</td>" in html


def sent_to_housing(text: str) -> ReviewItem:
    """Return the item of a message for which services of the wrong agency were offered."""
    a = knowledge.release(1).agencies["housing"]
    housing = {"agencyId": a.id, "name": a.name, "path": a.path, "description": a.description}

    def inquiry(answer: dict[str, Any]) -> None:
        answer["judgements"] |= {"inquiry": True}
        answer |= {"assistantReply": "", "nextStep": "agency_detect_v1"}

    def elsewhere(answer: dict[str, Any]) -> None:
        answer["judgements"] |= {"agencyDetected": ["housing"], "agencyInfo": [housing]}
        answer["judgements"] |= {"agencyCount": 1, "complexity": "low"}

    def sure(answer: dict[str, Any]) -> None:
        for candidate in answer["categorySelection"]["candidates"].values():
            candidate["score"] = 0.9

    fields: dict[str, Sequence[Says]] = {"judgement_v1": [inquiry], "agency_detect_v1": [elsewhere]}
    fields["category_select_v1"] = [sure]
    turn = desk.ask(text, {**fields, "service_select_v1": BAD})
    return the_item(turn, "service_select_v1")


def test_it_says_what_was_never_offered(eva: User) -> None:
    text = words(page(sent_to_housing(TEXT), eva))
    assert "was never offered to the model. It belongs to an agency that was not chosen." in text


@pytest.mark.parametrize(
    "message",
    [
        "I cannot go on any more, everything is pointless",
        "How can I go abroad with everything?",
        "I want to extend my tourist visa or I will kill myself",
    ],
)
def test_it_says_so_of_nothing_that_only_shares_a_word_nor_in_a_crisis(
    message: str, eva: User
) -> None:
    assert "was never offered" not in words(page(sent_to_housing(message), eva))


def test_it_shows_a_held_reply_as_the_citizen_would_see_it(eva: User) -> None:
    item = the_item(desk.ask(RISKY, {}), "reply")
    text = words(page(item, eva))
    assert "The reply that waits" in text
    assert "What to do first" in text
    assert "A caseworker checked this answer." in text
    assert "found by a rule" in text


def test_it_says_whether_a_key_can_be_relied_on(eva: User) -> None:
    turn = desk.ask(TEXT, {"service_select_v1": BAD})
    assert "not verified: do not rely on it" in words(page(the_item(turn), eva))


def test_it_links_the_items_of_a_conversation(eva: User) -> None:
    turn = desk.ask(TEXT, {"category_select_v1": BAD, "service_select_v1": BAD})
    first = the_item(turn, "category_select_v1")
    desk.taken_and_decided(first, eva, Action.RETRY)
    desk.run(turn, desk.Scripted({"service_select_v1": BAD}))
    following = the_item(turn, "service_select_v1")
    timeline = browser(eva).get(reverse("review:timeline", args=[first.pk])).content.decode()
    addresses = [reverse("review:item", args=[item.pk]) for item in (first, following)]
    assert (
        re.findall(r'talk__note">Item for a person: <a class="govuk-link" href="([^"]+)"', timeline)
        == addresses
    )


def test_it_takes_as_many_queries_for_many_turns_as_for_one(eva: User) -> None:
    secret = "s" * 43
    item = the_item(desk.ask(TEXT, {"judgement_v1": BAD}, secret=secret))

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page(item, eva)
        return len(captured)

    queries()
    one = queries()
    for _ in range(4):
        desk.ask(TEXT, {"judgement_v1": BAD}, secret=secret)
    assert queries() == one
    assert one < 60


def test_it_tells_whose_item_it_is(eva: User) -> None:
    item = the_item(desk.ask(TEXT, {"judgement_v1": BAD}))
    ben, sue = desk.person("ben"), desk.person("sue", *desk.ALL)
    assert "Claim this item" in page(item, eva)
    desk.take(item, eva)
    assert "See what happens" in page(item, eva)
    assert "eva is working on it" in words(page(item, ben))
    assert "Take over" not in page(item, ben)
    assert "Take over from eva" in words(page(item, sue))


def test_it_offers_nothing_to_who_may_only_look(eva: User) -> None:
    item = the_item(desk.ask(TEXT, {"judgement_v1": BAD}))
    text = page(item, desk.person("ann", "view"))
    assert "Claim this item" not in text
    assert "Your account may read items" in text


def test_it_opens_an_earlier_step_to_correct(eva: User) -> None:
    item = desk.take(the_item(desk.ask(TEXT, {"service_select_v1": BAD})), eva)
    html = page(item, eva, "?stage=agency_detect_v1")
    assert "Which agency? The assistant goes on from your answer." in words(html)
    assert 'value="override" aria-describedby="action-override-hint" checked' in html
    for nonsense in ("multi_agency_service_answer_v1", "classify", "x"):
        html = page(item, eva, f"?stage={nonsense}")
        assert "Which service? The assistant goes on" in words(html)
        assert re.findall(r'value="(\w+)" aria-describedby="[^"]*" checked', html) == ["service"]


def test_it_shows_a_turn_that_no_model_has_seen(eva: User) -> None:
    turn = Turn.objects.get(pk=the_item(desk.ask(TEXT, {"judgement_v1": BAD})).turn_id)
    with triggers_lifted():
        turn.stages.all().delete()
    assert "The assistant had not begun." in page(the_item(turn), eva)
