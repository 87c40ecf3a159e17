"""Owners and review dates: the list, the page of one service, and reminders by e-mail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio import tasks
from ieim.studio.fresh import selectors, services
from ieim.studio.models import ContentReview, LinkRun, Service
from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import SITE, PostOffice, post_office
from tests.review.people import browser, person

pytestmark = pytest.mark.usefixtures("published")
LIST, ENTRY = "/knowledge/fresh/", "/knowledge/fresh/entry/"
IMMIGRATION = "immigration"


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    with post_office() as running:
        use(monkeypatch, running.port)
        yield running


@pytest.fixture
def eve() -> User:
    user = person("eve", Role.EDITOR, IMMIGRATION)
    User.objects.filter(pk=user.pk).update(email="eve@example.org")
    user.refresh_from_db()
    return user


@pytest.fixture
def desk(eve: User) -> Client:
    return browser(eve)


def visas() -> list[Service]:
    return list(Service.objects.filter(agency=IMMIGRATION).order_by("pk"))


def plan(service: Service, owner: User, review_by: date) -> None:
    services.plan_review(service=service, owner=owner, review_by=review_by, source="", by=owner)


def test_a_service_gets_an_owner_a_date_and_a_source(desk: Client, eve: User) -> None:
    service = visas()[0]
    values = {"agency": IMMIGRATION, "key": service.key}
    page = desk.get(ENTRY, values).content.decode()
    assert f'<option value="{eve.pk}">Eve</option>' in page
    planned = {"owner": eve.pk, "review_by": "2027-03-31", "source": "https://law.example/visa"}
    assert desk.post(ENTRY, {**values, **planned}).status_code == 302
    review = ContentReview.objects.get()
    assert (review.owner, review.review_by) == (eve, date(2027, 3, 31))
    event = AuditEvent.objects.latest("pk")
    assert event.kind == "knowledge.review_planned"
    assert json.loads(event.payload)["entry"] == f"{IMMIGRATION} {service.key}"
    page = desk.get(LIST).content.decode()
    assert "Review by 31 March 2027." in page
    assert 'href="https://law.example/visa"' in page


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("review_by", "soon", "Write a day, such as 2027-03-31."),
        ("source", "javascript:alert(1)", "Enter a valid URL."),
        ("owner", "outsider", "Select a valid choice."),
    ],
)
def test_a_wrong_value_changes_nothing(desk: Client, field: str, value: str, error: str) -> None:
    outsider = person("olga", Role.EDITOR, "civil-registry")
    value = str(outsider.pk) if value == "outsider" else value
    response = desk.post(ENTRY, {"agency": IMMIGRATION, "key": visas()[0].key, field: value})
    assert response.status_code == 422
    assert error in response.content.decode()
    assert not ContentReview.objects.exists()


@pytest.mark.parametrize("values", [{}, {"agency": "civil-registry"}, {"key": "\0"}])
def test_another_agencys_service_is_not_there(desk: Client, values: dict[str, str]) -> None:
    key = Service.objects.filter(agency="civil-registry")[0].key
    assert desk.get(ENTRY, {"agency": "", "key": key, **values}).status_code == 404


def test_overdue_services_come_first_and_the_list_is_filtered(desk: Client, eve: User) -> None:
    first, second, *_ = visas()
    plan(second, eve, timezone.localdate())
    plan(first, eve, timezone.localdate() + timedelta(days=1))
    page = desk.get(LIST).content.decode()
    assert page.index(second.name) < page.index(first.name)
    assert "<strong>1 service</strong> is due for review." in page
    mine = desk.get(LIST, {"owner": "me", "agency": "*mine"}).content.decode()
    assert mine.count("k-services__row") == 2
    other = browser(person("olga", Role.EDITOR, "civil-registry"))
    assert "No service fits." in other.get(LIST, {"owner": "me"}).content.decode()


def test_an_owner_gets_one_mail_when_due_and_one_a_week(
    office: PostOffice, eve: User, office_clock: Callable[[str], None]
) -> None:
    first, second, third, *_ = visas()
    plan(first, eve, date(2026, 11, 23))
    plan(second, eve, date(2026, 11, 23))
    plan(third, eve, date(2026, 11, 25))
    counts = []
    for day in (22, 23, 24, 25, 26, 30):
        office_clock(f"2026-11-{day} 09:00")
        tasks.send_reminders()
        counts.append(len(office.inbox))
    # On the 25th the third is due, and the mail lists all of them: the next is a week later.
    assert counts == [0, 1, 1, 2, 2, 2]
    office_clock("2026-12-02 09:00")
    tasks.send_reminders()
    assert len(office.inbox) == 3
    message = office.newest()
    assert message["To"] == "eve@example.org"
    body = str(message.get_content())
    assert "3 services of yours are due for review:" in body
    assert f"{first.name} (" in body
    assert f"{SITE}/knowledge/fresh/?owner=me" in body
    plan(first, eve, date(2027, 11, 23))
    office_clock("2026-12-09 09:00")
    tasks.send_reminders()
    assert "2 services of yours" in str(office.newest().get_content())


def test_a_reminder_that_cannot_be_sent_is_sent_later(
    office: PostOffice, eve: User, office_clock: Callable[[str], None]
) -> None:
    plan(visas()[0], eve, date(2026, 11, 23))
    office.refusals = [("DATA", "451 later")]
    for time, expected in (("09:00", 0), ("09:30", 0), ("10:01", 1), ("12:00", 1)):
        office_clock(f"2026-11-23 {time}")
        tasks.send_reminders()
        assert len(office.inbox) == expected, time


def test_the_sweep_checks_links_once_a_night_and_reminds_by_day(
    office: PostOffice,
    eve: User,
    monkeypatch: pytest.MonkeyPatch,
    office_clock: Callable[[str], None],
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(services, "queue_after_commit", queued.append)
    monkeypatch.setattr(settings, "IEIM_LINK_CHECK", True)
    plan(visas()[0], eve, date(2026, 11, 23))

    def sweep(moment: str) -> None:
        office_clock(moment)
        LinkRun.objects.filter(state="queued").update(state="done")
        services.sweep(now=timezone.now())

    sweep("2026-11-23 00:30")
    assert not LinkRun.objects.exists()
    for moment in ("2026-11-23 02:00", "2026-11-23 02:01", "2026-11-23 09:00"):
        sweep(moment)
    assert LinkRun.objects.count() == 1
    assert queued == [services.REMIND]
    sweep("2026-11-24 01:00")
    assert LinkRun.objects.count() == 2
    monkeypatch.setattr(settings, "IEIM_LINK_CHECK", False)
    sweep("2026-11-25 01:00")
    assert LinkRun.objects.count() == 2


def test_a_date_is_of_the_offices_day(eve: User) -> None:
    """At half past midnight in the office it is due, whatever the day elsewhere."""
    plan(visas()[0], eve, date(2026, 11, 23))
    zone = timezone.get_default_timezone()
    assert selectors.due(datetime(2026, 11, 23, 0, 30, tzinfo=zone)).exists()
    assert not selectors.due(datetime(2026, 11, 22, 23, 30, tzinfo=zone)).exists()


def test_of_two_workers_one_sends(eve: User, monkeypatch: pytest.MonkeyPatch) -> None:
    plan(visas()[0], eve, timezone.localdate())
    sent: list[object] = []

    def send(**message: object) -> None:
        sent.append(message["to"])
        if len(sent) < 3:
            tasks.send_reminders()

    monkeypatch.setattr("ieim.people.post.send", send)
    tasks.send_reminders()
    assert sent == [["eve@example.org"]]
