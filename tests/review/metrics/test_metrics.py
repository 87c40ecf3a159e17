"""The metrics page over rows that the services made, and how it says reasons."""

from __future__ import annotations

import csv as standard_csv
import io
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from conversations.models import Rating, Reply, Turn
from conversations.rating import rate
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review import finding_texts
from review.metrics import charts, figures, queries
from review.metrics.queries import Period
from review.models import Action, Decision, ReviewItem
from review.services import open_item
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.people import browser, person
from tests.selection import sample

PAGE, CSV = "/review/metrics/", "/review/metrics.csv"
AGENCY = "immigration"
LAST = {"category_select_v1": desk.BAD}


def today() -> Period:
    return Period(timezone.localdate(), timezone.localdate())


def seen(period: Period | None = None, agencies: frozenset[str] | None = None) -> figures.Figures:
    return figures.load(period or today(), agencies)


def decided(item: ReviewItem, actor: User, action: Action, seconds: int) -> Decision:
    return Decision.objects.create(
        item=item, actor=actor, action=action.value, reason="I looked.", seconds=seconds
    )


def rows_of(client: Client, **params: str) -> list[dict[str, str]]:
    said = client.get(CSV, params).content.decode("utf-8-sig")
    return list(standard_csv.DictReader(io.StringIO(said, newline="")))


def test_it_counts_what_came_of_each_question(ask: Ask) -> None:
    ask(VISA)
    stopped = desk.ask(VISA, LAST)
    eva = desk.person("eva", *desk.ALL)
    dismissed = desk.ask(VISA, LAST)
    desk.taken_and_decided(desk.the_item(dismissed), eva, Action.DISMISS)
    found = seen()
    outcomes = {row.what: (row.agency, row.total) for row in found.questions}
    assert outcomes["index"] == (AGENCY, 1)
    assert outcomes["needs_review"] == (AGENCY, 1)
    assert sum(row.total for row in found.questions) == 3
    (stops,) = found.stopped
    assert stops[1:] == (AGENCY, "category_select_v1", "json.syntax", 2)
    assert stopped.state == "needs_review"
    (decision,) = found.decided
    assert (decision.actor, decision.action, decision.total) == (eva.pk, "dismiss", 1)
    tokens = {row.stage: row.total for row in found.spent}
    spent = sum(a.tokens for s in stopped.stages.all() for a in s.attempts.all())
    assert spent < sum(tokens.values())
    assert all(row.agency == AGENCY for row in found.spent)


def test_it_counts_what_a_prefix_cache_had(ask: Ask) -> None:
    ask(VISA)
    assert {row.cached for row in seen().spent} == {0}  # the engine says nothing of it
    with scripted_model({}) as (model, _):
        turn = ask(VISA, model=model)
    calls = sum(stage.attempts.count() for stage in turn.stages.all())
    assert sum(row.cached for row in seen().spent) == 4 * calls


def test_it_measures_a_persons_answer_against_its_due_time(ask: Ask) -> None:
    eva = desk.person("eva", *desk.ALL)
    now = timezone.now()
    for late in (True, False):
        turn = desk.ask(VISA, LAST)
        desk.run(desk_retry(turn, eva))
        with triggers_lifted():
            Turn.objects.filter(pk=turn.pk).update(created_at=now - timedelta(hours=3))
            Reply.objects.filter(turn=turn).update(created_at=now, origin="staff_override")
        due = now - timedelta(minutes=1) if late else now
        ReviewItem.objects.filter(turn=turn).update(due_at=due)
    answers = seen(Period(timezone.localdate(now), timezone.localdate(now))).answered
    assert {row.seconds for row in answers} == {10_800}
    waited = figures.waiting(answers)
    assert (waited.answers, waited.in_time, waited.due) == (2, 1, 2)


def test_what_is_overdue_and_open_is_not_in_time(ask: Ask) -> None:
    test_it_measures_a_persons_answer_against_its_due_time(ask)
    item = desk.the_item(desk.ask(VISA, LAST))
    client = browser(person("eve", Role.AUDITOR))
    told = "of them overdue and still open"
    assert f"1 of 2; 0 {told}" in client.get(PAGE).content.decode()  # it is not due yet
    ReviewItem.objects.filter(pk=item.pk).update(due_at=timezone.now())
    page = client.get(PAGE).content.decode()
    assert f"1 of 3; 1 {told}" in page
    assert "33%" in page
    late = [row for row in rows_of(client) if row["measure"] == "items_overdue_and_open"]
    assert [(row["agency"], row["value"]) for row in late] == [(AGENCY, "1")]


def desk_retry(turn: Turn, eva: User) -> Turn:
    desk.taken_and_decided(desk.the_item(turn), eva, Action.RETRY)
    return turn


