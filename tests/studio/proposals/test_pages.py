"""The pages of proposals: what stays of what was typed, and what is said of earlier ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import publishing, services, sets
from ieim.studio.models import Proposal
from ieim.studio.proposals import services as proposals
from tests.review.people import browser, person
from tests.studio.proposals.proposing import change, proposed, published

pytestmark = pytest.mark.django_db
HOME = "/knowledge/"


@pytest.fixture
def edith(bundle: Bundle) -> User:
    """An editor of passports; the small bundle is release 1."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="First", by=None)
    return person("edith", Role.EDITOR, "passports", name="Edith Ek")


@pytest.fixture
def pam(edith: User) -> User:
    return person("pam", Role.PUBLISHER, "passports", name="Pam Pass")


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def at(days: int) -> str:
    return f"{timezone.localtime() + timedelta(days=days):%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize(
    ("start", "end", "field"),
    [(9, 8, "expires_at"), (-1, 8, "publish_at"), (4000, 0, "publish_at")],
)
def test_a_wrong_time_is_said_at_it_and_what_was_typed_stays(
    edith: User, start: int, end: int, field: str
) -> None:
    change(edith, fees="90 crowns")
    working = sets.working_set(edith)
    assert working is not None
    data = {"text": "A new fee", "publish_at": at(start), "expires_at": at(end) if end else ""}
    page = browser(edith).post(f"{HOME}proposals/{working.pk}/propose/", data)
    html = text(page)
    assert page.status_code == 422
    assert page.context["times"].errors.keys() == {field}
    assert f'<a href="#{field}">' in html
    assert f'value="{data["publish_at"]}"' in html
    assert 'dir="auto" aria-describedby="text-hint">A new fee</textarea>' in html
    before = html[: html.index("At a certain time")]
    assert before[before.rindex("<details") :].startswith('<details class="govuk-details" open')


def test_a_set_goes_on_with_what_was_withdrawn_and_its_times(edith: User) -> None:
    change(edith, fees="90 crowns")
    later = timezone.now() + timedelta(days=9)
    first = proposals.propose(note="A fee", by=edith, publish_at=later)
    proposals.comment(proposal_id=first.pk, text="Is it 90?", by=edith)
    proposals.withdraw(proposal_id=first.pk, by=edith)
    again = sets.working_set(edith)
    assert again is not None
    page = browser(edith).get(f"{HOME}proposals/{again.pk}/")
    html = text(page)
    assert f'href="/knowledge/proposals/{first.pk}/"' in html
    assert "Is it 90?" in html
    assert f'value="{timezone.localtime(later):%Y-%m-%dT%H:%M}"' in html


def test_its_author_reads_a_refusal_first_until_the_next_try(edith: User, pam: User) -> None:
    first = proposed(edith)
    proposals.refuse(proposal_id=first.pk, by=pam, reason="It is 95 crowns")
    client = browser(edith)
    html = text(client.get(HOME))
    assert html.index("Pam Pass has turned down your proposal") < html.index("The draft</h2>")
    assert "It is 95 crowns" in html
    again = sets.working_set(edith)
    assert again is not None
    assert "It is 95 crowns" in text(client.get(f"{HOME}proposals/{again.pk}/"))
    assert "has turned down your" not in text(browser(pam).get(HOME))
    change(edith, fees="95 crowns")
    proposals.propose(note="The right fee", by=edith)
    assert "has turned down your" not in text(client.get(HOME))


def test_every_earlier_proposal_is_found(edith: User) -> None:
    state, time = Proposal.State.WITHDRAWN, timezone.now()
    for number in range(27):
        Proposal.objects.create(
            state=state, note=f"Note {number}.", proposed_by=edith, decided_at=time
        )
    client = browser(edith)
    assert 'href="/knowledge/proposals/"' in text(client.get(HOME))
    first, second = (text(client.get(f"{HOME}proposals/?page={page}")) for page in (1, 2))
    assert "Note 26." in first
    assert "Note 1." not in first
    assert "Note 0." in second


def test_what_is_published_is_taken_back_near_its_top_by_who_may(edith: User, pam: User) -> None:
    proposal = proposed(edith)
    published(proposal.pk, pam)
    address = f"{HOME}proposals/{proposal.pk}/"
    html = text(browser(edith).get(address))
    assert html.index("Take this back") < html.index("What changes for citizens")
    refused = text(browser(pam).get(address))
    assert "Take this back" not in refused
    assert "ask an editor of its agencies" in refused
    other = text(browser(person("tom", Role.EDITOR, "tax")).get(address))
    assert "Take this back" not in other
    assert "It also touches passports" in other


def test_what_the_author_says_is_read_before_publishing(edith: User, pam: User) -> None:
    proposal = proposed(edith)
    for by, words in ((edith, "Only from May."), (pam, "Why?"), (pam, "Sure?")):
        proposals.comment(proposal_id=proposal.pk, text=words, by=by)
    html = text(browser(pam).get(f"{HOME}proposals/{proposal.pk}/"))
    decision = html[html.index("Your decision") : html.index(">Publish</button>")]
    assert "3 comments" in decision
    assert "Only from May." in decision
    assert "Sure?" not in decision
