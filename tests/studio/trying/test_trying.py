"""The playground: the draft beside the published release, and nothing of it stored."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from conversations.turns import running
from ieim.audit.models import AuditEvent
from ieim.llm.offline import OfflineModel
from ieim.people.roles import Role
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest
from ieim.studio.models import Agency, Category, Service
from ieim.studio.trying.asking import Side, ask_both
from ieim.studio.trying.comparing import difference
from ieim.studio.trying.presenters import side_view
from tests.fixtures import VISA
from tests.model_server import scripted_model
from tests.review.people import browser, person
from tests.studio.evaluation.evaluating import Silent
from tests.studio.trying.trying import visa

PAGE = "/knowledge/try/"
FEE = "MRK 99.00 for each person."

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def editor() -> Client:
    return browser(person("edith", Role.EDITOR))


def dearer() -> None:
    service = visa()
    service.fees = FEE
    service.save()


def ask(editor: Client, text: str = VISA, status: int = 200) -> str:
    response = editor.post(PAGE, {"text": text})
    assert response.status_code == status
    return response.content.decode()


def compared(text: str = VISA, model: Model | None = None) -> tuple[str, list[Side]]:
    sides = list(ask_both(text, model=model))
    other = sides[1] if len(sides) > 1 else None
    return difference(sides[0], other, current=1).sentence, sides


def test_it_shows_the_draft_beside_the_published_release(editor: Client) -> None:
    dearer()
    page = ask(editor)
    assert "The draft</h2>" in page
    assert "Published: release 1</h2>" in page
    assert page.count('class="answer answer--service"') == 2
    assert "the reply differs in “What it costs”" in page
    assert FEE in page
    assert "MRK 45.00" in page


def test_it_asks_once_where_nothing_is_different() -> None:
    sentence, sides = compared()
    assert sentence == "The draft is the same as release 1: nothing would change."
    assert len(sides) == 1


def test_it_sees_each_change_of_the_draft_at_once() -> None:
    """Every draft has the number 0: none may be answered from another's index."""
    for fee in (FEE, "MRK 100.00 for each person."):
        Service.objects.filter(pk=visa().pk).update(fees=fee)
        _, sides = compared()
        assert fee in str(sides[0].run.outcome)
        assert fee not in str(sides[1].run.outcome)
    Service.objects.filter(pk=visa().pk).update(name="Zebra crossing")
    sentence, sides = compared("How do I apply for a zebra crossing?")
    assert sentence.startswith("It changes. Now: the citizen would be asked to choose from")
    assert "Zebra crossing" in str(sides[0].run.outcome)


def test_it_answers_in_the_citizens_language() -> None:
    dearer()
    text = "Je voudrais prolonger mon visa de touriste"
    views = [side_view(side, text) for side in ask_both(text)]
    assert [view.reply and view.reply.language for view in views] == ["fr", "fr"]


def test_it_stores_nothing(editor: Client, caplog: pytest.LogCaptureFixture) -> None:
    dearer()
    text = "I want to extend my tourist visa, says Wilhelmina Oberländer"
    events = AuditEvent.objects.count()
    with caplog.at_level(logging.DEBUG):
        ask(editor, text)
    models = list(apps.get_app_config("conversations").get_models())
    assert models
    assert {
        model: model._default_manager.count() for model in models if model._default_manager.exists()
    } == {}
    assert AuditEvent.objects.count() == events
    assert "Oberl" not in caplog.text


def test_it_shows_every_step_with_its_input_and_output(editor: Client) -> None:
    page = ask(editor)
    for words in ("Is it a question for us?", "Which agency?", "Which service?", "Intent, product"):
        assert words in page
    assert "&quot;KnowledgeBase_Dictionary&quot;" in page
    assert "&quot;serviceSelection&quot;" in page
    (side,) = ask_both(VISA)
    view = side_view(side, VISA)
    assert view.tokens == sum(stage.tokens for stage in view.stages) > 0
    answers = [call.record.answer for stage in view.stages for call in stage.calls]
    assert all(answer.prompt_tokens and answer.completion_tokens for answer in answers)


