"""Scripts of other sites: which of them may read what REST answers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.people.models import User
from ieim.people.roles import Role
from tests.conversations.framing.framing import SITE, allow
from tests.fixtures import VISA
from tests.review.matrix import NAMES
from tests.review.people import browser, person
from tests.review.world import Variant, World
from tests.selection import sample

CITIZENS = {
    *(
        "api:sessions",
        "api:session",
        "api:export",
        "api:export_html",
        "api:turns",
        "api:turn",
        "api:rating",
        "api:checklist",
        "api:choice",
    ),
    *(
        "api:something_else",
        "api:safe",
        "api:person",
        "api:mail",
        "administration_api:administration",
    ),
}
"""The citizens' API, written by hand beside the expression of the settings."""
ALLOWED = "Access-Control-Allow-Origin"
WANTS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.mark.parametrize("names", sample([sorted(NAMES)[::10], sorted(NAMES)]), ids=len)
def test_only_the_citizens_api_may_be_read_by_other_sites(
    published: None, names: list[str]
) -> None:
    allow(SITE)
    root = User.objects.create_superuser("root")
    world, wrong = World(Variant.OWN), []
    for name in names:
        path = world.address(name, NAMES[name], root)
        for client in (browser(root), Client()):
            for method, result in (("OPTIONS", WANTS), ("GET", {}), ("POST", {})):
                headers: Any = {"Origin": SITE, **result}
                answer = client.generic(method, path, headers=headers)
                # The published index is for everybody, and says so itself.
                changed = answer.headers.get(ALLOWED, "").replace("*", "")
                if changed != (SITE if name in CITIZENS else ""):
                    wrong.append(f"{method} {path}: {changed!r}")
                if "Access-Control-Allow-Credentials" in answer.headers:
                    wrong.append(f"{method} {path}: with cookies")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "http://www.example.org", "https://www.example.org:8443"),
        *("https://www.example.org.evil.example", "null", "", "https://[", "https://\xff"),
    ],
)
def test_no_other_site_may_read_anything(published: None, origin: str) -> None:
    allow(SITE)
    for method, headers in (("OPTIONS", {**WANTS, "Origin": origin}), ("POST", {"Origin": origin})):
        answer = Client().generic(method, "/api/v1/sessions/", headers=headers)
        assert ALLOWED not in answer.headers
        assert "origin" in answer.headers["Vary"]


def test_an_allowed_sites_script_has_the_whole_way(published: None) -> None:
    allow(SITE)
    client, site = Client(), {"Origin": SITE}
    before = client.options("/api/v1/sessions/", headers={**site, **WANTS})
    assert before.status_code == 200
    assert before.headers["Access-Control-Allow-Headers"] == "authorization, content-type"
    assert before.headers["Access-Control-Allow-Methods"] == "GET, POST, PUT, DELETE"
    session = client.post("/api/v1/sessions/", content_type="application/json", headers=site).json()
    answer = client.post(
        f"/api/v1/sessions/{session['id']}/turns/",
        {"text": VISA, "client_id": "a"},
        content_type="application/json",
        headers={**site, "Authorization": f"Bearer {session['token']}"},
    )
    assert answer.status_code == 202
    assert answer.headers[ALLOWED] == SITE
    assert "location" in answer.headers["Access-Control-Expose-Headers"]
    # What is refused can be read as well.
    refused = client.get(answer["Location"], headers=site)
    assert (refused.status_code, refused.headers[ALLOWED]) == (401, SITE)
    assert not client.cookies


def test_a_site_that_is_taken_off_may_not_any_more(published: None) -> None:
    allow(SITE)
    ada = browser(person("ada", Role.ADMINISTRATOR))
    ada.post("/settings/other_sites/", {"version": 1, "origins": "https://other.example"})
    answer = Client().post(
        "/api/v1/sessions/", content_type="application/json", headers={"Origin": SITE}
    )
    assert ALLOWED not in answer.headers
