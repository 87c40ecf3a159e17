"""Two people with the same entry open, and the history that both leave."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ieim.knowledge import editing
from ieim.knowledge.bundle import Bundle
from ieim.knowledge.models import Category, Change, Service
from ieim.knowledge.services import import_bundle
from review.roles import Role
from tests.knowledge.admin_pages import address, filled, said
from tests.review.people import browser, person

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(bundle: Bundle) -> Service:
    import_bundle(bundle=bundle, by=None)
    return Service.objects.get(key="renew")


@pytest.fixture
def edith(service: Service) -> User:
    return person("edith", Role.EDITOR, name="Edith Ek")


@pytest.fixture
def client(service: Service) -> Client:
    """The browser of somebody else."""
    return browser(person("otto", Role.EDITOR, name="Otto Ober"))


def change(by: User, **values: Any) -> None:
    service = Service.objects.get(key="renew")
    editing.save(
        table="services",
        values={"agency": "passports", "key": "renew", **values},
        by=by,
        seen=service.version,
        source=Change.Source.API,
    )


def test_it_refuses_a_stale_save_and_keeps_what_was_typed(
    client: Client, edith: User, service: Service
) -> None:
    place = address("service", "change", service.pk)
    form = filled(client, place, fees="my typed fee")
    change(edith, fees="85 crowns")
    page = client.post(place, form)
    assert "Edith Ek changed it on " in said(page)
    assert "my typed fee" in said(page)
    service.refresh_from_db()
    assert (service.fees, service.version) == ("85 crowns", 2)
    # Again does not help: the version that was seen is still the old one.
    assert "Edith Ek changed it on " in said(client.post(place, form))
    assert client.post(place, filled(client, place, fees="95")).status_code == 302


def test_it_refuses_a_form_without_the_version(client: Client, service: Service) -> None:
    place = address("service", "change", service.pk)
    for seen in (None, "", "x", "-1", "9" * 30):
        page = client.post(place, filled(client, place, fees="no", seen=seen))
        assert page.status_code == 200
    assert Service.objects.get(key="renew").fees == "80 crowns"


def test_it_refuses_a_stale_row_of_a_dictionary(client: Client, edith: User) -> None:
    place = address("agency", "change", "passports")
    form = filled(client, place, **{"categories-0-keywords": "mine", "name": "Mine"})
    Category.objects.filter(key="travel").update(version=2)
    page = client.post(place, form)
    assert "Nothing was saved." in said(page)
    assert Category.objects.get(key="travel").keywords == ["holiday"]
    assert Category.objects.get(key="travel").agency.name == "Passport Office"


def test_it_refuses_a_stale_delete(client: Client, edith: User, service: Service) -> None:
    place = address("service", "delete", service.pk)
    assert 'name="seen" value="1"' in said(client.get(place))
    change(edith, fees="85 crowns")
    page = client.post(place, {"post": "yes", "seen": "1"}, follow=True)
    assert "Edith Ek changed it on " in said(page)
    assert client.post(place, {"post": "yes", "seen": "2"}).status_code == 302
    assert not Service.objects.filter(key="renew").exists()
    removed = Change.objects.get(kind="removed")
    assert removed.fields["fees"] == ["85 crowns", None]


def test_it_deletes_all_selected_entries_or_none(
    client: Client, edith: User, service: Service
) -> None:
    place = address("service", "changelist")
    keys = {str(row.pk): row.version for row in Service.objects.all()}
    data: dict[str, Any] = {"action": "delete_selected", "_selected_action": list(keys)}
    page = said(client.post(place, data))
    data |= {"post": "yes", "seen": [f"{pk}:{version}" for pk, version in keys.items()]}
    assert all(f'name="seen" value="{pair}"' in page for pair in data["seen"])
    change(edith, fees="85 crowns")
    page = said(client.post(place, data, follow=True))
    assert "Nothing was deleted. Edith Ek changed it on " in page
    assert "Successfully" not in page
    assert Service.objects.count() == 2
    data["seen"] = [f"{row.pk}:{row.version}" for row in Service.objects.all()]
    client.post(place, data)
    assert not Service.objects.exists()


def test_it_does_not_ask_about_more_entries_than_a_form_can_hold(
    client: Client, service: Service
) -> None:
    Service.objects.bulk_create(
        Service(agency_id="tax", key=f"k{number}", name="N") for number in range(200)
    )
    some = {"action": "delete_selected", "_selected_action": [service.pk], "select_across": "1"}
    page = client.post(address("service", "changelist"), some, follow=True)
    assert "Delete at most 200 entries at a time." in said(page)


def test_it_does_not_delete_a_category_that_services_have(client: Client, service: Service) -> None:
    place = address("category", "delete", Category.objects.get(key="travel").pk)
    page = client.post(place, {"post": "yes", "seen": "1"}, follow=True)
    assert "Services still have this category: take it out of renew first." in said(page)
    assert Category.objects.filter(key="travel").exists()


def test_it_shows_who_changed_what_and_when(client: Client, edith: User, service: Service) -> None:
    change(edith, fees="85 crowns")
    place = address("service", "change", service.pk)
    client.post(place, filled(client, place, fees="95 crowns"))
    page = said(client.get(address("service", "history", service.pk)))
    assert page.index("Otto Ober") < page.index("Edith Ek") < page.index("Whoever runs the system")
    assert "Changed over the API" in page
    assert "Changed by hand" in page
    assert "<del>85 crowns</del> &rarr; <ins>95 crowns</ins>" in page