def test_it_shows_the_shortlist_and_what_the_limit_cut() -> None:
    agency = Agency.objects.get(id="immigration")
    for number in range(6):
        Service.objects.create(
            agency=agency, key=f"new-{number}", name=f"Tourist visa help {number}"
        )
    side = ask_both(VISA)[0]
    (shown,) = next(
        stage.shortlists
        for stage in side_view(side, VISA).stages
        if stage.words == "Which service?"
    )
    # Services of the topic that was selected come before better ranked ones of other topics.
    assert sorted(each.cut for each in shown.candidates) == [""] * shown.limit + ["limit"] * 5
    ranks = [each.rank for each in shown.candidates]
    assert ranks == sorted(ranks)
    assert shown.candidates[0].probability >= shown.candidates[1].probability
    assert shown.rest == agency.services.count() - len(shown.candidates)


def test_it_shows_what_the_token_budget_cut(settings: Any) -> None:
    settings.IEIM_MODEL = {
        **settings.IEIM_MODEL,
        "OVERRIDES": {"service_select_v1": {"max_input_tokens": 9_500}},
    }
    side = ask_both(VISA)[0]
    stage = next(s for s in side_view(side, VISA).stages if s.contract == "service_select_v1")
    (shown,) = stage.shortlists
    cut = [each.cut for each in shown.candidates]
    assert "budget" in cut
    assert cut == sorted(cut)


def test_it_says_that_the_citizen_would_be_asked() -> None:
    dearer()
    sentence, sides = compared("I need a permit to keep a tiger")
    assert sentence == "Nothing changes: the citizen would be asked to choose, as now."
    view = side_view(sides[0], "x")
    assert view.reply is None
    assert view.findings


def test_it_shows_a_held_reply_as_one_that_waits() -> None:
    text = f"{VISA} or I will kill myself"
    view = side_view(ask_both(text)[0], text)
    assert view.held
    assert view.reply is not None
    assert view.turn.contacts
    assert [finding.code for finding in view.findings] == ["policy.risk"]


def test_it_names_the_entries_of_a_draft_that_cannot_be_built(editor: Client) -> None:
    service = visa()
    Service.objects.filter(pk=service.pk).update(categories=["gone"])
    category = Category.objects.filter(agency="passports").first()
    assert category is not None
    Category.objects.filter(pk=category.pk).update(keywords=[7])
    page = ask(editor, status=422)
    assert "The draft cannot be used yet" in page
    assert f'href="/admin/studio/service/{service.pk}/change/"' in page
    assert f'href="/admin/studio/category/{category.pk}/change/"' in page
    assert VISA in page


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (None, "The model cannot be reached: no server there"),
        (KeyError("x"), "an error of ours is in the log"),
    ],
)
def test_it_says_why_nothing_was_answered(
    editor: Client, monkeypatch: pytest.MonkeyPatch, error: Exception | None, problem: str
) -> None:
    monkeypatch.setattr(running, "configured_model", lambda: Silent(VISA, error=error))
    page = ask(editor, status=503)
    assert problem in page
    assert VISA in page


@pytest.mark.parametrize("text", ["", "  ", "x" * 2001, "a\0b"])
def test_it_refuses_what_no_citizen_can_send(editor: Client, text: str) -> None:
    assert "The question was not asked" in ask(editor, text, status=422)


@pytest.mark.parametrize("raw", ["no json", "\0", '{"a": "\\ud800"}', "x" * 300_000, "[" * 9_000])
def test_it_shows_whatever_a_model_says(editor: Client, raw: str) -> None:
    with scripted_model({"judgement_v1": [raw] * 4}) as (model, _):
        sides = ask_both(VISA, model=model)
    view = side_view(sides[0], VISA)
    (stage,) = [each for each in view.stages if each.contract == "judgement_v1"]
    assert not stage.passed
    assert len(stage.calls) == 2
    assert all(call.said.encode() and "\0" not in call.said for call in stage.calls)


def test_it_is_the_configured_model_that_answers(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    class Counting(OfflineModel):
        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            asked.append(request.temperature)
            return super().complete(request, deadline=deadline)

    monkeypatch.setattr(running, "configured_model", Counting)
    ask(editor)
    assert asked == [running.options().temperature] * 5


def test_it_asks_nothing_on_a_look(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "configured_model", None)
    assert editor.get(PAGE, {"text": VISA}).status_code == 200
