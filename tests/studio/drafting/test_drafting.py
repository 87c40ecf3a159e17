"""What a model drafts over HTTP, what stops it, and who takes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.test import Client

from conversations.turns import running, store
from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafting import services as drafting
from ieim.studio.drafts import editing, publishing, sets
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import (
    Change,
    DraftingRun,
    ExampleQuestion,
    GoldenQuestion,
    Service,
    Translation,
)
from tests.model_server import scripted_model
from tests.review.people import browser, person
from tests.studio.proposals.proposing import change, meanwhile

pytestmark = pytest.mark.django_db
ADDRESS = "/knowledge/drafting/"
SERVICE = "?agency=passports&service=renew"
Script = Callable[..., Any]


@pytest.fixture
def eve(bundle: Bundle, settings: Any) -> User:
    import_bundle(bundle=bundle, by=None)
    languages = ["en", "fr"]
    model = {"BASE_URL": "http://127.0.0.1:9/v1", "NAME": "m", "LANGUAGES": languages}
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, **model}
    return person("eve", Role.EDITOR)


@pytest.fixture
def page(eve: User) -> Client:
    return browser(eve)


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Let the model behind a socket say this of a contract, in order; return its server."""
    with ExitStack() as stack:

        def script(contract: str, *answers: Any) -> Any:
            model, server = stack.enter_context(scripted_model({contract: answers}))
            monkeypatch.setattr(running, "current_model", lambda: model)
            return server

        yield script


def ask(page: Client, kind: str, language: str = "") -> DraftingRun:
    """Ask for a draft, and let the worker do it."""
    sent = page.post(f"{ADDRESS}start/{SERVICE}", {"kind": kind, "language": language})
    run = DraftingRun.objects.latest("pk")
    assert sent["Location"] == f"{ADDRESS}{run.pk}/"
    drafting.run_drafting(run_id=run.pk)
    return DraftingRun.objects.get(pk=run.pk)


def fields(**texts: str | list[str]) -> dict[str, Any]:
    """An answer with these fields, and the others as they are written."""
    service = Service.objects.get(key="renew")
    names = TRANSLATED["service"]
    written = {name: getattr(service, name) for name in names if getattr(service, name)}
    lines = {n: t.splitlines() if isinstance(t, str) else t for n, t in (written | texts).items()}
    return {"fields": [{"field": name, "lines": text} for name, text in lines.items()]}


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def event() -> tuple[str, dict[str, Any]]:
    """Kind and payload of the latest event."""
    latest = AuditEvent.objects.filter(chain=SYSTEM_CHAIN).latest("seq")
    return latest.kind, json.loads(latest.payload)


def test_a_translation_is_saved_once_somebody_takes_it(page: Client, says: Script) -> None:
    change(User.objects.get(username="eve"), fees="80 crowns")
    says("draft_translation_v1", fields(name="Renouveler le passeport", fees="80 couronnes"))
    run = ask(page, "translation", "fr")
    assert (run.state, run.tokens) == ("done", 15)
    kind, payload = event()
    assert (kind, payload["attempts"], payload["prompt_tokens"]) == ("drafting.finished", 1, 10)
    assert "couronnes" not in str(payload)
    assert not Translation.objects.exists()
    html = text(page.get(f"{ADDRESS}{run.pk}/"))
    assert "80 crowns</blockquote>" in html
    assert "80 couronnes</textarea>" in html
    nothing = page.post(f"{ADDRESS}{run.pk}/accept/", {"text-fees": "80 couronnes"})
    assert (nothing.status_code, "Tick what you want" in text(nothing)) == (422, True)
    taken = {"take": ["name", "fees"], "text-name": "Renouveler", "text-fees": "80 couronnes"}
    done = page.post(f"{ADDRESS}{run.pk}/accept/", taken, follow=True)
    assert "It is in the draft." in text(done)
    stored = Translation.objects.get()
    assert (stored.name, stored.fees, stored.overview) == ("Renouveler", "80 couronnes", "")
    assert set(stored.sources) == {"name", "fees"}
    again = page.post(f"{ADDRESS}{run.pk}/accept/", taken)
    assert (again.status_code, "taken already" in text(again)) == (422, True)


def test_another_fee_is_asked_again_and_then_fails_in_words(page: Client, says: Script) -> None:
    change(User.objects.get(username="eve"), fees="80 crowns")
    wrong = fields(fees="90 couronnes")
    server = says("draft_translation_v1", wrong, wrong)
    run = ask(page, "translation", "fr")
    assert server.asked == [("draft_translation_v1", 1), ("draft_translation_v1", 2)]
    assert (run.state, run.tokens) == ("failed", 30)
    html = text(page.get(f"{ADDRESS}{run.pk}/"))
    assert "The field fees has figures that the original has not: 90." in html
    assert "The field fees lacks figures of the original: 80." in html
    kind, payload = event()
    assert (kind, payload["attempts"]) == ("drafting.failed", 2)
    assert payload["findings"] == ["reply.ungrounded", "reply.uncovered"]


