"""Two people with the same entry open, and the history that both leave."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Category, Change, Service
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, posted, said

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
        expected_version=service.version,
        source=Change.Source.API,
    )


def remove(by: User) -> None:
    service = Service.objects.get(key="renew")
    editing.remove(
        table="services",
        identity={"agency": "passports", "key": "renew"},
        by=by,
        expected_version=service.version,
        source=Change.Source.API,
    )


def test_it_refuses_a_stale_save_and_keeps_what_was_typed(
    client: Client, edith: User, service: Service
) -> None:
    url = address("service", "change", service.pk)
    form = filled(client, url, fees="my typed fee")
    change(edith, fees="85 crowns")
    page = client.post(url, form)
    assert "Edith Ek changed it on " in said(page)
    assert "my typed fee" in said(page)
    service.refresh_from_db()
    assert (service.fees, service.version) == ("85 crowns", 2)
    # Again does not help: the version that was seen is still the old one.
    assert "Edith Ek changed it on " in said(client.post(url, form))
    assert client.post(url, filled(client, url, fees="95")).status_code == 302


def over(version: str) -> dict[str, str]:
    return {"_over": "Save mine over theirs", "over": version}


def test_it_shows_both_and_saves_mine_over_theirs(
    client: Client, edith: User, service: Service
) -> None:
    url = address("service", "change", service.pk)
    form = filled(client, url, fees="my typed fee", requirements="A form\nA photo")
    change(edith, fees="85 crowns", contact="Desk 4")
    page = client.post(url, form)
    rows = {name: (theirs, mine) for name, theirs, mine in page.context["conflict"].fields}
    assert rows["What it costs"] == ("85 crowns", "my typed fee")
    assert rows["What you need"][1] == "A form\nA photo"
    assert rows["Contact"][0] == "Desk 4"
    assert len(rows) == 3
    assert '<input type="hidden" name="over" value="2">' in said(page)
    # Enter in a field presses the first button: that one must not save over anything.
    first = re.search(r'<input type="submit"[^>]* name="(\w+)"', said(page))
    assert (first and first[1]) == "_save"
    change(edith, contact="Desk 5")
    assert "Desk 5" in said(client.post(url, form | over("2")))
    assert client.post(url, form | over("3")).status_code == 302
    service.refresh_from_db()
    assert (service.fees, service.version) == ("my typed fee", 4)
    assert Change.objects.filter(by__username="otto").count() == 1


def test_what_was_typed_is_kept_when_the_entry_is_gone(
    client: Client, edith: User, service: Service
) -> None:
    url = address("service", "change", service.pk)
    page = client.get(url)
    form = filled(client, url, fees="my typed fee", requirements="A form")
    form |= dict(page.context["identity"])
    remove(edith)
    page = client.post(url, form)
    assert page.status_code == 200
    assert "Edith Ek removed it on " in said(page)
    assert "my typed fee" in said(page)
    add = address("service", "add")
    assert f'action="{add}"' in said(page)
    assert client.post(add, posted(page)).status_code == 302
    result = Service.objects.get(key="renew")
    assert (result.agency_id, result.fees, result.requirements) == (
        "passports",
        "my typed fee",
        ["A form"],
    )


def test_it_tells_nobody_about_an_entry_of_another_agency(
    edith: User, service: Service, bundle: Bundle
) -> None:
    local = browser(person("local", Role.EDITOR, "tax"))
    url = address("service", "change", service.pk)
    remove(edith)
    for path in (url, address("service", "change", "nothing")):
        page = local.post(path, {"was-agency": "passports", "was-key": "renew"}, follow=True)
        assert page.status_code == 200
        assert "Edith" not in said(page)


def test_it_refuses_a_form_without_the_version(client: Client, service: Service) -> None:
    url = address("service", "change", service.pk)
    for seen in (None, "", "x", "-1", "9" * 30):
        page = client.post(url, filled(client, url, fees="no", seen=seen))
        assert page.status_code == 200
    assert Service.objects.get(key="renew").fees == "80 crowns"


def test_it_refuses_a_stale_delete(client: Client, edith: User, service: Service) -> None:
    url = address("service", "delete", service.pk)
    assert 'name="seen" value="1"' in said(client.get(url))
    change(edith, fees="85 crowns")
    page = client.post(url, {"post": "yes", "seen": "1"}, follow=True)
    assert "Edith Ek changed it on " in said(page)
    assert client.post(url, {"post": "yes", "seen": "2"}).status_code == 302
    assert not Service.objects.filter(key="renew").exists()
    removed = Change.objects.get(kind="removed")
    assert removed.fields["fees"] == ["85 crowns", None]


def test_it_deletes_all_selected_entries_or_none(
    client: Client, edith: User, service: Service
) -> None:
    url = address("service", "changelist")
    keys = {str(row.pk): row.version for row in Service.objects.all()}
    data: dict[str, Any] = {"action": "delete_selected", "_selected_action": list(keys)}
    page = said(client.post(url, data))
    data |= {"post": "yes", "seen": [f"{pk}:{version}" for pk, version in keys.items()]}
    assert all(f'name="seen" value="{pair}"' in page for pair in data["seen"])
    change(edith, fees="85 crowns")
    page = said(client.post(url, data, follow=True))
    assert "Nothing was deleted. Edith Ek changed it on " in page
    assert "Successfully" not in page
    assert Service.objects.count() == 2
    data["seen"] = [f"{row.pk}:{row.version}" for row in Service.objects.all()]
    client.post(url, data)
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
    url = address("category", "delete", Category.objects.get(key="travel").pk)
    page = client.post(url, {"post": "yes", "seen": "1"}, follow=True)
    assert "Services still have this category: take it out of renew first." in said(page)
    assert Category.objects.filter(key="travel").exists()


def test_it_shows_who_changed_what_and_when(client: Client, edith: User, service: Service) -> None:
    change(edith, fees="85 crowns")
    url = address("service", "change", service.pk)
    client.post(url, filled(client, url, fees="95 crowns"))
    page = said(client.get(address("service", "history", service.pk)))
    assert page.index("Otto Ober") < page.index("Edith Ek") < page.index("Whoever runs the system")
    assert "Changed over the API" in page
    assert "Changed by hand" in page
    assert "<del>85 crowns</del> &rarr; <ins>95 crowns</ins>" in page


def test_it_lists_no_fields_to_correct_where_none_is_wrong(
    client: Client, edith: User, service: Service
) -> None:
    url = address("service", "change", service.pk)
    form = filled(client, url, fees="my typed fee")
    change(edith, fees="85 crowns")
    page = said(client.post(url, form))
    assert "Nothing was saved." in page
    assert "What to correct" not in page
    assert "What to correct" in said(client.post(url, form | {"name": ""}))
