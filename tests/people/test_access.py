"""Who may open which address; one that nobody listed opens to nobody."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from ieim.people import access
from ieim.people.models import User
from ieim.people.roles import Role


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


DECIDING = {Role.CASEWORKER, Role.SUPERVISOR}
READING = {Role.EDITOR, Role.PUBLISHER}
TOKENS = {Role.SUPERVISOR, *READING}
ROLES = {
    "administration:save": {Role.ADMINISTRATOR},
    "audit:events": {Role.AUDITOR},
    "gaps:home": {Role.EDITOR},
    "knowledge:home": READING,
    "knowledge:propose": {Role.EDITOR},
    "knowledge:publish": {Role.PUBLISHER},
    "knowledge_api:end_notice": READING,
    "knowledge_api:services": READING,
    "knowledge_api:services_entry": {Role.EDITOR},
    "notices:add": {Role.EDITOR},
    "notices:notices": READING,
    "people:accounts": {Role.ADMINISTRATOR},
    "people:link": {Role.ADMINISTRATOR},
    "people:new": {Role.ADMINISTRATOR},
    "recall:correct": {Role.EDITOR},
    "recall:home": {Role.EDITOR},
    "review:decide": DECIDING,
    "review:item": {*DECIDING, Role.AUDITOR},
    "review:metrics": {Role.SUPERVISOR, Role.AUDITOR, Role.ADMINISTRATOR},
    "review:take_over": {Role.SUPERVISOR},
    "review_api:decide": DECIDING,
    "staff_home": {*Role},
    "tokens:make": TOKENS,
    "tokens:tokens": {*TOKENS, Role.ADMINISTRATOR},
    "trying:golden": READING,
}
"""The roles that open an address, with at least one address for each permission."""
FOR_CITIZENS = {
    *("administration", "administration_api", "api", "conversations", "framing", "published"),
}
"""The namespaces with addresses that take no login."""


@pytest.mark.parametrize(("name", "roles"), ROLES.items())
def test_it_opens_to_these_roles(name: str, roles: set[Role]) -> None:
    assert access.roles(name) == roles


def test_changes_take_the_permission_to_change() -> None:
    people = "people:account"
    assert access.roles(people, "POST") == access.roles(people) == {Role.ADMINISTRATOR}
    notes, deciding = "review_api:notes", {Role.CASEWORKER, Role.SUPERVISOR}
    assert access.roles(notes, "POST") == deciding < access.roles(notes)
    for name in access.CHANGES.keys() - {people, notes}:
        assert access.roles(name, "POST") == {Role.EDITOR}, name
        assert access.roles(name) == READING, name


def test_each_permission_has_an_address_in_the_table() -> None:
    listed = {*access.ACCESS.values(), *access.CHANGES.values()}
    tested = {access.required_permission(name) for name in ROLES}
    assert listed - tested == {access.EVERYBODY, access.BEARER}


def test_no_address_of_the_staff_pages_opens_without_a_login() -> None:
    open_to_all = {
        name.partition(":")[0]
        for name, permission in access.ACCESS.items()
        if ":" in name and permission in (access.EVERYBODY, access.BEARER)
    }
    assert open_to_all == FOR_CITIZENS


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
