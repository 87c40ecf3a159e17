"""The editors' pages: what they show, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import publishing, services
from ieim.studio.models import Proposal, Service
from ieim.studio.proposals import services as proposals
from tests.review.people import browser, editor_and_publisher, person
from tests.studio.proposals.proposing import ask_golden, change, proposed

pytestmark = pytest.mark.django_db
HOME = "/knowledge/"


@pytest.fixture
def edith(bundle: Bundle, db: None) -> User:
    """Somebody who edits and publishes; the small bundle is release 1."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="The first one", by=None)
    return editor_and_publisher("edith", name="Edith Ek")


@pytest.fixture
def page(edith: User) -> Client:
    """Edith's browser."""
    return browser(edith)


@pytest.fixture
def other(edith: User) -> Client:
    """Of somebody who publishes and edits."""
    return browser(editor_and_publisher("paul", name="Paul Peck"))


def text(response: Any) -> str:
    """The page that was answered, its white space in single spaces."""
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("role", Role)
def test_every_entry_of_the_navigation_leads_to_what_it_names(edith: User, role: Role) -> None:
    client = browser(person("rose", role))
    begin = client.get("/staff/", follow=True).content.decode()
    entries = re.findall(r'class="(?:staff|k)-nav__link" href="([^"]+)"[^>]*>([^<]+)<', begin)
    assert bool(entries) or role is Role.ADMINISTRATOR  # who begins in the admin
    for address, name in entries:
        html = client.get(address).content.decode()
        if address.startswith("/admin/"):
            assert name == ("Edit" if role is Role.EDITOR else "The draft")
            draft = ("agency", "category", "service", "translation")
            assert all(f'href="/admin/studio/{model}/"' in html for model in draft)
        else:
            here = rf'href="{re.escape(address)}" aria-current="(page|true)">{re.escape(name)}<'
            assert re.search(here, html), address


def test_an_editor_begins_at_the_knowledge(page: Client) -> None:
    assert page.get("/staff/")["Location"] == HOME
    html = text(page.get(HOME))
    assert "Release 1" in html
    assert "The first one" in html
    assert "same as the current release" in html
    assert "Propose your changes" not in html
    assert 'href="/knowledge/" aria-current="page">Knowledge' in html
    assert ">Review</a>" not in html


def test_home_says_what_the_draft_changes_and_offers_one_step(edith: User, page: Client) -> None:
    change(edith, fees="90 crowns")
    html = text(page.get(HOME))
    assert "<strong>1</strong> changed" in html
    assert "Propose your changes" in html
    proposals.propose(note="A new fee", by=edith)
    html = text(page.get(HOME))
    assert "Propose your changes" not in html
    assert "waits for a second person" in html


def test_home_works_before_anything_is_published(db: None) -> None:
    html = text(browser(person("edith", Role.EDITOR)).get(HOME))
    assert "Nothing is published yet" in html
    summary = browser(person("paul", Role.EDITOR)).get("/knowledge/checks/summary/")
    assert "1 error" in text(summary)


def test_the_checks_name_the_entry_and_where_to_edit_it(page: Client) -> None:
    html = text(page.get("/knowledge/checks/"))
    assert "File a tax return" in html
    assert "It has no overview" in html
    assert 'href="/knowledge/services/tax/return/"' in html
    filtered = text(page.get("/knowledge/checks/?code=category.unreached&agency=tax"))
    assert "It has no overview" not in filtered


def test_the_checks_say_which_rule_a_stored_entry_breaks(page: Client, edith: User) -> None:
    change(edith, fees="1")
    Service.objects.filter(key="renew").update(url="javascript:alert(1)")
    change(edith, key="return", agency="tax", fees="2")
    html = text(page.get("/knowledge/checks/"))
    assert "1 error" in html
    assert "it must begin with http:// or https://" in html
    assert 'href="javascript:' not in html


