"""Why an answer was not useful: the service, the citizen's page and REST."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.models import Feedback, Rating, Turn
from conversations.reactions import MAX_CHARS, FeedbackRefused, rate
from conversations.turns import erasing
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from tests.conversations.api.integrating import Integrator
from tests.conversations.test_rating import HTMX, SECRET, address, browser_with
from tests.fixtures import VISA, Ask

MAIL, CARD = "jo@example.org", "4111 1111 1111 1111"


def tell(turn: Turn, useful: bool = False, **values: str) -> Rating:
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=useful, **values)
    return Rating.objects.get(reply__turn=turn)


def stored_feedback(turn: Turn) -> tuple[str, str]:
    feedback = Feedback.objects.get(reply__turn=turn)
    return feedback.reason, feedback.text


def events(turn: Turn) -> list[str]:
    audit_events = AuditEvent.objects.filter(chain=turn.session_id, kind="reply.feedback")
    return [event.payload for event in audit_events.order_by("seq")]


def test_it_stores_why_with_its_audit_event_and_not_the_words(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="wrong", text="The fee is higher")
    assert stored_feedback(turn) == ("wrong", "The fee is higher")
    (event,) = events(turn)
    assert "higher" not in event
    assert verify(turn.session_id).ok
    tell(turn, reason="wrong", text="The fee is higher")
    assert len(events(turn)) == 1


def test_it_takes_personal_data_out_before_it_stores_anything(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, text=f"Write to {MAIL}, I paid with {CARD}")
    assert stored_feedback(turn) == ("", "Write to [EMAIL_1], I paid with [CARD_1]")


def test_a_new_verdict_takes_back_what_was_said_with_the_old_one(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="unclear")
    tell(turn, useful=True)
    assert stored_feedback(turn) == ("", "")
    assert selectors.turn_view(turn.pk).feedback is None
    assert verify(turn.session_id).ok
    tell(turn, useful=True, text="Now I see")
    assert stored_feedback(turn) == ("", "Now I see")


def test_the_same_verdict_again_leaves_it(ask: Ask) -> None:
    turn = ask(VISA)
    tell(turn, reason="unclear")
    tell(turn)
    assert stored_feedback(turn) == ("unclear", "")


@pytest.mark.parametrize(
    ("useful", "values"),
    [
        (False, {"reason": "because"}),
        (True, {"reason": "wrong"}),
        (False, {"text": "x" * (MAX_CHARS + 1)}),
        (False, {"text": "a\x00b"}),
        (False, {"text": "a\ud800b"}),
    ],
)
def test_it_changes_nothing_where_it_cannot_be_taken(
    ask: Ask, useful: bool, values: dict[str, str]
) -> None:
    turn = ask(VISA)
    with pytest.raises(FeedbackRefused):
        tell(turn, useful, **values)
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
    fields = {f"reason-{turn.pk}": "wrong", f"text-{turn.pk}": "The fee <of 90 & more\r\nis higher"}
    response = client.post(address(turn), {"useful": "no", **fields})
    assert response.status_code == 303
    assert stored_feedback(turn) == ("wrong", "The fee <of 90 & more\nis higher")
    html = client.get("/").content.decode()
    assert "The fee &lt;of 90 &amp; more" in html
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