def test_it_counts_for_the_agency_that_handles_the_question(ask: Ask) -> None:
    desk.ask(VISA, LAST)
    ReviewItem.objects.update(agency="passports")
    assert seen().agencies == {"passports"}


def test_it_counts_what_citizens_found_useful(ask: Ask) -> None:
    client = browser(person("eva", Role.AUDITOR))
    assert "0 of 0 rated" in client.get(PAGE).content.decode()
    for useful in (True, False, True):
        turn = ask(VISA)
        rate(session_id=turn.session_id, turn_id=turn.pk, useful=useful)
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=False)  # thought again
    assert {(row.agency, row.what, row.total) for row in seen().rated} == {
        (AGENCY, True, 1),
        (AGENCY, False, 2),
    }
    page = client.get(PAGE).content.decode()
    assert "33% <span" in page
    assert "1 of 3 rated" in page
    assert ">1 of 3</td>" in page
    values = {row["measure"]: row["value"] for row in rows_of(client, agency=AGENCY)}
    assert (values["answers_rated"], values["answers_rated_useful"]) == ("3", "1")
    Rating.objects.update(at=timezone.now() - timedelta(days=40))
    assert seen().rated == ()


def test_it_counts_questions_for_several_agencies_for_none(ask: Ask) -> None:
    turn = desk.ask(desk.BABY, {})
    assert turn.state == "answered"
    assert seen().agencies == {""}


@pytest.mark.parametrize(
    "zone", sample(["UTC", "Asia/Kolkata", "America/New_York", "Pacific/Auckland"], keep=1)
)
def test_it_puts_a_question_on_the_day_of_the_deployment(
    ask: Ask, settings: Settings, zone: str
) -> None:
    settings.TIME_ZONE = zone
    ask(VISA)
    # New York's clocks change on the 8th of March, Auckland's on the 5th of April.
    period = Period(date(2026, 3, 7), date(2026, 4, 6))
    with triggers_lifted():
        for hours in range(0, 31 * 24, 5):
            at = datetime(2026, 3, 7, 0, 29, 59, tzinfo=UTC) + timedelta(hours=hours)
            Turn.objects.update(created_at=at)
            day = timezone.localdate(at, timezone.get_default_timezone())
            found = [row.day for row in queries.questions(period)]
            assert found == ([day] if day in period.days else [])


def test_it_takes_midnight_for_the_next_day(ask: Ask, settings: Settings) -> None:
    settings.TIME_ZONE = "Asia/Kolkata"
    ask(VISA)
    midnight = datetime(2026, 3, 9, 18, 30, tzinfo=UTC)
    for moment, day in ((midnight, 10), (midnight - timedelta(microseconds=1), 9)):
        with triggers_lifted():
            Turn.objects.update(created_at=moment)
        (row,) = queries.questions(Period(date(2026, 3, 1), date(2026, 3, 31)))
        assert row.day == date(2026, 3, day)


def test_it_needs_the_same_queries_whatever_there_is_to_count(ask: Ask) -> None:
    eva = browser(person("eva", Role.SUPERVISOR))
    ask(VISA)

    def count(**params: str) -> int:
        with CaptureQueriesContext(connection) as made:
            assert eva.get(PAGE, params).status_code == 200
        return len(made)

    few = count(days="7")
    for number in range(3):
        turn = desk.ask(VISA, LAST)
        decided(desk.the_item(turn), person(f"p{number}"), Action.APPROVE, 4)
    # One more: the names of those who decided.
    assert count(days="90") <= few + 1


def test_it_shows_persons_to_supervisors_only(ask: Ask) -> None:
    item = desk.the_item(desk.ask(VISA, LAST))
    carla = person("carla", name="=Carla Case")
    for number in range(20):
        decided(item, carla, Action.OVERRIDE if number == 0 else Action.APPROVE, 4)
    supervisor, auditor = person("sofia", Role.SUPERVISOR), person("otto", Role.AUDITOR)
    page = browser(supervisor).get(PAGE).content.decode()
    assert "=Carla Case (carla): 19 of 20 decisions were approvals" in page
    team = browser(auditor).get(PAGE).content.decode()
    assert "Carla" not in team
    assert "The team: 19 of 20 decisions were approvals" in team
    by_person = [
        (row["detail"], row["value"])
        for row in rows_of(browser(supervisor))
        if row["measure"] == "overrides_of_person"
    ]
    assert by_person == [("'=Carla Case (carla)", "1")]
    assert not [r for r in rows_of(browser(auditor)) if r["measure"].endswith("_of_person")]


