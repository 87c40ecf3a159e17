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
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest
from ieim.studio.models import Agency, Category, Service
from ieim.studio.trying.playground import Side, ask_both
from ieim.studio.trying.presenters import difference, side_view
from tests.fixtures import VISA
from tests.model_server import scripted_model
from tests.studio.evaluation.evaluating import Silent
from tests.studio.trying.trying import visa

PAGE = "/knowledge/try/"
FEE = "MRK 99.00 for each person."

pytestmark = pytest.mark.usefixtures("published")


def change_fee(fee: str = FEE) -> None:
    Service.objects.filter(pk=visa().pk).update(fees=fee)


def ask(editor: Client, text: str = VISA, status: int = 200) -> str:
    response = editor.post(PAGE, {"text": text})
    assert response.status_code == status
    return response.content.decode()


def compared(text: str = VISA, model: Model | None = None) -> tuple[str, list[Side]]:
    sides = ask_both(text, model=model)
    published = sides[1] if len(sides) > 1 else None
    return difference(sides[0], published, current=1)["sentence"], sides


def stage_of(side: Side, contract: str) -> dict[str, Any]:
    stages = side_view(side)["stages"]
    return next(stage for stage in stages if stage["contract"] == contract)


def test_it_shows_both_sides_with_every_step_and_stores_nothing(
    editor: Client, caplog: pytest.LogCaptureFixture
) -> None:
    change_fee()
    events = AuditEvent.objects.count()
    with caplog.at_level(logging.DEBUG):
        page = ask(editor, f"{VISA}, says Wilhelmina Oberländer")
    assert "The draft</h2>" in page
    assert "Published: release 1</h2>" in page
    assert page.count('class="answer answer--service"') == 2
    assert "the reply differs in “What it costs”" in page
    assert FEE in page
    assert "MRK 45.00" in page
    for words in ("Is it a question for us?", "Which agency?", "Which service?", "Intent, product"):
        assert words in page
    assert "&quot;KnowledgeBase_Dictionary&quot;" in page
    assert "&quot;serviceSelection&quot;" in page
    models = list(apps.get_app_config("conversations").get_models())
    assert models
    assert [model for model in models if model._default_manager.exists()] == []
    assert AuditEvent.objects.count() == events
    assert "Oberl" not in caplog.text


def test_it_asks_once_where_nothing_is_different() -> None:
    sentence, sides = compared()
    assert sentence == "The draft is the same as release 1: nothing would change."
    (side,) = sides
    view = side_view(side)
    assert view["tokens"] == sum(stage["tokens"] for stage in view["stages"]) > 0
    answers = [call["record"].answer for stage in view["stages"] for call in stage["calls"]]
    assert all(answer.prompt_tokens and answer.completion_tokens for answer in answers)


def test_it_sees_each_change_of_the_draft_at_once() -> None:
    """Every draft has the number 0: none may be answered from another's index."""
    for fee in (FEE, "MRK 100.00 for each person."):
        change_fee(fee)
        _, sides = compared()
        assert fee in str(sides[0].run.outcome)
        assert fee not in str(sides[1].run.outcome)
    Service.objects.filter(pk=visa().pk).update(name="Zebra crossing")
    sentence, sides = compared("How do I apply for a zebra crossing?")
    assert sentence.startswith("It changes. Now: the citizen would be asked to choose from")
    assert "Zebra crossing" in str(sides[0].run.outcome)


def test_it_answers_in_the_citizens_language() -> None:
    change_fee()
    views = map(side_view, ask_both("Je voudrais prolonger mon visa de touriste"))
    assert [view["reply"].language for view in views] == ["fr", "fr"]


def test_it_shows_the_shortlist_and_what_the_limit_cut() -> None:
    agency = Agency.objects.get(id="immigration")
    for number in range(6):
        Service.objects.create(
            agency=agency, key=f"new-{number}", name=f"Tourist visa help {number}"
        )
    (shortlist,) = stage_of(ask_both(VISA)[0], "service_select_v1")["shortlists"]
    candidates = shortlist["candidates"]
    # Services of the topic that was selected come before better ranked ones of other topics.
    cuts = sorted(candidate["cut"] for candidate in candidates)
    assert cuts == [""] * shortlist["limit"] + ["limit"] * 5
    ranks = [candidate["rank"] for candidate in candidates]
    assert ranks == sorted(ranks)
    assert candidates[0]["probability"] >= candidates[1]["probability"]
    assert shortlist["rest"] == agency.services.count() - len(candidates)


def test_it_shows_what_the_token_budget_cut(settings: Any) -> None:
    settings.IEIM_MODEL = {
        **settings.IEIM_MODEL,
        "OVERRIDES": {"service_select_v1": {"max_input_tokens": 9_500}},
    }
    (shortlist,) = stage_of(ask_both(VISA)[0], "service_select_v1")["shortlists"]
    cuts = [candidate["cut"] for candidate in shortlist["candidates"]]
    assert "budget" in cuts
    assert cuts == sorted(cuts)


def test_it_says_that_the_citizen_would_be_asked() -> None:
    change_fee()
    sentence, sides = compared("I need a permit to keep a tiger")
    assert sentence == "Nothing changes: the citizen would be asked to choose, as now."
    view = side_view(sides[0])
    assert view["reply"] is None
    assert view["findings"]


def test_it_shows_a_held_reply_as_one_that_waits() -> None:
    view = side_view(ask_both(f"{VISA} or I will kill myself")[0])
    assert view["held"]
    assert view["reply"] is not None
    assert view["turn"].contacts
    assert [finding.code for finding in view["findings"]] == ["policy.risk"]


def test_it_names_the_entries_of_a_draft_that_cannot_be_built(editor: Client) -> None:
    service = visa()
    Service.objects.filter(pk=service.pk).update(categories=["gone"])
    category = Category.objects.filter(agency="passports").first()
    assert category is not None
    Category.objects.filter(pk=category.pk).update(keywords=[7])
    page = ask(editor, status=422)
    assert "The draft cannot be used yet" in page
    assert f'href="/knowledge/services/{service.agency_id}/{service.key}/"' in page
    assert f'href="/knowledge/categories/{category.agency_id}/{category.key}/"' in page
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


@pytest.mark.parametrize("text", ["  ", "x" * 2001, "a\0b"])
def test_it_refuses_what_no_citizen_can_send(editor: Client, text: str) -> None:
    assert "The question was not asked" in ask(editor, text, status=422)


@pytest.mark.parametrize("raw", ["no json", "\0", '{"a": "\\ud800"}', "x" * 300_000, "[" * 9_000])
def test_it_shows_whatever_a_model_says(raw: str) -> None:
    with scripted_model({"judgement_v1": [raw] * 4}) as (model, _):
        sides = ask_both(VISA, model=model)
    stage = stage_of(sides[0], "judgement_v1")
    assert not stage["passed"]
    assert len(stage["calls"]) == 2
    assert all(call["said"].encode() and "\0" not in call["said"] for call in stage["calls"])


def test_it_calls_the_configured_model_only_when_asked(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    temperatures: list[float] = []

    class Counting(OfflineModel):
        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            temperatures.append(request.temperature)
            return super().complete(request, deadline=deadline)

    monkeypatch.setattr(running, "configured_model", Counting)
    assert editor.get(PAGE, {"text": VISA}).status_code == 200
    assert temperatures == []
    ask(editor)
    assert temperatures == [running.options().temperature] * 5
