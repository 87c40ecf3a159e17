"""What a form of the draft says of what was typed: all of it at once, in the form's words."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.headings import HEADINGS
from ieim.people.models import User
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Agency, Change, Service
from tests.studio.admin.admin_pages import said
from tests.studio.editor.entry_pages import RENEW, filled

pytestmark = pytest.mark.django_db
NEW = "/knowledge/new/service/"


@pytest.fixture(autouse=True)
def draft(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)


def test_it_says_everything_that_is_wrong_at_once(admin_client: Client) -> None:
    wrong = {"name": "", "url": "a.example", "requirements": "x" * 10_001, "position": "first"}
    page = admin_client.post(RENEW, filled(admin_client, RENEW, **wrong))
    assert page.context["form"].errors == {
        "name": ["This field is required."],
        "url": ["This is 'a.example': it must begin with http:// or https://, or be blank."],
        "requirements": ["Entry 1 has 10,001 characters: 10,000 is the limit."],
        "position": ["Enter a whole number."],
    }


def test_who_writes_what_comes_next_sees_what_was_found_and_names_what_there_is(
    admin_client: Client, admin_user: User
) -> None:
    publish(note="First", by=admin_user)
    wrong = filled(admin_client, RENEW, next_services="tax/none")
    page = admin_client.post(RENEW, wrong)
    assert page.context["form"].errors == {
        "next_services": ["There is no service tax/none: write agency/key."]
    }
    assert "Nothing is found in the current release." in said(page)
    right = filled(admin_client, RENEW, next_services="tax/return")
    assert admin_client.post(RENEW, right).status_code == 303
    assert Service.objects.get(key="renew").next_services == ["tax/return"]


def test_a_new_entry_too(admin_client: Client) -> None:
    url = NEW
    form = filled(admin_client, url, agency="tax", key=" 7", name="", url="a.example")
    page = admin_client.post(url, form)
    assert page.context["form"].errors.keys() == {"name", "url"}
    taken = filled(admin_client, url, agency="passports", key="renew", name="", url="a.example")
    page = admin_client.post(url, taken)
    assert page.context["form"].errors.keys() == {"key", "name", "url"}


def test_lists_are_a_line_an_item(admin_client: Client) -> None:
    form = filled(admin_client, RENEW, requirements="A photo\r\n\r\n Money \r\n")
    assert admin_client.post(RENEW, form).status_code == 303
    assert Service.objects.get(key="renew").requirements == ["A photo", "Money"]


def test_it_leaves_an_entry_alone_that_was_saved_unchanged(admin_client: Client) -> None:
    changes = Change.objects.count()
    # A line end in an item is rare, and must outlive a save of something else.
    Service.objects.filter(key="renew").update(requirements=["A\nphoto"], overview="a\r\nb ")
    form = filled(admin_client, RENEW)
    assert form["requirements"] == "A\nphoto"
    assert admin_client.post(RENEW, {**form, "overview": "a\r\nb "}).status_code == 303
    service = Service.objects.get(key="renew")
    assert (service.requirements, service.fees) == (["A\nphoto"], "80 crowns")
    assert Change.objects.count() - changes <= 1


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("path", "javascript:alert(1)", "This begins with javascript"),
        ("categories", ["income"], "income is not one of the available choices"),
        ("name", " ", "Name: This is missing: fill it in."),
    ],
)
def test_it_holds_a_service_to_the_rules_of_a_bundle(
    admin_client: Client, column: str, value: Any, expected: str
) -> None:
    form = filled(admin_client, RENEW, fees="my typed fee", **{column: value})
    page = admin_client.post(RENEW, form)
    assert page.status_code == 422
    assert expected in said(page)
    assert "my typed fee" in said(page)
    assert page.context["form"].errors.keys() == {column}
    assert Service.objects.get(key="renew").fees == "80 crowns"


def test_it_calls_the_fields_what_citizens_read(admin_client: Client) -> None:
    form = admin_client.get(RENEW).context["form"]
    for column, heading in HEADINGS.items():
        assert form.fields[column].label == heading
        assert column not in form.fields[column].help_text
    assert form.fields["applicability_summary"].help_text == ""


def test_it_offers_the_categories_of_the_agency_only(admin_client: Client) -> None:
    page = said(admin_client.get(RENEW))
    assert "Travel (travel)" in page
    assert "income" not in page


def test_a_key_is_for_good(admin_client: Client) -> None:
    new = admin_client.get(NEW).context["form"]
    for name in ("agency", "key"):
        assert new.fields[name].help_text.endswith("Once it is saved this cannot be changed.")
    url = "/knowledge/agencies/tax/"
    form = filled(admin_client, url, id="other", name="Renamed")
    assert admin_client.post(url, form).status_code == 303
    assert not Agency.objects.filter(pk="other").exists()
    assert Agency.objects.get(pk="tax").name == "Renamed"
