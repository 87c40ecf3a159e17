"""The pages that belong to no app, and those for what cannot be opened."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

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


def test_the_admin_leads_back_to_the_staff_pages(staff: Client) -> None:
    html = staff.get(reverse("admin:index")).content.decode()
    assert f'href="{reverse("staff_home")}"' in html
    assert 'rel="icon"' in html
