"""For which agencies somebody works: a choice of those that there are."""

from __future__ import annotations

import pytest
from django.test import Client

from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from ieim.studio.models import Agency
from tests.people.pages import NEW, change, page_of
from tests.review.people import browser, person


@pytest.fixture
def desk(published: None) -> Client:
    return browser(person("ada", Role.ADMINISTRATOR))


@pytest.fixture
def carl(published: None) -> User:
    carl = person("carl", Role.CASEWORKER)
    carl.agency_scopes.all().delete()
    return carl


def agencies(user: User) -> list[str]:
    return list(AgencyScope.objects.filter(user=user).values_list("agency", flat=True))


def test_they_are_a_choice_of_all_with_those_not_yet_published(desk: Client, carl: User) -> None:
    Agency.objects.create(id="harbour", name="Harbour Office", position=99)
    page = desk.get(page_of(carl)).content.decode()
    for name in ("Every agency", "Passport and Identity Office", "Harbour Office, not published"):
        assert name in page
    assert change(desk, carl, agencies=["harbour"]).status_code == 303
    assert agencies(carl) == ["harbour"]


def test_where_there_is_no_agency_it_says_so(db: None) -> None:
    page = browser(person("ada", Role.ADMINISTRATOR)).get(NEW).content.decode()
    assert "There is no agency yet" in page


def test_several_are_given_and_taken_at_once_in_one_event(desk: Client, carl: User) -> None:
    before = AuditEvent.objects.filter(chain=PEOPLE_CHAIN).count()
    change(desk, carl, agencies=["passports", "immigration"])
    assert agencies(carl) == ["immigration", "passports"]
    assert AuditEvent.objects.filter(chain=PEOPLE_CHAIN).count() == before + 1
    change(desk, carl, agencies=["passports", "*"])
    assert agencies(carl) == ["*"], "every agency holds the others"
    change(desk, carl, agencies=[])
    assert agencies(carl) == []


def test_an_unknown_agency_is_refused(desk: Client, carl: User) -> None:
    page = change(desk, carl, agencies=["pasport"])
    assert page.status_code == 422
    text = "“pasport” is not among the agencies: choose from the list."
    assert text in page.content.decode()
    assert agencies(carl) == []


def test_one_that_is_gone_stays_until_it_is_changed(desk: Client, carl: User) -> None:
    AgencyScope.objects.create(user=carl, agency="closed")
    assert "no longer among the agencies (closed)" in desk.get(page_of(carl)).content.decode()
    assert change(desk, carl, last_name="Able").status_code == 303
    assert agencies(carl) == ["closed"]
    assert change(desk, carl, agencies=["gone"]).status_code == 422
    assert change(desk, carl, agencies=["passports"]).status_code == 303
    assert agencies(carl) == ["passports"]
