"""Two people with the same entry open, and the history that both leave."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, Label
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, posted, said

pytestmark = pytest.mark.django_db
APPLY = {"set": "intents", "code": "apply"}


@pytest.fixture
def label(bundle: Bundle) -> Label:
    import_bundle(bundle=bundle, by=None)
    return Label.objects.get(code="apply")


@pytest.fixture
def edith(label: Label) -> User:
    return person("edith", Role.EDITOR, name="Edith Ek")


@pytest.fixture
def client(label: Label) -> Client:
    """The browser of somebody else."""
    return browser(person("otto", Role.EDITOR, name="Otto Ober"))


def change(by: User, **values: Any) -> None:
    editing.save(
        table="labels",
        values={**APPLY, **values},
        by=by,
        expected_version=Label.objects.get(code="apply").version,
        source=Change.Source.API,
    )


def remove(by: User) -> None:
    editing.remove(
        table="labels",
        identity=APPLY,
        by=by,
        expected_version=Label.objects.get(code="apply").version,
        source=Change.Source.API,
    )


def test_it_refuses_a_stale_save_and_keeps_what_was_typed(
    client: Client, edith: User, label: Label
) -> None:
    url = address("label", "change", label.pk)
    form = filled(client, url, description="my typed words")
    change(edith, description="Their words")
    page = client.post(url, form)
    assert "Edith Ek changed it on " in said(page)
    assert "my typed words" in said(page)
    label.refresh_from_db()
    assert (label.description, label.version) == ("Their words", 2)
    # Again does not help: the version that was seen is still the old one.
    assert "Edith Ek changed it on " in said(client.post(url, form))
    assert client.post(url, filled(client, url, description="95")).status_code == 302


def over(version: str) -> dict[str, str]:
    return {"_over": "Save mine over theirs", "over": version}


def test_it_shows_both_and_saves_mine_over_theirs(
    client: Client, edith: User, label: Label
) -> None:
    url = address("label", "change", label.pk)
    form = filled(client, url, description="my typed words", name="Applying")
    change(edith, description="Their words", threshold=Decimal("0.70"))
    page = client.post(url, form)
    rows = {name: (theirs, mine) for name, theirs, mine in page.context["conflict"].fields}
    assert rows["Description"] == ("Their words", "my typed words")
    assert rows["Name"][1] == "Applying"
    assert rows["Threshold"][0] == "0.70"
    assert len(rows) == 3
    assert '<input type="hidden" name="over" value="2">' in said(page)
    # Enter in a field presses the first button: that one must not save over anything.
    first = re.search(r'<input type="submit"[^>]* name="(\w+)"', said(page))
    assert (first and first[1]) == "_save"
    change(edith, threshold=Decimal("0.80"))
    assert "0.80" in said(client.post(url, form | over("2")))
    assert client.post(url, form | over("3")).status_code == 302
    label.refresh_from_db()
    assert (label.description, label.version) == ("my typed words", 4)
    assert Change.objects.filter(by__username="otto").count() == 1


def test_what_was_typed_is_kept_when_the_entry_is_gone(
    client: Client, edith: User, label: Label
) -> None:
    url = address("label", "change", label.pk)
    page = client.get(url)
    form = filled(client, url, description="my typed words", name="Applying")
    form |= dict(page.context["identity"])
    remove(edith)
    page = client.post(url, form)
    assert page.status_code == 200
    assert "Edith Ek removed it on " in said(page)
    assert "my typed words" in said(page)
    add = address("label", "add")
    assert f'action="{add}"' in said(page)
    assert client.post(add, posted(page)).status_code == 302
    result = Label.objects.get(code="apply")
    assert (result.set, result.description, result.name) == (
        "intents",
        "my typed words",
        "Applying",
    )


def test_it_tells_nobody_about_an_entry_of_another_agency(
    edith: User, label: Label, bundle: Bundle
) -> None:
    local = browser(person("local", Role.EDITOR, "tax"))
    url = address("label", "change", label.pk)
    remove(edith)
    for path in (url, address("label", "change", "nothing")):
        page = local.post(path, {"was-set": "intents", "was-code": "apply"}, follow=True)
        assert page.status_code == 403
        assert "Edith" not in said(page)


def test_it_refuses_a_form_without_the_version(client: Client, label: Label) -> None:
    url = address("label", "change", label.pk)
    for seen in (None, "", "x", "-1", "9" * 30):
        page = client.post(url, filled(client, url, description="no", seen=seen))
        assert page.status_code == 200
    assert Label.objects.get(code="apply").description == "Wants to apply"


def test_it_refuses_a_stale_delete(client: Client, edith: User, label: Label) -> None:
    url = address("label", "delete", label.pk)
    assert 'name="seen" value="1"' in said(client.get(url))
    change(edith, description="Their words")
    page = client.post(url, {"post": "yes", "seen": "1"}, follow=True)
    assert "Edith Ek changed it on " in said(page)
    assert client.post(url, {"post": "yes", "seen": "2"}).status_code == 302
    assert not Label.objects.filter(code="apply").exists()
    removed = Change.objects.get(kind="removed")
    assert removed.fields["description"] == ["Their words", None]


def test_it_deletes_all_selected_entries_or_none(client: Client, edith: User, label: Label) -> None:
    url = address("label", "changelist")
    keys = {str(row.pk): row.version for row in Label.objects.all()}
    data: dict[str, Any] = {"action": "delete_selected", "_selected_action": list(keys)}
    page = said(client.post(url, data))
    data |= {"post": "yes", "seen": [f"{pk}:{version}" for pk, version in keys.items()]}
    assert all(f'name="seen" value="{pair}"' in page for pair in data["seen"])
    change(edith, description="Their words")
    page = said(client.post(url, data, follow=True))
    assert "Nothing was deleted. Edith Ek changed it on " in page
    assert "Successfully" not in page
    assert Label.objects.count() == 3
    data["seen"] = [f"{row.pk}:{row.version}" for row in Label.objects.all()]
    client.post(url, data)
    assert not Label.objects.exists()


def test_it_does_not_ask_about_more_entries_than_a_form_can_hold(
    client: Client, label: Label
) -> None:
    Label.objects.bulk_create(
        Label(set="intents", code=f"c{number}", name="N") for number in range(200)
    )
    some = {"action": "delete_selected", "_selected_action": [label.pk], "select_across": "1"}
    page = client.post(address("label", "changelist"), some, follow=True)
    assert "Delete at most 200 entries at a time." in said(page)


def test_it_shows_who_changed_what_and_when(client: Client, edith: User, label: Label) -> None:
    change(edith, description="Their words")
    url = address("label", "change", label.pk)
    client.post(url, filled(client, url, description="My words"))
    page = said(client.get(address("label", "history", label.pk)))
    assert page.index("Otto Ober") < page.index("Edith Ek") < page.index("Whoever runs the system")
    assert "Changed over the API" in page
    assert "Changed by hand" in page
    assert "<del>Their words</del> &rarr; <ins>My words</ins>" in page


def test_it_lists_no_fields_to_correct_where_none_is_wrong(
    client: Client, edith: User, label: Label
) -> None:
    url = address("label", "change", label.pk)
    form = filled(client, url, description="my typed words")
    change(edith, description="Their words")
    page = said(client.post(url, form))
    assert "Nothing was saved." in page
    assert "What to correct" not in page
    assert "What to correct" in said(client.post(url, form | {"name": ""}))
