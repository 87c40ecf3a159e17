"""The checks of a large draft: a worker makes the searches, once for each state of the draft."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.test import Client
from django.utils import timezone

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio import runs
from ieim.studio.checks import examine
from ieim.studio.checks import services as checks
from ieim.studio.checks.services import Checked
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import editing, publishing, services
from ieim.studio.models import Change, CheckRun, Proposal, Service
from ieim.studio.proposals import services as proposals
from tests.review.people import browser, person
from tests.studio.proposals.proposing import change, published, reasons

OUTRANKED, PROPOSALS = "service.outranked", "/api/v1/knowledge/proposals/"


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small bundle counts as large, and nothing is known of it."""
    monkeypatch.setattr(checks, "SMALL", 1)
    checks._cache.clear()


@pytest.fixture
def edith(bundle: Bundle, db: None) -> User:
    """An editor; the small bundle is release 1. The draft has two services of one name."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="The first one", by=None)
    edith = person("edith", Role.EDITOR, name="Edith Ek")
    renew = Service.objects.get(agency="passports")
    values = {"agency": "passports", "key": "again", "name": renew.name, "overview": "Again."}
    editing.save(
        table="services", values=values, by=edith, expected_version=None, source=Change.Source.ADMIN
    )
    return edith


def checked() -> Checked:
    """What the checks say of the draft now."""
    return checks.checked_draft(drafts.draft())


def codes() -> set[str]:
    return {remark.code for remark in checked().remarks}


def run() -> CheckRun:
    return CheckRun.objects.get()


def work() -> None:
    """Do what a worker would."""
    checks.run_checks(run_id=run().pk)


def test_it_says_at_once_what_needs_no_search_and_the_rest_once_a_worker_is_done(
    edith: User,
) -> None:
    first = checked()
    assert first.run is not None
    assert "category.unreached" in codes()
    assert OUTRANKED not in codes()
    work()
    assert checked().run is None
    assert {"category.unreached", OUTRANKED} <= codes()
    draft = drafts.draft()
    whole = examine(draft.bundle, draft.release, budget=checks.budget())
    assert list(checked().remarks) == whole


def test_a_small_draft_needs_no_worker(edith: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SMALL", 1_000)
    assert OUTRANKED in codes()
    assert checked().run is None
    assert not CheckRun.objects.exists()


def test_it_is_worked_out_once_whoever_asks(
    edith: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(current_app, "send_task", lambda *sends, **_: sent.append(sends))
    with django_capture_on_commit_callbacks(execute=True):
        checked()
        assert sent == []
        checked()
    assert sent == [(runs.TASKS[CheckRun], (run().pk,))]
    current_app.loader.import_default_modules()
    current_app.tasks[runs.TASKS[CheckRun]](run().pk)
    assert run().state == "done"
    checks._cache.clear()  # another process
    monkeypatch.setattr(checks, "by_search", None)
    assert OUTRANKED in codes()
    work()


def test_another_state_of_the_draft_is_checked_anew(edith: User) -> None:
    checked()
    work()
    change(edith, fees="1 crown")
    assert checked().run is not None
    assert CheckRun.objects.count() == 2


def test_what_nobody_waits_for_any_more_is_not_worked_out(
    edith: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked()
    old = run().pk
    change(edith, fees="1 crown")
    monkeypatch.setattr(checks, "by_search", None)
    work()  # the worker sees that the draft is another one
    assert not CheckRun.objects.exists()
    checked()
    assert run().pk != old
    assert run().sha256 == drafts.draft().release.sha256


def test_only_the_newest_results_are_kept(edith: User) -> None:
    for fees in range(7):
        change(edith, fees=f"{fees} crowns")
        checked()
        checks.run_checks(run_id=CheckRun.objects.latest("pk").pk)
    assert CheckRun.objects.count() == 5
    assert CheckRun.objects.latest("pk").sha256 == drafts.draft().release.sha256


@pytest.mark.parametrize("often", [True, False])
def test_it_counts_the_searches(edith: User, monkeypatch: pytest.MonkeyPatch, often: bool) -> None:
    seen: list[tuple[str, int, int]] = []
    checked()
    write = runs.Claim.write

    def written(claim: runs.Claim, **values: Any) -> None:
        write(claim, **values)
        seen.append((run().state, run().done, run().total))

    monkeypatch.setattr(runs, "SAVE_EVERY", 0.0 if often else 600.0)
    monkeypatch.setattr(runs.Claim, "write", written)
    work()
    total = run().total
    assert total >= 2
    going = [("running", done, total) for done in range(total if often else 1)]
    assert seen == [*going, ("done", total, total)]


def test_a_killed_worker_is_noticed_and_another_begins(
    edith: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    checked()
    with monkeypatch.context() as patch:
        patch.setattr(checks, "by_search", killed)
        with pytest.raises(KeyboardInterrupt):
            work()
    assert run().state == "running"
    work()  # the broker brings it again too early
    runs.sweep()
    assert run().state == "running"
    runs.sweep(now=timezone.now() + runs.LEASE + timedelta(seconds=1))
    assert run().state == "queued"
    work()
    assert run().state == "done"


def test_the_only_worker_takes_every_run_for_dead_when_it_starts(edith: User) -> None:
    checked()
    CheckRun.objects.update(state="running")
    runs.sweep(at_start=True)
    assert run().state == "queued"


def test_it_says_when_it_failed_and_can_be_started_again(
    edith: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked()
    page = browser(edith)
    with monkeypatch.context() as patch:
        patch.setattr(checks, "by_search", lambda *_, **__: 1 / 0)
        work()
    assert run().state == "failed"
    text = page.get("/knowledge/checks/").content.decode()
    assert runs.INTERNAL_ERROR in text
    assert "every 2s" not in text
    assert "have failed" in reasons(proposals.propose, note="A note", by=edith)[0]
    assert page.post("/knowledge/checks/again/")["Location"] == "/knowledge/checks/"
    assert (run().state, run().error) == ("queued", "")
    work()
    page.post("/knowledge/checks/again/")
    assert run().state == "done"


def test_nothing_is_proposed_that_is_not_checked(edith: User) -> None:
    (reason,) = reasons(proposals.propose, note="A note", by=edith)
    assert reason == "The checks of the draft are not done yet. Propose it again when they are."
    CheckRun.objects.update(state="running", done=3, total=1_200)
    (reason,) = reasons(proposals.propose, note="A note", by=edith)
    assert "3 of 1,200 searches are made." in reason
    CheckRun.objects.update(state="queued")
    work()
    change(edith, fees="1 crown")  # what is done is not what would be proposed
    assert "not done yet" in reasons(proposals.propose, note="A note", by=edith)[0]
    assert Proposal.objects.get().state == Proposal.State.DRAFT
    checks.run_checks(run_id=CheckRun.objects.latest("pk").pk)
    proposal = proposals.propose(note="A note", by=edith)
    assert OUTRANKED in {check["code"] for check in proposal.checks}


def test_errors_are_named_without_waiting(edith: User) -> None:
    Service.objects.filter(agency="passports").update(categories=["gone"])
    change(edith, agency="tax", key=Service.objects.filter(agency="tax")[0].key, fees="1 crown")
    assert "gone" in reasons(proposals.propose, note="A note", by=edith)[0]


def test_going_back_takes_what_the_checks_said_then(
    edith: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked()
    work()
    first = proposals.propose(note="A note", by=edith)
    paul = person("paul", Role.PUBLISHER)
    release = published(first.pk, paul)
    change(edith, fees="1 crown")
    publishing.publish(note="Another", by=None)
    CheckRun.objects.all().delete()
    monkeypatch.setattr(checks, "examine", None)
    again = proposals.propose_again(release=release, note="Back", by=edith)
    assert again.checks == first.checks
    assert not CheckRun.objects.exists()


@pytest.fixture
def page(edith: User) -> Client:
    return browser(edith)


HTMX = {"HX-Request": "true"}


def test_the_page_shows_what_is_known_and_how_far_the_rest_is(page: Client) -> None:
    text = page.get("/knowledge/checks/").content.decode()
    assert "waiting for a worker" in text
    assert "Services that no category reaches" in text
    assert "the draft can be proposed" not in text
    assert '<noscript><meta http-equiv="refresh"' in text
    CheckRun.objects.update(state="running")
    assert "being prepared" in page.get("/knowledge/checks/", headers=HTMX).content.decode()
    CheckRun.objects.update(done=3, total=1_200)
    part = page.get("/knowledge/checks/", headers=HTMX).content.decode()
    assert "3 of 1200" in part
    assert "<h1" not in part
    assert 'max="1200" value="3"' in part
    assert "not through" in page.get("/knowledge/checks/summary/").content.decode()
    CheckRun.objects.update(state="queued")
    work()
    assert page.get("/knowledge/checks/", headers=HTMX)["HX-Refresh"] == "true"
    text = page.get("/knowledge/checks/").content.decode()
    assert "the draft can be proposed" in text
    assert "checking-label" not in text


def test_a_note_can_be_written_meanwhile(page: Client) -> None:
    address = page.get("/knowledge/propose/")["Location"]
    text = page.get(address).content.decode()
    assert "waiting for a worker" in text
    assert "<textarea" in text
    refused = page.post("/knowledge/propose/", {"text": "My note"})
    assert refused.status_code == 422
    assert "not done yet" in refused.content.decode()
    assert "My note" in refused.content.decode()
    work()
    part = page.get(address, headers=HTMX).content.decode()
    assert "worth a look" in part
    assert "every 2s" not in part
    assert page.post("/knowledge/propose/", {"text": "My note"}).status_code == 302


def test_the_api_says_that_the_checks_are_not_done(edith: User, page: Client) -> None:
    def propose() -> Any:
        return page.post(PROPOSALS, {"note": "A note"}, content_type="application/json")

    refused = propose()
    assert refused.status_code == 422
    assert "not done yet" in refused.json()["detail"]
    work()
    assert propose().status_code == 201
