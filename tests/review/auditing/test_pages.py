"""The auditors' pages: how the record stands, a search, a timeline, and a download."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from conversations.models import Session
from conversations.turns import erasing
from ieim.audit.checkpoints import KIND, SEALED
from ieim.audit.models import PEOPLE_CHAIN, SYSTEM_CHAIN, AuditEvent
from ieim.audit.services import record, record_system
from ieim.people.models import User
from ieim.people.roles import Role
from review.auditing import presenters, wording
from review.models import ReviewItem
from tests.audit.owner import triggers_lifted
from tests.checks import ROOT
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

EVENTS = reverse("audit:events")


@pytest.fixture
def ada() -> Client:
    return browser(person("ada", Role.AUDITOR))


@pytest.fixture
def item(published: None) -> ReviewItem:
    item = desk.the_item(desk.ask(VISA, {"category_select_v1": desk.BAD}))
    Session.objects.filter(pk=item.turn.session_id).update(reference="K7M-4QX9")
    return item


def rows(client: Client, **query: str) -> list[Any]:
    """What a search finds."""
    response = client.get(EVENTS, query)
    assert response.status_code == 200, response.context["problem"]
    return list(response.context["page"]["rows"])


def happen(times: int, kind: str = "stage.unused", actor: str = "system") -> None:
    with transaction.atomic():
        for number in range(times):
            record(chain=PEOPLE_CHAIN, kind=kind, payload={"number": number}, actor=actor)


def test_an_auditor_comes_in_there_and_a_superuser_to_the_queue(ada: Client) -> None:
    assert ada.get("/staff/")["Location"] == EVENTS
    root = browser(User.objects.create_superuser("root"))
    assert root.get("/staff/")["Location"] == reverse("review:queue")


def test_it_leafs_through_everything_and_neither_counts_nor_skips(ada: Client) -> None:
    happen(2 * presenters.SIZE + 7)
    stored = list(AuditEvent.objects.order_by("-at", "-pk").values_list("hash", flat=True))
    results, query, pages = [], "", []
    with CaptureQueriesContext(connection) as made:
        while True:
            response = ada.get(f"{EVENTS}?{query}")
            pages.append(
                [json.loads(row["json"])["hash"] for row in response.context["page"]["rows"]]
            )
            results += pages[-1]
            older = re.search(r'rel="next" href="\?([^"#]+)', response.content.decode())
            if older is None:
                break
            query = older[1]
    assert results == stored
    assert len(pages) == 3
    sql = " ".join(result["sql"] for result in made if "audit_auditevent" in result["sql"]).upper()
    assert "OFFSET" not in sql
    assert "COUNT(" not in sql
    newer = re.search(r'rel="prev" href="\?([^"#]+)', response.content.decode())
    assert newer is not None
    again = ada.get(f"{EVENTS}?{newer[1]}").context["page"]["rows"]
    assert [json.loads(row["json"])["hash"] for row in again] == pages[1]


def test_seals_do_not_hide_what_else_is_new(ada: Client) -> None:
    happen(1)
    with transaction.atomic():
        for number in range(presenters.SIZE):
            record_system(kind=SEALED, payload={"number": number}, actor="system")
            record_system(kind=KIND, payload={"number": number}, actor="system")
    for query in ({}, {"who": "system"}):
        assert rows(ada, **query)[0]["event"].kind == "stage.unused"
        assert "?kind=audit.sealed" in ada.get(EVENTS, query).content.decode()  # which says so
    assert {row["event"].kind for row in rows(ada, kind=SEALED)} == {SEALED}
    of_chain = {"about": str(SYSTEM_CHAIN), "first": "2000-01-01"}
    assert {row["event"].kind for row in rows(ada, **of_chain)} == {SEALED, KIND}


def test_it_finds_by_kind_actor_conversation_item_and_day(
    ada: Client, item: ReviewItem, published: None
) -> None:
    browser(person("eva", name="Eva Lund")).get(f"/review/{item.pk}/")
    (read,) = rows(ada, kind="review.read")
    assert (read["by"], read["who"], read["words"]) == (
        "Eva Lund (eva)",
        "person",
        "Somebody read the item",
    )
    assert {row["who"] for row in rows(ada, who="citizen")} == {"citizen"}
    assert {row["event"].kind for row in rows(ada, who="eva")} == {
        "people.logged_in",
        "review.read",
    }
    of_item = rows(ada, about=str(item.pk))
    assert {row["event"].chain for row in of_item} == {item.turn.session_id}
    assert all(str(item.pk) in row["json"] for row in of_item)
    assert len(rows(ada, about="k7m4qx9", kind="turn.received")) == 1
    today = timezone.localdate()
    for first, last, results in ((0, 0, True), (1, 1, False), (-1, -1, False)):
        days = [(today + timedelta(days=result)).isoformat() for result in (first, last)]
        assert bool(rows(ada, first=days[0], last=days[1])) is results


def test_a_name_finds_the_programs_that_act_for_somebody(ada: Client) -> None:
    happen(1, actor="staff:eva")
    happen(1, actor="staff:eva/ieim_k3v9x2qa")
    happen(1, actor="staff:evan")
    assert [row["by"] for row in rows(ada, who="eva")] == [
        "A program of eva, by token ieim_k3v9x2qa",
        "eva",
    ]


@pytest.mark.parametrize(
    ("query", "field", "problem"),
    [
        ({"about": "K7M-4QX8"}, "about", "Nothing is recorded under this."),
        ({"who": "nobody"}, "who", "Nobody of this name is in the record."),
        ({"first": "yesterday"}, "first", "This is not a date."),
        ({"last": "0001-01-01"}, "last", "This is not a date."),
        ({"first": "2026-02-02", "last": "2026-02-01"}, "first", "Swap the two."),
        ({"after": "x"}, "about", "There is no such page"),
        ({"after": "9" * 40 + "-1"}, "about", "There is no such page"),
        ({"kind": "a\0b"}, "kind", "Type it anew."),
    ],
)
def test_what_cannot_be_searched_for_is_said_beside_its_field(
    ada: Client, query: dict[str, str], field: str, problem: str
) -> None:
    response = ada.get(EVENTS, query)
    assert response.status_code == 400
    text = response.content.decode()
    assert f'<a href="#{field}">' in text
    assert problem in text
    assert response.context["page"]["rows"]  # the newest are there all the same


def test_a_reference_leads_to_what_happened_in_plain_words(ada: Client, item: ReviewItem) -> None:
    response = ada.get(EVENTS, {"about": " k7m 4qx9 "}, follow=True)
    assert response.redirect_chain == [(reverse("audit:chain", args=[item.turn.session_id]), 302)]
    result = response.context["page"]["rows"]
    assert [row["event"].seq for row in result] == list(range(1, len(result) + 1))
    assert (result[0]["words"], result[0]["who"]) == ("The citizen sent a message", "citizen")
    attempts = [row["more"] for row in result if row["event"].kind == "stage.attempt"]
    assert ["Is it a question for us?", "attempt 1: passed every check"] in attempts
    assert VISA not in response.content.decode()


def test_who_saw_it_in_a_list_stands_below(ada: Client, item: ReviewItem) -> None:
    browser(person("eva")).get("/review/")
    browser(person("ben", Role.CASEWORKER, "housing")).get("/review/")
    response = ada.get(reverse("audit:chain", args=[item.turn.session_id]))
    assert [row["by"] for row in response.context["page"]["lists"]] == ["Eva (eva)"]


def test_a_long_chain_has_pages(ada: Client) -> None:
    happen(presenters.SIZE)
    page = ada.get(reverse("audit:chain", args=[PEOPLE_CHAIN]))
    later = re.search(r'rel="next" href="([^"]+)"', page.content.decode())
    assert later is not None
    rest = ada.get(reverse("audit:chain", args=[PEOPLE_CHAIN]) + later[1])
    assert rest.context["page"]["rows"][0]["event"].seq == presenters.SIZE + 1
    assert ada.get(reverse("audit:chain", args=[PEOPLE_CHAIN]) + "?after=x").status_code == 404


@pytest.mark.parametrize(("agency", "may"), [("immigration", True), ("housing", False)])
def test_it_leads_to_an_item_whom_it_is_open_to(item: ReviewItem, agency: str, may: bool) -> None:
    client = browser(person("ada", Role.AUDITOR, agency))
    page = client.get(reverse("audit:chain", args=[item.turn.session_id]))
    link = reverse("review:item", args=[item.pk])
    assert (link in page.content.decode()) is may
    assert client.get(link).status_code == (200 if may else 404)


def test_an_erased_conversation_still_has_its_timeline(ada: Client, item: ReviewItem) -> None:
    browser(person("eva")).get("/review/")
    erasing.erase_session(session_id=item.turn.session_id)
    response = ada.get(EVENTS, {"about": "K7M-4QX9"}, follow=True)
    result = response.context["page"]["rows"]
    assert result[-1]["words"] == "The conversation was erased"
    assert response.context["page"]["lists"] == []
    assert reverse("review:item", args=[item.pk]) not in response.content.decode()


def test_what_somebody_planted_is_shown_and_breaks_nothing(ada: Client) -> None:
    happen(1, kind="turn.received")
    with triggers_lifted():
        AuditEvent.objects.filter(kind="turn.received").update(
            payload="<script>alert(1)</script>\u202e"
        )
    text = ada.get(EVENTS, {"kind": "turn.received"}).content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "\u202e" not in text


PLANTED = (
    "{}",
    '{"codes": 5, "items": {}, "stage": [], "action": {}, "origin": [], "name": 1}',
    '{"item": "notuuid", "ok": true}',
    '{"item": ["\\ud800"], "name": "\\ud800", "number": "x"}',
    '{"ok": true, "broken": 0, "differing": 0, "faults": 0, "expected": 5, "seal": 7}',
    f'{{"item": {"[" * 900}{"]" * 900}}}',
    '{"number": 1e999}',
)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("x.y", "None yet"),
        ("audit.verified", "What the last verification found cannot be read."),
        ("audit.sealed", "Its event is from the future or cannot be read."),
    ],
)
def test_no_planted_event_takes_the_page_away(ada: Client, kind: str, message: str) -> None:
    with transaction.atomic():
        record(chain=SYSTEM_CHAIN, kind=kind, payload={}, actor="system")
    for payload in PLANTED:
        with triggers_lifted():
            AuditEvent.objects.filter(kind=kind).update(payload=payload)
        response = ada.get(EVENTS, {"kind": kind})
        assert kind in {row["event"].kind for row in response.context["page"]["rows"]}
        assert message in response.content.decode()


def test_it_says_what_was_verified_and_what_was_not(ada: Client, tmp_path: Path) -> None:
    assert "Nobody has recorded a verification yet." in ada.get(EVENTS).content.decode()
    call_command("verify_audit", stdout=StringIO())  # without --record it changes nothing
    assert "Nobody has recorded a verification yet." in ada.get(EVENTS).content.decode()
    key, public, seals = (tmp_path / name for name in ("key", "public", "seals"))
    out = StringIO()
    call_command("seal_audit", make_key=key, stdout=out)
    public.write_text(out.getvalue())
    call_command("seal_audit", key=key, to=seals, stdout=StringIO())
    options = {"seals": seals, "public_key": public, "record": True, "stdout": StringIO()}
    call_command("verify_audit", **options)
    response = ada.get(EVENTS)
    text = response.content.decode()
    assert "The record was whole." in text
    assert "Checkpoint 1 of " in text
    assert f"in <code>{seals}</code>" in text
    assert json.loads(seals.read_text())["key"] in text
    with triggers_lifted():
        AuditEvent.objects.filter(kind="people.logged_in").update(actor="citizen")
    with pytest.raises(CommandError, match="does not hold"):
        call_command("verify_audit", **options)
    assert "The record did not hold: 1 fault." in ada.get(EVENTS).content.decode()


def test_a_verification_of_one_conversation_is_not_recorded_as_one_of_all() -> None:
    with pytest.raises(CommandError, match="leave --session out"):
        call_command("verify_audit", record=True, session=PEOPLE_CHAIN)


def taken(client: Client, **form: str) -> str:
    """The file of a download."""
    response = client.post(reverse("audit:download"), form)
    assert response.status_code == 200
    assert "attachment" in response["Content-Disposition"]
    return b"".join(response).decode()


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume:Warning")
def test_a_download_is_the_file_that_the_command_makes(ada: Client, item: ReviewItem) -> None:
    out = StringIO()
    today = timezone.localdate()
    call_command("export_audit", since=str(today), until=str(today + timedelta(1)), stdout=out)
    days = {"from": str(today), "to": str(today)}
    assert taken(ada, **days) == out.getvalue()
    one = StringIO()
    call_command("export_audit", session=item.turn.session_id, stdout=one)
    assert taken(ada, chain=str(item.turn.session_id)) == one.getvalue()
    by_days, by_chain = AuditEvent.objects.filter(kind="audit.exported").order_by("pk")
    assert by_days.actor == "staff:ada"
    assert json.loads(by_days.payload)["events"] == len(out.getvalue().splitlines())
    assert json.loads(by_chain.payload)["chain"] == str(item.turn.session_id)


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"from": "2026-01-01"}, 400),
        ({"from": "x", "to": "2026-01-01"}, 400),
        ({"from": "2020-01-01", "to": "2026-01-01"}, 400),
        ({"chain": "x"}, 404),
        ({}, 400),
    ],
)
def test_what_cannot_be_downloaded_leaves_no_event(
    ada: Client, form: dict[str, str], status: int
) -> None:
    assert ada.post(reverse("audit:download"), form).status_code == status
    assert not AuditEvent.objects.filter(kind="audit.exported").exists()


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({}, "audit_event_at"),
        ({"kind": "stage.unused"}, "audit_event_kind_at"),
        ({"who": "system"}, "audit_event_actor_at"),
        ({"first": "2026-01-01", "last": "2026-02-01"}, "audit_event_at"),
        ({"kind": "stage.unused", "last": "2027-02-01"}, "audit_event_kind_at"),
    ],
)
def test_each_search_walks_along_its_index(ada: Client, query: dict[str, str], index: str) -> None:
    happen(3)
    position = f"{int(timezone.now().timestamp() * 1_000_000)}-999999"
    with CaptureQueriesContext(connection) as made:
        ada.get(EVENTS, {**query, "after": position})
    limit = f"LIMIT {presenters.SIZE + 1}"
    (sql,) = (result["sql"] for result in made.captured_queries if limit in result["sql"])
    with connection.cursor() as cursor:
        # As it is where the table is large.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(str(row[0]) for row in cursor.fetchall())
    assert index in plan
    assert "Sort" not in plan


def test_every_kind_that_is_recorded_has_words() -> None:
    pattern = re.compile(
        r'(?:kind=|_?record\((?:\w+, )?|_audit\(item, |_record\()"([a-z]+\.[a-z_]+)"'
    )
    kinds = {
        kind
        for folder in ("ieim", "conversations", "review")
        for file in (ROOT / folder).rglob("*.py")
        for kind in pattern.findall(file.read_text(encoding="utf-8"))
    }
    assert len(kinds) > 40
    assert sorted(kinds - wording.KINDS.keys()) == []
    assert wording.sentence("new.kind") == "new.kind"
