"""Categories in order: what moves, merges and splits, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from ieim.audit.models import AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.dictionary import services as dictionary
from ieim.studio.drafts import editing, sets
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Category, Change, ExampleQuestion, Service, Translation
from tests.review.people import browser, person
from tests.studio.proposals.proposing import meanwhile

pytestmark = pytest.mark.django_db
HOME = "/knowledge/dictionary/?agency=passports"
MERGE = "/knowledge/dictionary/merge/?agency=passports&category=travel&into=trips"
SPLIT = "/knowledge/dictionary/split/?agency=passports&category=travel"


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor of every agency, with two categories and two services at the passport office."""
    import_bundle(bundle=bundle, by=None)
    Category.objects.create(agency_id="passports", key="trips", value="Trips", keywords=["Holiday"])
    Category.objects.filter(key="travel").update(keywords=["holiday", "abroad"])
    Service.objects.create(
        agency_id="passports", key="visa", name="Get a visa", categories=["travel", "trips"]
    )
    return person("eve", Role.EDITOR, name="Eve Every")


@pytest.fixture
def client(eve: User) -> Client:
    return browser(eve)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def post(client: Client, url: str, page: Any = None, **data: Any) -> Any:
    """Send the form of ``page``, or of the one at ``url``."""
    seen = (page or client.get(url)).context["seen"]
    return client.post(url, {"seen": seen, **data})


def categories(key: str) -> list[str]:
    found: list[str] = Service.objects.get(agency="passports", key=key).categories
    return found


def change_renewal(by: User) -> None:
    editing.save(
        table="services",
        values={"agency": "passports", "key": "renew", "fees": "EUR 1"},
        by=by,
        expected_version=1,
        source=Change.Source.API,
    )


def test_it_lists_an_agencys_categories_with_services_and_questions(client: Client) -> None:
    question = {"language": "en", "text": "Where do I renew?", "service": "renew"}
    ExampleQuestion.objects.create(agency_id="passports", **question)
    page = text(client.get(HOME))
    assert 'href="/knowledge/categories/passports/travel/"' in page
    assert "1 example question<" in page
    assert "File a tax return" not in page
    assert "In no category" in text(client.get("/knowledge/dictionary/?agency=tax"))


def test_several_services_move_at_once(client: Client, eve: User) -> None:
    page = post(client, HOME, service=["travel/renew", "travel/visa"], into="trips")
    assert (page.status_code, page["Location"]) == (303, HOME)
    assert (categories("renew"), categories("visa")) == (["trips"], ["trips"])
    assert "2 services are moved" in text(client.get(HOME))
    event = AuditEvent.objects.filter(kind="knowledge.changed").latest("seq")
    assert json.loads(event.payload)["entries"] == ["passports renew", "passports visa"]
    working = sets.working_set(eve)
    assert working is not None
    assert ("services", "passports renew") in sets.parts_of(working)


def test_what_is_in_no_category_gets_one(client: Client) -> None:
    url = "/knowledge/dictionary/?agency=tax"
    assert post(client, url, service="/return", into="income").status_code == 303
    assert Service.objects.get(key="return").categories == ["income"]


def test_a_merge_says_first_what_it_does(client: Client) -> None:
    Translation.objects.create(
        language="fr", agency_id="passports", category="travel", name="Aller"
    )
    page = client.get(MERGE)
    for words in ("2 services move to", "Renew a passport", "abroad", "Aller", "is removed"):
        assert words in text(page)
    assert Category.objects.filter(key="travel").exists()
    assert post(client, MERGE, page).status_code == 303
    assert (categories("renew"), categories("visa")) == (["trips"], ["trips"])
    assert Category.objects.get(key="trips").keywords == ["Holiday", "Travel", "abroad"]
    assert not Category.objects.filter(key="travel").exists()
    assert not Translation.objects.exists()


def test_a_part_of_a_category_becomes_one_of_its_own(client: Client) -> None:
    data = {"value": "Going abroad", "services": ["visa"], "keywords": ["abroad"]}
    assert post(client, SPLIT, **data).status_code == 303
    new = Category.objects.get(key="going-abroad")
    assert (new.value, new.keywords) == ("Going abroad", ["abroad"])
    assert Category.objects.get(key="travel").keywords == ["holiday"]
    assert (categories("renew"), categories("visa")) == (["travel"], ["going-abroad", "trips"])


@pytest.mark.parametrize(
    ("url", "data"),
    [
        (HOME, {"service": ["travel/renew", "travel/visa"], "into": "trips"}),
        (MERGE, {}),
        (SPLIT, {"value": "New", "services": ["renew", "visa"]}),
    ],
)
def test_what_somebody_changed_meanwhile_is_refused_and_nothing_changes(
    client: Client, url: str, data: dict[str, Any]
) -> None:
    page = client.get(url)
    change_renewal(person("otto", Role.EDITOR, name="Otto Ober"))
    before = Change.objects.count()
    answer = post(client, url, page, **data)
    assert answer.status_code == 422
    assert "“Renew a passport”: Otto Ober changed it on" in text(answer)
    assert client.post(url, data | {"seen": "forged"}).status_code == 422
    assert Change.objects.count() == before


def test_a_translation_saved_while_a_category_is_merged_is_not_lost(
    eve: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = dictionary.newest_change()
    plan = dictionary.plan_merge(agency="passports", category="travel", into="trips")

    def translate() -> None:
        editing.save(
            table="translations",
            values={"language": "fr", "agency": "passports", "category": "travel", "name": "V"},
            by=person("olga", Role.EDITOR),
            expected_version=None,
            source=Change.Source.ADMIN,
        )

    meanwhile(monkeypatch, translate, dictionary, editing)
    with pytest.raises(editing.Stale):
        dictionary.carry_out(plan, seen=seen, by=eve, source=Change.Source.ADMIN)


@pytest.mark.parametrize(
    ("url", "data", "reason"),
    [
        (HOME, {"into": "trips"}, "Choose at least one service."),
        (HOME, {"service": "travel/renew"}, "is not there: choose one of the list."),
        (HOME, {"service": "trips/renew", "into": "travel"}, "is no longer there"),
        (MERGE.replace("trips", "travel"), {}, "Choose another category"),
        (SPLIT, {"value": " ", "services": "visa"}, "Name the new category."),
        (SPLIT, {"value": "New"}, "Choose at least one service."),
        (SPLIT, {"value": "Trips", "services": "visa"}, "already"),
        (SPLIT, {"value": "New", "services": "a\0b"}, "is no longer there"),
        (SPLIT, {"value": "New", "services": "visa", "keywords": "x"}, "no keyword “x”"),
    ],
)
def test_it_says_what_is_wrong_and_changes_nothing(
    client: Client, url: str, data: dict[str, Any], reason: str
) -> None:
    before = Change.objects.count()
    answer = post(client, url, **data)
    assert answer.status_code == 422
    assert reason in text(answer)
    assert Change.objects.count() == before


def test_it_is_limited_to_the_agencies_of_the_account(eve: User) -> None:
    local = browser(person("lou", Role.EDITOR, "tax"))
    for url in (HOME, MERGE, SPLIT, HOME.replace("passports", "%00")):
        assert local.get(url).status_code == 404
        assert local.post(url, {}).status_code == 404
    assert "Income tax" in text(local.get("/knowledge/dictionary/"))
    reader = browser(person("pia", Role.PUBLISHER))
    assert "checkbox" not in text(reader.get(HOME))
    assert reader.post(HOME, {}).status_code == 403
