"""The check of links: what is wrong with each, how gently it asks, and what the page says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.fresh import links, selectors, services
from ieim.studio.models import Change, LinkRun, Service
from tests.conversations.webhooks.receiving import running_receiver
from tests.conversations.webhooks.test_tls import server_context
from tests.review.people import browser, person
from tests.studio.fresh.pages import Site, running_site

pytestmark = pytest.mark.usefixtures("published")
PAGE = "/knowledge/fresh/links/"


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the links of a test and none of the demo's, without pauses."""
    every = selectors.links
    monkeypatch.setattr(
        selectors,
        "links",
        lambda: {link: remarks for link, remarks in every().items() if "127.0.0.1" in link},
    )
    monkeypatch.setattr(links, "PAUSE", 0.0)
    monkeypatch.setattr(settings, "IEIM_LINK_CHECK", True)


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as site:
        yield site


@pytest.fixture
def chief() -> User:
    return person("chief", Role.EDITOR)


def link(by: User, *addresses: str) -> None:
    """Let the first services of the draft link to addresses."""
    for service, address in zip(Service.objects.order_by("pk"), addresses, strict=False):
        editing.save(
            table="services",
            values={"agency": service.agency_id, "key": service.key, "url": address},
            by=by,
            expected_version=service.version,
            source=Change.Source.ADMIN,
        )


def check() -> dict[str, tuple[str, str]]:
    """Check every link; return the outcome and the target of each that the page would list."""
    services.begin_link_check()
    run = LinkRun.objects.latest("pk")
    links.run_link_check(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == LinkRun.State.DONE, run.error
    return {
        link.rpartition("/")[2]: (outcome.value, target)
        for link, outcome, target, _ in selectors.faults(run)
    }


def test_each_fault_has_its_outcome(site: Site, chief: User) -> None:
    site.answers = {
        "/gone": (404, ""),
        "/moved": (301, "/hop"),
        "/hop": (308, "/new"),
        "/login": (302, "/form"),
        "/half": (301, "/twice"),
        "/twice": (302, "/form"),
        "/shy": (403, ""),
        "/today": (307, "/moved"),
        "/inside": (302, "https://10.0.0.1/"),
        "/loop": (302, "/loop"),
    }
    paths = (
        "fine",
        "gone",
        "moved",
        "login",
        "half",
        "shy",
        "today",
        "inside",
        "loop",
        "has-no-head",
    )
    link(chief, *(f"{site.url}/{path}" for path in paths))
    assert check() == {
        "gone": ("gone", ""),
        "moved": ("moved", f"{site.url}/new"),
        "half": ("moved", f"{site.url}/twice"),
        "inside": ("forbidden", ""),
    }
    assert "HEAD /fine" in site.requests
    assert "GET /fine" not in site.requests
    assert "GET /has-no-head" in site.requests


def test_a_site_that_does_not_answer_is_listed_from_the_second_time(
    site: Site, chief: User
) -> None:
    site.answers = {"/down": (503, "")}
    link(chief, f"{site.url}/down")
    assert check() == {}
    assert check() == {"down": ("unreachable", "")}
    site.answers.clear()
    assert check() == {}
    site.answers = {"/down": (503, "")}
    assert check() == {}


def test_a_silent_host_is_left_alone(chief: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def refuse(_method: str, parts: object, **_options: object) -> None:
        asked.append(str(parts))
        raise ConnectionRefusedError

    monkeypatch.setattr(links, "request", refuse)
    link(chief, *(f"http://127.0.0.1:9/{number}" for number in range(links.MAX_SILENT + 2)))
    check()
    assert len(asked) == links.MAX_SILENT
    assert len(check()) == links.MAX_SILENT + 2


def test_a_bad_certificate_is_said_to_be_one(
    chief: User, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_receiver(server_context(tmp_path, monkeypatch, "other.example.org")) as receiver:  # type: ignore[arg-type]  # pytest's path
        monkeypatch.setattr("conversations.webhooks.sending._is_allowed", lambda *_, **__: True)
        link(chief, receiver.url.replace("localhost", "127.0.0.1"))
        assert check() == {"ieim": ("certificate", "")}


@pytest.mark.parametrize("address", ["http://127.0.0.1/", "https://127.0.0.1/", "http://10.0.0.1/"])
def test_production_opens_no_private_address(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    assert links._Browser().check(address) == (LinkRun.Outcome.FORBIDDEN, "")


def test_links_of_one_host_stand_far_apart() -> None:
    found = links._in_turns(["https://a/1", "https://a/2", "https://b/1", "https://b/2"])
    assert found == ["https://a/1", "https://b/1", "https://a/2", "https://b/2"]


def test_a_host_is_asked_once_a_second(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(links, "PAUSE", 1.0)
    monkeypatch.setattr("ieim.studio.fresh.links.time.sleep", slept.append)
    browser = links._Browser()
    browser.check(f"{site.url}/1")
    browser.check(f"{site.url}/2")
    assert slept[0] == 0.0
    assert 0.5 < slept[1] <= 1.0


def test_links_in_texts_and_of_the_release_are_among_them(chief: User) -> None:
    service = Service.objects.order_by("pk")[0]
    editing.save(
        table="services",
        values={
            "agency": service.agency_id,
            "key": service.key,
            "url": "",
            "contact": "Write to http://127.0.0.1/office (or call).",
        },
        by=chief,
        expected_version=service.version,
        source=Change.Source.ADMIN,
    )
    [(address, remarks)] = selectors.links().items()
    assert address == "http://127.0.0.1/office"
    assert [remark.entry for remark in remarks] == [f"{service.agency_id} {service.key}"]


def test_the_page_says_what_to_do_and_begins_a_check(site: Site, chief: User) -> None:
    client = browser(chief)
    site.answers = {"/gone": (410, "")}
    link(chief, f"{site.url}/gone")
    client.post(f"{PAGE}check/")
    run = LinkRun.objects.get()
    client.post(f"{PAGE}check/")
    assert LinkRun.objects.get() == run
    assert "A check is going on" in client.get(PAGE).content.decode()
    links.run_link_check(run_id=run.pk)
    page = client.get(PAGE).content.decode()
    assert "The page is gone" in page
    assert "Find the page that replaces it" in page
    assert "/knowledge/services/" in page
    agency = Service.objects.order_by("pk")[0].agency_id
    other = Service.objects.exclude(agency=agency)[0].agency_id
    page = browser(person("eve", Role.EDITOR, other)).get(PAGE).content.decode()
    assert "Every link works." in page


def test_a_setting_switches_it_off(chief: User, monkeypatch: pytest.MonkeyPatch) -> None:
    services.begin_link_check()
    monkeypatch.setattr(settings, "IEIM_LINK_CHECK", False)
    links.run_link_check(run_id=LinkRun.objects.get().pk)
    assert LinkRun.objects.get().state == LinkRun.State.FAILED
    services.begin_link_check()
    assert LinkRun.objects.count() == 1
    assert "check/" not in browser(chief).get(PAGE).content.decode()
