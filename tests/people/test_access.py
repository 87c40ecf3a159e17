"""An address that nobody listed opens to nobody, whatever its view asks for itself."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from ieim.people.models import User


def careless(request: HttpRequest) -> HttpResponse:
    """A view that asks for nothing."""
    return HttpResponse("what nobody may see")


LATE = [path("late/", careless, name="late")]
urlpatterns = [
    path("forgotten/", careless, name="forgotten"),
    path("api/v1/knowledge/", include((LATE, "knowledge_api"))),
    path("", include("ieim.config.urls")),
]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("address", ["/forgotten/", "/api/v1/knowledge/late/"])
def test_it_opens_to_nobody(client: Client, db: None, address: str) -> None:
    response = client.get(address)
    assert (response.status_code, b"nobody may see" in response.content) == (403, False)
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(address).status_code == 403


ITEM = "/review/3f2b8a9e-0000-4000-8000-000000000000/"


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        (f"http://testserver{ITEM}?again=1", f"{ITEM}?again=1"),
        ("https://elsewhere.example/review/", "/staff/"),
        ("", "/staff/"),
    ],
)
def test_a_form_leads_back_to_its_page_after_the_login(
    client: Client, db: None, referer: str, back: str
) -> None:
    response = client.post(f"{ITEM}preview/", headers={"Referer": referer})
    assert response.headers["Location"] == f"/staff/login/?{urlencode({'next': back}, safe='/')}"


def test_a_part_of_a_page_says_that_one_is_logged_out(client: Client, db: None) -> None:
    page = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{ITEM}?a=1&b=2"}
    response = client.post(f"{ITEM}check/", headers=page)
    html = response.content.decode()
    assert response.status_code == 200
    assert "You are logged out" in html
    assert "<html" not in html
    link = re.search(r'href="(.*?)"', html)
    assert link is not None
    assert parse_qs(urlsplit(unescape(link[1])).query) == {"next": [f"{ITEM}?a=1&b=2"]}
    # What a page looks up by itself leads all of it to the login.
    polled = client.get("/review/changes/", headers=page)
    url = urlsplit(polled.headers["HX-Redirect"])
    assert (url.path, parse_qs(url.query)) == (
        "/staff/login/",
        {"next": [f"{ITEM}?a=1&b=2"]},
    )
