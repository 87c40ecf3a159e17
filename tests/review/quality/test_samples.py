"""The sample: how it is drawn, who may read what, and what a reading leads to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Rating, Reply, Turn
from conversations.turns import erasing
from conversations.turns import services as turns
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from review import claims, evaluation_cases, talking
from review.deciding import Action
from review.models import Reading, ReviewItem
from review.quality import selectors, services
from tests.fixtures import VISA
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.desk import BAD
from tests.review.item.test_decide import erased_before
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = pytest.mark.usefixtures("published")
SAMPLES = "/api/v1/review/samples/"
BODY = {"kind": "answer", "title": "", "lead": "", "sections": [], "sources": []}
InThreads = Callable[[list[Callable[[], Any]]], list[Any]]


def answer(text: str = "It costs 45. Bring a photo.", origin: str = "index") -> Reply:
    """Insert a sent answer of two sentences."""
    body = {**BODY, "paragraphs": [text]}
    return Reply.objects.create(turn=make_turn(), origin=origin, body=body)


def sampled(reply: Reply) -> Reading:
    return Reading.objects.create(reply=reply, cause="random", day=timezone.localdate())


def decided(by: User) -> ReviewItem:
    item = desk.the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    text = {"text": "Please extend it online.", "sources": []}
    desk.taken_and_decided(item, by, Action.WRITE, **text)
    return item


def test_a_draw_can_be_repeated_and_takes_flagged_answers_too() -> None:
    replies = [answer() for _ in range(9)] + [answer(origin="staff") for _ in range(4)]
    for reply in replies:
        Rating.objects.create(reply=reply, useful=False, at=timezone.now())
    today = timezone.localdate()

    def draw() -> set[tuple[int, str, int]]:
        services.draw(day=today, number=2)
        return set(Reading.objects.values_list("reply", "cause", "number"))

    first = draw()
    assert draw() == first  # one day is drawn from once
    once = [(reply, cause) for reply, cause, number in first if number == 1]
    assert sorted(cause for _, cause in once) == ["flagged"] * 4 + ["random"] * 4
    of_people = {reply.pk for reply in replies if reply.origin == "staff"}
    assert len(of_people & {reply for reply, _ in once}) == 4
    digests = {r.pk: hashlib.sha256(f"{today} {r.turn_id}".encode()).hexdigest() for r in replies}
    twice = {reply for reply, _ in once if int(digests[reply], 16) % 5 == 0}
    assert {reply for reply, _, number in first if number == 2} == twice
    Reading.objects.all().delete()
    Rating.objects.exclude(reply__in=[reply for reply, _ in once]).delete()
    assert draw() == first
    Reading.objects.all().delete()
    Rating.objects.all().delete()
    assert draw() == {row for row in first if row[1] == "random"}


@pytest.mark.parametrize("sign", ["", "score", "danger", "corrected"])
def test_signs_of_a_wrong_answer_flag_it(sign: str) -> None:
    for _ in range(2):
        reply = answer(origin="staff_override" if sign == "corrected" else "model")
        score = Decimal("0.41") if sign == "score" else Decimal("0.82")
        output = {"serviceSelection": {"score": score}}
        reply.turn.stages.create(contract="service_select_v1", order=3, output=output)
        if sign == "danger":
            Turn.objects.filter(pk=reply.turn_id).update(risks=[{"code": "self_harm"}])
    services.draw(day=timezone.localdate(), number=1)
    causes = Reading.objects.filter(number=1).order_by("cause").values_list("cause", flat=True)
    assert list(causes) == (["flagged", "random"] if sign else ["random"])


def test_the_sweep_draws_yesterdays_answers_as_the_settings_say(settings: Any) -> None:
    answer()
    tomorrow = timezone.localtime().replace(hour=2) + timedelta(days=1)
    settings.IEIM_SAMPLES = 0
    services.sweep(now=tomorrow)
    assert not Reading.objects.exists()
    settings.IEIM_SAMPLES = 1
    services.sweep(now=tomorrow)
    assert {reading.day for reading in Reading.objects.all()} == {timezone.localdate()}


def test_the_page_says_why_nothing_waits_and_when_the_next_draw_is(settings: Any) -> None:
    ann, ben = desk.person("ann"), desk.person("ben")
    for _ in range(2):
        sampled(answer())
    first = services.take_next(reader=ann)
    assert first is not None
    services.score(reading_id=first.pk, reader=ann, scores=["right", "right"])
    services.take_next(reader=ann)
    page = browser(ben)
    shown = desk.words(page.post("/review/samples/next/", follow=True).content.decode())
    assert "No answer waits to be read again." in shown
    assert "2 that you may read, 1 of them read so far. The others are for colleagues." in shown
    begin = timezone.localtime() - timedelta(hours=1)
    tomorrow = (begin + timedelta(days=1)).replace(hour=1, minute=0, second=0, microsecond=0)
    assert f"The next draw is on {tomorrow:%-d %B}, 01:00." in shown
    settings.IEIM_SAMPLES = 0
    assert "No answers are drawn by night" in page.get("/review/samples/").content.decode()
    assert Reviewer(ben).get(SAMPLES).json() == {
        "left": 0,
        "day": str(timezone.localdate()),
        "drawn": 2,
        "read": 1,
        "next": None,
    }


def test_a_lead_draws_ten_by_hand_of_their_agencies() -> None:
    desk.ask(VISA, {})
    for _ in range(11):
        answer()
    elsewhere = person("lea", Role.SUPERVISOR, "civil-registry")
    drawn = browser(elsewhere).post("/review/samples/draw/", follow=True).content.decode()
    assert "No answer of the last seven days is left to draw." in drawn
    lead, ben = desk.person("zoe", "view", "decide", "supervise"), desk.person("ben")
    page = browser(lead)
    shown = page.post("/review/samples/draw/", follow=True).content.decode()
    assert "10 answers were drawn." in shown
    assert "10 answers wait for you." in shown
    assert Reviewer(lead).post(f"{SAMPLES}draw/").json()["left"] == 12
    assert set(Reading.objects.values_list("cause", "day")) == {("hand", None)}
    assert Reviewer(ben).post(f"{SAMPLES}draw/").status_code == 403
    assert "Draw ten answers now" not in browser(ben).get("/review/samples/").content.decode()


@pytest.mark.parametrize("part", ["decided", "put it in"])
def test_nobody_reads_an_answer_that_they_had_a_part_in(part: str) -> None:
    eva, ben = desk.person("eva"), desk.person("ben")
    item = decided(eva if part == "decided" else desk.person("ann"))
    services.add(item_id=item.pk, by=desk.person("zoe") if part == "decided" else eva)
    sample = Reading.objects.get(verdict="")
    mine, theirs = Reviewer(eva), Reviewer(ben)
    assert mine.post(f"{SAMPLES}next/").status_code == 204
    if part == "decided":
        Reading.objects.filter(pk=sample.pk).update(reader=eva)  # as if it were hers
    address = f"{SAMPLES}{sample.pk}/"
    assert mine.get(address).status_code == 404
    assert mine.post(address, {"scores": ["right"]}).status_code == 404
    assert mine.http.delete(address, headers={"X-CSRFToken": mine.csrf}).status_code == 404
    page = browser(eva)
    assert page.get(f"/review/samples/{sample.pk}/").status_code == 404
    assert page.post(f"/review/samples/{sample.pk}/", {"score-0": "right"}).status_code == 404
    shown = page.post("/review/samples/next/", follow=True).content.decode()
    assert "No answer waits to be read again." in shown

    Reading.objects.filter(pk=sample.pk).update(reader=None)
    assert theirs.post(f"{SAMPLES}next/").json()["id"] == str(sample.pk)
    shown = browser(ben).get(f"/review/samples/{sample.pk}/").content.decode()
    assert "Please extend it online." in shown
    for secret in ("eva", "ann", "caseworker wrote", "Drawn"):
        assert secret not in desk.words(shown)


def test_nobody_reads_an_answer_of_a_citizen_that_they_talked_with() -> None:
    eva, ben, ann = (desk.person(name) for name in ("eva", "ben", "ann"))
    item = desk.the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    talking.begin(item_id=item.pk, actor=ben)
    claims.release(item_id=item.pk, actor=ben)
    desk.taken_and_decided(item, eva, Action.WRITE, text="Please extend it online.", sources=[])
    services.add(item_id=item.pk, by=eva)
    assert services.take_next(reader=ben) is None
    assert services.take_next(reader=ann) is not None


def test_an_answer_that_is_erased_meanwhile_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    eva = desk.person("eva")
    item = decided(eva)
    erased_before(monkeypatch, "review.quality.services.locked_session", item.turn.session_id)
    assert browser(eva).post(f"/review/{item.pk}/sample/").status_code == 404


def test_only_whoever_took_an_answer_reads_and_scores_it_once() -> None:
    sample, ben, ann = sampled(answer()), Reviewer(desk.person("ben")), Reviewer(desk.person("ann"))
    address = f"{SAMPLES}{sample.pk}/"
    body = {"scores": ["incomplete", "right"], "remark": " A photo of what size? "}
    assert ben.post(address, body).status_code == 404
    assert [s["text"] for s in ben.post(f"{SAMPLES}next/").json()["statements"]] == [
        "It costs 45.",
        "Bring a photo.",
    ]
    assert ann.post(f"{SAMPLES}next/").status_code == 204  # one reader is enough
    for bad in ({}, {"scores": ["right"]}, {"scores": ["right", "best"]}):
        assert ben.post(address, bad).status_code in (400, 422)
    assert not Reading.objects.exclude(verdict="").exists()
    answered = ben.post(address, body)
    assert answered.json() == {"verdict": "incomplete", "item": None}
    assert ben.post(address, body).status_code == 404
    payload = AuditEvent.objects.get(kind="quality.scored").payload
    assert '"verdict":"incomplete"' in payload
    assert "photo" not in payload


def test_a_reading_that_is_left_lying_is_given_to_somebody_else() -> None:
    sample, ben, ann = sampled(answer()), desk.person("ben"), desk.person("ann")
    services.take_next(reader=ben)
    assert services.take_next(reader=ann) is None
    Reading.objects.update(taken_at=timezone.now() - selectors.LEASE)
    assert services.take_next(reader=ann) == sample
    with pytest.raises(Reading.DoesNotExist):
        services.score(reading_id=sample.pk, reader=ben, scores=["right", "right"])


def test_what_one_skips_is_for_others() -> None:
    sample, ben, ann = sampled(answer()), desk.person("ben"), desk.person("ann")
    services.take_next(reader=ben)
    browser(ben).post(f"/review/samples/{sample.pk}/", {"skip": "1"})
    assert services.take_next(reader=ben) is None
    taken = services.take_next(reader=ann)
    assert taken is not None
    assert (taken.reply, taken.cause, taken.day) == (sample.reply, sample.cause, sample.day)


def test_a_second_reading_is_somebody_elses() -> None:
    first, ben = sampled(answer()), desk.person("ben")
    first.reply.readings.create(number=2, cause="random")
    assert services.take_next(reader=ben) == first
    services.score(reading_id=first.pk, reader=ben, scores=["right", "wrong"])
    assert services.take_next(reader=ben) is None
    assert services.take_next(reader=desk.person("ann")) is not None


def test_what_is_harmful_is_an_item_at_once() -> None:
    sample, ben = sampled(answer()), desk.person("ben")
    services.take_next(reader=ben)
    page = browser(ben)
    scores = {"score-0": "harmful", "score-1": "right"}
    response = page.post(f"/review/samples/{sample.pk}/", scores, follow=True)
    item = ReviewItem.objects.get()
    assert (item.turn_id, item.reasons, item.priority) == (
        sample.reply.turn_id,
        ["reader.harmful"],
        1,
    )
    assert item.turn.session.reference in desk.words(response.content.decode())
    assert "found it harmful" in page.get(f"/review/{item.pk}/").content.decode()


@pytest.mark.parametrize(
    ("agency", "role", "number"),
    [
        ("immigration", Role.CASEWORKER, 2),
        ("civil-registry", Role.CASEWORKER, 0),
        ("civil-registry", Role.SUPERVISOR, 1),  # what has no agency
    ],
)
def test_one_reads_answers_of_ones_own_agencies(agency: str, role: Role, number: int) -> None:
    item = decided(desk.person("eva"))
    services.add(item_id=item.pk, by=desk.person("zoe"))
    sampled(desk.ask(VISA, {}).reply)
    sampled(answer())
    readers = selectors.readable(person("ben", role, agency))
    assert readers.count() == number


def test_an_item_without_an_answer_is_not_put_in() -> None:
    item = desk.the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    eva = Reviewer(desk.person("eva"))
    refused = eva.post(f"{path_of(item)}sample/")
    assert (refused.status_code, Reading.objects.count()) == (422, 0)
    assert "Decide the item first" in refused.json()["detail"]


def test_it_goes_with_the_conversation() -> None:
    secret = turns.new_secret()
    turn = desk.ask(VISA, {}, secret=secret)
    sample, ben = sampled(turn.reply), desk.person("ben")
    services.take_next(reader=ben)
    services.score(
        reading_id=sample.pk,
        reader=ben,
        scores=["right"] * len(selectors.statements(turn.reply)),
        remark="Good.",
    )
    erasing.erase_session(session_id=turn.session_id)
    assert not Reading.objects.exists()


def test_right_answers_are_cases_and_wrong_decisions_are_none() -> None:
    alone, item = desk.ask(VISA, {}), decided(desk.person("eva"))
    ben = desk.person("ben")
    for reply in (alone.reply, Reply.objects.get(turn=item.turn_id)):
        sampled(reply)
    while (taken := services.take_next(reader=ben)) is not None:
        reply = taken.reply
        verdict = "right" if reply.turn_id == alone.pk else "wrong"
        scores = [verdict] * len(selectors.statements(reply))
        services.score(reading_id=taken.pk, reader=ben, scores=scores)
    found = [case for case in evaluation_cases.cases() if case]
    assert [(case["text"], case["tags"]) for case in found] == [(VISA, ["sample", "right"])]
    assert found[0]["expected"]["service"] == "immigration.extend-tourist-visa"


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_who_take_at_once_have_no_sample_twice(in_threads: InThreads) -> None:
    for _ in range(3):
        sampled(answer())
    readers = [desk.person(f"reader{n}") for n in range(6)]
    taken = in_threads([partial(services.take_next, reader=reader) for reader in readers])
    samples = [reading.pk for reading in taken if reading is not None]
    assert len(samples) == len(set(samples)) == 3
