"""Reading releases and the draft, and comparing them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing, publishing, services
from ieim.studio.models import Category, Change, Proposal
from ieim.studio.proposals import services as proposals
from tests.review.people import browser, person
from tests.studio.proposals.proposing import change, proposed

pytestmark = pytest.mark.django_db


@pytest.fixture
def edith(bundle: Bundle, db: None) -> User:
    """An editor; the small bundle is release 1, another fee release 2."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="The first one", by=None)
    edith = person("edith", Role.EDITOR, name="Edith Ek")
    paul = person("paul", Role.PUBLISHER, name="Paul Peck")
    proposals.publish_proposal(proposal_id=proposed(edith).pk, by=paul)
    return edith


@pytest.fixture
def page(edith: User) -> Client:
    """Edith's browser."""
    return browser(edith)


def test_a_language_is_called_by_its_name(page: Client, edith: User) -> None:
    values = {"language": "tl", "agency": "passports", "service": "renew", "fees": "90 korona"}
    source = Change.Source.ADMIN
    editing.save(
        table="translations", values=values, by=edith, expected_version=None, source=source
    )
    change(edith, fees="91 crowns")
    case = {"case": "greeting", "language": "tl", "text": "Kumusta"}
    editing.save(table="texts", values=case, by=edith, expected_version=None, source=source)
    html = text(page.get("/knowledge/differences/"))
    names = re.findall(r'<span dir="auto">([^<]+)</span></h', html)
    assert sorted(names) == ["Renew a passport", "greeting", "renew"]
    assert html.count("· Filipino") == 2
    assert not re.search(r">[^<]*\b(tl|fil|fees)\b[^<]*<", html[html.index("<article") :])


def text(response: Any) -> str:
    """The page that was answered, its white space in single spaces."""
    return " ".join(response.content.decode().split())


def test_it_lists_releases_with_who_and_when(page: Client) -> None:
    html = text(page.get("/knowledge/releases/"))
    assert html.index("Release 2") < html.index("Release 1")
    assert "by Edith Ek" in html
    assert "published by Paul Peck" in html
    assert html.count("Current</strong>") == 1
    html = text(page.get("/knowledge/releases/2/"))
    assert Release.objects.get(number=2).sha256 in html
    assert "2 agencies, 2 categories, 2 services" in html
    assert "Publish it again" not in html
    assert "Publish it again" in text(page.get("/knowledge/releases/1/"))


@pytest.mark.parametrize("where", ["releases/1/", "services/"])
def test_it_finds_services_by_words_and_agency(page: Client, where: str) -> None:
    def matches(query: str) -> list[bool]:
        html = text(page.get(f"/knowledge/{where}?{query}"))
        return [name in html for name in ("Renew a passport", "File a tax return")]

    assert matches("") == [True, True]
    assert matches("q=PASSPORT+renew") == [True, False]
    assert matches("q=revenue") == [False, True]
    assert matches("agency=tax") == [False, True]
    assert matches("q=100%25_") == [False, False]
    assert matches("q=%00&agency=nobody&page=zzz") == [True, True]


def test_a_service_is_shown_as_citizens_see_it(page: Client) -> None:
    old = text(page.get("/knowledge/releases/1/service/?agency=passports&key=renew"))
    new = text(page.get("/knowledge/releases/2/service/?agency=passports&key=renew"))
    assert "80 crowns" in old
    assert "90 crowns" in new
    for words in (
        "What it costs",
        "How to apply",
        "Fill in the form",
        "Travel</span>: <span",
        "holiday",
    ):
        assert words in new


def test_it_compares_any_two(edith: User, page: Client) -> None:
    change(edith, fees="95 crowns")
    html = text(page.get("/knowledge/differences/"))
    assert "release 2 and the draft" in html
    assert "<del>90</del> crowns" in html
    html = text(page.get("/knowledge/differences/?from=draft&to=1"))
    assert "<ins>80</ins> crowns" in html
    assert "Nothing differs" in text(page.get("/knowledge/differences/?from=1&to=1"))
    odd = page.get("/knowledge/differences/?from=x&to=99&agency=y&kind=z&table=q&page=-1")
    assert odd.status_code == 200


def test_differences_are_filtered(edith: User, page: Client) -> None:
    change(edith, fees="95 crowns")
    entry = Category.objects.get(key="income")
    editing.save(
        table="dictionary",
        values={"agency": "tax", "key": "income", "value": "Tax on what you earn"},
        by=edith,
        expected_version=entry.version,
        source=Change.Source.ADMIN,
    )
    both = text(page.get("/knowledge/differences/"))
    assert "Renew a passport" in both
    assert "Tax on what you earn" in both
    for query in ("agency=tax", "table=dictionary"):
        one = text(page.get(f"/knowledge/differences/?{query}"))
        assert "Renew a passport" not in one
        assert "<strong>1</strong> changed" in one
        assert "2 entries differ in all" in one
    assert "Nothing fits" in text(page.get("/knowledge/differences/?kind=added"))


def test_markup_in_the_draft_stays_text(edith: User, page: Client) -> None:
    change(edith, name="<script>alert(1)</script>", url="https://x.example/?a=1&b=%22")
    for path in ("", "differences/", "services/", "services/passports/renew/", "checks/"):
        assert "<script>alert" not in text(page.get(f"/knowledge/{path}"))


def test_going_back_says_that_the_draft_stays(page: Client) -> None:
    html = text(page.get("/knowledge/releases/1/again/"))
    assert "The draft stays as it is" in html
    assert page.post("/knowledge/releases/1/again/", {"text": ""}).status_code == 422
    response = page.post("/knowledge/releases/1/again/", {"text": "The fee was wrong"})
    proposal = Proposal.objects.get(state=Proposal.State.OPEN)
    assert response["Location"] == f"/knowledge/proposals/{proposal.pk}/"
    assert "go back to release 1" in text(page.get(response["Location"]))
