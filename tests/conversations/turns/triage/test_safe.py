"""“I am safe, go on”: the talk goes on, and what was said of danger stays where it was said."""

from __future__ import annotations

import re

from django.urls import reverse
from django.utils import timezone

from conversations import reactions, selectors
from conversations.turns import help_lines
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from review.models import ReviewItem
from tests.conversations.api.integrating import Integrator
from tests.conversations.test_rating import browser_with
from tests.fixtures import VISA, Ask
from tests.review import people

DANGER = "I want to die"
SECRET = "s"


def test_what_follows_neither_waits_nor_inherits_help_lines(ask: Ask) -> None:
    first = ask(DANGER, secret=SECRET)
    browser = browser_with(SECRET)
    html = browser.get("/").content.decode()
    address = reverse("conversations:safe", args=[first.pk])
    assert re.search(rf'form="safe" formaction="{address}">I am safe, go on</button>', html)
    response = browser.post(address)
    assert (response.status_code, response["Location"]) == (303, f"/#turn-{first.pk}")
    assert browser.post(address).status_code == 303
    assert AuditEvent.objects.filter(kind="turn.said_safe").count() == 1
    thanks = ask("Thank you", secret=SECRET)
    assert (thanks.state, selectors.turn_view(thanks.pk).contacts) == ("answered", ())
    # The message itself goes on waiting for a person, with its numbers folded.
    first.refresh_from_db()
    assert first.state == "needs_review"
    html = browser.get("/").content.decode()
    assert "You have said that you are safe" in html
    assert "Listening Line" in html
    assert 'role="alert"' not in html
    again = ask(DANGER, secret=SECRET)
    assert again.state == "needs_review"
    assert selectors.turn_view(again.pk).contacts
    assert verify(first.session_id).ok


def test_what_is_said_of_a_moment_stays_as_it_was(ask: Ask) -> None:
    first = ask(DANGER, secret=SECRET)
    before = timezone.now()
    reactions.say_safe(session_id=first.session_id, turn_id=first.pk)
    moments = [(first.number, before), (first.number, timezone.now())]
    assert help_lines.in_danger_at(moments, first.session_id) == [True, False]


def test_who_looks_reads_it(ask: Ask) -> None:
    first = ask(DANGER, secret=SECRET)
    reactions.say_safe(session_id=first.session_id, turn_id=first.pk)
    item = ReviewItem.objects.get(turn=first)
    page = (
        people.browser(people.person("eva"))
        .get(reverse("review:item", args=[item.pk]))
        .content.decode()
    )
    assert "that they are safe" in page


def test_a_program_says_it_too(published: None) -> None:
    program = Integrator()
    turn = program.ask(DANGER).json()
    path = f"/api/v1/turns/{turn['id']}/safe/"
    assert not turn["said_safe"]
    assert program.call("PUT", path).json()["said_safe"]
    calm = Integrator()
    other = calm.ask(VISA).json()
    assert calm.call("PUT", f"/api/v1/turns/{other['id']}/safe/").status_code == 404
    assert calm.call("PUT", path).status_code == 404
