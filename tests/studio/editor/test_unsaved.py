"""What was posted when the session had ended is there again after the login, without a script."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import sets
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service
from tests.review.people import person, vouched
from tests.studio.editor.entry_pages import RENEW, filled

pytestmark = pytest.mark.django_db
RIGHT = "a long and secret sentence"
EDIT = "/knowledge/translations/edit/"
SAID = "You were logged out before this was saved."


def editor(name: str) -> User:
    user = person(name, Role.EDITOR)
    user.set_password(RIGHT)
    user.save()
    return vouched(user)


@pytest.fixture(autouse=True)
def eve(bundle: Bundle, settings: Any) -> User:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "fr"]}
    import_bundle(bundle=bundle, by=None)
    return editor("eve")


def log_in(client: Client, name: str = "eve") -> Any:
    form = {"username": name, "password": RIGHT, "next": RENEW}
    return client.post("/staff/login/", form, follow=True)


def post_late(client: Client, **headers: Any) -> Any:
    """Log in, type, and save when the session has ended."""
    log_in(client)
    data = filled(client, fees="90 crowns")
    session = client.session
    session["staff_seen"] = 1
    session.save()
    return client.post(RENEW, data, HTTP_REFERER=f"http://testserver{RENEW}", **headers)


def fees() -> str:
    return Service.objects.get(key="renew").fees


def test_it_is_shown_again_and_saved_by_a_press(client: Client) -> None:
    before = fees()
    late = post_late(client)
    assert late["Location"].startswith("/staff/login/?next=/knowledge/services/passports/renew/")
    page = log_in(client)
    assert page.status_code == 200
    html = page.content.decode()
    assert SAID in html
    assert "90 crowns" in html
    assert fees() == before
    form = page.context["form"]
    assert form["fees"].value() == "90 crowns"
    data = filled(client, fees=form["fees"].value())  # it is shown once
    assert SAID not in client.get(RENEW).content.decode()
    assert client.post(RENEW, data).status_code == 303
    assert fees() == "90 crowns"


@pytest.mark.parametrize("kind", ["comment", "notice", "translation"])
def test_other_forms_are_shown_again_too(client: Client, eve: User, kind: str) -> None:
    working = sets.begin(eve, note="Fees")
    address = {
        "comment": f"/knowledge/proposals/{working.pk}/",
        "notice": "/knowledge/notices/add/",
        "translation": f"{EDIT}?language=fr&agency=passports&service=renew",
    }[kind]
    form = {"text": "Closed on Friday", "name": "Closed on Friday", "ends_at": "2030-01-01T08:00"}
    log_in(client)
    session = client.session
    session["staff_seen"] = 1
    session.save()
    url = f"{address}comment/" if kind == "comment" else address
    late = client.post(url, form, HTTP_REFERER=f"http://testserver{address}")
    login = client.get(late["Location"]).content.decode()
    assert 'id="kept">What you had typed is kept' in login
    data = {"username": "eve", "password": RIGHT, "next": address}
    html = client.post("/staff/login/", data, follow=True).content.decode()
    assert SAID in html
    assert "Closed on Friday" in html
    assert kind != "notice" or 'value="2030-01-01T08:00"' in html


def test_the_login_promises_nothing_that_is_not_kept(client: Client) -> None:
    assert 'id="kept" hidden>' in client.get("/staff/login/").content.decode()


def test_nobody_else_sees_it_and_it_is_forgotten(client: Client) -> None:
    editor("otto")
    post_late(client)
    assert "90 crowns" not in log_in(client, "otto").content.decode()
    other = Client()
    post_late(other)
    session = other.session
    session["staff_unsaved"] = {**session["staff_unsaved"], "at": 1}
    session.save()
    assert "90 crowns" not in log_in(other).content.decode()


def test_what_a_script_sends_or_nobody_has_sent_is_not_kept(client: Client) -> None:
    post_late(client, HTTP_HX_REQUEST="true")
    assert "staff_unsaved" not in client.session
    stranger = Client()
    stranger.post(RENEW, {"fees": "1"})
    assert "staff_unsaved" not in stranger.session
