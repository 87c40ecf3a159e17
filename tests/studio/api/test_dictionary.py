"""Categories put in order by a program: previewed, then written."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Category, Change, Service, Translation
from tests.review.people import person
from tests.studio.api.editing_api import Editor

pytestmark = pytest.mark.django_db
MERGE = {"action": "merge", "category": "travel", "into": "trips"}


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor of every agency, with two categories at the passport office."""
    import_bundle(bundle=bundle, by=None)
    Category.objects.create(agency_id="passports", key="trips", value="Trips")
    return person("eve", Role.EDITOR)


def send(by: User, body: dict[str, Any], agency: str = "passports", **headers: str) -> Any:
    query = {"agency": agency}
    return Editor(by).send("POST", "dictionary/changes/", body, query=query, **headers)


def renewal() -> Service:
    return Service.objects.get(key="renew")


def test_a_merge_is_previewed_then_written(eve: User) -> None:
    Translation.objects.create(language="fr", agency_id="passports", category="travel", name="X")
    preview = send(eve, MERGE)
    assert preview.status_code == 200
    changes = {(e["entry"], e["change"]): e["differences"] for e in preview.json()["entries"]}
    assert changes["passports renew", "changed"] == [
        {"field": "categories", "before": "travel", "after": "trips"}
    ]
    assert changes["passports trips", "changed"][0]["after"] == "Travel\nholiday"
    assert changes.keys() > {("passports travel", "removed"), ("fr passports travel", "removed")}
    assert (preview.json()["written"], renewal().categories) == (False, ["travel"])
    written = send(eve, MERGE, If_Match=preview["ETag"])
    assert written.json() == {**preview.json(), "written": True}
    assert renewal().categories == ["trips"]
    assert Change.objects.filter(source="api", by=eve).count() == 4


def test_a_split_adds_a_category_and_a_move_puts_back(eve: User) -> None:
    split = {"action": "split", "category": "travel", "value": "Papers", "services": ["renew"]}
    move = {"action": "move", "category": "papers", "into": "travel", "services": ["renew"]}
    for body, expected in ((split, ["papers"]), (move, ["travel"])):
        assert send(eve, body, If_Match=send(eve, body)["ETag"]).status_code == 200
        assert renewal().categories == expected


def test_what_changed_since_the_preview_is_refused(eve: User) -> None:
    tag = send(eve, MERGE)["ETag"]
    values = {"agency": "passports", "key": "renew", "fees": "EUR 1"}
    editing.save(
        table="services", values=values, by=eve, expected_version=1, source=Change.Source.API
    )
    answer = send(eve, MERGE, If_Match=tag)
    assert answer.status_code == 412
    assert "“Renew a passport”: Eve changed it on" in answer.json()["detail"]
    assert renewal().categories == ["travel"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"action": "merge", "into": "trips"}, 400),
        (MERGE | {"services": ["renew"]}, 400),
        (MERGE | {"into": "none"}, 422),
        ({"action": "move", "into": "trips", "services": ["none"]}, 422),
    ],
)
def test_what_cannot_be_done_is_refused(eve: User, body: dict[str, Any], status: int) -> None:
    assert send(eve, body).status_code == status


def test_an_editor_changes_only_their_agencies(eve: User) -> None:
    assert send(person("lou", Role.EDITOR, "tax"), MERGE).status_code == 404
