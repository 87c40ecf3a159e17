"""Deleting an entry on its page: what goes with it, and what holds it back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import (
    Category,
    Change,
    ExampleQuestion,
    Service,
    Situation,
    Translation,
)
from tests.review.people import browser, person
from tests.studio.editor.entry_pages import RENEW

pytestmark = pytest.mark.django_db
DELETE = f"{RENEW}delete/"


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=bundle, by=None)
    return person("eve", Role.EDITOR)


@pytest.fixture
def client(eve: User) -> Client:
    return browser(eve)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_it_says_what_goes_with_an_entry_and_deletes_it(client: Client) -> None:
    question = {"language": "en", "text": "Where do I renew?", "service": "renew"}
    ExampleQuestion.objects.create(agency_id="passports", **question)
    Translation.objects.create(language="fr", agency_id="passports", service="renew", name="X")
    assert f'href="{DELETE}"' in text(client.get(RENEW))
    page = text(client.get(DELETE))
    assert "Where do I renew?" in page
    assert "fr passports renew" in page
    answer = client.post(DELETE, {"seen": "1"})
    assert answer["Location"] == "/knowledge/services/?agency=passports"
    assert "“Renew a passport” is deleted in the draft." in text(client.get(answer["Location"]))
    assert not Service.objects.filter(key="renew").exists()
    assert not ExampleQuestion.objects.exists()
    assert Change.objects.filter(kind="removed").count() == 3


def test_it_stops_where_something_refers_to_the_entry_and_leads_there(client: Client) -> None:
    Situation.objects.create(key="move", kind="life", name="Move", services=["passports/renew"])
    Service.objects.filter(key="return").update(next_services=["passports/renew"])
    for page in (client.get(DELETE), client.post(DELETE, {"seen": "1"})):
        assert "take it out of move, return first" in text(page)
        assert 'href="/knowledge/situations/move/"' in text(page)
        assert 'href="/knowledge/services/tax/return/"' in text(page)
        assert "Yes, delete it" not in text(page)
    page = client.post("/knowledge/categories/passports/travel/delete/", {"seen": "1"})
    assert (page.status_code, f'href="{RENEW}"' in text(page)) == (422, True)
    assert "/knowledge/dictionary/merge/?agency=passports" in text(page)
    assert "still has 1 services" in text(client.get("/knowledge/agencies/tax/delete/"))
    assert (Service.objects.count(), Category.objects.count()) == (2, 2)


@pytest.mark.parametrize("seen", ["1", "", "x", "9" * 30])
def test_it_deletes_nothing_that_somebody_changed_meanwhile(client: Client, seen: str) -> None:
    editing.save(
        table="services",
        values={"agency": "passports", "key": "renew", "fees": "EUR 1"},
        by=person("otto", Role.EDITOR),
        expected_version=1,
        source=Change.Source.API,
    )
    page = client.post(DELETE, {"seen": seen})
    assert page.status_code == 422
    assert "Otto changed it on" in text(page)
    assert Service.objects.filter(key="renew").exists()


def test_it_is_for_people_of_the_agency(eve: User) -> None:
    local = browser(person("lou", Role.EDITOR, "tax"))
    assert local.get(DELETE).status_code == 403
    assert local.post(DELETE, {"seen": "1"}).status_code == 403
    assert local.get("/knowledge/services/tax/return/delete/").status_code == 200
    assert local.get("/knowledge/agencies/tax/delete/").status_code == 403
    assert "Delete" not in text(local.get("/knowledge/agencies/tax/"))
    assert local.get("/knowledge/services/tax/none/delete/").status_code == 404
