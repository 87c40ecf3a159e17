"""The page of one entry: what it saves, merges, warns of and shows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.editor.warnings import warnings_of
from ieim.studio.models import Agency, Category, Change, Service, Situation
from tests.review.people import browser, person
from tests.studio.editor.entry_pages import RENEW, filled

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=bundle, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


@pytest.fixture
def otto(eve: User) -> User:
    return person("otto", Role.EDITOR, name="Otto Ober")


@pytest.fixture
def client(eve: User) -> Client:
    return browser(eve)


def save(by: User, **values: Any) -> None:
    row = {"agency": "passports", "key": "renew"}
    editing.save(
        table="services",
        values=row | values,
        by=by,
        expected_version=Service.objects.get(**row).version,
        source=Change.Source.API,
    )


def renewal() -> Service:
    return Service.objects.get(key="renew")


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize(
    ("url", "column", "value"),
    [
        (RENEW, "fees", "EUR 90"),
        ("/knowledge/agencies/tax/", "description", "Taxes"),
        ("/knowledge/categories/tax/income/", "value", "What you earn"),
    ],
)
def test_it_saves_what_was_changed(client: Client, url: str, column: str, value: str) -> None:
    response = client.post(url, filled(client, url, **{column: value}))
    assert (response.status_code, response["Location"]) == (303, url)
    change = Change.objects.filter(source="admin").get()
    assert change.fields.keys() == {column}
    page = client.get(url)
    assert "Saved in the draft." in text(page)
    assert f"<ins>{value}</ins>" in text(page) or value in text(page)


def test_changes_of_different_fields_are_merged_and_named(client: Client, otto: User) -> None:
    form = filled(client, fees="EUR 90")
    save(otto, contact="Desk 4")
    page = client.post(RENEW, form, follow=True)
    assert (renewal().fees, renewal().contact, renewal().version) == ("EUR 90", "Desk 4", 3)
    assert "Otto Ober changed it on" in text(page)  # the newest change is one's own by now
    assert "What they wrote is kept: Contact." in text(page)


def test_each_who_changed_another_field_is_named(client: Client, otto: User) -> None:
    form = filled(client, fees="EUR 90")
    save(otto, contact="Desk 4")
    save(person("anna", Role.EDITOR, name="Anna Ast"), processing_time="Two days")
    page = text(client.post(RENEW, form, follow=True))
    said = re.findall(r"(\w+ \w+) changed it on [^.]+\. What they wrote is kept: ([^.]+)\.", page)
    assert set(said) == {("Otto Ober", "Contact"), ("Anna Ast", "How long it takes")}


def test_the_history_names_nobody_for_the_end_of_a_change_set(client: Client) -> None:
    Change.objects.create(
        table="services",
        entry="passports renew",
        kind="changed",
        source="admin",
        fields={"fees": ["EUR 90", "EUR 80"]},
    )
    history = text(client.get(RENEW)).partition('id="history"')[2]
    assert "at its end, automatically" in history
    assert "by hand" not in history
    assert "What it costs" in history


def test_names_in_files_stand_in_a_fold_alone(client: Client) -> None:
    before, _, fold = text(client.get(RENEW)).partition("What files call these fields")
    assert "<code>applicability_summary</code>" in fold
    assert ">Who it is for</label>" in before
    assert "applicability_summary</" not in before
    assert "In files" not in before


def test_of_a_field_that_both_changed_one_chooses(client: Client, otto: User) -> None:
    form = filled(client, fees="EUR 90", contact="Desk 5")
    save(otto, fees="EUR 85")
    page = client.post(RENEW, form)
    assert page.status_code == 422
    assert "Otto Ober changed it on" in text(page)
    assert "Two people changed “What it costs”" in text(page)
    assert "EUR 85" in text(page)
    assert "Desk 5" in text(page)
    assert renewal().fees == "EUR 85"
    assert client.post(RENEW, form).status_code == 422  # to save again is no choice
    chosen = form | {"against": "2", "choice-fees": "mine"}
    save(otto, fees="EUR 86")
    assert client.post(RENEW, chosen).status_code == 422  # it was about another version
    theirs = form | {"against": "3", "choice-fees": "theirs"}
    assert client.post(RENEW, theirs).status_code == 303
    assert (renewal().fees, renewal().contact) == ("EUR 86", "Desk 5")
    mine = filled(client, fees="EUR 95")
    save(otto, fees="EUR 87")
    answer = {"against": str(renewal().version), "choice-fees": "mine"}
    assert client.post(RENEW, mine | answer).status_code == 303
    assert renewal().fees == "EUR 95"


@pytest.mark.parametrize("seen", ["", "x", "0", "7", "9" * 30])
def test_without_a_version_nothing_is_saved_over(client: Client, seen: str) -> None:
    form = filled(client, fees="EUR 90", seen=seen)
    assert client.post(RENEW, form).status_code == 422
    assert renewal().fees == "80 crowns"


def test_what_was_typed_is_kept_when_the_entry_is_gone(client: Client, otto: User) -> None:
    form = filled(client, fees="EUR 90")
    editing.remove(
        table="services",
        identity={"agency": "passports", "key": "renew"},
        by=otto,
        expected_version=1,
        source=Change.Source.API,
    )
    page = client.post(RENEW, form)
    assert page.status_code == 422
    assert "Otto Ober removed it on" in text(page)
    assert "EUR 90" in text(page)
    assert not Service.objects.filter(key="renew").exists()
    assert client.post(RENEW, form | {"again": "1"}).status_code == 303
    assert renewal().fees == "EUR 90"
    assert client.post("/knowledge/services/passports/none/", form).status_code == 404


def test_a_new_service_gets_its_key_from_its_name(client: Client) -> None:
    url = "/knowledge/new/service/?agency=tax"
    form = filled(client, url, name="Pay later")
    assert form["agency"] == "tax"
    assert client.post(url, form)["Location"] == "/knowledge/services/tax/pay-later/"
    assert "already" in text(client.post(url, form))
    assert "This field is required" in text(client.post(url, form | {"name": " "}))


def test_a_local_editor_adds_and_changes_what_is_theirs(eve: User) -> None:
    local = browser(person("lou", Role.EDITOR, "tax"))
    url = "/knowledge/new/category/"
    form = filled(local, url, agency="tax", key="vat", value="VAT")
    assert local.post(url, form | {"agency": "passports"}).status_code == 422
    assert local.post(url, form).status_code == 303
    assert Category.objects.get(key="vat").agency_id == "tax"
    assert "disabled" in text(local.get(RENEW))
    assert local.post(RENEW, {}).status_code == 403
    for path in ("new/agency/", "new/situation/", "new/service/?agency=passports"):
        assert local.get(f"/knowledge/{path}").status_code == 403


def test_ids_that_would_divide_a_path_have_a_page(client: Client) -> None:
    Service.objects.create(agency_id="tax", key="a/b_c d?", name="Odd")
    (link,) = [
        part.split('"')[1]
        for part in text(client.get("/knowledge/services/?q=Odd")).split("<a ")
        if ">Odd</a>" in part and 'href="' in part
        for part in [part[part.index('href="') :]]
    ]
    assert client.post(link, filled(client, link, fees="EUR 1"))["Location"] == link


def test_a_preview_shows_the_card_and_saves_nothing(client: Client) -> None:
    form = filled(client, fees="12,50 Zorkmids", url="nowhere", do="preview")
    page = client.post(RENEW, form, headers=HTMX)
    assert page.status_code == 200
    assert "<html" not in text(page)
    assert "12,50 Zorkmids" in text(page)
    assert "names no currency" in text(page)
    assert "must begin with http" in text(page)
    whole = client.post(RENEW, form)  # without JavaScript
    assert (whole.status_code, "<html" in text(whole)) == (200, True)
    assert renewal().fees == "80 crowns"


def test_values_are_checked_and_spoken_while_one_types(client: Client) -> None:
    typed = {"fees": "", "amounts": "90 euro", "hours": "Mo-Fr 09:00-16:00"}
    page = client.post(RENEW, filled(client, **typed, do="preview"), headers=HTMX)
    assert "Entry 1 is &#x27;90 euro&#x27;: write 45.00 EUR" in text(page)
    typed["amounts"] = "90 EUR\n0 EUR (children)"
    page = client.post(RENEW, filled(client, **typed, do="preview"), headers=HTMX)
    assert "€90.00; Free of charge (children)" in text(page)
    assert client.post(RENEW, filled(client, **typed)).status_code == 303
    assert renewal().amounts == ["90 EUR", "0 EUR (children)"]


def test_the_day_on_which_a_page_was_read_is_checked_and_shown(client: Client) -> None:
    typed = {"url": "https://passports.example/renew", "read_on": "29.11.2026"}
    page = client.post(RENEW, filled(client, **typed, do="preview"), headers=HTMX)
    assert "write a day as 2026-11-29" in text(page)
    typed["read_on"] = "2026-11-29"
    page = client.post(RENEW, filled(client, **typed, do="preview"), headers=HTMX)
    assert "(as on 29 November 2026)" in text(page)
    assert client.post(RENEW, filled(client, **typed)).status_code == 303
    assert renewal().read_on == "2026-11-29"


def test_a_blank_new_form_is_no_mistake_yet(client: Client) -> None:
    page = client.post("/knowledge/new/service/", {"do": "preview", "fees": "EUR 1"}, headers=HTMX)
    assert "EUR 1" in text(page)
    assert "required" not in text(page)


def test_it_says_where_the_search_finds_the_questions(client: Client) -> None:
    questions = "my passport expired\nrenew a passport\nfile my tax return"
    form = filled(client, questions=questions)
    assert client.post(RENEW, form).status_code == 303
    page = client.post(RENEW, filled(client, do="ranking"), headers=HTMX)
    assert "<strong>2 of 3</strong>" in text(page)
    assert 'Lost to <em dir="auto">File a tax return</em> once' in text(page)


def test_it_says_so_of_a_situations_questions_too(client: Client) -> None:
    for key, name in (("birth", "Having a baby"), ("moving", "Moving house")):
        Situation.objects.create(key=key, kind="life", name=name, services=["tax/return"])
    url = "/knowledge/situations/birth/"
    form = filled(client, url, questions="our baby was born\nhaving a baby soon\nmoving house")
    assert client.post(url, form).status_code == 303
    page = client.post(url, filled(client, url, do="ranking"), headers=HTMX)
    assert "<strong>2 of 3</strong>" in text(page)
    assert 'Lost to <em dir="auto">Moving house</em> once' in text(page)


@pytest.mark.parametrize(
    ("url", "shown", "unread"),
    [
        ("/knowledge/agencies/passports/", ["Passport Office", "About the agency"], []),
        ("/knowledge/categories/passports/travel/", ["Topic", "Travel"], ["holiday"]),
    ],
)
def test_an_agency_and_a_category_are_shown_as_far_as_citizens_read_them(
    client: Client, url: str, shown: list[str], unread: list[str]
) -> None:
    page = text(client.post(url, filled(client, url, do="preview"), headers=HTMX))
    assert all(words in page for words in shown)
    assert not any(words in page for words in unread)


def warned(column: str, value: str) -> list[str]:
    columns = dict.fromkeys(("fees", "contact", "url", "path"), "")
    values = {**columns, "agency": "tax", "key": "return", column: value}
    return warnings_of("services", values, new=False).get(column, [])


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("fees", "12,50 Zorkmids", "“12,50 Zorkmids” names no currency"),
        ("fees", "XQZ 12.50", "names no currency"),
        ("fees", "The fee is 46.", "says no currency"),
        ("fees", "EUR 4500000", "is a lot"),
        ("contact", "heating(at)support..example", "no e-mail address"),
        ("contact", "Write to help@office", "no e-mail address"),
        ("contact", "Call 0123456789012345678", "more digits"),
        ("contact", "+49 123", ""),
        ("contact", "+49 123 45", "too short"),
        ("url", "http://tax.example/", "not encrypted"),
        ("url", "https://passports.example/renew", "have the same link"),
        ("path", "http://tax.example/", "not encrypted"),
    ],
)
def test_it_warns_of_what_looks_wrong(eve: User, column: str, value: str, words: str) -> None:
    sentences = warned(column, value)
    assert any(words in sentence for sentence in sentences) if words else sentences == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("fees", "EUR 12.50 for each person, children under 12 nothing"),
        ("fees", "€ 1,200.00, 10% less on 1 May 2026"),
        ("fees", "Nothing"),
        ("contact", "+999 1 555 0100, help@tax.example, Mon–Fri 8:00-16:30"),
        ("contact", "(020) 7946 0958 or 116 117"),
    ],
)
def test_it_leaves_alone_what_is_right(eve: User, column: str, value: str) -> None:
    assert warned(column, value) == []


def test_a_currency_of_ones_own_is_known_from_the_other_services(eve: User) -> None:
    assert warned("fees", "ZRK 12.50") != []
    save(eve, fees="ZRK 9.00")
    assert warned("fees", "ZRK 12.50") == []


def test_an_agency_leads_to_what_belongs_to_it(client: Client) -> None:
    Agency.objects.filter(pk="tax").update(name="<script>alert(1)</script>")
    page = client.get("/knowledge/agencies/tax/")
    assert "<script>alert" not in text(page)
    for name, address in page.context["links"]:
        assert client.get(address).status_code == 200, name
