"""Views of the queue that are shared, and the items that come first for who reads a language."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from review.item.selectors import next_item
from review.models import SIGN, ReviewItem, SavedView
from review.queue.filters import ItemFilter
from review.saved_views.selectors import MAX_LISTED
from tests.review.people import belong, browser, person
from tests.review.queue.test_queue import QUEUE, make
from tests.review.reviewing import Reviewer

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
VIEWS, PROGRAM = reverse("review:save_view"), "/api/v1/review/views/"


@pytest.fixture
def ben(published: None) -> User:
    return person("ben", Role.CASEWORKER, "housing")


def save(user: User, name: str, **form: str) -> SavedView | None:
    """Save a view as somebody does; None where nothing is stored."""
    browser(user).post(VIEWS, {"name": name, "query": "language=de", **form})
    return SavedView.objects.filter(name=name).first()


def links(client: Client) -> dict[str, int]:
    """The views of a page with their numbers."""
    text = client.get(QUEUE).content.decode()
    pattern = r'queue-views__link"[^>]*>(.*?) <span class="facet__number">(\d+)<'
    return {re.sub("<[^>]+>", "", name): int(n) for name, n in re.findall(pattern, text)}


def test_a_shared_view_has_its_owner_and_for_each_the_number_of_their_own_items(
    ben: User,
) -> None:
    for agency in ("housing", "vehicles", "vehicles"):
        make("Where?", agency, language="de")
    make("Where?", "housing", language="fr")
    save(ben, "German", shared_with="housing")
    anna = person("anna", Role.CASEWORKER, "housing")
    sofia = person("sofia", Role.SUPERVISOR)
    assert links(browser(ben)) == {"German": 1}
    assert links(browser(anna)) == {"German (Ben)": 1}
    assert links(browser(sofia)) == {"German (Ben)": 3}
    assert links(browser(person("vera", Role.CASEWORKER, "vehicles"))) == {}
    event = AuditEvent.objects.get(kind="review.view_shared")
    assert '"after":"housing"' in event.payload
    assert "German" not in event.payload


def test_of_very_many_views_the_first_are_listed_their_own_before_others(ben: User) -> None:
    save(ben, "Zoo")
    sofia = person("sofia", Role.SUPERVISOR)
    SavedView.objects.bulk_create(
        SavedView(owner=sofia, name=f"Her {n}", query=f"stage=s{n}", shared_with="*")
        for n in range(600)
    )
    shown = links(browser(ben))
    assert (len(shown), next(iter(shown))) == (MAX_LISTED, "Zoo")
    last = SavedView.objects.get(name="Her 99")  # listed for nobody
    body = {"id": last.pk, "name": "Hers", "query": last.query, "shared_with": "*"}
    assert Reviewer(person("ada", Role.SUPERVISOR)).post(PROGRAM, body).json()["name"] == "Hers"


@pytest.mark.parametrize("with_whom", ["*", "vehicles", "nobody"])
def test_a_caseworker_shares_with_their_own_agency_alone(ben: User, with_whom: str) -> None:
    assert save(ben, "German", shared_with=with_whom) is None


def test_its_owner_and_a_supervisor_change_it_and_nobody_else(ben: User) -> None:
    view = save(ben, "German", shared_with="housing")
    assert view is not None
    anna, sofia = person("anna", Role.CASEWORKER, "housing"), person("sofia", Role.SUPERVISOR)
    assert save(anna, "Hers", view=str(view.pk)) is None
    browser(anna).post(VIEWS, {"delete": "1", "view": str(view.pk)})
    assert save(sofia, "All German", view=str(view.pk), shared_with="*") == view
    assert SavedView.objects.get().owner == ben
    browser(sofia).post(VIEWS, {"delete": "1", "view": str(view.pk)})
    assert not SavedView.objects.exists()


def test_what_is_as_urgent_comes_first_in_a_language_that_one_reads(ben: User) -> None:
    def due(late: int, language: str, **columns: Any) -> ReviewItem:
        return belong(make(late=late, language=language, **columns), "housing")

    soon, german, later = due(0, "fr"), due(50, "de"), due(61, "de")
    assert next_item(ben, but=(), filters=ItemFilter()) == soon
    browser(ben).post(reverse("languages"), {"language": ["de", "es"]})
    ben.refresh_from_db()
    assert ben.languages == ["de", "es"]
    assert next_item(ben, but=(), filters=ItemFilter()) == german
    assert next_item(ben, but=[german.pk], filters=ItemFilter()) == soon
    danger = due(70, "fr", rank=SIGN)
    due(75, "de", rank=SIGN)
    assert next_item(ben, but=[later.pk], filters=ItemFilter()) == danger


def test_a_language_that_no_message_has_changes_nothing(ben: User) -> None:
    browser(ben).post(reverse("languages"), {"language": ["xx"]})
    ben.refresh_from_db()
    assert ben.languages is None


def test_programs_save_share_read_and_delete_views(ben: User) -> None:
    make("Where?", "housing", language="de")
    address, program = PROGRAM, Reviewer(ben)
    body = {"name": "German", "query": "language=de", "shared_with": "housing"}
    stored = program.post(address, body).json()
    assert (stored["owner"], stored["shared_with"], stored["items"]) == ("ben", "housing", 1)
    reader = Reviewer(person("anna", Role.CASEWORKER, "housing"))
    assert reader.get(address).json() == [{**stored, "may_change": False}]
    assert reader.post(address, {**body, "id": stored["id"]}).status_code == 422
    assert program.post(address, {**body, "id": stored["id"], "name": "Deutsch"}).status_code == 200
    one = f"{address}{stored['id']}/"
    assert program.http.delete(one, headers={"X-CSRFToken": program.csrf}).status_code == 204
    assert program.get(address).json() == []
