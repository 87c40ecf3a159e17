"""The weekly look at pages that entries rest on: what is marked, who is told, what stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.models import Change, ContentReview, PageRun, Service, WebPage
from ieim.studio.webpages import running, services
from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import PostOffice, post_office
from tests.review.people import browser, person
from tests.studio.webpages.site import RENEW, City, html

pytestmark = pytest.mark.django_db
FEE = "The fee is 80 crowns, paid in cash at the counter."
NEW_FEE = "The fee is 90 crowns, paid in cash at the counter."
NIGHT = "2026-11-23 02:00"


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    with post_office() as running_office:
        use(monkeypatch, running_office.port)
        yield running_office


@pytest.fixture
def taken(city: City, eve: User, office_clock: Callable[[str], None]) -> WebPage:
    """A page that the entry of eve's rests on, read a while ago."""
    office_clock("2026-11-15 12:00")
    address = city.page("/renew", ETag='"1"')
    run = services.start(agency="passports", addresses=[address], by=eve)
    running.run_pages(run_id=run.pk)
    about = {"table": "services", "entry": "passports renew"}
    ContentReview.objects.create(**about, owner=eve)
    WebPage.objects.update(state="taken", **about, rests_on={"fees": [FEE], "name": ["Renew"]})
    office_clock(NIGHT)
    return WebPage.objects.get()


def look() -> PageRun | None:
    """Let the sweep begin a run, and the worker do it."""
    before = PageRun.objects.latest("pk")
    services.sweep(now=timezone.now())
    run = PageRun.objects.latest("pk")
    if run == before:
        return None
    running.run_pages(run_id=run.pk)
    run.refresh_from_db()
    return run


def test_a_passage_that_has_changed_is_marked_and_its_owner_told(
    city: City, eve: User, taken: WebPage, office: PostOffice
) -> None:
    stored = Service.objects.get(key="renew").fees
    city.page("/renew", RENEW.decode().replace(FEE, NEW_FEE).encode())
    run = look()
    assert run is not None
    assert (run.state, run.created_by) == ("done", None)
    assert city.headers[-1]["If-None-Match"] == '"1"'
    taken.refresh_from_db()
    assert (taken.state, taken.changes) == ("changed", [["fees", FEE, NEW_FEE]])
    assert (taken.entry, taken.rests_on["fees"]) == ("passports renew", [FEE])
    assert NEW_FEE in json.dumps(taken.draft)  # for whoever looks at it
    assert Service.objects.get(key="renew").fees == stored
    assert not Change.objects.filter(by=eve).exists()
    (mail,) = office.inbox
    assert mail["To"] == "eve@example.org"
    assert "passports renew: " + taken.address in mail.get_content()
    page = browser(eve).get("/knowledge/webpages/pages/?state=changed").content.decode()
    assert page.index(FEE) < page.index(NEW_FEE)
    entry = browser(eve).get("/knowledge/services/passports/renew/").content.decode()
    assert "no longer says what this entry rests on" in entry
    assert f'href="/knowledge/webpages/{taken.pk}/">See what has changed' in entry
    link = "/knowledge/webpages/pages/?state=changed"
    for home in ("/knowledge/", "/knowledge/checks/"):
        assert f'href="{link}">1 changed</a></p>' in browser(eve).get(home).content.decode()
    stranger = browser(person("zoe", Role.EDITOR, "tax"))
    assert link not in stranger.get("/knowledge/").content.decode()


def test_a_page_that_says_the_same_again_is_as_it_was(
    city: City, taken: WebPage, office: PostOffice, office_clock: Callable[[str], None]
) -> None:
    city.page("/renew", html("Renew a passport", Fees="Nothing at all is said of money here."))
    look()
    taken.refresh_from_db()
    assert taken.state == "changed"
    city.page("/renew")
    office_clock("2026-12-01 02:00")
    look()
    taken.refresh_from_db()
    assert (taken.state, taken.changes, len(office.inbox)) == ("taken", [], 1)


# The worker has no transaction around it, as other tests have.
@pytest.mark.django_db(transaction=True)
def test_a_page_that_is_gone(city: City, taken: WebPage, office: PostOffice) -> None:
    city.pages["/renew"] = (410, {}, b"")
    look()
    taken.refresh_from_db()
    assert (taken.state, taken.problem) == ("gone", "There is no such page (410).")
    assert (taken.text != "", len(office.inbox)) == (True, 1)
    kinds = AuditEvent.objects.filter(chain=SYSTEM_CHAIN).values_list("kind", flat=True)
    assert "webpages.changed" in kinds


def test_it_looks_once_a_week_at_night_and_where_sites_are_named(
    city: City, taken: WebPage, office_clock: Callable[[str], None], settings: Any
) -> None:
    city.pages["/renew"] = (304, {}, b"")
    office_clock("2026-11-23 12:00")
    assert look() is None
    office_clock(NIGHT)
    settings.IEIM_PAGE_HOSTS = []
    assert look() is None
    settings.IEIM_PAGE_HOSTS = [city.host]
    assert look() is not None
    taken.refresh_from_db()
    assert (taken.state, taken.read_at) == ("taken", timezone.now())
    office_clock("2026-11-24 02:00")
    assert look() is None


def test_a_site_that_is_down_is_tried_the_next_night(
    city: City, taken: WebPage, office_clock: Callable[[str], None]
) -> None:
    city.pages["/renew"] = (500, {}, b"")
    assert look() is not None
    assert look() is None
    taken.refresh_from_db()
    assert (taken.state, "answered 500" in taken.problem) == ("taken", True)
    office_clock("2026-11-24 02:00")
    assert look() is not None