def test_an_answer_without_its_shape_may_be_mended(page: Client, says: Script) -> None:
    says("draft_translation_v1", "Bien sûr !", fields(name="Renouveler"))
    assert ask(page, "translation", "fr").state == "done"


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        ("+999 1 555 0101", "states what the original does not: +999 1 555 0101"),
        ("Write to a@b.example", "does not state what the original does: +999 1 555 0100"),
    ],
)
def test_plain_language_keeps_every_fact(
    page: Client, says: Script, contact: str, message: str
) -> None:
    change(User.objects.get(username="eve"), overview="Call +999 1 555 0100 before 3 May 2027.")
    kept = {"overview", "applicability_summary", "requirements", "how_to_apply"}
    answer = fields(overview=f"{contact}\nDo it before 3 May 2027.")
    answer["fields"] = [entry for entry in answer["fields"] if entry["field"] in kept]
    says("draft_plain_v1", answer, answer)
    run = ask(page, "plain")
    assert f"The field overview {message}." in run.result["findings"]


def test_plain_language_goes_into_the_service_that_was_read(page: Client, says: Script) -> None:
    eve = User.objects.get(username="eve")
    kept = {"overview", "applicability_summary", "requirements", "how_to_apply"}
    answer = fields()
    answer["fields"] = [entry for entry in answer["fields"] if entry["field"] in kept]
    says("draft_plain_v1", answer)
    run = ask(page, "plain")
    assert run.state == "done"
    taken = {"take": "overview", "text-overview": "You get a new passport."}
    change(eve, overview="Another one.")
    stale = page.post(f"{ADDRESS}{run.pk}/accept/", taken)
    assert "The original has changed meanwhile" in text(stale)
    assert Service.objects.get(key="renew").overview == "Another one."


def test_questions_belong_to_nobody_else(page: Client, says: Script, bundle: Bundle) -> None:
    ExampleQuestion.objects.create(
        agency_id="passports", service="lost", language="en", text="Where is my passport?"
    )
    GoldenQuestion.objects.create(name="g", case={"text": "how do i renew", "history": []})
    questions = [
        {"language": "en", "text": "where is  my PASSPORT?"},
        {"language": "fr", "text": "How do I renew"},
        {"language": "en", "text": "mail me at ann@example.org"},
        {"language": "xx", "text": "What about it?"},
    ]
    change(User.objects.get(username="eve"), fees="80 crowns")  # the draft is read again
    says("draft_questions_v1", {"questions": questions}, {"questions": questions})
    run = ask(page, "questions")
    assert run.state == "failed"
    of_other, golden, personal, unasked = run.result["findings"]
    assert "is a question of passports lost already" in of_other
    assert "is a golden question" in golden
    assert "ann@example.org" in personal
    assert "xx was not asked for" in unasked


def test_questions_are_taken_one_by_one(page: Client, says: Script) -> None:
    questions = [
        {"language": "en", "text": "my passport runs out soon"},
        {"language": "fr", "text": "mon passeport expire bientôt"},
    ]
    says("draft_questions_v1", {"questions": questions})
    run = ask(page, "questions")
    address = f"{ADDRESS}{run.pk}/accept/"
    personal = page.post(address, {"take": "1", "text-1": "je suis ann@example.org"})
    assert (personal.status_code, "ann@example.org" in text(personal)) == (422, True)
    assert not ExampleQuestion.objects.filter(origin="model").exists()
    page.post(address, {"take": "1", "text-1": "mon passeport expire"})
    stored = ExampleQuestion.objects.get(service="renew", origin="model")
    assert (stored.language, stored.text) == ("fr", "mon passeport expire")
    kind, payload = event()
    assert (kind, payload["taken"]) == ("drafting.accepted", ["1"])


def test_the_budget_of_the_day_stops_it_before_a_call(
    page: Client, says: Script, settings: Any
) -> None:
    budget = {**settings.IEIM_MODEL["BUDGET"], "day": 100}
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "BUDGET": budget}
    server = says("draft_translation_v1", fields())
    run = ask(page, "translation", "fr")
    assert (run.state, server.asked) == ("failed", [])
    assert "the limit is 100" in run.result["findings"][0]


def test_what_a_draft_has_used_counts_for_turns_too(page: Client, says: Script) -> None:
    says("draft_translation_v1", fields())
    run = ask(page, "translation", "fr")
    assert run.tokens > 0
    assert store.spent_today() == run.tokens


