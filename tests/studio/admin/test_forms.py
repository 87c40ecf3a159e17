"""What a form of the draft says of what was typed: all of it at once, in the form's words."""

from __future__ import annotations

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service
from tests.studio.admin.admin_pages import address, filled, said

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def draft(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)


def renew() -> str:
    return address("service", "change", Service.objects.get(key="renew").pk)


def test_it_says_everything_that_is_wrong_at_once(admin_client: Client) -> None:
    wrong = {"name": "", "url": "a.example", "requirements": "x" * 10_001, "position": "first"}
    page = admin_client.post(renew(), filled(admin_client, renew(), **wrong))
    assert page.context["adminform"].form.errors == {
        "name": ["This field is required."],
        "url": ["This is 'a.example': it must begin with http:// or https://, or be blank."],
        "requirements": ["Entry 1 has 10,001 characters: 10,000 is the limit."],
        "position": ["Enter a whole number."],
    }


def test_who_writes_what_comes_next_sees_what_was_found_and_names_what_there_is(
    admin_client: Client, admin_user: User
) -> None:
    publish(note="First", by=admin_user)
    wrong = filled(admin_client, renew(), next_services="tax/none")
    page = admin_client.post(renew(), wrong)
    assert page.context["adminform"].form.errors == {
        "next_services": ["There is no service tax/none: write agency/key."]
    }
    assert "Nothing is found in the current release." in said(page)
    right = filled(admin_client, renew(), next_services="tax/return")
    assert admin_client.post(renew(), right).status_code == 302
    assert Service.objects.get(key="renew").next_services == ["tax/return"]


def test_a_new_entry_too(admin_client: Client) -> None:
    url = address("service", "add")
    form = filled(admin_client, url, agency="tax", key=" 7", name="", url="a.example")
    page = admin_client.post(url, form)
    assert page.context["adminform"].form.errors.keys() == {"name", "url"}
    taken = filled(admin_client, url, agency="passports", key="renew", name="", url="a.example")
    page = admin_client.post(url, taken)
    assert page.context["adminform"].form.errors.keys() == {"key", "name", "url"}


def test_it_does_not_name_a_column_of_files(admin_client: Client) -> None:
    url = address("label", "add")
    wrong = {"set": "urgencies", "code": "soon", "name": "Soon", "effect": "two days"}
    page = admin_client.post(url, filled(admin_client, url, **wrong))
    assert page.context["adminform"].form.errors == {
        "effect": ["'two days' is not a whole number of minutes."]
    }


def test_a_summary_leads_to_each_field_in_the_words_of_the_page(admin_client: Client) -> None:
    wrong = {"name": " ", "requirements": "x" * 10_001}
    page = said(admin_client.post(renew(), filled(admin_client, renew(), **wrong)))
    assert '<a href="#id_name">Name: This is missing: fill it in.</a>' in page
    assert '<a href="#id_requirements">What you need: Entry 1 has 10,001 characters' in page


def test_it_says_before_the_first_save_that_a_key_is_for_good(admin_client: Client) -> None:
    new = admin_client.get(address("service", "add")).context["adminform"].form
    for name in ("agency", "key"):
        assert new.fields[name].help_text.endswith("Once it is saved this cannot be changed.")
        assert not new.fields[name].disabled
    assert "cannot be changed" not in str(new.fields["name"].help_text)
    page = admin_client.get(renew())
    assert '<output class="readonly" id="id_key">renew</output>' in said(page)
    stored = page.context["adminform"].form
    for name in ("agency", "key"):
        assert stored.fields[name].help_text.endswith("This cannot be changed any more.")
        assert stored.fields[name].disabled
