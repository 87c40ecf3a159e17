"""The weekly look at pages that entries rest on: what is marked, who is told, what stays."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.ports import ModelUnavailable
from ieim.studio.models import Change, ContentReview, PageRun, Service, WebPage
from ieim.studio.webpages import accepting, drafting, running, services
from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import PostOffice, post_office
from tests.review.people import browser, person
from tests.studio.webpages.site import RENEW, City, html

pytestmark = pytest.mark.django_db
FEE = "The fee is 80 crowns, paid in cash at the counter."
NEW_FEE = "The fee is 90 crowns, paid in cash at the counter."
HOW = "Fill in the form at the counter of the passport office."
NEW_HOW = "Fill in the form on the web site of the passport office."
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


@pytest.mark.parametrize("status", [500, 503])
def test_a_site_that_is_down_is_tried_the_next_night(
    city: City, taken: WebPage, office_clock: Callable[[str], None], status: int
) -> None:
    city.pages["/renew"] = (status, {"Retry-After": "9999"}, b"")
    assert look() is not None
    assert look() is None
    taken.refresh_from_db()
    assert (taken.state, f"{status}" in taken.problem) == ("taken", True)
    city.page("/renew", RENEW.decode().replace(FEE, NEW_FEE).encode())
    office_clock("2026-11-24 02:00")
    assert look() is not None
    taken.refresh_from_db()
    assert (taken.state, taken.is_due) == ("changed", False)


def test_pages_that_cannot_be_read_keep_no_others_waiting(
    city: City,
    eve: User,
    taken: WebPage,
    office_clock: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = WebPage.objects.get()
    other.pk, other.address = None, city.page("/other")
    other.save()
    city.pages["/renew"] = (403, {}, b"")
    monkeypatch.setattr(services, "MAX_PAGES", 1)
    look()
    office_clock("2026-11-24 02:00")
    look()
    assert (city.asked("/renew"), city.asked("/other")) == (2, 1)


def test_owners_are_told_where_the_model_is_away(
    city: City, taken: WebPage, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: Any, **options: Any) -> Any:
        raise ModelUnavailable("it is away")

    monkeypatch.setattr(drafting, "draft", away)
    city.page("/renew", RENEW.decode().replace(FEE, NEW_FEE).encode())
    run = look()
    assert run is not None
    assert (run.state, len(office.inbox)) == ("failed", 1)


def read_again(city: City, fees: str, how: str) -> WebPage:
    city.page("/renew", RENEW.decode().replace(FEE, fees).replace(HOW, how).encode())
    address = WebPage.objects.get().address
    run = services.start(agency="passports", addresses=[address], by=None)
    running.run_pages(run_id=run.pk)
    return WebPage.objects.get()


def test_a_change_stays_open_until_somebody_has_seen_it(
    city: City, eve: User, taken: WebPage
) -> None:
    WebPage.objects.update(rests_on={"fees": [FEE], "how_to_apply": [HOW]})
    page = read_again(city, NEW_FEE, NEW_HOW)
    accepting.take(
        page_id=page.pk,
        sha256=page.sha256,
        kind="service",
        texts={"fees": NEW_FEE},
        by=eve,
        into="renew",
        version=Service.objects.get(agency="passports", key="renew").version,
        categories=["travel"],
    )
    opened = read_again(city, NEW_FEE, NEW_HOW)
    assert (opened.state, [row[0] for row in opened.changes]) == ("changed", ["how_to_apply"])
    page = read_again(city, "The fee is 99 crowns, paid in cash at the counter.", NEW_HOW)
    refused = browser(eve).post(f"/knowledge/webpages/{page.pk}/leave/", {"sha256": opened.sha256})
    assert (refused.status_code, "read again meanwhile" in refused.content.decode()) == (422, True)
    assert [row[0] for row in WebPage.objects.get().changes] == ["fees", "how_to_apply"]


def test_a_passage_that_stays_as_it_is_now_is_watched(
    city: City, eve: User, taken: WebPage
) -> None:
    page = read_again(city, NEW_FEE, HOW)
    accepting.leave(page_id=page.pk, sha256=page.sha256, by=eve)
    assert WebPage.objects.get().rests_on["fees"] == [NEW_FEE]
    page = read_again(city, "Nothing is paid.", HOW)
    assert (page.state, page.changes[0][:2]) == ("changed", ["fees", NEW_FEE])


def test_what_has_changed_of_a_long_page_is_known_in_time() -> None:
    words = [f"{n * 7919 % 10007:x}" for n in range(6_400)]
    lines = [" ".join(words[n : n + 8]) for n in range(0, 6_400, 8)]
    quotes = [" ".join(reversed(line.split())) for line in lines[:119]] + ["It costs 80 crowns."]
    before = time.perf_counter()
    changes = running._changes({"fees": quotes}, [*lines, "It costs 90 crowns."])
    assert time.perf_counter() - before < 3, "seconds"
    assert changes[-1] == ["fees", "It costs 80 crowns.", "It costs 90 crowns."]
