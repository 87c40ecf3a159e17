"""The gap desk by REST."""

from __future__ import annotations

import pytest

from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from ieim.studio.api import gaps
from ieim.studio.models import ExampleQuestion, GapAction
from tests.fixtures import VISA
from tests.review.people import person
from tests.studio.api.editing_api import Editor
from tests.studio.gaps.gapping import (
    AGENCY,
    AWAY,
    OUTSIDE,
    SERVICE,
    collected,
    group,
    rated,
    turn,
)

pytestmark = pytest.mark.usefixtures("published")

OF_SERVICE = {"service": {"agency": AGENCY, "key": SERVICE}}
EXAMPLE = {"action": "example", "text": "May I stay three more weeks?", **OF_SERVICE}


@pytest.fixture
def editor(published: None) -> Editor:
    return Editor(person("edith", Role.EDITOR))


@pytest.fixture
def other(published: None) -> Editor:
    return Editor(person("otto", Role.EDITOR, "passports"))


def test_it_lists_the_groups_with_counts_and_examples(editor: Editor, other: Editor) -> None:
    collected(turn(state="needs_review"), rated(AWAY), turn(OUTSIDE, state="needs_review"))
    first, second = editor.get("gaps/").json()["items"]
    assert (first["agency"], first["number"], first["total"]) == (AGENCY, 2, 2)
    assert first["outcomes"] == {"held": 1, "not_useful": 1}
    assert [example["text"] for example in first["examples"]] == [VISA, AWAY]
    assert (first["would_answer"], first["actions"]) == (2, [])
    assert second["agency"] == ""
    assert [item["agency"] for item in other.get("gaps/").json()["items"]] == [""]
    assert AuditEvent.objects.filter(kind="gaps.listed", actor="staff:edith").exists()


def test_it_filters_and_pages(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    collected(turn(state="needs_review"), rated(AWAY), turn(OUTSIDE, state="needs_review"))
    (only,) = editor.get("gaps/", outcome="not_useful", language="en").json()["items"]
    assert (only["number"], only["total"]) == (1, 2)
    assert editor.get("gaps/", agency="*nobody").json()["items"][0]["agency"] == ""
    assert editor.get("gaps/", week="1999-01-04").json()["items"] == []
    assert editor.get("gaps/", outcome="odd").status_code == 400
    monkeypatch.setattr(gaps, "PAGE_SIZE", 1)
    page = editor.get("gaps/").json()
    last = editor.get("gaps/", page=str(page["next"])).json()
    assert (page["items"][0]["agency"], last["items"][0]["agency"]) == (AGENCY, "")
    assert last["next"] is None


def test_a_group_is_acted_on_and_leaves_the_list(editor: Editor, other: Editor) -> None:
    stored = group()
    path = f"gaps/{stored.pk}/actions/"
    assert other.send("POST", path, EXAMPLE).status_code == 404
    response = editor.send("POST", path, EXAMPLE)
    assert response.status_code == 201
    target = f"{AGENCY}/{SERVICE}"
    assert (response.json()["target"], response.json()["by"]) == (target, "edith")
    assert ExampleQuestion.objects.filter(text=EXAMPLE["text"], origin="citizen").exists()
    assert editor.get("gaps/").json()["items"] == []
    (handled,) = editor.get("gaps/", state="handled").json()["items"]
    assert handled["actions"] == [response.json()]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"action": "no_gap"}, 422),
        ({"action": "no_gap", "reason": "x" * 501}, 400),
        ({"action": "example", "text": "Where?"}, 422),
        ({**EXAMPLE, "text": "Mail mia@example.org"}, 422),
        ({**EXAMPLE, "service": {"agency": AGENCY}}, 400),
        ({"action": "dance"}, 400),
    ],
)
def test_what_is_refused_changes_nothing(
    editor: Editor, body: dict[str, object], status: int
) -> None:
    response = editor.send("POST", f"gaps/{group().pk}/actions/", body)
    assert response.status_code == status, response.content
    assert GapAction.objects.count() == 0
