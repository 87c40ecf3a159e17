"""Changing the draft entry by entry."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from ieim.audit.models import AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.scope import works_for
from ieim.studio.drafts import editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Agency, Category, Change, DraftEntry, Label, Service, Translation
from tests.review.people import person

pytestmark = pytest.mark.django_db

RENEW = {"agency": "passports", "key": "renew"}


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor of every agency."""
    import_bundle(bundle=bundle, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


@pytest.fixture
def pam(eve: User) -> User:
    """An editor of the passport office."""
    return person("pam", Role.EDITOR, "passports", name="Pam Pass")


def save(by: User, table: Table, seen: int | None, **values: Any) -> DraftEntry:
    return editing.save(
        table=table, values=values, by=by, expected_version=seen, source=Change.Source.API
    )


def remove(by: User, table: Table, seen: int, **identity: str) -> None:
    editing.remove(
        table=table, identity=identity, by=by, expected_version=seen, source=Change.Source.API
    )


def trace() -> tuple[int, int]:
    return Change.objects.count(), AuditEvent.objects.count()


def test_it_changes_the_columns_that_it_is_given(pam: User) -> None:
    saved = save(pam, "services", 1, **RENEW, fees="90 crowns", requirements=["A photo"])
    stored = Service.objects.get(key="renew")
    assert (saved.pk, saved.version) == (stored.pk, stored.version) == (stored.pk, 2)
    assert (stored.fees, stored.contact) == ("90 crowns", "+999 1 555 0100")
    change = Change.objects.first()
    assert change is not None
    assert (change.entry, change.agency, change.by) == ("passports renew", "passports", pam)
    assert (change.kind, change.source) == ("changed", "api")
    assert change.fields == {
        "fees": ["80 crowns", "90 crowns"],
        "requirements": [["A photo", "The old passport"], ["A photo"]],
    }
    event = AuditEvent.objects.order_by("-id").first()
    assert event is not None
    assert (event.kind, event.actor) == ("knowledge.changed", "staff:pam")
    assert json.loads(event.payload)["entries"] == ["passports renew"]


def test_it_leaves_no_trace_of_what_changes_nothing(pam: User) -> None:
    before = trace()
    assert save(pam, "services", 1, **RENEW, fees="80 crowns").version == 1
    assert trace() == before


def test_it_adds_an_entry_at_the_end(eve: User) -> None:
    label = {"set": "intents", "code": "ask", "name": "Ask", "threshold": Decimal("0.5")}
    added = save(eve, "labels", None, **label)
    assert (added.version, added.position) == (1, 3)
    assert Label.objects.get(code="ask").threshold == Decimal("0.50")
    change = Change.objects.first()
    assert change is not None
    assert (change.entry, change.agency, change.kind) == ("intents ask", "", "added")
    assert change.fields["threshold"] == [None, "0.50"]


@pytest.mark.parametrize(
    ("table", "seen", "values", "column", "expected"),
    [
        ("services", 1, RENEW | {"url": "javascript:x"}, "url", "it must begin with http"),
        ("services", 1, RENEW | {"colour": "red"}, "colour", "is unknown"),
        ("services", 1, RENEW | {"categories": ["gone"]}, "categories", "not in the dictionary"),
        ("services", 1, RENEW | {"name": ""}, "name", "is missing"),
        ("services", 1, RENEW | {"position": -1}, "position", "whole number"),
        ("services", 1, RENEW | {"position": True}, "position", "whole number"),
        ("services", None, RENEW | {"name": "x"}, "key", "there is 'passports renew' already"),
        ("services", None, {"agency": "gone", "key": "x", "name": "x"}, "agency", "not among"),
        ("services", None, {"agency": "tax", "name": "x"}, "key", "is missing"),
        (
            "services",
            None,
            {"agency": "tax", "key": "a\0", "name": "x"},
            "key",
            "the character NUL",
        ),
        ("agencies", None, {"id": "x"}, "name", "is missing"),
        ("labels", None, {"set": "gone", "code": "x", "name": "x"}, "set", "is unknown"),
        (
            "translations",
            None,
            {"language": "fr", "agency": "tax", "service": "gone", "name": "x"},
            "service",
            "is not among the services",
        ),
        (
            "translations",
            None,
            {"language": "fr", "agency": "tax", "fees": "x"},
            "fees",
            "does not belong here",
        ),
    ],
)
def test_it_refuses_what_a_bundle_may_not_have(
    eve: User, table: Table, seen: int | None, values: dict[str, Any], column: str, expected: str
) -> None:
    before, draft = trace(), drafts.draft().content
    with pytest.raises(editing.Invalid) as caught:
        save(eve, table, seen, **values)
    assert any(expected in one.text for one in caught.value.problems[column])
    assert (trace(), drafts.draft().content) == (before, draft)


def test_it_says_what_is_wrong_with_and_without_the_column(eve: User) -> None:
    wrong = {"agency": "tax", "key": "new", "name": "", "requirements": ["x", " "]}
    with pytest.raises(editing.Invalid) as caught:
        save(eve, "services", None, **wrong)
    assert caught.value.problems == {
        "name": [("name is missing: fill it in", "this is missing: fill it in")],
        "requirements": [
            ("requirements entry 2 is blank: leave it out", "entry 2 is blank: leave it out")
        ],
    }


def test_it_says_who_changed_an_entry_since_it_was_seen(eve: User, pam: User) -> None:
    save(pam, "services", 1, **RENEW, fees="85 crowns")
    with pytest.raises(editing.Stale, match=r"^Pam Pass changed it on \d+ \w+ \d{4} at \d+:\d\d"):
        save(eve, "services", 1, **RENEW, fees="90 crowns")
    remove(pam, "services", 2, **RENEW)
    with pytest.raises(editing.Stale, match=r"^Pam Pass removed it on "):
        save(eve, "services", 2, **RENEW, fees="90 crowns")
    with pytest.raises(editing.Stale, match=r"^Pam Pass removed it on "):
        remove(eve, "services", 2, **RENEW)


def test_it_keeps_people_to_their_agencies(pam: User, eve: User) -> None:
    tax = {"agency": "tax", "key": "return"}
    for attempt in (
        lambda: save(pam, "services", 1, **tax, fees="no"),
        lambda: save(pam, "services", None, agency="tax", key="new", name="no"),
        lambda: remove(pam, "services", 1, **tax),
        lambda: save(pam, "labels", None, set="intents", code="x", name="no"),
        lambda: save(pam, "agencies", None, id="new", name="no"),
        lambda: save(pam, "agencies", 1, id="tax", name="no"),
        lambda: remove(pam, "agencies", 1, id="passports"),
    ):
        with pytest.raises(editing.OutOfScope):
            attempt()
    assert save(pam, "agencies", 1, id="passports", name="Passports").version == 2
    assert works_for(pam, "passports")
    assert not works_for(pam, "tax")
    assert not works_for(pam, "")
    assert works_for(eve, "")


def test_it_removes_translations_with_what_they_translate(eve: User) -> None:
    save(eve, "translations", None, language="fr", agency="tax", service="return")
    save(eve, "translations", None, language="fr", agency="tax", name="Le fisc")
    remove(eve, "services", 1, agency="tax", key="return")
    assert [row.name for row in Translation.objects.all()] == ["Le fisc"]
    kinds = [(row.table, row.kind) for row in Change.objects.all()[:2]]
    assert kinds == [("services", "removed"), ("translations", "removed")]
    remove(eve, "dictionary", 1, agency="tax", key="income")
    remove(eve, "agencies", 1, id="tax")
    assert not Translation.objects.exists()
    assert not Agency.objects.filter(pk="tax").exists()


def test_it_does_not_remove_what_others_refer_to(eve: User) -> None:
    with pytest.raises(editing.Invalid, match="still has 1 services and 1 dictionary entries"):
        remove(eve, "agencies", 1, id="tax")
    with pytest.raises(editing.Invalid, match="take it out of renew first"):
        remove(eve, "dictionary", 1, agency="passports", key="travel")
    assert (Agency.objects.count(), Category.objects.count()) == (2, 2)


def test_it_saves_many_entries_or_none(eve: User) -> None:
    good = editing.Edit({**RENEW, "fees": "90 crowns"}, 1)
    bad = editing.Edit({"agency": "tax", "key": "return", "url": "x"}, 1)
    with pytest.raises(editing.ManyInvalid) as caught:
        editing.save_all(
            table="services", edits=[good, bad, good], by=eve, source=Change.Source.FILE
        )
    assert {index: list(result) for index, result in caught.value.rows.items()} == {
        1: ["url"],
        2: ["key"],
    }
    assert Service.objects.get(key="renew").fees == "80 crowns"


def test_it_records_a_bundle_entry_by_entry(eve: User, bundle: Bundle) -> None:
    added = Change.objects.filter(source="bundle")
    assert {row.kind for row in added} == {"added"}
    assert added.count() == 9
    Service.objects.filter(key="renew").update(fees="1 crown", version=5)
    Agency.objects.create(id="old", name="Old Office")
    import_bundle(bundle=bundle, by=eve)
    newest = {row.entry: row for row in Change.objects.filter(by=eve, source="bundle")}
    assert set(newest) == {"passports renew", "old"}
    assert newest["passports renew"].fields == {"fees": ["1 crown", "80 crowns"]}
    assert newest["old"].fields["name"] == ["Old Office", None]
    assert Service.objects.get(key="renew").version == 6