def test_an_outage_is_said(page: Client, says: Script) -> None:
    says("draft_translation_v1", 503)
    run = ask(page, "translation", "fr")
    assert (run.state, "could not be reached" in run.error) == ("failed", True)


def test_without_a_model_it_says_how_to_configure_one(page: Client, settings: Any) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "BASE_URL": ""}
    assert "IEIM_MODEL_BASE_URL" in text(page.get(f"{ADDRESS}{SERVICE}"))
    page.post(f"{ADDRESS}start/{SERVICE}", {"kind": "questions"})
    assert not DraftingRun.objects.exists()


def test_it_is_for_the_editors_of_the_agency(page: Client, says: Script) -> None:
    says("draft_translation_v1", fields())
    run = ask(page, "translation", "fr")
    other = browser(person("pat", Role.EDITOR, "taxes"))
    for address in (f"{ADDRESS}{SERVICE}", f"{ADDRESS}{run.pk}/"):
        assert (page.get(address).status_code, other.get(address).status_code) == (200, 404)
    assert page.get(f"{ADDRESS}?agency=passports&service=none").status_code == 404


def test_all_that_a_set_makes_out_of_date_is_drafted_in_one_press(
    page: Client, says: Script, settings: Any
) -> None:
    eve = User.objects.get(username="eve")
    save_french(eve, name="Renouveler", fees="80 couronnes")
    publishing.publish(note="", by=None)
    entry = "/knowledge/services/passports/renew/"
    assert "1 translation gets out of date where you change a text." in text(page.get(entry))
    change(eve, fees="90 crowns")
    proposal = sets.working_set(eve)
    assert proposal is not None
    address, start = f"/knowledge/proposals/{proposal.pk}/", f"{ADDRESS}sets/{proposal.pk}/"
    assert "Translations that get out of date" in text(page.get(address))
    other = browser(person("pat", Role.EDITOR, "tax"))
    other.post(start)
    assert not DraftingRun.objects.exists()
    for _ in range(2):  # the second has nothing left to ask for
        assert page.post(start)["Location"] == f"{address}#stale"
    run = DraftingRun.objects.get()
    assert (run.kind, run.language, run.owner) == ("translation", "fr", ("passports", "", "renew"))
    says("draft_translation_v1", fields(fees="90 couronnes"))
    drafting.run_drafting(run_id=run.pk)
    assert f'href="{ADDRESS}{run.pk}/">draft of the model (done)' in text(page.get(address))
    page.post(f"{ADDRESS}{run.pk}/accept/", {"take": "fees", "text-fees": "90 couronnes"})
    assert "Translations that get out of date" not in text(page.get(address))
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "BASE_URL": ""}
    change(eve, fees="95 crowns")
    html = text(page.get(address))
    assert ("Translations that get out of date" in html, start in html) == (True, False)


def save_french(by: User, **texts: str) -> None:
    identity = {"language": "fr", "agency": "passports", "service": "renew"}
    editing.save(
        table="translations",
        values={**identity, **texts},
        by=by,
        expected_version=None,
        source=Change.Source.ADMIN,
    )


def test_an_original_that_changes_while_a_draft_is_taken_refuses_it(
    page: Client, says: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(User.objects.get(username="eve"), fees="80 crowns")
    says("draft_translation_v1", fields(fees="80 couronnes"))
    run = ask(page, "translation", "fr")
    olga = person("olga", Role.EDITOR)
    meanwhile(monkeypatch, lambda: change(olga, fees="95 crowns"), drafting, editing)
    with pytest.raises(drafting.DraftingError, match="original has changed"):
        drafting.accept(run=run, taken={"fees": "80 couronnes"}, by=run.created_by)
    assert not Translation.objects.exists()


def test_two_who_press_at_once_pay_for_one_draft(
    eve: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_french(eve, fees="80 couronnes")
    publishing.publish(note="", by=None)
    change(eve, fees="90 crowns")
    proposal, olga = sets.working_set(eve), person("olga", Role.EDITOR)
    assert proposal is not None
    pressed: list[User] = []

    def press() -> None:
        drafting.start_stale(proposal=proposal, by=olga)
        pressed.append(olga)

    meanwhile(monkeypatch, press, drafting)
    drafting.start_stale(proposal=proposal, by=eve)
    assert (pressed, DraftingRun.objects.count()) == ([olga], 1)


def test_no_draft_is_of_a_category_and_a_service(page: Client) -> None:
    both = "?agency=passports&category=travel&service=none"
    page.post(f"{ADDRESS}start/{both}", {"kind": "questions", "language": ""})
    assert not DraftingRun.objects.exists()
