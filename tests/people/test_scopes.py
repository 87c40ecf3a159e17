"""Whose agencies somebody sets in the admin: a choice of those that there are."""

from __future__ import annotations

import pytest
from django.test import Client

from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from ieim.studio.models import Agency
from tests.review.people import browser, person

ADD = "/admin/people/agencyscope/add/"


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


def test_it_is_a_choice_of_the_published_agencies(desk: Client) -> None:
    choices = dict(desk.get(ADD).context["adminform"].form.fields["agency"].choices)
    assert choices["*"] == "Every agency (*)"
    assert choices["passports"] == "Passport and Identity Office (passports)"


def test_people_are_a_list_that_needs_no_script(desk: Client, carl: User) -> None:
    assert f'<option value="{carl.pk}">carl</option>' in desk.get(ADD).content.decode()


def test_who_writes_a_new_agency_can_work_for_it_before_it_is_published(
    desk: Client, carl: User
) -> None:
    Agency.objects.create(id="harbour", name="Harbour Office", position=99)
    choices = dict(desk.get(ADD).context["adminform"].form.fields["agency"].choices)
    assert choices["harbour"] == "Harbour Office, not published yet (harbour)"
    assert desk.post(ADD, {"user": carl.pk, "agency": ["harbour"]}).status_code == 302
    assert agencies(carl) == ["harbour"]


def test_where_there_is_no_agency_it_says_so(db: None) -> None:
    page = browser(person("ada", Role.ADMINISTRATOR)).get(ADD).content.decode()
    assert "There is no agency yet" in page


def test_several_are_given_at_once_and_recorded_together(desk: Client, carl: User) -> None:
    before = AuditEvent.objects.filter(chain=PEOPLE_CHAIN).count()
    chosen = {"user": carl.pk, "agency": ["passports", "immigration"]}
    assert desk.post(ADD, chosen).status_code == 302
    assert agencies(carl) == ["immigration", "passports"]
    text = desk.get("/admin/").content.decode()
    assert "Given together: immigration, passports." in text
    assert AuditEvent.objects.filter(chain=PEOPLE_CHAIN).count() == before + 1
    form = {"user": carl.pk, "agency": ["passports", "housing"]}
    assert desk.post(ADD, form).status_code == 302
    assert agencies(carl) == ["housing", "immigration", "passports"]
    assert "They work for what you chose already." in desk.post(ADD, form).content.decode()


def test_an_unknown_agency_is_refused(desk: Client, carl: User) -> None:
    page = desk.post(ADD, {"user": carl.pk, "agency": ["pasport"]}).content.decode()
    assert "“pasport” is not among the agencies: choose from the list." in page
    assert agencies(carl) == []


def test_one_that_is_gone_stays_until_it_is_changed(desk: Client, carl: User) -> None:
    scope = AgencyScope.objects.create(user=carl, agency="closed")
    page = f"/admin/people/agencyscope/{scope.pk}/change/"
    assert "no longer among the agencies (closed)" in desk.get(page).content.decode()
    assert desk.post(page, {"user": carl.pk, "agency": "closed"}).status_code == 302
    assert desk.post(page, {"user": carl.pk, "agency": "gone"}).status_code == 200
    assert desk.post(page, {"user": carl.pk, "agency": "passports"}).status_code == 302
    assert agencies(carl) == ["passports"]
