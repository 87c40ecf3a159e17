"""What editors pick and name on the pages of entries: services by name, agencies, keys."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, Service, Situation
from tests.review.people import browser, person
from tests.studio.editor.entry_pages import filled

pytestmark = pytest.mark.django_db
MOVING = "/knowledge/situations/moving/"
NEW = "/knowledge/new/service/"


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor of every agency; a situation leads to one service."""
    import_bundle(bundle=bundle, by=None)
    eve = person("eve", Role.EDITOR, name="Eve Every")
    values = {"key": "moving", "kind": "life", "name": "Moving", "services": ["passports/renew"]}
    source = Change.Source.ADMIN
    editing.save(table="situations", values=values, by=eve, expected_version=None, source=source)
    return eve


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def line(agency: str, key: str) -> str:
    return f"{Service.objects.get(agency=agency, key=key).name} ({agency}/{key})"


def test_services_are_picked_and_typed_by_name(eve: User) -> None:
    client = browser(eve)
    page = client.get(MOVING)
    renew, tax = line("passports", "renew"), line("tax", "return")
    assert page.context["form"]["services"].value() == renew
    assert f">{renew}</textarea>" in text(page).replace("> ", ">")
    assert f'<option value="{tax}">' in text(page)
    assert client.post(MOVING, filled(client, MOVING)).status_code == 303  # as the page has it
    data = filled(client, MOVING, pick=tax, do="pick")
    picked = client.post(MOVING, data)
    assert picked.status_code == 200
    assert f"{renew} {tax}</textarea>" in text(picked)
    assert Situation.objects.get().services == ["passports/renew"]
    name = Service.objects.get(key="return").name
    data = filled(client, MOVING, services=f"{name.upper()} | if you earn\r\n{renew}")
    assert client.post(MOVING, data).status_code == 303
    assert Situation.objects.get().services == ["tax/return | if you earn", "passports/renew"]


def test_one_wrong_service_does_not_empty_the_preview(eve: User) -> None:
    client = browser(eve)
    lines = f"{line('passports', 'renew')}\nNo such thing | for nobody"
    data = filled(client, MOVING, services=lines, do="preview")
    live = text(client.post(MOVING, data, headers={"HX-Request": "true"}))
    assert "Renew a passport</li>" in live.replace(" </li>", "</li>")
    assert "No such thing" in live
    page = client.post(MOVING, filled(client, MOVING, services=lines))
    assert page.status_code == 422
    assert page.context["form"].errors.keys() == {"services"}
    assert "No such thing | for nobody</textarea>" in text(page)


def test_who_may_not_change_a_situation_reads_who_may(eve: User) -> None:
    other = browser(person("pat", Role.EDITOR, "passports"))
    assert "editors who work for every agency change it" in text(other.get(MOVING))
    tax = other.get("/knowledge/services/tax/return/")
    assert "editors of its agency change it" in text(tax)


def test_the_only_agency_of_an_editor_is_chosen(eve: User) -> None:
    form = browser(person("pat", Role.EDITOR, "passports")).get(NEW).context["form"]
    assert form["agency"].value() == "passports"
    assert [key for key, _ in form.fields["categories"].choices] == ["travel"]
    assert not browser(eve).get(NEW).context["form"]["agency"].value()


@pytest.mark.parametrize(("key", "is_key"), [("a key", False), ("a/key", False), ("a.key-1", True)])
def test_a_key_looks_like_a_key(eve: User, key: str, is_key: bool) -> None:
    client = browser(eve)
    page = client.post(NEW, filled(client, NEW, agency="tax", key=key, name="New"))
    assert page.status_code == (303 if is_key else 422)
    if not is_key:
        assert page.context["form"].errors.keys() == {"key"}
        assert "letters, digits, dots" in text(page)
