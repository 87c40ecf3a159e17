"""Every address by every method, for every role and every kind of object: what it answers.

The cells generate themselves from the URL configuration; an address without a line in
``ieim/people/access.py``, or one that takes an object and has no line in ``matrix.py``, fails.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.test import Client

from ieim.people.access import ACCESS, BEARER, CHANGES, EVERYBODY
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from tests.review import matrix
from tests.review.matrix import ADMIN, ADMIN_SITE, NAMES, who_may
from tests.review.people import browser, person
from tests.review.world import OWN, Variant, World
from tests.selection import sample

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
BODIES = {
    "services_entry": {"name": "X"},
    "agencies_entry": {"name": "X"},
    "labels_entry": {"name": "X"},
    "help_lines_entry": {"text": "X"},
    "risk_examples_entry": {"kind": "near_miss"},
    "texts_entry": {"text": "X"},
    "situations_entry": {"name": "X"},
    "questions_entry": {"origin": "citizen"},
    "dictionary_entry": {"value": "X"},
    "webpage_take": {"sha256": "", "texts": {}},
    "webpage_leave": {"sha256": ""},
}
"""What is sent where an empty body would be refused before anything else is looked at."""
MAY_BE_ABSENT = frozenset(
    {
        *("review:undo", "review:services", "review:insert"),
        *("review:sample", "review_api:sample", "review_api:sample_translation"),
        *("review:batch_status", "review:batch_undo", "review_api:batch"),
        *("mfa_deactivate_totp", "mfa_edit_webauthn", "mfa_remove_webauthn"),
        *("mfa_view_recovery_codes", "mfa_download_recovery_codes"),
    }
)
"""Of a decision or a batch that there is not, for a form that asks for no service, of an answer
that somebody has not taken to read, and of second factors that somebody has not."""


class Somebody:
    """A person, or nobody, and their browser as it was when they came."""

    def __init__(self, name: str, role: Role | None = None, user: User | None = None) -> None:
        self.name, self.role = name, role
        self.user: Any = user or AnonymousUser()
        self.client = browser(user) if user else Client()
        self.session = {name: morsel.value for name, morsel in self.client.cookies.items()}

    def send(self, name: str, method: str, path: str) -> Any:
        """What the site answers; nothing of it stays."""
        self.client.cookies.clear()
        for cookie, value in self.session.items():
            self.client.cookies[cookie] = value
        api = path.startswith("/api/")
        body = urlencode(dict(parse_qsl(urlsplit(path).query)))
        if api:
            body = json.dumps(BODIES.get(name.removeprefix("knowledge_api:"), {}))
        with transaction.atomic():
            response = self.client.generic(
                method,
                path,
                "" if method == "GET" else body,
                content_type=f"application/{'json' if api else 'x-www-form-urlencoded'}",
                headers={"If-Match": '"1"'},
            )
            transaction.set_rollback(True)
        return response


def outcome(name: str, response: Any) -> str:
    """The answer in the matrix's words."""
    status, location = response.status_code, response.headers.get("Location", "")
    if location.startswith(("/staff/login/?next=", "/admin/login/?next=")):
        return matrix.LOGIN
    if location == "/admin/" and matrix.model_page(name):
        return matrix.BACK
    if status in (401, 403):
        return matrix.NOT_YOURS
    if status == 404:
        return matrix.NOT_THERE
    return str(status) if status in (405, 500, 503) else matrix.OK


@pytest.fixture
def people(published: None) -> list[Somebody]:
    """Each role in one agency; nobody, a superuser, and staff without a role."""
    root = User.objects.create_superuser("root")
    AgencyScope.objects.create(user=root, agency=OWN)
    return [
        Somebody("superuser", user=root),
        *(Somebody(role, role, person(f"a {role}", role, OWN)) for role in Role),
        Somebody("staff without a role", user=person("nora", None, OWN)),
        Somebody("nobody"),
    ]


def methods_of(name: str, path: str, superuser: Somebody) -> Sequence[str]:
    """The methods that an address knows, as it says itself when asked by one that nobody knows."""
    response = superuser.send(name, "BREW", path)
    allow = response.headers.get("Allow", "") if response.status_code == 405 else METHODS
    # The admin's pages take any method, and all but POST for GET.
    result = METHODS[:2] if name.startswith("admin:") else METHODS
    return [method for method in result if method in allow]


def part_of(name: str) -> str:
    """Where an address is: the matrix is walked part by part."""
    return "admin" if name.startswith("admin:") else "api" if "api:" in name else "pages"


PARTS = [
    *((Variant.OWN, (part,)) for part in ("admin", "api", "pages")),
    *sample(((v, ("admin", "api", "pages")) for v in Variant if v is not Variant.OWN), keep=0),
]


@pytest.mark.whole
@pytest.mark.timeout(600)  # hundreds of pages each: ten seconds alone, more on a busy machine
@pytest.mark.parametrize(("variant", "parts"), PARTS)
def test_every_cell_is_answered_as_the_table_says(
    people: list[Somebody], variant: Variant, parts: tuple[str, ...]
) -> None:
    world, wrong = World(variant), []
    names = [n for n in NAMES if part_of(n) in parts and matrix.in_play(n, variant)]
    assert names
    for name in names:
        allowed = methods_of(name, world.address(name, NAMES[name], None), people[0])
        assert allowed, f"{name} knows no method"
        for method, somebody in product(allowed, people):
            path = world.address(name, NAMES[name], somebody.user)
            answer = outcome(name, somebody.send(name, method, path))
            result = matrix.expected(name, method, variant, somebody.role, somebody.user)
            open_to_all = who_may(name, method) == EVERYBODY
            absent = answer == matrix.NOT_THERE and (open_to_all or name in MAY_BE_ABSENT)
            if answer != result and not (result == matrix.OK and absent):
                wrong.append(f"{method} {name}, {variant}, {somebody.name}: {answer}, not {result}")
    assert not wrong, "\n".join(wrong)


def test_every_address_has_its_line() -> None:
    unlisted = [n for n in NAMES if not matrix.model_page(n) and who_may(n) is None]
    assert unlisted == [], "say in ieim/people/access.py who may open these"
    taking = [n for n in NAMES if NAMES[n] and not n.startswith("admin:")]
    staff = [n for n in taking if who_may(n) not in (EVERYBODY, BEARER)]
    untold = [n for n in staff if matrix.kind_of(n) is None]
    assert untold == [], "say in tests/review/matrix.py what these take"


def test_no_line_is_left_of_an_address_that_is_gone() -> None:
    listed = {*ACCESS, *CHANGES, *matrix.KINDS, *(f"admin:{name}" for name in ADMIN_SITE)}
    assert sorted(listed - set(NAMES)) == []
    results = {entry[0] for entry in map(matrix.model_page, NAMES) if entry}
    assert sorted(set(ADMIN) - results) == []


def test_an_address_without_a_line_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NAMES, "review:new_page", ())
    with pytest.raises(AssertionError, match="new_page"):
        test_every_address_has_its_line()
