"""Golden questions asked of a proposal and of the release that it would replace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client

from conversations.models import Turn
from conversations.turns import running
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.evaluation.comparing import compare_outcomes
from ieim.studio.evaluation.outcomes import TurnResult
from ieim.studio.evaluation.running import QuestionRun
from ieim.studio.models import GoldenRun, Proposal, Service
from ieim.studio.trying import services
from tests.fixtures import VISA
from tests.review.people import browser, person
from tests.studio.trying.trying import NOTHING_ANSWERS, SMALL_TALK, keep, proposed, run, visa

RENEW = "How do I renew my passport?"

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def three(edith: User) -> list[str]:
    """Golden questions: about a visa, small talk, and one that nothing answers."""
    return [keep(edith), keep(edith, id="s", **SMALL_TALK), keep(edith, id="n", **NOTHING_ANSWERS)]


def without_visa() -> None:
    """Make the draft say nothing of the visa any more."""
    Service.objects.filter(pk=visa().pk).update(name="Gone", overview="Gone.", categories=[])


def test_it_finds_nothing_where_nothing_changes_and_stores_no_question(
    edith: User, three: list[str]
) -> None:
    finished = run(proposed(edith), edith)
    assert (finished.state, finished.done, finished.total, finished.losses) == ("done", 6, 6, 0)
    assert VISA not in str(finished.result)
    events = AuditEvent.objects.filter(kind__startswith="golden.")
    assert [event.kind for event in events.order_by("seq")] == [
        *["golden.kept"] * 3,
        "golden.started",
        "golden.finished",
    ]
    assert not any(VISA in str(event.payload) for event in events)
    assert not Turn.objects.exists()
    assert finished.result is not None
    rows = finished.result["rows"]
    assert sorted(rows) == sorted(three)
    assert {row["kind"] for row in rows.values()} == {"same"}
    assert rows["c"]["after"]["verdict"] == "right"
    assert rows["c"]["after"]["service"] == "Extend a tourist visa"
    assert finished.result["model"] == running.configured_model().name


def test_it_counts_what_is_lost(edith: User, three: list[str]) -> None:
    without_visa()
    finished = run(proposed(edith), edith)
    assert finished.losses == 1
    assert finished.result is not None
    row = finished.result["rows"]["c"]
    assert row["loss"] is True
    assert row["kind"] in ("worse", "review")
    assert (row["before"]["verdict"], row["before"]["agency"]) == (
        "right",
        "Immigration and Visa Service",
    )


def test_the_right_service_without_what_was_asked_has_failed(
    editor: Client, edith: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    result_of = QuestionRun.result

    def with_passages(run: QuestionRun) -> TurnResult:
        """As where there is an embedder, for a question about fees."""
        result, key = result_of(run), ("immigration", visa().key)
        assert result.reply is not None
        unsaid = not run.release.services[key].fees
        return replace(result, reply=replace(result.reply, unsaid=unsaid))

    monkeypatch.setattr(QuestionRun, "result", with_passages)
    keep(edith, text="What are the fees to extend a tourist visa?")
    Service.objects.filter(pk=visa().pk).update(fees="", amounts=[])
    proposal = proposed(edith)
    finished = run(proposal, edith)
    assert finished.result is not None
    row = finished.result["rows"]["c"]
    assert (row["before"]["verdict"], row["after"]["verdict"]) == ("right", "wrong")
    assert (row["loss"], row["after"]["service"]) == (True, "Extend a tourist visa")
    html = editor.get(f"/knowledge/try/golden/{proposal.pk}/").content.decode()
    assert html.count("Wrong: the entry does not say what was asked") == 1


def test_it_sees_what_gets_better_and_what_is_answered_differently(edith: User) -> None:
    keep(edith, id="zebra", text="How do I apply for a zebra crossing?")
    keep(
        edith,
        id="renew",
        text=RENEW,
        expected={"agencies": ["passports"], "service": None, "acceptable_services": []},
    )
    Service.objects.filter(pk=visa().pk).update(name="Zebra crossing")
    Service.objects.filter(agency="passports").update(fees="MRK 1.00")
    finished = run(proposed(edith), edith)
    assert finished.result is not None
    kinds = {name: row["kind"] for name, row in finished.result["rows"].items()}
    assert kinds == {"zebra": "better", "renew": "other"}
    assert finished.result["rows"]["renew"]["differs"] == ["What it costs"]
    assert finished.losses == 0


@pytest.mark.parametrize(
    ("before", "after", "kind", "loss"),
    [
        ("right", "wrong", "worse", True),
        ("right", "review", "review", True),
        ("review", "wrong", "worse", True),
        ("wrong", "review", "review", False),
        ("review", "right", "better", False),
        ("review", "unlabelled", "other", False),
        ("right", "right", "same", False),
        (None, "wrong", "worse", False),
    ],
)
def test_it_knows_what_a_loss_is(before: str | None, after: str, kind: str, loss: bool) -> None:
    same = {"reply": "x", "parts": {}}
    old = None if before is None else {"verdict": before, **same}
    change = compare_outcomes(old, {"verdict": after, **same})
    assert (change["kind"], change["loss"]) == (kind, loss)


def test_it_asks_what_is_proposed_and_not_the_draft_of_later(edith: User) -> None:
    keep(edith)
    proposal = proposed(edith)
    without_visa()
    assert run(proposal, edith).losses == 0


def test_it_starts_nothing_without_questions_or_for_what_is_decided(edith: User) -> None:
    proposal = proposed(edith)
    with pytest.raises(services.GoldenError, match="no golden question yet"):
        services.start(proposal=proposal, by=edith)
    keep(edith)
    Proposal.objects.update(state=Proposal.State.REFUSED)
    with pytest.raises(services.GoldenError, match="not open any more"):
        services.start(proposal=proposal, by=edith)
    assert not GoldenRun.objects.exists()


def test_it_asks_one_side_before_the_first_release(edith: User) -> None:
    keep(edith)
    proposal = proposed(edith)
    Proposal.objects.update(base=None)
    finished = run(proposal, edith)
    assert (finished.state, finished.total, finished.losses) == ("done", 1, 0)


def test_it_shows_the_worst_first(editor: Client, edith: User, three: list[str]) -> None:
    without_visa()
    proposal = proposed(edith)
    address = f"/knowledge/try/golden/{proposal.pk}/"
    assert "They have not been asked yet" in editor.get(address).content.decode()
    started = editor.post(f"{address}start/", follow=True).content.decode()
    assert "Waiting for a worker" in started
    assert f'hx-get="{address}"' in started
    assert '<meta http-equiv="refresh"' in started
    assert (
        "are being asked already" in editor.post(f"{address}start/", follow=True).content.decode()
    )
    services.run_golden(run_id=GoldenRun.objects.get().pk)
    page = editor.get(address).content.decode()
    assert "1 question loses a right outcome. Publishing needs a written reason." in page
    assert page.index(f">{VISA}<") < page.index('id="kind-same"')
    assert "hx-get" not in page
    assert "hello there" in page


def test_it_shows_no_words_of_another_agencys_question(edith: User, three: list[str]) -> None:
    proposal = proposed(edith)
    outcome = {"verdict": "right", "agency": "", "service": "", "lead": "", "reason": ""}
    row = {"after": {**outcome, "stage": ""}, "kind": "same", "loss": False, "differs": []}
    rows = dict.fromkeys(three, row)
    GoldenRun.objects.create(
        proposal=proposal, state="done", result={"rows": rows, "model": "m"}, created_by=edith
    )
    other = browser(person("otto", Role.EDITOR, "passports"))
    page = other.get(f"/knowledge/try/golden/{proposal.pk}/").content.decode()
    assert VISA not in page
    assert "A question of another agency" in page
    assert "hello there" in page
