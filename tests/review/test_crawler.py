"""Every address of every role, as a crawler finds them and as a prankster types them: no 500."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse

from ieim.people.models import User
from ieim.people.roles import Role
from tests.review.matrix import NAMES
from tests.review.people import browser, person
from tests.review.world import OWN, Variant, World
from tests.selection import sample

START = ("/staff/", "/admin/", "/")
LEAVING = ("/staff/logout/", "/admin/logout/")
PAGES = 150
"""How many a crawler opens at most: lists lead to many pages that are alike."""
ALIKE = 3
"""How many addresses of one shape it opens."""
LINK = re.compile(r'(?:href|hx-get|action)="([^"#]+)"')
ODD = ("0", "1", "-1", "x", "a b", "1" * 25, "a\0b", "é\N{ROCKET}", "..", "_3A", str(uuid4()))
"""What is typed where an address takes something."""
QUERIES = (
    "?p=9999999&o=99.-98&e=1&q=%00x",
    "?page=-1&agency=%00&q=%F0%9F%98%80&state=x&from=x&to=%00",
    "?id__exact=x&user__username=%00&created_at__year=99999&_popup=1&_to_field=x",
    "?agency=%00&key=%00&service=%00&version=x&before=99999999999999999999&after=%00",
)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Leave out what is logged of refused pages: there are hundreds."""
    caplog.set_level(logging.CRITICAL, "django")


def _get(client: Client, path: str) -> tuple[int, str]:
    """The status, and the page or where it leads; nothing of it stays."""
    client.raise_request_exception = False
    with transaction.atomic():
        response = client.get(path)
        html = response.headers.get("Content-Type", "").startswith("text/html")
        text = response.content.decode() if html and not response.streaming else ""
        transaction.set_rollback(True)
    location = response.headers.get("Location", "")
    return response.status_code, f'href="{location}"' if location else text


@pytest.mark.timeout(600)  # hundreds of pages: seconds alone, more on a busy machine
@pytest.mark.parametrize(
    "role",
    sample([*Role, None]),
)
def test_it_follows_what_each_role_is_shown(published: None, role: Role | None) -> None:
    World(Variant.OWN)
    root = None if role else User.objects.create_superuser("root")
    visitor = browser(root or person("visitor", role, OWN))
    waiting, seen, alike, wrong = [*START], {*START, *LEAVING}, Counter[str](), []
    while waiting:
        path = waiting.pop(0)
        status, result = _get(visitor, path)
        if status >= 500:
            wrong.append(path)
        for entry in LINK.findall(result):
            link = urljoin(path, unescape(entry))
            shape = re.sub(r"[0-9a-f-]{36}|\d+", "*", link)
            leaves = urlsplit(link).netloc or link.startswith(("/static/", "mailto:"))
            if leaves or link in seen or alike[shape] >= ALIKE or len(seen) >= PAGES:
                continue
            alike[shape] += 1
            seen.add(link)
            waiting.append(link)
    assert not wrong, "\n".join(wrong)
    assert len(seen) > 10


def typed() -> Iterator[str]:
    """Every address with odd arguments and odd queries."""
    for name, names in NAMES.items():
        if not names:
            yield from (reverse(name) + query for query in QUERIES)
        for odd in ODD if names else ():
            with suppress(NoReverseMatch):
                yield reverse(name, kwargs=dict.fromkeys(names, odd))
    yield from (f"/admin/r/{number}/{odd}/" for number in range(1, 40) for odd in ("1", "x"))


@pytest.mark.whole
@pytest.mark.timeout(600)  # as above
@pytest.mark.parametrize("everything", [True, False])
def test_it_types_what_nobody_links_to(published: None, everything: bool) -> None:
    """As a superuser, and as somebody who has every role for one agency."""
    World(Variant.OWN)
    user = person("visitor", None, OWN)
    user.groups.set(Group.objects.all())
    User.objects.filter(pk=user.pk).update(is_superuser=everything)
    visitor = browser(user)
    wrong = [path for path in typed() if _get(visitor, path)[0] >= 500]
    assert not wrong, "\n".join(wrong)


def test_an_action_on_what_cannot_be_is_refused(published: None) -> None:
    desk = browser(User.objects.create_superuser("root"))
    data = {"action": "delete_selected", "_selected_action": ["a\0b"], "post": "yes"}
    assert desk.post("/admin/studio/agency/", data).status_code == 400
