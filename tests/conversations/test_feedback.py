"""Why an answer was not useful: the service, the citizen's page and REST."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async

from conversations import selectors
from conversations.models import Feedback, Rating, SessionEvent, Turn
from conversations.rating.services import MAX_CHARS, FeedbackRefused, rate
from conversations.turns import erasing, services
from conversations.turns.running import running
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from tests.conversations.api.integrating import Integrator, json_socket
from tests.conversations.test_rating import HTMX, SECRET, address, browser_with
from tests.fixtures import VISA, Ask

MAIL, CARD = "jo@example.org", "4111 1111 1111 1111"


def tell(turn: Turn, useful: bool = False, **said: str) -> Rating:
    rating, _ = rate(session_id=turn.session_id, turn_id=turn.pk, useful=useful, **said)
    return rating


def told(turn: Turn) -> tuple[str, str]:
    feedback = Feedback.objects.get(reply__turn=turn)
    return feedback.reason, feedback.text


def events(turn: Turn) -> list[str]:
    found = AuditEvent.objects.filter(chain=turn.session_id, kind="reply.feedback")
    return [event.payload for event in found.order_by("seq")]


def test_it_stores_why_with_its_audit_event_and_not_the_words(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="wrong", text="The fee is higher")
    assert told(turn) == ("wrong", "The fee is higher")
    (event,) = events(turn)
    assert json.loads(event)["characters"] == 17
    assert "higher" not in event
    assert verify(turn.session_id).ok
    tell(turn, reason="wrong", text="The fee is higher")
    assert len(events(turn)) == 1


def test_it_takes_personal_data_out_before_it_stores_anything(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, text=f"Write to {MAIL}, I paid with {CARD}")
    assert told(turn) == ("", "Write to [EMAIL_1], I paid with [CARD_1]")


def test_a_new_verdict_takes_back_what_was_said_with_the_old_one(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="unclear")
    tell(turn, useful=True)
    assert told(turn) == ("", "")
    assert selectors.turn_view(turn.pk).feedback is None
    assert verify(turn.session_id).ok
    tell(turn, useful=True, text="Now I see")
    assert told(turn) == ("", "Now I see")


def test_the_same_verdict_again_leaves_it(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="unclear")
    tell(turn)
    assert told(turn) == ("unclear", "")


@pytest.mark.parametrize(
    ("useful", "said"),
    [
        (False, {"reason": "because"}),
        (True, {"reason": "wrong"}),
        (False, {"text": "x" * (MAX_CHARS + 1)}),
        (False, {"text": "a\x00b"}),
        (False, {"text": "a\ud800b"}),
    ],
)
def test_it_changes_nothing_where_it_cannot_be_taken(
    ask: Ask, useful: bool, said: dict[str, str]
) -> None:
    turn = ask(VISA)
    with pytest.raises(FeedbackRefused):
        tell(turn, useful, **said)
    assert not Rating.objects.exists()
    assert not Feedback.objects.exists()


def test_it_goes_with_its_session(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="wrong", text="The fee is higher")
    erasing.erase_session(session_id=turn.session_id)
    assert not Feedback.objects.exists()
    assert verify(turn.session_id).ok


def test_the_page_asks_why_without_javascript(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    client = browser_with(SECRET)
    assert 'class="why"' not in client.get("/").content.decode()
    client.post(address(turn), {"useful": "no"})
    html = client.get("/").content.decode()
    for words in ("It is not what I asked", "It is not right", "I did not understand it"):
        assert words in html
    said = {f"reason-{turn.pk}": "wrong", f"text-{turn.pk}": "The <b>fee</b>\r\nis higher"}
    response = client.post(address(turn), {"useful": "no", **said})
    assert response.status_code == 303
    assert told(turn) == ("wrong", "The <b>fee</b>\nis higher")
    html = client.get("/").content.decode()
    assert "The &lt;b&gt;fee" in html
    assert "<strong>It is not right</strong>" in html


def test_htmx_gets_the_line_with_what_was_said(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    data = {"useful": "no", f"reason-{turn.pk}": "unclear"}
    html = browser_with(SECRET).post(address(turn), data, headers=HTMX).content.decode()
    assert "<strong>I did not understand it</strong>" in html
    assert "<html" not in html


def test_the_page_says_what_cannot_be_taken(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    data = {"useful": "no", f"text-{turn.pk}": "x" * 501}
    response = browser_with(SECRET).post(address(turn), data)
    assert response.status_code == 422
    assert "501 characters long" in response.content.decode()
    assert not Rating.objects.exists()


def test_who_writes_of_danger_there_sees_the_help_lines(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    data = {"useful": "no", f"text-{turn.pk}": "I want to kill myself"}
    html = browser_with(SECRET).post(address(turn), data, headers=HTMX).content.decode()
    assert "Listening Line" in html
    # The focus goes there: an alert as well would be read out a second time.
    assert 'role="alert"' not in html
    plain = browser_with(SECRET).post(address(turn), data)
    assert plain["Location"].endswith(f"#turn-{turn.pk}-help")
    assert "Listening Line" in selectors.turn_view(turn.pk).contact_texts[0]


def test_a_program_says_why(ask: Ask) -> None:
    program = Integrator()
    turn = ask(VISA, secret=program.token)
    path = f"/api/v1/turns/{turn.pk}/rating/"
    body = {"useful": False, "reason": "other_question", "text": f"Mail {MAIL}"}
    response = program.call("PUT", path, body)
    assert response.status_code == 200
    assert response.json()["feedback"] == {"reason": "other_question", "text": "Mail [EMAIL_1]"}
    assert program.get(f"/api/v1/turns/{turn.pk}/").json()["feedback"]["reason"] == "other_question"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"useful": False, "reason": "because"}, 400),
        ({"useful": False, "text": 5}, 400),
        ({"useful": True, "reason": "wrong"}, 422),
        ({"useful": False, "text": "x" * 501}, 422),
    ],
)
def test_a_program_is_told_what_cannot_be_taken(
    ask: Ask, body: dict[str, object], status: int
) -> None:
    program = Integrator()
    turn = ask(VISA, secret=program.token)
    response = program.call("PUT", f"/api/v1/turns/{turn.pk}/rating/", body)
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert not Rating.objects.exists()


# ---- the JSON socket


@database_sync_to_async
def answered(text: str = VISA) -> tuple[Integrator, Turn]:
    program = Integrator()
    turn = services.receive_turn(secret=program.token, text=text, enqueue=False)
    running.run_turn(turn_id=turn.pk)
    return program, turn


@database_sync_to_async
def stored(turn: Turn) -> tuple[bool | None, str, str]:
    view = selectors.turn_view(turn.pk)
    said = view.feedback
    return (view.useful, *((said.reason, said.text) if said else ("", "")))


@pytest.mark.django_db(transaction=True)
async def test_a_socket_says_why_and_is_told_that_it_was_stored(published: None) -> None:
    program, turn = await answered()
    said = {"type": "rate", "turn": str(turn.pk), "useful": False}
    async with json_socket(program.token, after=0) as socket:
        await socket.read_until("reply")
        await socket.send({**said, "reason": "wrong", "text": f"Mail {MAIL}"})
        rated = await socket.read_until("rated")
        number = rated.pop("event")
        same = {"type": "rated", "turn": str(turn.pk), "useful": False, "reason": "wrong"}
        assert rated == same
        assert await stored(turn) == (False, "wrong", "Mail [EMAIL_1]")
        await socket.send({**said, "useful": True})
        assert (await socket.read_until("rated"))["reason"] == ""
        assert await stored(turn) == (True, "", "")
    async with json_socket(program.token, after=number - 1) as socket:
        assert await socket.read() == {**same, "event": number}


@pytest.mark.django_db(transaction=True)
async def test_the_same_again_is_answered_on_the_socket_and_stored_nowhere(published: None) -> None:
    program, turn = await answered()
    said = {"type": "rate", "turn": str(turn.pk), "useful": False, "reason": "wrong"}
    async with json_socket(program.token, after=0) as socket:
        await socket.read_until("reply")
        await socket.send(said)
        rated = await socket.read_until("rated")
        stored_events = await database_sync_to_async(SessionEvent.objects.count)()
        for _ in range(3):
            await socket.send(said)
            assert await socket.read_until("rated") == rated
        await socket.send({"type": "rate", "turn": str(turn.pk), "useful": False})
        assert await socket.read_until("rated") == rated
        assert await database_sync_to_async(SessionEvent.objects.count)() == stored_events


@pytest.mark.django_db(transaction=True)
async def test_who_writes_of_danger_on_a_socket_sees_the_help_lines(published: None) -> None:
    program, turn = await answered()
    said = {"type": "rate", "turn": str(turn.pk), "useful": False}
    async with json_socket(program.token, after=0) as socket:
        await socket.send({**said, "text": "I want to kill myself"})
        rated = await socket.read_until("rated")
    assert "Listening Line" in rated["contacts"][0]
    assert "kill" not in json.dumps(socket.frames)
    assert await database_sync_to_async(turn.review_items.count)() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"turn": "x"}, "bad-frame", "an answered turn"),
        ({"turn": str(uuid4())}, "bad-frame", "no answer that can be rated"),
        ({"useful": "yes"}, "bad-frame", "true or false"),
        ({"useful": None}, "bad-frame", "true or false"),
        ({"reason": "because"}, "bad-frame", "other_question"),
        ({"reason": None}, "bad-frame", "other_question"),
        ({"text": 5}, "bad-frame", "a string"),
        ({"useful": True, "reason": "wrong"}, "feedback-refused", "Choose one of the reasons"),
        ({"text": "x" * 501}, "feedback-refused", "501 characters"),
        ({"text": "a\ud800b"}, "bad-frame", "not one JSON object"),
    ],
)
async def test_a_socket_is_told_what_cannot_be_taken(
    published: None, changes: dict[str, object], code: str, words: str
) -> None:
    program, turn = await answered()
    said = {"type": "rate", "turn": str(turn.pk), "useful": False}
    async with json_socket(program.token, after=0) as socket:
        await socket.send({**said, **changes})
        error = await socket.read_until("error")
    assert error["code"] == code
    assert words in error["words"]
    assert await stored(turn) == (None, "", "")


@pytest.mark.django_db(transaction=True)
async def test_a_socket_rates_no_guidance_and_nothing_of_another_session(published: None) -> None:
    _, others = await answered()
    program, greeted = await answered("Hello")
    async with json_socket(program.token, after=0) as socket:
        for turn in (others, greeted):
            await socket.send({"type": "rate", "turn": str(turn.pk), "useful": True})
            error = await socket.read_until("error")
            assert (error["code"], error["turn"]) == ("bad-frame", None)
            assert await stored(turn) == (None, "", "")
