"""Two editors of different agencies: neither sees nor changes what is the other's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.roles import Role
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Agency, Category, Label, Service, Translation
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    Translation.objects.create(language="fr", agency_id="tax", name="Le fisc")


@pytest.fixture
def passports(draft: None) -> Client:
    """The browser of an editor of the passport office."""
    return browser(person("pam", Role.EDITOR, "passports"))


@pytest.mark.parametrize(
    ("model", "mine", "theirs"),
    [
        ("agency", "Passport Office", "Revenue Service"),
        ("category", "Travel", "Income tax"),
        ("service", "Renew a passport", "File a tax return"),
        ("translation", "Add translation", "Le fisc"),
    ],
)
def test_it_lists_what_belongs_to_the_editors_agency(
    passports: Client, model: str, mine: str, theirs: str
) -> None:
    page = said(passports.get(address(model, "changelist")))
    assert mine.lower() in page.lower()
    assert theirs not in page
    assert theirs not in said(passports.get(address(model, "changelist"), {"q": "tax"}))


@pytest.mark.parametrize("page", ["change", "delete", "history"])
@pytest.mark.parametrize("model", [Agency, Category, Service, Translation])
def test_it_hides_an_entry_of_another_agency(passports: Client, model: Any, page: str) -> None:
    rows = model.objects.filter(**{"pk" if model is Agency else "agency": "tax"})
    url = address(model._meta.model_name, page, rows.get().pk)
    for answer in (passports.get(url), passports.post(url, {"post": "yes", "seen": "1"})):
        assert answer.status_code in (302, 403)
        assert answer.status_code == 403 or answer["Location"] == reverse("admin:index")
    assert rows.exists()


def test_it_offers_only_the_editors_agency(passports: Client) -> None:
    complete = reverse("admin:autocomplete")
    fields = {"app_label": "studio", "model_name": "translation", "field_name": "agency"}
    assert [row["id"] for row in passports.get(complete, fields).json()["results"]] == ["passports"]
    url = address("translation", "add")
    # A list that is there without JavaScript too.
    offered = re.findall(r'<option value="(.*?)"', said(passports.get(url)))
    assert [agency for agency in offered if agency] == ["passports"]
    form = filled(passports, url, agency="tax", language="fr", name="Mine")
    page = passports.post(url, form)
    assert page.context["adminform"].form.errors.keys() == {"agency"}
    assert not Translation.objects.filter(name="Mine").exists()


def test_it_does_not_delete_entries_of_another_agency_from_the_list(passports: Client) -> None:
    theirs = Translation.objects.get()
    data = {"action": "delete_selected", "_selected_action": [theirs.pk], "post": "yes"}
    passports.post(address("translation", "changelist"), data | {"seen": f"{theirs.pk}:1"})
    assert Translation.objects.filter(pk=theirs.pk).exists()


def test_it_keeps_labels_and_new_agencies_for_people_of_every_agency(passports: Client) -> None:
    label = Label.objects.first()
    assert label is not None
    assert passports.get(address("label", "changelist")).status_code == 403
    assert passports.get(address("label", "change", label.pk)).status_code in (302, 403)
    assert passports.get(address("label", "add")).status_code == 403
    everybody = browser(person("eve", Role.EDITOR))
    assert everybody.get(address("label", "change", label.pk)).status_code == 200


def test_it_exports_only_the_editors_agency(passports: Client) -> None:
    file = passports.post(address("service", "export"), {"format": "json"})
    assert [row["agency"] for row in file.json()] == ["passports"]


def test_it_shows_nothing_to_an_editor_without_an_agency(draft: None) -> None:
    nobody = person("nora", Role.EDITOR)
    nobody.agency_scopes.all().delete()
    page = said(browser(nobody).get(address("service", "changelist")))
    assert "Renew a passport" not in page
    assert "0 services" in page
