"""The pages that belong to no app, and those for what cannot be opened."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from ieim.people.roles import Role
from ieim.people.services import make_roles

pytestmark = pytest.mark.django_db

GO = "Go to the staff pages"


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_user("nobody", is_staff=True))
    return client


def test_it_shows_a_page_where_an_address_takes_a_form_only(client: Client) -> None:
    response = client.get(reverse("conversations:ask"))
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert "This address takes a form only" in response.content.decode()


def test_it_leaves_the_api_its_problem_details(client: Client) -> None:
    response = client.put(reverse("api:sessions"))
    assert (response.status_code, response["Content-Type"]) == (405, "application/problem+json")


def test_it_leads_staff_back_to_their_pages(staff: Client) -> None:
    response = staff.get(reverse("review:metrics"))
    assert response.status_code == 403
    assert GO in response.content.decode()
    assert GO in staff.get(reverse("conversations:ask")).content.decode()


def test_it_says_in_which_language_the_way_back_is(staff: Client) -> None:
    headers = {"Accept-Language": "ar"}
    html = staff.get(reverse("conversations:ask"), headers=headers).content.decode()
    assert 'lang="ar" dir="rtl"' in html
    line = next(line for line in html.splitlines() if GO in line)
    assert 'lang="en" dir="ltr"' in line


def test_it_shows_citizens_no_way_to_the_staff_pages(client: Client) -> None:
    assert GO not in client.get(reverse("conversations:ask")).content.decode()


def test_the_admin_leads_back_to_the_staff_pages(admin_client: Client) -> None:
    html = admin_client.get(reverse("admin:index")).content.decode()
    assert f'href="{reverse("staff_home")}"' in html
    assert 'rel="icon"' in html


def test_a_role_opens_the_admin_and_nothing_else_is_needed(client: Client) -> None:
    make_roles()
    ada = get_user_model().objects.create_user("ada")
    client.force_login(ada)
    for page in (reverse("staff_home"), reverse("admin:index")):
        response = client.get(page)
        assert response.status_code == 403
        assert "ask an administrator for the role that it takes" in response.content.decode()
    ada.groups.add(Group.objects.get(name=Role.ADMINISTRATOR.value))
    assert client.get(reverse("staff_home")).headers["Location"] == reverse("people:accounts")
    assert client.get(reverse("people:accounts")).status_code == 200
    assert client.get(reverse("admin:index")).status_code == 200
