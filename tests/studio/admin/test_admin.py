"""The draft in Django's admin, and what can only be looked at."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.headings import HEADINGS
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Agency, Category, Change, Label, Service, Translation
from tests.studio.admin.admin_pages import address, filled, said

pytestmark = pytest.mark.django_db


_BOTH = ["Non", "Oui"]


@pytest.fixture
def published(bundle: Bundle) -> Release:
    import_bundle(bundle=bundle, by=None)
    return publish(note="First", by=None)


@pytest.fixture
def renew(published: Release) -> str:
    """The address of a service's page."""
    return address("service", "change", Service.objects.get(key="renew").pk)


@pytest.mark.parametrize(
    "model", ["agency", "category", "service", "label", "translation", "release", "publication"]
)
def test_it_lists_and_finds_every_model(
    admin_client: Client, published: Release, model: str
) -> None:
    url = address(model, "changelist")
    assert admin_client.get(url).status_code == 200
    assert admin_client.get(url, {"q": "passport"}).status_code == 200


@pytest.mark.parametrize("model", ["agency", "category", "service", "label", "translation"])
def test_it_asks_the_database_as_often_for_a_long_list(
    admin_client: Client, published: Release, model: str
) -> None:
    for number in range(40):
        Agency.objects.create(id=f"a{number}", name="A")
        Category.objects.create(agency_id=f"a{number}", key="c", keywords=["k"])
        Service.objects.create(agency_id=f"a{number}", key="s", name="S", requirements=["r"])
        Label.objects.create(set="intents", code=f"l{number}", name="Label")
        Translation.objects.create(language="fr", agency_id=f"a{number}", name="T")
    # The session, the user, one for the list, one for how many there are, one for the filter.
    with CaptureQueriesContext(connection) as queries:
        page = admin_client.get(address(model, "changelist"), {"q": "a"})
    assert len(page.context["cl"].result_list) >= 40
    assert len(queries) <= 6


def test_it_saves_a_service(admin_client: Client, admin_user: User, renew: str) -> None:
    form = filled(admin_client, renew, fees="90 crowns", requirements="A photo\r\n\r\n Money \r\n")
    assert admin_client.post(renew, form).status_code == 302
    service = Service.objects.get(key="renew")
    assert (service.fees, service.requirements) == ("90 crowns", ["A photo", "Money"])
    assert (service.categories, service.version) == (["travel"], 2)
    change = Change.objects.get(table="services", entry="passports renew", kind="changed")
    assert (change.by, change.source) == (admin_user, "admin")
    assert change.fields == {
        "fees": ["80 crowns", "90 crowns"],
        "requirements": [["A photo", "The old passport"], ["A photo", "Money"]],
    }


def test_it_leaves_an_entry_alone_that_was_saved_unchanged(
    admin_client: Client, renew: str
) -> None:
    changes = Change.objects.count()
    # A line end in an item is rare, and must outlive a save of something else.
    Service.objects.filter(key="renew").update(requirements=["A\nphoto"], overview="a\r\nb ")
    form = filled(admin_client, renew)
    assert form["requirements"] == "A\nphoto"
    assert admin_client.post(renew, {**form, "overview": "a\r\nb "}).status_code == 302
    service = Service.objects.get(key="renew")
    assert (service.requirements, service.fees) == (["A\nphoto"], "80 crowns")
    assert Change.objects.count() - changes <= 1


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("url", "javascript:alert(1)", "it must begin with http"),
        ("path", "javascript:alert(1)", "This begins with javascript"),
        ("requirements", "x" * 10_001, "Entry 1 has 10,001 characters"),
        ("categories", ["income"], "income is not one of the available choices"),
        ("name", " ", "This is missing: fill it in."),
    ],
)
def test_it_holds_a_service_to_the_rules_of_a_bundle(
    admin_client: Client, renew: str, column: str, value: Any, expected: str
) -> None:
    form = filled(admin_client, renew, fees="my typed fee", **{column: value})
    page = admin_client.post(renew, form)
    assert page.status_code == 200
    assert expected in said(page)
    assert "my typed fee" in said(page)
    assert page.context["adminform"].form.errors.keys() == {column}
    assert Service.objects.get(key="renew").fees == "80 crowns"


