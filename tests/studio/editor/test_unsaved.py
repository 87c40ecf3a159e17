"""What was posted when the session had ended is there again after the login, without a script."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service
from tests.review.people import person, vouched
from tests.studio.editor.entry_pages import RENEW, filled

pytestmark = pytest.mark.django_db
RIGHT = "a long and secret sentence"
SAID = "You were logged out before this was saved."


def editor(name: str) -> User:
    user = person(name, Role.EDITOR)
    user.set_password(RIGHT)
    user.save()
    return vouched(user)


@pytest.fixture(autouse=True)
def eve(bundle: Bundle) -> User:
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