def test_only_ones_own_agencies_are_linked_to_edit(edith: User) -> None:
    tax = browser(person("tina", Role.EDITOR, "tax"))
    html = text(tax.get("/knowledge/checks/?agency=*mine"))
    assert 'href="/knowledge/services/tax/return/"' in html
    assert "Passport Office" not in html.split("<ul")[-1]
    service = text(tax.get("/knowledge/releases/1/service/?agency=passports&key=renew"))
    assert "Renew a passport" in service
    assert "Edit in the draft" not in service


def test_it_proposes_and_a_second_person_publishes(
    edith: User, page: Client, other: Client
) -> None:
    change(edith, fees="90 crowns")
    assert "What changes, and why?" in text(page.get("/knowledge/propose/", follow=True))
    response = page.post("/knowledge/propose/", {"text": "A new fee"})
    address = f"/knowledge/proposals/{Proposal.objects.get().pk}/"
    assert (response.status_code, response["Location"]) == (302, address)
    own, theirs = text(page.get(address)), text(other.get(address))
    assert "<del>80</del> crowns" in own
    assert "<ins>90</ins> crowns" in own
    assert "Withdraw" in own
    assert "Publish</button>" not in own
    assert "Publish</button>" in theirs
    assert page.post(f"{address}publish/").status_code == 422
    assert other.post(f"{address}publish/")["Location"] == address
    assert Release.objects.get(number=2).created_by == edith
    html = text(other.get(address))
    assert "published as release 2" in html
    assert re.search(r"answered from it by \d\d:\d\d:\d\d at the latest", html)


def test_it_says_why_it_cannot_be_proposed_and_keeps_the_note(edith: User, page: Client) -> None:
    change(edith, fees="90 crowns")
    response = page.post("/knowledge/propose/", {"text": ""})
    assert response.status_code == 422
    assert "Write a note" in text(response)
    response = page.post("/knowledge/propose/", {"text": "long" * 600})
    assert response.status_code == 422
    assert "longlong" in text(response)
    assert Proposal.objects.get().state == Proposal.State.DRAFT


def test_it_is_turned_down_or_withdrawn(edith: User, page: Client, other: Client) -> None:
    address = f"/knowledge/proposals/{proposed(edith).pk}/"
    assert other.post(f"{address}refuse/", {"text": " "}).status_code == 422
    other.post(f"{address}refuse/", {"text": "The fee is 85 <b>"})
    html = text(page.get(address))
    assert "The fee is 85 &lt;b&gt;" in html
    assert "turned down" in html
    assert "Paul Peck decided on" in html
    change(edith, fees="85 crowns")
    second = proposals.propose(note="x", by=edith)
    page.post(f"/knowledge/proposals/{second.pk}/withdraw/")
    assert Proposal.objects.get(pk=second.pk).state == Proposal.State.WITHDRAWN
    html = text(page.get(f"/knowledge/proposals/{second.pk}/"))
    assert f"{edith.display_name} withdrew it on" in html
    assert "decided on" not in html


def test_it_refuses_until_the_golden_questions_are_asked_and_beyond_ones_agencies(
    edith: User, other: Client
) -> None:
    address = f"/knowledge/proposals/{proposed(edith).pk}/"
    ask_golden()
    html = text(other.get(address))
    assert "Not asked yet" in html
    assert "/knowledge/try/golden/" in html
    response = other.post(f"{address}publish/", {"text": "Because"})
    assert response.status_code == 422
    assert "Run the golden questions first" in text(response)
    assert ">Because</textarea>" in text(response)
    pam = browser(person("pam", Role.PUBLISHER, "tax"))
    html = text(pam.get(address))
    assert "It also touches passports" in html
    assert "Publish</button>" not in html
    assert pam.post(f"{address}publish/", {"text": "x"}).status_code == 403


@pytest.mark.parametrize("path", ["releases/9/", "releases/9/again/", "proposals/9/", "service/"])
def test_what_is_not_there_is_not_found(page: Client, path: str) -> None:
    assert page.get(f"{HOME}{path}").status_code == 404
    assert page.get(f"{HOME}releases/{10**30}/").status_code == 404
