"""The metrics page over stored rows: what counts where, and who sees it."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from conversations.models import Attempt, Choice, Rating, Reply, Stage, Turn, Unused
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review.facets import AGENCY_STAGE
from review.metrics import selectors
from review.metrics.selectors import Figures, Period
from review.metrics.statistics import answer_times
from review.models import Action, Decision, ReviewItem
from review.services import open_item
from tests.audit.owner import triggers_lifted
from tests.review.conftest import make_turn
from tests.review.people import browser, person
from tests.selection import sample

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PAGE, CSV = "/review/metrics/", "/review/metrics.csv"
AGENCY = "immigration"


def today() -> Period:
    return Period(timezone.localdate(), timezone.localdate())


def load(period: Period | None = None) -> Figures:
    return selectors.load(period or today(), None)


def make_question(*agencies: str, origin: str = "", **body: Any) -> Turn:
    """Store a turn whose agencies were detected, and its reply, if it has an ``origin``."""
    turn = make_turn()
    detected = {"agencyInfo": [{"agencyId": agency} for agency in agencies]}
    Stage.objects.create(
        turn=turn, contract=AGENCY_STAGE, order=1, state_merge={AGENCY_STAGE: detected}
    )
    if origin:
        Reply.objects.create(turn=turn, origin=origin, body=body)
    return turn


def make_item(turn: Turn, *codes: str, agency: str = AGENCY) -> ReviewItem:
    item = open_item(turn_id=turn.pk, stage="reply", codes=codes)
    ReviewItem.objects.filter(pk=item.pk).update(agency=agency)
    return item


def decide(item: ReviewItem, actor: User, action: Action, seconds: int) -> Decision:
    return Decision.objects.create(
        item=item, actor=actor, action=action.value, reason="I looked.", seconds=seconds
    )


def measures(client: Client, **params: str) -> list[dict[str, str]]:
    text = client.get(CSV, params).content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_questions_count_by_their_outcome_and_agency() -> None:
    make_question(AGENCY, origin="index")
    make_question(AGENCY)
    make_question(AGENCY, "passports", origin="model")
    assert {(row["agency"], row["outcome"], row["total"]) for row in load().questions} == {
        (AGENCY, "index", 1),
        (AGENCY, "queued", 1),
        ("", "model", 1),
    }


def test_what_was_not_answered_counts_as_what_it_is(client: Client) -> None:
    make_question(AGENCY, origin="index", kind="outside")
    make_question(AGENCY, origin="index", kind="service", unsaid=True)
    make_question(AGENCY, origin="model_approved", kind="outside")
    make_question(AGENCY, origin="index", kind="service", unsaid=False)
    for outcome, origin in (("expired", ""), ("replaced", ""), ("expired", "staff"), ("", "")):
        offered = {"stage": "service_select_v1", "offered": [[AGENCY, "visa"]]}
        times = {"asked_at": timezone.now(), "until": timezone.now()}
        turn = make_question(AGENCY, origin=origin)
        Choice.objects.create(turn=turn, outcome=outcome, **offered, **times)
    results = {"outside": 1, "unsaid": 1, "left": 2, "index": 1, "staff": 1}
    results |= {"model_approved": 1, "queued": 1}
    assert {row["outcome"]: row["total"] for row in load().questions} == results
    client.force_login(person("chief", Role.SUPERVISOR))
    assert "1 of 8" in client.get(PAGE).content.decode()
    rows = {row["detail"]: row["value"] for row in measures(client)}
    assert (rows["outside"], rows["unsaid"], rows["left"]) == ("1", "1", "2")


def test_a_question_counts_for_the_agency_that_handles_it() -> None:
    make_item(make_question(AGENCY), "schema", agency="passports")
    assert load().agencies == {"passports"}


def test_items_and_decisions_are_counted() -> None:
    eva = person("eva")
    for action in (Action.DISMISS, Action.UNDO):
        decide(make_item(make_question(AGENCY), "json.syntax", "schema"), eva, action, 4)
    (stop,), (decision,) = load().stops, load().decisions
    assert (stop["stage"], stop["reason"], stop["total"]) == ("reply", "json.syntax", 2)
    assert (decision["actor_id"], decision["action"], decision["total"]) == (eva.pk, "dismiss", 1)


def test_what_was_taken_back_is_no_decision() -> None:
    eva, item = person("eva"), make_item(make_question(AGENCY), "schema")
    undone = decide(item, eva, Action.RETRY, 4)
    Decision.objects.create(item=item, actor=eva, action=Action.UNDO, reason="No.", about=undone)
    assert load().decisions == []


def test_tokens_of_unused_calls_count_too() -> None:
    turn = make_question(AGENCY)
    digests = dict.fromkeys(("request_sha256", "contract_sha256", "prompt_sha256"), "0" * 64)
    call = {**digests, "model": "m", "temperature": 0, "request_bytes": 1, "raw": b""}
    Attempt.objects.create(
        stage=turn.stages.get(), number=1, duration_ms=1, tokens=100, cached_tokens=40, **call
    )
    Unused.objects.create(turn=turn, contract="reply", tokens=7, duration_ms=1)
    rows = {row["stage"]: (row["agency"], row["total"], row["cached"]) for row in load().tokens}
    assert rows == {AGENCY_STAGE: (AGENCY, 100, 40), "reply": (AGENCY, 7, 0)}


def test_choices_count_by_outcome_and_position() -> None:
    services = [[AGENCY, "visa"], [AGENCY, "permit"]]
    for outcome, chosen in (("chosen", services[1]), ("chosen", services[0]), ("", None)):
        Choice.objects.create(
            turn=make_question(AGENCY),
            stage="service_select_v1",
            offered=services,
            asked_at=timezone.now(),
            until=timezone.now(),
            outcome=outcome,
            chosen=chosen,
        )
    assert sorted((row["outcome"], row["position"]) for row in load().choices) == [
        ("", 0),
        ("chosen", 1),
        ("chosen", 2),
    ]
    page = browser(person("eve", Role.AUDITOR)).get(PAGE).content.decode()
    assert "50% of those who chose took the first one." in page


def test_an_answer_of_a_person_is_measured_against_its_due_time() -> None:
    now = timezone.now()
    for due in (now - timedelta(minutes=1), now + timedelta(minutes=1)):
        turn = make_question(AGENCY)
        item = make_item(turn, "schema")
        Reply.objects.create(turn=turn, origin="staff_override", body={})
        with triggers_lifted():
            Turn.objects.filter(pk=turn.pk).update(created_at=now - timedelta(hours=3))
            Reply.objects.filter(turn=turn).update(created_at=now)
        ReviewItem.objects.filter(pk=item.pk).update(state="decided", decided_at=now, due_at=due)
    times = answer_times(load(Period(timezone.localdate(now), timezone.localdate(now))).answers)
    assert (times.median, times.ninetieth) == (10_800, 10_800)
    assert (times.answers, times.in_time, times.due) == (2, 1, 2)
    # An open item counts once it is due.
    item = make_item(make_question(AGENCY), "schema")
    client = browser(person("eve", Role.AUDITOR))
    assert "1 of 2; 0 of them overdue and still open" in client.get(PAGE).content.decode()
    ReviewItem.objects.filter(pk=item.pk).update(due_at=timezone.now())
    assert "1 of 3; 1 of them overdue and still open" in client.get(PAGE).content.decode()
    late = [row for row in measures(client) if row["measure"] == "items_overdue_and_open"]
    assert [(row["agency"], row["value"]) for row in late] == [(AGENCY, "1")]


def test_ratings_count_on_their_day() -> None:
    client = browser(person("eva", Role.AUDITOR))
    assert "0 of 0 rated" in client.get(PAGE).content.decode()
    for useful in (True, False, False):
        reply = make_question(AGENCY, origin="model").reply
        Rating.objects.create(reply=reply, useful=useful, at=timezone.now())
    page = client.get(PAGE).content.decode()
    assert "33% <span" in page
    assert "1 of 3 rated" in page
    assert "<td>1 of 3</td>" in page
    values = {row["measure"]: row["value"] for row in measures(client, agency=AGENCY)}
    assert (values["answers_rated"], values["answers_rated_useful"]) == ("3", "1")
    Rating.objects.update(at=timezone.now() - timedelta(days=40))
    assert load().ratings == []


@pytest.mark.parametrize(
    "zone", sample(["UTC", "Asia/Kolkata", "America/New_York", "Pacific/Auckland"], keep=1)
)
def test_a_question_counts_on_the_day_of_the_deployment(settings: Settings, zone: str) -> None:
    settings.TIME_ZONE = zone
    make_question(AGENCY)
    # New York's clocks change on the 8th of March, Auckland's on the 5th of April.
    period = Period(date(2026, 3, 7), date(2026, 4, 6))
    with triggers_lifted():
        for hours in range(0, 31 * 24, 5):
            at = datetime(2026, 3, 7, 0, 29, 59, tzinfo=UTC) + timedelta(hours=hours)
            Turn.objects.update(created_at=at)
            day = timezone.localdate(at, timezone.get_default_timezone())
            days = [row["day"] for row in selectors.questions(period)]
            assert days == ([day] if day in period.days else [])


def test_midnight_belongs_to_the_next_day(settings: Settings) -> None:
    settings.TIME_ZONE = "Asia/Kolkata"
    make_question(AGENCY)
    midnight = datetime(2026, 3, 9, 18, 30, tzinfo=UTC)
    for moment, day in ((midnight, 10), (midnight - timedelta(microseconds=1), 9)):
        with triggers_lifted():
            Turn.objects.update(created_at=moment)
        (row,) = selectors.questions(Period(date(2026, 3, 1), date(2026, 3, 31)))
        assert row["day"] == date(2026, 3, day)


def test_the_number_of_queries_does_not_grow_with_the_rows() -> None:
    client = browser(person("eva", Role.SUPERVISOR))
    make_question(AGENCY, origin="index")

    def count(**params: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(PAGE, params).status_code == 200
        return len(queries)

    few = count(days="7")
    for number in range(3):
        item = make_item(make_question(AGENCY), "schema")
        decide(item, person(f"p{number}"), Action.APPROVE, 4)
    # One more: the names of those who decided.
    assert count(days="90") <= few + 1


def test_only_supervisors_see_persons() -> None:
    item = make_item(make_question(AGENCY), "schema")
    carla = person("carla", name="=Carla Case")
    for number in range(20):
        decide(item, carla, Action.OVERRIDE if number == 0 else Action.APPROVE, 4)
    supervisor = browser(person("sofia", Role.SUPERVISOR))
    auditor = browser(person("otto", Role.AUDITOR))
    page = supervisor.get(PAGE).content.decode()
    assert "=Carla Case (carla): 19 of 20 decisions were approvals" in page
    page = auditor.get(PAGE).content.decode()
    assert "Carla" not in page
    assert "The team: 19 of 20 decisions were approvals" in page
    overrides = [row for row in measures(supervisor) if row["measure"] == "overrides_of_person"]
    # The apostrophe keeps a spreadsheet from taking the name for a formula.
    assert [(row["detail"], row["value"]) for row in overrides] == [("'=Carla Case (carla)", "1")]
    assert not [row for row in measures(auditor) if row["measure"].endswith("_of_person")]


def test_staff_see_the_figures_of_their_agencies() -> None:
    make_question(AGENCY, origin="index")
    make_question(AGENCY, "passports", origin="index")
    mine = browser(person("mine", Role.SUPERVISOR, AGENCY))
    others = browser(person("others", Role.SUPERVISOR, "passports"))
    everybody = browser(person("everybody", Role.SUPERVISOR))
    for client, agencies in ((mine, [AGENCY]), (others, []), (everybody, ["", AGENCY])):
        turns = [row for row in measures(client) if row["measure"] == "turns"]
        assert [(row["agency"], row["value"]) for row in turns] == [
            (agency, "1") for agency in agencies
        ]
    for path in (PAGE, CSV):
        refused = others.get(path, {"agency": AGENCY})
        assert refused.status_code == 400
        assert "no figures of that agency for you" in refused.content.decode()
        assert mine.get(path, {"agency": AGENCY}).status_code == 200
    page = everybody.get(PAGE, {"agency": "dissolved"}).content.decode()
    assert '<option value="dissolved" selected>dissolved</option>' in page


def test_somebody_without_an_agency_reads_who_can_give_one() -> None:
    user = person("new", Role.SUPERVISOR)
    AgencyScope.objects.filter(user=user).delete()
    make_question(AGENCY, origin="index")
    assert "No agency is assigned to you" in browser(user).get(PAGE).content.decode()
    assert measures(browser(user)) == []


def test_the_figures_can_be_downloaded(published: None) -> None:
    make_question(AGENCY, origin="index")
    client, day = browser(person("eva", Role.AUDITOR)), timezone.localdate().isoformat()
    response = client.get(CSV, {"from": day, "to": day})
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    disposition = f'attachment; filename="metrics-{day}-to-{day}.csv"'
    assert response.headers["Content-Disposition"] == disposition
    header = b'"day","agency","agency_name","measure","detail","value"'
    assert response.content.startswith(b"\xef\xbb\xbf" + header + b"\r\n")
    (row,) = [r for r in measures(client, agency=AGENCY) if r["measure"] == "turns_by_outcome"]
    assert (row["day"], row["detail"], row["value"]) == (day, "index", "1")
    assert row["agency_name"] == "Immigration and Visa Service"


@pytest.mark.parametrize("params", [{"from": "x", "to": "2026-01-01"}, {"days": "-1"}])
def test_a_wrong_address_is_explained(params: dict[str, str]) -> None:
    client = browser(person("eva", Role.AUDITOR))
    page = client.get(PAGE, params)
    assert page.status_code == 400
    assert "There is a problem" in page.content.decode()
    assert "<title>Error: " in page.content.decode()
    assert client.get(CSV, params).status_code == 400


def test_the_page_has_data_for_charts_and_no_inline_style_or_script() -> None:
    for code in ("policy.risk", "json.syntax", "json.not_object", ""):
        make_item(make_question(AGENCY, origin="index"), *filter(None, [code]))
    page = browser(person("eva", Role.AUDITOR)).get(PAGE).content.decode()
    data = page.partition('<script id="questions-chart" type="application/json">')[2]
    chart = json.loads(data.partition("</script>")[0])
    assert chart["series"][0]["name"] == "Answered without a person"
    assert chart["series"][0]["values"][-1] == 4
    assert len(chart["labels"]) == 28
    assert " style=" not in page
    assert "<style" not in page
    assert page.count("<script") == page.count("<script src=") + page.count(
        'type="application/json"'
    )
    # One sentence stands for several codes.
    assert "(json.syntax)" in page
    assert "(json.not_object)" in page
    assert "No reason was noted." in page
