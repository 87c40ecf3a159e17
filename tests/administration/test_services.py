"""Changing the settings: what is stored, what is recorded, and who was quicker."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.test import Client

from ieim.administration import selectors, services
from ieim.administration.forms import SectionForm
from ieim.administration.models import Section
from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from tests.administration.setting import SVG, png, posted, put, refusal
from tests.review.people import person


def valid(name: str, **typed: str) -> SectionForm:
    form = posted(name, typed)
    assert form.is_valid()
    return form


def events() -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(kind=services.CHANGED).order_by("seq"))


def test_every_change_is_recorded_with_what_it_was_before(db: None) -> None:
    ada = person("ada", Role.ADMINISTRATOR)
    put("contacts", by=ada, telephone="+49 30 901820", email="office@example.org")
    put("contacts", by=ada, telephone="+49 30 901821")
    first, second = events()
    assert {first.actor, second.actor} == {"staff:ada"}
    assert json.loads(first.payload)["changed"] == {
        "telephone": ["", "+49 30 901820"],
        "email": ["", "office@example.org"],
    }
    data = json.loads(second.payload)
    assert (data["section"], data["version"]) == ("contacts", 2)
    assert data["changed"]["email"] == ["office@example.org", ""]


def test_what_changes_nothing_is_not_recorded(db: None) -> None:
    put("contacts", email="office@example.org")
    again = put("contacts", email="  office@example.org ")
    assert (again.version, len(events())) == (1, 1)
    assert put("numbers").version == 0
    assert len(events()) == 1


def differing() -> list[tuple[str, str]]:
    out = StringIO()
    with suppress(CommandError):
        call_command("verify_audit", "--json", stdout=out)
    return [(entry["kind"], entry["fault"]) for entry in json.loads(out.getvalue())["differing"]]


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("administration_section", 'content = \'{"name": "Another city"}\''),
        ("administration_section", "version = version + 1"),
        ("administration_logo", "media_type = 'text/html'"),
    ],
)
def test_the_record_says_when_somebody_changes_a_row(db: None, table: str, change: str) -> None:
    put("name", name="City", logo=png())
    put("name", name="City of Northport", logo=SVG)
    put("numbers")  # a row that holds nothing needs nobody to vouch for it
    assert differing() == []
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {change}")  # noqa: S608 - the tests' own words
    assert (table, "changed") in differing()


def test_the_second_of_two_is_told_and_changes_nothing(db: None) -> None:
    put("contacts", email="first@example.org")
    with pytest.raises(services.Conflict) as conflict:
        services.change(form=valid("contacts", email="b@example.org"), version=0, by=None)
    assert conflict.value.stored.content == {"email": "first@example.org"}
    assert selectors.current().email == "first@example.org"
    # Another section is another matter.
    services.change(form=valid("numbers", emergency="999"), version=0, by=None)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_told(
    in_threads: Callable[[list[Callable[[], Any]]], list[Any]],
) -> None:
    together = threading.Barrier(2)

    def save(email: str) -> str:
        together.wait()
        try:
            services.change(form=valid("contacts", email=email), version=0, by=None)
        except services.Conflict:
            return "conflict"
        return email

    results = in_threads([lambda: save("a@example.org"), lambda: save("b@example.org")])
    assert results.count("conflict") == 1
    assert selectors.current().email in results
    assert len(events()) == 1


def test_what_was_rolled_back_is_forgotten(db: None) -> None:
    with transaction.atomic():
        put("name", name="A city that never was")
        assert selectors.current().name == "A city that never was"
        transaction.set_rollback(True)
    assert selectors.current().name == "IEIM"
    # The same version as the one that never was.
    put("name", name="City of Northport")
    assert selectors.current().name == "City of Northport"


def test_a_change_costs_a_reader_two_queries_and_nothing_one(
    db: None, django_assert_num_queries: Any
) -> None:
    put("name", name=f"City {uuid4()}")  # that no other test has read
    with django_assert_num_queries(2):
        selectors.current()
    with django_assert_num_queries(1):
        selectors.current()


def test_a_page_has_its_name_while_the_database_is_away(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("name", name="City of Northport")
    put("numbers", emergency="999")
    selectors.current()
    monkeypatch.setattr(Section.objects, "values_list", _away)
    html = Client().get("/help/").content.decode()
    assert "<title>Talk to a person – City of Northport</title>" in html
    assert 'href="tel:999"' in html


def _away(*_: object) -> None:
    raise OperationalError("the server is away")


BAD = {
    ("name", "name"): ["x" * 81, "a\u202eb", "…", "", "  \u3000"],
    ("numbers", "emergency"): ["police", "1", "112; drop"],
    ("numbers", "help"): [
        "116 123",
        "Crisis line: soon",
        "\n".join(f"L{n}: 11{n}" for n in range(13)),
    ],
    ("contacts", "telephone"): ["030 901820", "+49", "+49 30 9018201234567890", "call us", "+0 1"],
    ("contacts", "email"): ["office", "a@b", "a@b.c\nd@e.f"],
    ("contacts", "website"): [
        "javascript:alert(1)",
        "www.example.org",
        "ftp://example.org",
        "https://",
        "https://me:secret@example.org/",
        'https://example.org/"onclick=',
    ],
    ("hours", "monday"): ["nine to five", "17:00-09:00", "09:00-25:00", "09:00-12:00, 11:00-13:00"],
    ("hours", "country"): ["Germany", "XX", "DE-XX"],
    ("hours", "closed"): ["Christmas", "2026-02-30", "2026-12-24 to 2026-12-01"],
    ("legal-en", "rights"): ["x" * 3001, "\x00"],
    ("examples", "en"): ["x" * 121, "\n".join(f"Question {n}?" for n in range(7))],
    ("languages", "offered"): ["", "en xx", "klingon"],
    ("other_sites", "origins"): [
        *("www.example.org", "http://www.example.org", "ftp://www.example.org", "null", "*"),
        *("https://", "https://www.example.org/", "https://www.example.org/path", "https://a?b"),
        *("https://*.example.org", "https://user:word@example.org", "https://a.org:0"),
        *("https://a.org:65536", "https://a.org:", "https://a.org:٣", "https://[::1]"),
        *("https://2130706433", "https://0x7f.1", "https://a..b", "https://a_b.org", "https://a;b"),
        *("https://a\x00b", "https://\ud800.org", "https://a b.org", "http://127.evil.example"),
        *("https://" + "a" * 64 + ".org", "https://" + "9" * 5_000),
        "\n".join(f"https://{n}.example.org" for n in range(21)),
    ],
}


@pytest.mark.parametrize(("where", "typed"), [(k, entry) for k, v in BAD.items() for entry in v])
def test_it_says_what_to_do_and_changes_nothing(
    db: None, where: tuple[str, str], typed: str
) -> None:
    problems = refusal(where[0], {where[1]: typed})
    assert set(problems) == {where[1]}
    assert problems[where[1]].endswith(".")
    assert events() == []


def test_other_sites_are_stored_as_browsers_say_them(db: None) -> None:
    typed = [
        *(" https://WWW.Example.org:443 ", "", "https://www.example.org", "https://bücher.example"),
        *("https://office.example.org:8443", "http://localhost:8000", "http://127.0.0.1:80"),
    ]
    put("other_sites", origins="\r\n".join(typed))
    assert selectors.current().other_sites == (
        *("https://www.example.org", "https://xn--bcher-kva.example"),
        *("https://office.example.org:8443", "http://localhost:8000", "http://127.0.0.1"),
    )
