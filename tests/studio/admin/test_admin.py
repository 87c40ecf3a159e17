"""The draft in Django's admin: lists that lead to pages, and forms of what has none."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.headings import HEADINGS
from ieim.knowledge.models import Release
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Agency, Category, Label, Service, Translation
from tests.studio.admin.admin_pages import address, filled, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(bundle: Bundle) -> Release:
    import_bundle(bundle=bundle, by=None)
    return publish(note="First", by=None)


@pytest.mark.parametrize("model", ["agency", "category", "service", "label", "translation"])
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


@pytest.mark.parametrize(
    ("model", "pk", "page"),
    [
        (Agency, "passports", "/knowledge/agencies/passports/"),
        (Category, None, "/knowledge/categories/passports/travel/"),
        (Service, None, "/knowledge/services/passports/renew/"),
    ],
)
def test_what_has_a_page_is_edited_there_alone(
    admin_client: Client, published: Release, model: type[Model], pk: str | None, page: str
) -> None:
    name = str(model._meta.model_name)
    pk = pk or str(model._default_manager.filter(agency="passports").get().pk)
    change = address(name, "change", pk)
    html = said(admin_client.get(address(name, "changelist")))
    assert f'href="{change}"' in html
    assert "delete_selected" not in html
    assert admin_client.get(change)["Location"] == page
    assert admin_client.post(address(name, "delete", pk), {"post": "yes"}).status_code == 403
    assert admin_client.get(address(name, "add")).status_code == 403


def test_it_calls_the_fields_what_citizens_read(admin_client: Client, published: Release) -> None:
    page = admin_client.get(address("translation", "add") + "?service=renew")
    form = page.context["adminform"].form
    for column, heading in HEADINGS.items():
        assert form.fields[column].label == heading
        assert column not in form.fields[column].help_text


def test_it_does_not_name_a_column_of_files(admin_client: Client) -> None:
    url = address("label", "add")
    wrong = {"set": "urgencies", "code": "soon", "name": "Soon", "effect": "two days"}
    page = admin_client.post(url, filled(admin_client, url, **wrong))
    assert page.context["adminform"].form.errors == {
        "effect": ["'two days' is not a whole number of minutes."]
    }


def test_a_summary_leads_to_each_field_in_the_words_of_the_page(
    admin_client: Client, published: Release
) -> None:
    url = address("translation", "add") + "?agency=passports&service=renew"
    form = filled(admin_client, url, language="fr", name="X", requirements="x" * 10_001)
    assert '<a href="#id_requirements">What you need: Entry 1 has 10,001 characters' in said(
        admin_client.post(url, form)
    )


def test_it_shows_text_as_text(admin_client: Client, published: Release) -> None:
    evil = "<script>alert(1)</script>"
    url = address("translation", "add") + "?agency=passports&service=renew"
    form = filled(admin_client, url, language="fr", name=evil, requirements=evil, overview=evil)
    assert admin_client.post(url, form).status_code == 302
    pk = Translation.objects.get().pk
    history = address("translation", "history", pk)
    change, changelist = address("translation", "change", pk), address("translation", "changelist")
    for page in (change, history, changelist, reverse("admin:index")):
        assert evil not in said(admin_client.get(page))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in said(admin_client.get(history))


def test_languages_are_named_in_lists_and_filters(admin_client: Client, published: Release) -> None:
    Translation.objects.create(language="tl", agency_id="passports", name="Pasaporte")
    html = admin_client.get(address("translation", "changelist")).content.decode()
    assert html.count("Filipino") >= 2
    assert ">tl<" not in html