@pytest.mark.parametrize("model", ["service", "translation"])
def test_it_calls_the_fields_what_citizens_read(
    admin_client: Client, renew: str, model: str
) -> None:
    url = renew if model == "service" else address(model, "add") + "?service=renew"
    form = admin_client.get(url).context["adminform"].form
    for column, heading in HEADINGS.items():
        assert form.fields[column].label == heading
        assert form.fields[column].help_text.endswith(f"In files: {column}.")
    assert form.fields["applicability_summary"].help_text == "In files: applicability_summary."
    assert form.fields["name"].label == "Name"


def test_it_offers_the_categories_of_the_agency_only(admin_client: Client, renew: str) -> None:
    page = said(admin_client.get(renew))
    assert "Travel (travel)" in page
    assert "income" not in page


def test_it_adds_a_service_at_the_end(admin_client: Client, published: Release) -> None:
    url = address("service", "add")
    form = filled(admin_client, url, agency="tax", key="007", name="Pay")
    assert admin_client.post(url, form).status_code == 302
    added = Service.objects.order_by("position").last()
    assert added is not None
    assert (added.agency_id, added.key, added.version) == ("tax", "007", 1)
    page = admin_client.post(url, form)
    assert "There is &#x27;tax 007&#x27; already" in said(page)


def test_it_does_not_change_the_id_of_an_agency(admin_client: Client, published: Release) -> None:
    url = address("agency", "change", "tax")
    form = filled(admin_client, url, id="other", name="Renamed")
    assert admin_client.post(url, form).status_code == 302
    assert not Agency.objects.filter(pk="other").exists()
    assert Category.objects.get(key="income").agency.name == "Renamed"


def test_it_edits_a_translation_with_the_texts_that_it_has(
    admin_client: Client, published: Release
) -> None:
    url = address("translation", "add") + "?agency=passports&service=renew"
    form = filled(admin_client, url, language="fr", name="Renouveler", fees="80 couronnes")
    assert (form["agency"], form["service"]) == ("passports", "renew")
    assert "keywords" not in form
    assert admin_client.post(url, form).status_code == 302
    assert Translation.objects.get().fees == "80 couronnes"
    wrong = {**form, "service": "gone"}
    assert "Service &#x27;gone&#x27; is not among the services" in said(
        admin_client.post(url, wrong)
    )


def test_it_shows_text_as_text(admin_client: Client, renew: str) -> None:
    evil = "<script>alert(1)</script>"
    form = filled(admin_client, renew, name=evil, requirements=evil, overview=evil)
    assert admin_client.post(renew, form).status_code == 302
    history = address("service", "history", Service.objects.get(key="renew").pk)
    for url in (renew, history, address("service", "changelist"), reverse("admin:index")):
        page = said(admin_client.get(url))
        assert evil not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in said(admin_client.get(history))


@pytest.mark.parametrize("model", ["release", "publication"])
def test_it_only_shows_what_is_published(
    admin_client: Client, published: Release, model: str
) -> None:
    row = published.pk if model == "release" else published.publications.get().pk
    page = admin_client.get(address(model, "change", row))
    assert page.status_code == 200
    assert "Save" not in said(page)
    assert admin_client.get(address(model, "add")).status_code == 403
    assert admin_client.post(address(model, "delete", row)).status_code == 403


def test_languages_are_named_in_lists_and_filters(admin_client: Client, published: Release) -> None:
    Translation.objects.create(language="tl", agency_id="passports", name="Pasaporte")
    html = admin_client.get(address("translation", "changelist")).content.decode()
    assert html.count("Filipino") >= 2
    assert ">tl<" not in html
