"""An editor takes what a web page says into the draft, field by field, or leaves it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import sets
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import (
    Agency,
    Category,
    Change,
    ContentReview,
    ExampleQuestion,
    Service,
    WebPage,
)
from ieim.studio.proposals.services import propose
from tests.review.people import browser, person
from tests.studio.api.editing_api import Editor
from tests.studio.proposals.proposing import change
from tests.studio.webpages.accepted import ADDRESS, BONFIRE, NEWS, form_of, page_of, text, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def eve(bundle: Bundle) -> User:
    import_bundle(bundle=bundle, by=None)
    return person("eve", Role.EDITOR, "passports")


@pytest.fixture
def client(eve: User) -> Client:
    return browser(eve)


def taken(client: Client, page: WebPage, **changed: Any) -> Any:
    """Send the form of a page as it is opened, with some fields changed."""
    return client.post(url(page, "take/"), {**form_of(client, page), "do": "all", **changed})


def made() -> Service:
    return Service.objects.get(key="permit-for-a-bonfire")


def test_take_all_makes_an_entry_with_its_source_and_opens_the_next_page(
    client: Client, eve: User
) -> None:
    page, following = page_of(eve), page_of(eve, NEWS, address="saved.html")
    done = taken(client, page)
    assert (done.status_code, done["Location"]) == (302, url(following))
    service = made()
    assert (service.agency_id, service.url) == ("passports", ADDRESS)
    assert service.read_on == "2026-11-20"
    assert service.requirements == ["Proof of identity", "The consent of the owner"]
    assert service.how_to_apply == ["Fill in the form.", "Pay the fee."]
    page.refresh_from_db()
    entry = "passports permit-for-a-bonfire"
    assert (page.state, page.table, page.entry) == ("taken", "services", entry)
    assert page.rests_on["requirements"] == service.requirements
    assert ContentReview.objects.get(table="services", entry=entry).source == ADDRESS
    own = sets.working_set(eve)
    assert own is not None
    assert ("services", entry) in sets.parts_of(own)
    event = AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind="webpages.taken").get()
    assert json.loads(event.payload)["address"] == ADDRESS
    html = text(client.get(url(following)))
    assert "“Permit for a bonfire” is in the draft." in html
    assert "1 change in your change set: propose it" in html


def test_the_text_is_shown_in_blocks_with_the_quotes_of_each_field_marked(
    client: Client, eve: User
) -> None:
    html = text(client.get(url(page_of(eve, address="saved.html"))))
    mark = '<mark class="w-mark" data-fields="requirements">'
    assert f'<li>{mark}<span id="quote-requirements"></span>Proof of identity</mark></li>' in html
    assert f"<li>{mark}The consent of the owner</mark></li>" in html
    assert '<td class="govuk-table__cell"><mark class="w-mark" data-fields="fees">' in html
    assert "<h3" in html
    assert "## " not in html


def test_what_is_not_ticked_is_left_out_and_what_is_edited_is_taken(
    client: Client, eve: User
) -> None:
    page = page_of(eve)
    form = form_of(client, page) | {"do": "take", "take": ["name", "fees"]}
    typed = {"text-fees": "EUR 25.00 for residents", "text-contact": "Call us."}
    done = client.post(url(page, "take/"), form | typed, follow=True)
    assert "Not taken, because it was not ticked: Contact." in text(done)
    assert (made().fees, made().requirements) == ("EUR 25.00 for residents", [])
    page.refresh_from_db()
    assert page.rests_on.keys() == {"name", "fees"}


def test_an_entry_of_the_same_name_is_merged_field_by_field(client: Client, eve: User) -> None:
    html = BONFIRE.replace("Permit for a bonfire", "Renew a passport")
    service = Service.objects.get(key="renew")
    change(eve, name="Renew a passport", fees="80 crowns", url="https://city.example/other")
    page = page_of(eve, html)
    form = form_of(client, page)
    assert form["into"] == "renew"
    assert "80 crowns" in text(client.get(url(page)))
    assert "fees" not in form["take"]
    assert "requirements" in form["take"] or service.requirements
    client.post(url(page, "take/"), form | {"do": "take", "take": ["requirements"]})
    service.refresh_from_db()
    assert (service.fees, service.url) == ("80 crowns", "https://city.example/other")
    assert service.read_on == "", "another page is its link"
    assert service.requirements == ["Proof of identity", "The consent of the owner"]


@pytest.mark.parametrize("url_before", ["", ADDRESS])
def test_the_day_of_a_page_that_is_taken_again_is_the_newer_one(
    client: Client, eve: User, url_before: str, settings: Settings
) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    change(eve, name="Renew a passport", url=url_before, read_on="2025-01-31")
    page = page_of(eve, BONFIRE.replace("Permit for a bonfire", "Renew a passport"))
    done = taken(client, page, take=["requirements"], do="take")
    assert done.status_code == 302, text(done)
    service = Service.objects.get(key="renew")
    assert (service.url, service.read_on) == (ADDRESS, "2026-11-21"), "the day where the office is"


def test_a_saved_page_has_no_day(client: Client, eve: User) -> None:
    taken(client, page_of(eve, address="saved.html"))
    assert (made().url, made().read_on) == ("", "")


def test_nothing_is_written_into_an_entry_that_was_not_compared(client: Client, eve: User) -> None:
    page = page_of(eve)
    form = form_of(client, page) | {"into": "renew", "do": "all", "text-fees": "Typed"}
    answer = client.post(url(page, "take/"), form)
    assert (answer.status_code, "Compare the fields" in text(answer)) == (422, True)
    assert "Typed</textarea>" in text(answer)
    assert not Change.objects.filter(entry="passports renew", by=eve).exists()
    assert answer.context["into"] == "renew"


def test_what_somebody_else_has_saved_meanwhile_is_shown_and_nothing_is_lost(
    client: Client, eve: User
) -> None:
    page = page_of(eve, BONFIRE.replace("Permit for a bonfire", "Renew a passport"))
    change(eve, name="Renew a passport")
    typed = {"take": ["overview"], "text-overview": "Typed"}
    form = form_of(client, page) | {"do": "all", **typed}
    change(eve, fees="90 crowns")
    answer = client.post(url(page, "take/"), form)
    assert (answer.status_code, "after you opened it" in text(answer)) == (422, True)
    assert "Typed</textarea>" in text(answer)
    assert "90 crowns" in text(answer)
    assert Service.objects.get(key="renew").fees == "90 crowns"


def test_a_page_that_is_read_again_or_taken_meanwhile_is_said(client: Client, eve: User) -> None:
    page = page_of(eve)
    form = form_of(client, page) | {"do": "all", "text-overview": "Typed"}
    WebPage.objects.update(sha256="0" * 64)
    answer = client.post(url(page, "take/"), form)
    assert (answer.status_code, "read again meanwhile" in text(answer)) == (422, True)
    # The new draft, which says what the page says now, and what was typed beside it.
    (overview,) = [f for f in answer.context["fields"] if f["name"] == "overview"]
    assert (overview["had"], overview["text"] != "Typed") == ("Typed", True)
    assert text(answer).count("You had:") == 1
    WebPage.objects.update(sha256=page.sha256)
    assert client.post(url(page, "take/"), form).status_code == 302
    fay = browser(person("fay", Role.EDITOR, "passports"))
    again = fay.post(url(page, "take/"), form | {"text-fees": "EUR 26.00"})
    assert (again.status_code, "Eve added it on" in text(again)) == (422, True)
    assert 'href="/knowledge/services/passports/permit-for-a-bonfire/"' in text(again)
    assert "EUR 26.00</textarea>" in text(again)
    context = again.context
    assert ([*context["near"]], context["into"]) == ([made().key], made().key)
    assert not any(field["is_ticked"] for field in context["fields"] if field["theirs"])
    into = {"into": made().key, "compared": made().key, "version": made().version}
    form |= into | {"do": "take", "take": ["fees"], "text-fees": "EUR 26.00"}
    assert fay.post(url(page, "take/"), form).status_code == 302
    assert (made().fees, made().overview) == ("EUR 26.00", "Typed")
    assert Service.objects.filter(key__startswith="permit-for").count() == 1


def test_a_second_entry_of_a_name_gets_a_number(client: Client, eve: User) -> None:
    taken(client, page_of(eve))
    changed = {"into": "", "compared": "", "own-category": "Fires"}
    taken(client, page_of(eve, address="saved.html"), **changed)
    second = Service.objects.get(key="permit-for-a-bonfire-2")
    assert second.url == ""
    assert not ContentReview.objects.filter(entry="passports permit-for-a-bonfire-2").exists()


def test_categories_and_questions_of_the_draft_go_with_it(client: Client, eve: User) -> None:
    questions = [{"language": "en", "text": "May I burn leaves?"}]
    questions += [{"language": "en", "text": "How do I make a fire?"}]
    page = page_of(eve, categories=[{"key": "", "value": "Open fires"}], questions=questions)
    taken(client, page, do="take", question=["May I burn leaves?"])
    assert Category.objects.get(agency="passports", key="open-fires").value == "Open fires"
    assert made().categories == ["open-fires"]
    stored = ExampleQuestion.objects.get(service="permit-for-a-bonfire")
    assert (stored.text, stored.origin) == ("May I burn leaves?", "model")
    WebPage.objects.update(state="changed", changes=[["fees", "EUR 25.00", "EUR 30.00"]])
    assert taken(client, page, take=["fees"]).status_code == 302
    assert ExampleQuestion.objects.filter(service="permit-for-a-bonfire").count() == 2


def test_what_breaks_a_rule_is_said_at_its_field_and_nothing_is_saved(
    client: Client, eve: User
) -> None:
    page = page_of(eve, categories=[{"key": "", "value": "Open fires"}])
    answer = taken(client, page, **{"text-name": "n" * 600})
    assert answer.status_code == 422
    assert "govuk-form-group--error" in text(answer)
    assert not Category.objects.filter(key="open-fires").exists()
    page.refresh_from_db()
    assert page.state == "drafted"


def test_a_page_without_a_draft_is_filled_by_hand(client: Client, eve: User) -> None:
    page = page_of(eve, NEWS)
    assert page.draft["kind"] == "neither"
    nothing = taken(client, page)
    assert (nothing.status_code, "Tick what you want" in text(nothing)) == (422, True)
    passage = "It was a sunny day for all."
    fields = {"text-name": "Ponte", "text-overview": "Sunny.", "passage-overview": passage}
    taken(client, page, **fields, **{"text-fees": "EUR 25.00"})
    assert Service.objects.get(key="ponte").overview == "Sunny."
    page.refresh_from_db()
    assert page.draft["by"] == "person"
    assert page.rests_on == {"name": [], "overview": [passage], "fees": []}


def test_what_a_model_takes_for_nothing_is_offered_by_its_headings(
    client: Client, eve: User
) -> None:
    page = page_of(eve, kind="neither", fields=[])
    html = text(client.get(url(page)))
    assert "Nothing on it looks like a service" in html
    assert "Drafted from the page’s headings" in html
    assert '<mark class="w-mark" data-fields="fees">' in html
    assert taken(client, page).status_code == 302
    assert made().requirements == ["Proof of identity", "The consent of the owner"]


def test_it_says_what_drafted_it_and_shows_the_link_that_it_gets(client: Client, eve: User) -> None:
    page = page_of(eve)
    WebPage.objects.update(draft={**page.draft, "by": "model"})
    html = text(client.get(url(page)))
    assert "Drafted by a language model" in html
    assert f'<a class="govuk-link" href="{ADDRESS}">Permit for a bonfire</a> (as on 2' in html


def test_any_entry_of_the_agency_can_be_chosen(client: Client, eve: User) -> None:
    services = Service.objects.filter(agency="passports")
    context = client.get(url(page_of(eve))).context
    assert {*context["near"], *context["others"]} == {*services.values_list("key", flat=True)}
    assert len(context["near"]) <= 3


def test_leaving_is_taken_back(client: Client, eve: User) -> None:
    page = page_of(eve)
    client.post(url(page, "leave/"), {"sha256": page.sha256})
    page.refresh_from_db()
    assert page.state == "left"
    html = text(client.get(url(page)))
    assert "The page is left." in html
    assert "Take it back: the page is not left" in html
    client.post(url(page, "restore/"), {"sha256": page.sha256})
    page.refresh_from_db()
    assert page.state == "drafted"
    client.post(url(page, "leave/"), {"sha256": page.sha256})
    assert taken(client, page).status_code == 302
    refused = client.post(url(page, "leave/"), {"sha256": page.sha256}, follow=True)
    assert "This page is taken already" in text(refused)


def test_of_a_page_without_a_service_leaving_is_first(client: Client, eve: User) -> None:
    page = page_of(eve, NEWS)
    html = text(client.get(url(page)))
    assert html.index(">Leave it<") < html.index("Take what is ticked")
    assert "Take all<" not in html
    assert "Take all<" in text(client.get(url(page_of(eve, address="saved.html"))))


def test_a_page_that_is_gone_is_let_go(client: Client, eve: User) -> None:
    page = page_of(eve)
    taken(client, page)
    WebPage.objects.filter(pk=page.pk).update(state="gone")
    assert "The entry stays as it is" in text(client.get(url(page)))
    client.post(url(page, "leave/"), {"sha256": page.sha256})
    page.refresh_from_db()
    # Nothing rests on it any more, so it is looked at no more.
    assert (page.state, page.entry, page.rests_on, made().url) == ("left", "", {}, ADDRESS)


def test_a_page_whose_entry_is_deleted_is_taken_again(client: Client, eve: User) -> None:
    page = page_of(eve)
    taken(client, page)
    assert client.get(url(page)).context.get("fields") is None
    made().delete()
    taken(client, page)
    assert made().name == "Permit for a bonfire"


def test_a_saved_page_gets_its_address(client: Client, eve: User) -> None:
    page = page_of(eve, address="saved.html")
    assert "Address of this page on the web" in text(client.get(url(page)))
    refused = taken(client, page, address="city.example/bonfire")
    assert (refused.status_code, "must begin with http" in text(refused)) == (422, True)
    assert 'value="city.example/bonfire"' in text(refused)
    taken(client, page, address=ADDRESS)
    assert made().url == ADDRESS
    entry = "passports permit-for-a-bonfire"
    assert ContentReview.objects.get(table="services", entry=entry).source == ADDRESS


def test_who_publishes_reads_the_page_beside_its_entry(client: Client, eve: User) -> None:
    publish(note="First", by=None)
    page = page_of(eve)
    pia = browser(person("pia", Role.PUBLISHER, "passports"))
    assert "What does this page say?" in text(pia.get(url(page)))
    taken(client, page)
    html = text(pia.get(url(page)))
    assert 'data-fields="fees">' in html
    assert '<h3 class="govuk-heading-s">What it costs</h3> <p class="govuk-body"><q' in html
    assert '<h3 class="govuk-heading-m answer__title" dir="auto">Permit for a bonfire</h3>' in html
    for word in ("<textarea", "Take all", "Leave it", "Next page"):
        assert word not in html
    for action in ("take/", "leave/", "restore/"):
        assert pia.post(url(page, action), {"do": "all"}).status_code == 403
    proposal = f"/knowledge/proposals/{propose(note='A bonfire', by=eve).pk}/"
    for where in (proposal, "/knowledge/services/passports/permit-for-a-bonfire/"):
        assert f'href="{url(page)}">The web page that it is from' in text(pia.get(where))
    stranger = browser(person("tom", Role.PUBLISHER, "tax"))
    assert url(page) not in text(stranger.get(proposal))
    assert stranger.get(url(page)).status_code == 404


def test_only_who_works_for_the_agency_sees_a_page(client: Client, eve: User) -> None:
    page = page_of(eve, agency="tax")
    assert client.get(url(page)).status_code == 404
    for action in ("take/", "leave/", "restore/"):
        assert client.post(url(page, action), {"do": "all"}).status_code == 404


def test_a_page_about_an_agency_is_for_who_may_add_one(client: Client, eve: User) -> None:
    fields = [{"field": "name", "lines": ["Fire Office"], "quotes": []}]
    page = page_of(eve, kind="agency", fields=fields, categories=[], questions=[])
    refused = taken(client, page)
    assert (refused.status_code, "may not add an agency" in text(refused)) == (422, True)
    taken(browser(person("ada", Role.EDITOR)), page)
    assert Agency.objects.get(pk="fire-office").name == "Fire Office"
    page.refresh_from_db()
    assert (page.table, page.entry) == ("agencies", "fire-office")


def test_a_program_takes_and_leaves_pages(eve: User) -> None:
    program, page = Editor(eve), page_of(eve)
    other = page_of(eve, NEWS, address="saved.html")
    take, leave = (f"webpages/{page.pk}/{action}/" for action in ("take", "leave"))
    body = {"sha256": page.sha256, "texts": {"name": "Bonfires", "fees": "EUR 25.00"}}
    alone = program.send("POST", take, body)
    assert (alone.status_code, "category" in alone.json()["detail"]) == (422, True)
    body["categories"] = ["Fires"]
    stale = program.send("POST", take, {**body, "sha256": "0"})
    assert (stale.status_code, "read again" in stale.json()["detail"]) == (412, True)
    answer = program.send("POST", take, body)
    expected = {"state": "taken", "table": "services", "entry": "passports bonfires"}
    assert (answer.status_code, answer.json()) == (200, expected)
    assert program.send("POST", leave, {"sha256": page.sha256}).status_code == 422
    left = program.send("POST", f"webpages/{other.pk}/leave/", {"sha256": other.sha256})
    assert (left.status_code, left.json()["state"]) == (200, "left")
    foreign = page_of(eve, agency="tax")
    assert program.send("POST", f"webpages/{foreign.pk}/take/", body).status_code == 404


def test_of_a_page_that_says_something_else_now_one_field_is_taken_again(
    client: Client, eve: User
) -> None:
    page = page_of(eve)
    taken(client, page)
    changed = page.text.replace("EUR 25.00", "EUR 30.00")
    changes = [["fees", "EUR 25.00", "EUR 30.00"]]
    WebPage.objects.update(state="changed", text=changed, changes=changes)
    form = form_of(client, page)
    assert form["into"] == "permit-for-a-bonfire"
    assert ("fees" in form["take"], "name" in form["take"]) == (True, False)
    form |= {"do": "all", "text-fees": "EUR 30.00", "text-name": "Not ticked"}
    assert client.post(url(page, "take/"), form | {"passage-fees": "EUR 30.00"}).status_code == 302
    assert (made().fees, made().name) == ("EUR 30.00", "Permit for a bonfire")
    page.refresh_from_db()
    assert (page.state, page.changes) == ("taken", [])
    assert "EUR 30.00" in page.rests_on["fees"]
    assert "EUR 25.00" not in page.rests_on["fees"]
    assert page.rests_on["requirements"] == made().requirements


def test_what_else_has_changed_stays_to_be_looked_at(client: Client, eve: User) -> None:
    page = page_of(eve)
    taken(client, page)
    rows = [["fees", "EUR 25.00", "EUR 30.00"], ["requirements", "Proof of identity", ""]]
    WebPage.objects.update(state="changed", changes=rows)
    html = text(client.get(url(page)))
    assert "It no longer says:" in html
    form = form_of(client, page) | {"do": "take", "take": ["fees"]}
    client.post(url(page, "take/"), form)
    page.refresh_from_db()
    assert (page.state, page.changes) == ("changed", rows[1:])
    client.post(url(page, "leave/"), {"sha256": page.sha256})
    page.refresh_from_db()
    assert (page.state, page.changes, page.entry) == ("taken", [], "passports permit-for-a-bonfire")


def test_a_service_needs_a_category_and_that_of_the_nearest_is_offered(
    client: Client, eve: User
) -> None:
    first = page_of(eve)
    assert form_of(client, first)["own-category"] == "Travel"
    refused = taken(client, first, **{"own-category": " "})
    assert (refused.status_code, "Choose a category" in text(refused)) == (422, True)
    taken(client, first, **{"own-category": "Fires"})
    second = page_of(eve, BONFIRE.replace("bonfire", "barbecue"), address="saved.html")
    taken(client, second, **{"own-category": "fires"})
    assert Category.objects.filter(value__iexact="fires").count() == 1
    assert Service.objects.get(key="permit-for-a-barbecue").categories == made().categories
