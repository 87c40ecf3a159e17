"""The editors' part of the API: the draft entry by entry, releases, proposals."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from conversations.models import Turn
from ieim.knowledge import selectors
from ieim.knowledge.following import PATIENCE
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.api import entries
from ieim.studio.models import Change, GoldenRun, Service
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import editor_and_publisher, person
from tests.studio.api.editing_api import Editor
from tests.studio.trying.trying import keep

pytestmark = pytest.mark.usefixtures("published")

EXTEND = {"agency": "immigration", "key": "immigration.extend-tourist-visa"}
ENTRY = "services/entry/"


@pytest.fixture
def ed(published: None) -> Editor:
    return Editor(editor_and_publisher("ed"))


@pytest.fixture
def pia(published: None) -> Editor:
    return Editor(editor_and_publisher("pia"))


@pytest.fixture
def local(published: None) -> Editor:
    return Editor(person("local", Role.EDITOR, "passports"))


def fee() -> str:
    return Service.objects.get(agency="immigration", key=EXTEND["key"]).fees


def change(editor: Editor, fees: str) -> None:
    tag = editor.get(ENTRY, **EXTEND)["ETag"]
    assert editor.send("PUT", ENTRY, {"fees": fees}, query=EXTEND, If_Match=tag).status_code == 200


def test_it_changes_what_was_read_and_nothing_else(ed: Editor) -> None:
    before = ed.get(ENTRY, **EXTEND)
    response = ed.send("PUT", ENTRY, {"fees": "50 euros"}, query=EXTEND, If_Match=before["ETag"])
    assert response.status_code == 200
    version = before.json()["version"] + 1
    assert response.json() == {**before.json(), "fees": "50 euros", "version": version}
    assert ed.get(ENTRY, **EXTEND)["ETag"] == response["ETag"] == f'"{version}"'
    stored = Change.objects.latest("id")
    assert (stored.source, stored.fields) == ("api", {"fees": [before.json()["fees"], "50 euros"]})


def test_it_refuses_what_somebody_changed_meanwhile(ed: Editor, pia: Editor) -> None:
    tag = ed.get(ENTRY, **EXTEND)["ETag"]
    change(pia, "60 euros")
    response = ed.send("PUT", ENTRY, {"fees": "50 euros"}, query=EXTEND, If_Match=tag)
    assert (response.status_code, fee()) == (412, "60 euros")
    assert "Pia" in response.json()["detail"]
    assert ed.send("DELETE", ENTRY, query=EXTEND, If_Match=tag).status_code == 412
    assert ed.send("DELETE", ENTRY, query=EXTEND).status_code == 428
    for headers, status in (({}, 428), ({"If_None_Match": '"1"'}, 428), ({"If_Match": "*"}, 412)):
        response = ed.send("PUT", ENTRY, {"fees": "50 euros"}, query=EXTEND, **headers)
        assert response.status_code == status


def test_it_adds_an_entry_once_and_removes_it(ed: Editor) -> None:
    address = {"agency": "immigration", "key": "new"}
    body = {"name": "A new service", "requirements": ["A form"]}
    added = ed.send("PUT", ENTRY, body, query=address, If_None_Match="*")
    assert added.status_code == 201
    assert added.json()["requirements"] == ["A form"]
    again = ed.send("PUT", ENTRY, body, query=address, If_None_Match="*")
    assert again.status_code == 412
    result = ed.send("DELETE", ENTRY, query=address, If_Match=added["ETag"])
    assert result.status_code == 204
    assert ed.get(ENTRY, **address).status_code == 404


def test_it_points_at_what_breaks_a_rule(ed: Editor) -> None:
    tag = ed.get(ENTRY, **EXTEND)["ETag"]
    body = {"url": "ftp://x", "categories": ["nowhere"]}
    response = ed.send("PUT", ENTRY, body, query=EXTEND, If_Match=tag)
    assert response.status_code == 422
    assert {error["pointer"] for error in response.json()["errors"]} == {"/url", "/categories"}
    assert ed.get(ENTRY, **EXTEND)["ETag"] == tag


@pytest.mark.parametrize("body", [{"fee": "x"}, {"requirements": "x"}])
def test_it_takes_columns_of_the_right_type_only(ed: Editor, body: dict[str, object]) -> None:
    tag = ed.get(ENTRY, **EXTEND)["ETag"]
    response = ed.send("PUT", ENTRY, body, query=EXTEND, If_Match=tag)
    assert response.status_code == 400
    assert ed.get(ENTRY, **EXTEND)["ETag"] == tag


def test_an_editor_of_one_agency_sees_and_changes_only_theirs(local: Editor) -> None:
    listed = local.get("services/").json()["items"]
    assert {entry["agency"] for entry in listed} == {"passports"}
    assert local.get(ENTRY, **EXTEND).status_code == 404
    tried = local.send("PUT", ENTRY, {"fees": "0"}, query=EXTEND, If_Match='"1"')
    assert tried.status_code in (403, 404)
    new = {"set": "intents", "code": "new"}
    tried = local.send("PUT", "labels/entry/", {"name": "N"}, query=new, If_None_Match="*")
    assert tried.status_code == 403


def test_it_lists_by_page_words_and_agency(ed: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "PAGE_SIZE", 20)
    keys: list[str] = []
    address = "/api/v1/knowledge/services/"
    while address:
        page = ed.http.get(address).json()
        keys += [entry["key"] for entry in page["items"]]
        address = page["next"]
    assert sorted(keys) == sorted(Service.objects.values_list("key", flat=True))
    items = ed.get("services/", agency="immigration", q="tourist").json()["items"]
    assert EXTEND["key"] in {entry["key"] for entry in items}
    assert all(entry["agency"] == "immigration" for entry in items)
    assert ed.get("services/", wrong="x").status_code == 400


def test_a_second_person_publishes_what_one_proposed(ed: Editor, pia: Editor) -> None:
    change(ed, "70 euros")
    number = selectors.current_number()
    created = ed.send("POST", "proposals/", {"note": "A new fee"})
    assert created.status_code == 201
    path = f"proposals/{created.json()['id']}/"
    own = ed.send("POST", f"{path}publish/", {})
    assert own.status_code == 422
    assert selectors.current_number() == number
    response = pia.send("POST", f"{path}publish/", {})
    assert response.status_code == 200
    assert response.json()["current"] is True
    effective_by = parse_datetime(response.json()["effective_by"])
    assert effective_by is not None
    assert timedelta(0) < effective_by - timezone.now() <= PATIENCE
    assert selectors.current_number() == response.json()["number"]
    assert ed.get(path).json()["state"] == "published"
    content = ed.get(f"releases/{response.json()['number']}/").json()["content"]
    assert "70 euros" in {service["fees"] for service in content["services"]}
    assert [release["current"] for release in ed.get("releases/").json()["items"]] == [True, False]
    back = ed.send("POST", "proposals/", {"note": "It was wrong", "again": number}).json()
    assert (back["again"], back["state"]) == (number, "open")
    assert ed.send("POST", "proposals/", {"note": "x", "again": 99}).status_code == 404


def test_a_proposal_can_be_turned_down_or_withdrawn(ed: Editor, pia: Editor) -> None:
    change(ed, "70 euros")
    first = ed.send("POST", "proposals/", {"note": "A new fee"}).json()["id"]
    refused = pia.send("POST", f"proposals/{first}/refuse/", {"reason": "Not yet decided"})
    assert (refused.status_code, refused.json()["state"]) == (200, "refused")
    second = ed.send("POST", "proposals/", {"note": "A new fee"}).json()["id"]
    assert pia.send("POST", f"proposals/{second}/withdraw/", {}).status_code == 422
    withdrawn = ed.send("POST", f"proposals/{second}/withdraw/", {})
    assert (withdrawn.status_code, withdrawn.json()["state"]) == (200, "withdrawn")


def test_it_tries_a_question_on_both_and_stores_nothing(ed: Editor) -> None:
    change(ed, "77 euros")
    response = ed.send("POST", "try/", {"text": VISA})
    draft, published = response.json()["sides"]
    assert (draft["which"], published["which"]) == ("draft", "published")
    assert "77 euros" in str(draft["reply"]["facts"])
    assert "77 euros" not in str(published["reply"]["facts"])
    assert draft["stages"][0]["calls"][0]["given"]
    assert not Turn.objects.exists()
    assert ed.send("POST", "try/", {"text": "x" * 2001}).status_code == 422


def test_it_finds_the_answers_of_a_service(ed: Editor, local: Editor) -> None:
    turn = desk.ask(VISA, {})
    (version, *_) = ed.get("versions/", **EXTEND).json()["items"]
    assert (version["answers"], version["sessions"]) == (1, 1)
    query = {**EXTEND, "version": version["sha256"]}
    (answer,) = ed.get("answers/", **query).json()["items"]
    assert answer["turn"] == str(turn.pk)
    assert VISA not in str(answer)
    assert local.get("answers/", **EXTEND).status_code == 404
    assert ed.get("answers/", **{**EXTEND, "version": "0" * 64}).json()["items"] == []


def test_it_adds_and_ends_a_notice(ed: Editor, local: Editor) -> None:
    until = (timezone.now() + timedelta(days=1)).isoformat()
    notice = {"agency": "immigration", "text": "Closed today", "ends_at": until}
    body = {**notice, "model_only": True}
    created = ed.send("POST", "notices/", body)
    assert created.status_code == 201
    assert created.json()["model_only"] is True
    assert [n["id"] for n in ed.get("notices/").json()["items"]] == [created.json()["id"]]
    assert local.send("POST", "notices/", body).status_code == 422
    assert local.send("POST", f"notices/{created.json()['id']}/end/").status_code == 404
    assert ed.send("POST", f"notices/{created.json()['id']}/end/").status_code == 200
    assert ed.send("POST", f"notices/{created.json()['id']}/end/").status_code == 422
    past = {**body, "ends_at": "2020-01-01T00:00:00Z"}
    response = ed.send("POST", "notices/", past)
    assert {error["pointer"] for error in response.json()["errors"]} == {"/ends_at"}


def test_the_golden_questions_are_asked_before_a_publication(ed: Editor, pia: Editor) -> None:
    keep(User.objects.get(username="ed"))
    change(ed, "70 euros")
    path = f"proposals/{ed.send('POST', 'proposals/', {'note': 'A new fee'}).json()['id']}/"
    assert pia.send("POST", f"{path}publish/", {}).status_code == 422
    GoldenRun.objects.update(state=GoldenRun.State.FAILED)
    assert ed.send("POST", f"{path}golden-run/").status_code == 202
    assert ed.get(path).json()["golden_run"]["state"] == "queued"
    assert ed.send("POST", f"{path}golden-run/").status_code == 422


def test_a_publisher_decides_only_about_their_agencies(ed: Editor, pia: Editor) -> None:
    change(ed, "70 euros")
    path = f"proposals/{ed.send('POST', 'proposals/', {'note': 'A new fee'}).json()['id']}/"
    pam = Editor(person("pam", Role.PUBLISHER, "passports"))
    response = pam.send("POST", f"{path}publish/", {"reason": "x"})
    assert response.status_code == 403
    assert "works for all of it" in response.json()["detail"]