def test_it_shows_the_figures_of_ones_own_agencies(ask: Ask) -> None:
    ask(VISA)
    desk.ask(desk.BABY, {})
    mine = browser(person("mine", Role.SUPERVISOR, AGENCY))
    others = browser(person("others", Role.SUPERVISOR, "passports"))
    everybody = browser(person("everybody", Role.SUPERVISOR))
    for client, agencies in ((mine, [AGENCY]), (others, []), (everybody, ["", AGENCY])):
        rows = rows_of(client)
        assert sorted({row["agency"] for row in rows}) == agencies
        turns = [row["value"] for row in rows if row["measure"] == "turns"]
        assert turns == ["1"] * len(agencies)
    for address in (PAGE, CSV):
        refused = others.get(address, {"agency": AGENCY})
        assert refused.status_code == 400
        assert "no figures of that agency for you" in refused.content.decode()
        assert mine.get(address, {"agency": AGENCY}).status_code == 200


def test_it_says_who_can_give_an_agency_to_somebody_without_one(ask: Ask) -> None:
    ask(VISA)
    user = person("new", Role.SUPERVISOR)
    AgencyScope.objects.filter(user=user).delete()
    page = browser(user).get(PAGE).content.decode()
    assert "No agency is assigned to you" in page
    assert rows_of(browser(user)) == []


def test_it_gives_csv_to_download(ask: Ask) -> None:
    ask(VISA)
    client = browser(person("eva", Role.AUDITOR))
    day = timezone.localdate().isoformat()
    said = client.get(CSV, {"from": day, "to": day})
    assert said.headers["Content-Type"] == "text/csv; charset=utf-8"
    wanted = f'attachment; filename="metrics-{day}-to-{day}.csv"'
    assert said.headers["Content-Disposition"] == wanted
    header = b'"day","agency","agency_name","measure","detail","value"'
    assert said.content.startswith(b"\xef\xbb\xbf" + header + b"\r\n")
    (row,) = [r for r in rows_of(client, agency=AGENCY) if r["measure"] == "turns_by_outcome"]
    assert (row["day"], row["detail"], row["value"]) == (day, "index", "1")
    assert row["agency_name"] == "Immigration and Visa Service"


@pytest.mark.parametrize("params", [{"from": "x", "to": "2026-01-01"}, {"days": "-1"}])
def test_it_says_what_is_wrong_with_the_address(db: Any, params: dict[str, str]) -> None:
    client = browser(person("eva", Role.AUDITOR))
    page = client.get(PAGE, params)
    assert page.status_code == 400
    assert "There is a problem" in page.content.decode()
    assert "<title>Error: " in page.content.decode()
    assert client.get(CSV, params).status_code == 400


def test_it_links_to_the_metrics_for_those_who_may_see_them(db: Any) -> None:
    link = f'href="{PAGE}"'
    assert link in browser(person("sofia", Role.SUPERVISOR)).get("/review/").content.decode()
    carla = browser(person("carla", Role.CASEWORKER))
    assert link not in carla.get("/review/").content.decode()
    assert carla.get(PAGE).status_code == 403
    assert carla.get(CSV).status_code == 403


def test_it_has_no_inline_style_or_script(ask: Ask) -> None:
    ask(VISA)
    page = browser(person("eva", Role.AUDITOR)).get(PAGE).content.decode()
    assert "<svg" in page
    assert " style=" not in page
    assert "<script" not in page
    assert "<style" not in page


@pytest.mark.django_db
def test_the_bars_say_reasons_in_words() -> None:
    for codes in (["citizen.danger"], ["policy.risk"], ["json.syntax"], ["json.not_object"], []):
        open_item(turn_id=make_turn().pk, stage="reply", codes=codes)
    today = timezone.localdate().isoformat()
    page = browser(person("sue", Role.SUPERVISOR)).get(
        "/review/metrics/", {"from": today, "to": today}
    )
    drawing = page.content.decode().split('id="reasons-desc"')[1].split("</svg>")[0]
    labels = drawing.split("<text")[1:]
    for code in ("citizen.danger", "policy.risk"):
        said = " ".join(finding_texts.sentence(code).split()[:3])
        assert any(said in label and code not in label for label in labels)
    codes = ["json.syntax", "json.not_object"]  # one sentence, told apart
    assert all(any(code in label for label in labels) for code in codes)
    assert any("No reason was noted." in label for label in labels)


def test_the_words_of_a_bar_are_folded_and_none_lies_on_another() -> None:
    drawn = charts.bars(
        "x", "X", "", [(finding_texts.sentence(code), 1) for code in finding_texts.SENTENCES]
    ).bars
    for bar in drawn:
        assert all(len(line) <= charts.LABEL for line in bar.label)
    at = [(bar.y, charts.ROW + charts.LINE * (len(bar.label) - 1)) for bar in drawn]
    assert all(y + height <= below for (y, height), (below, _) in pairwise(at))
