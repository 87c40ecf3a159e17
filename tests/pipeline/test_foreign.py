"""A message in a language that the knowledge is not in: the core, without a database."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.llm.offline import OfflineModel
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.ports import Embedder, ModelAnswer, ModelRequest, Shortlist
from ieim.pipeline.work import Abstained, Answered, Held, Outcome
from ieim.search import fuse
from ieim.search.embedders import fault
from tests.embedders import embedded
from tests.fixtures import DEMO
from tests.pipeline.build import PAVILION, RENEW, REPLACE, valid
from tests.pipeline.drive import ScriptedModel, high_script, run
from tests.pipeline.message.test_languages import FRENCH
from tests.pipeline.message.test_languages import run as run_in
from tests.pipeline.searching import FakeSearch

GERMAN = "Mein Reisepass ist verloren, was muss ich jetzt tun und wohin soll ich gehen?"
KEY = {service: (service.agency, service.key) for service in (REPLACE, RENEW, PAVILION)}
LANGUAGE = Code.POLICY_LANGUAGE


@pytest.fixture
def by_meaning() -> Shortlist:
    """A search that is not sure which passport service is meant."""
    return FakeSearch(odds={KEY[REPLACE]: 0.5, KEY[RENEW]: 0.4, KEY[PAVILION]: 0.05})


def asked(
    shortlist: Shortlist | None, script: dict[str, Any] | None = None, **turn: Any
) -> Outcome:
    """What comes of a message of which, if not ``script`` says else, neither is sure."""
    script = script or {"service_select_v1": [selected(0.79)]}
    return run(ScriptedModel(script), shortlist=shortlist, **{"text": GERMAN, **turn})[0]


def selected(score: float) -> dict[str, Any]:
    """A model's right choice, of which it is so sure."""
    answer = valid("service_select_v1")
    answer["serviceSelection"]["score"] = score
    return answer


def codes(outcome: Outcome) -> list[Code]:
    assert not isinstance(outcome, Answered)
    return [finding.code for finding in outcome.findings]


@pytest.mark.parametrize(("score", "first"), [(0.8, 0.5), (0.6, 0.8)])
def test_where_the_model_or_the_search_is_sure_it_is_answered(score: float, first: float) -> None:
    search = FakeSearch(odds={KEY[REPLACE]: first, KEY[RENEW]: 0.1})
    outcome = asked(search, {"service_select_v1": [selected(score)]}, language="de")
    assert isinstance(outcome, Answered)
    assert {"title", "lead"} <= set(outcome.reply.original)


def test_where_neither_is_sure_the_citizen_is_asked_back(by_meaning: Shortlist) -> None:
    outcome = asked(by_meaning)
    assert isinstance(outcome, Abstained)
    assert (outcome.stage, codes(outcome)) == ("reply", [LANGUAGE])
    assert outcome.offered[0] == REPLACE  # what would have been answered
    assert 2 <= len(outcome.offered) <= 4


def test_every_service_of_an_answer_is_offered_first(by_meaning: Shortlist) -> None:
    script = high_script()
    script["service_select_v1"][0]["serviceSelection"]["score"] = 0.6
    outcome = asked(by_meaning, script)
    assert isinstance(outcome, Abstained)
    assert set(outcome.offered[:2]) == {REPLACE, PAVILION}


def test_who_is_asked_for_another_reason_is_told_of_the_language_too(
    by_meaning: Shortlist,
) -> None:
    outcome = asked(by_meaning, {"service_select_v1": [selected(0.2)]})
    assert isinstance(outcome, Abstained)
    assert outcome.stage == "service_select_v1"
    assert codes(outcome) == [Code.SCORE_MINIMUM, LANGUAGE]


def test_where_words_alone_ranked_a_person_has_it() -> None:
    outcome = asked(FakeSearch(odds={KEY[REPLACE]: 0.9}, by_meaning=False))
    assert isinstance(outcome, Held)
    assert codes(outcome) == [LANGUAGE]


def test_a_risk_holds_it_all_the_same(by_meaning: Shortlist) -> None:
    outcome = asked(by_meaning, risks=[Risk("fraud", 0, 2)])
    assert isinstance(outcome, Held)
    assert codes(outcome) == [Code.POLICY_RISK, LANGUAGE]


def test_nobody_is_asked_what_somebody_has_decided(by_meaning: Shortlist) -> None:
    assert isinstance(asked(by_meaning, decided=True), Held)


# ---- by the embedded model


class Sure(OfflineModel):
    """The offline engine, as sure of the service that it chose as a large model is."""

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        result = super().complete(request, deadline=deadline)
        answer = json.loads(result.raw)
        if "serviceSelection" in answer:
            answer["serviceSelection"]["score"] = 0.91
        return ModelAnswer(json.dumps(answer))


@pytest.fixture
def embedder() -> Embedder:
    """The embedded model, loaded once a run."""
    wrong = fault()
    if wrong is not None:
        pytest.skip(f"THE EMBEDDED MODEL IS NOT TESTED: {wrong}")
    return embedded()


GARDEN = "Je cherche un coin de terre pour cultiver mes légumes"


def test_it_is_answered_from_the_translation(embedder: Embedder) -> None:
    outcome = run_in(GARDEN, "fr", Sure(), fuse(FRENCH, embedder))
    assert isinstance(outcome, Answered)
    reply = outcome.reply
    assert (reply.title, reply.language, reply.original) == ("Louer un jardin familial", "fr", ())


@cache
def _demo() -> tuple[Release, Shortlist]:
    """The demo in English alone, and the search over it."""
    release = replace(read_bundle(DEMO), translations=()).release()
    return release, fuse(release, embedded())


@pytest.mark.usefixtures("embedder")
@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("es", "Quiero abrir un restaurante, ¿qué licencia necesito?", "food-licence"),
        ("de", "Mein Chef hat mir seit zwei Monaten keinen Lohn gezahlt.", "unpaid-wages"),
        ("zh", "我刚搬家，新地址要到哪里登记？", "register-address"),
        ("ar", "لا أستطيع دفع الضرائب دفعة واحدة، هل يمكنني الدفع بالتقسيط؟", "pay-in-instalments"),
    ],
)
def test_other_languages_find_it_in_english(language: str, text: str, name: str) -> None:
    release, shortlist = _demo()
    sure = run_in(text, language, Sure(), shortlist, release)
    assert isinstance(sure, Answered)
    assert sure.reply.sources[0].service_key.endswith(f".{name}")
    # The search is as sure by itself.
    answered = run_in(text, language, OfflineModel(), shortlist, release)
    assert isinstance(answered, Answered)
    assert answered.reply.sources == sure.reply.sources
