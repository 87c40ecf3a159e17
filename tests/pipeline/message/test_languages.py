"""A reply says which of its words are not in the citizen's language."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from ieim.llm.offline import OfflineModel
from ieim.pipeline import policy
from ieim.pipeline.contract import load
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import judge
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import ModelAnswer, ModelRequest, Shortlist
from ieim.pipeline.reply.reply import Reply, in_language, render_answer, render_guidance
from ieim.pipeline.runner import Runner
from ieim.pipeline.stages.base import Context
from ieim.pipeline.work import Answered, Held, Outcome, Turn
from ieim.search import index_for
from tests import bilingual
from tests.pipeline.build import SESSION, TEXT, TODAY, valid
from tests.pipeline.drive import MemoryStore

RELEASE = bilingual.bundle().release(1)
FRENCH = RELEASE.in_language("fr")


class Asked(OfflineModel):
    """The offline engine, and what it was asked."""

    def __init__(self) -> None:
        self.inputs: dict[str, dict[str, Any]] = {}

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.inputs[request.contract] = json.loads(request.messages[2].content)
        return super().complete(request, deadline=deadline)


def run(
    text: str,
    language: str,
    model: OfflineModel | None = None,
    shortlist: Shortlist | None = None,
    written: Release = RELEASE,
) -> Outcome:
    release = written.in_language(language)
    runner = Runner(
        model=model or OfflineModel(),
        shortlist=shortlist or index_for(release),
        release=release,
        clock=map(float, itertools.count()).__next__,
        pause=lambda _seconds: None,
        backoff=float,
    )
    return runner.run(Turn("t", "s", text, language=language, today=TODAY), MemoryStore())


def answered(text: str, language: str) -> Reply:
    outcome = run(text, language)
    assert isinstance(outcome, Answered), outcome
    return outcome.reply


def test_it_gives_every_stage_the_names_in_the_citizens_language() -> None:
    model = Asked()
    assert isinstance(run(bilingual.PLOT, "fr", model), Answered)
    inputs = model.inputs
    assert inputs["agency_detect_v1"]["agencies"][0]["name"] == "Office des jardins"
    assert (
        inputs["category_select_v1"]["KnowledgeBase_Dictionary"][0]["value"] == "Jardins familiaux"
    )
    assert inputs["service_select_v1"]["service_index"][0]["name"] == "Louer un jardin familial"


def test_it_answers_in_the_citizens_language() -> None:
    result = answered(bilingual.PLOT, "fr")
    assert (result.language, result.original) == ("fr", ())
    assert result.title == "Louer un jardin familial"
    assert result.lead == "Remplissez le formulaire du jardin."
    assert result.sources[0].agency_name == "Office des jardins"


def test_it_says_what_it_has_in_the_language_of_the_knowledge_only() -> None:
    result = answered(bilingual.KAYAK, "fr")
    assert result.title == "Get a kayak permit"
    assert result.language == "fr"
    sections = [section.field for section in result.sections]
    assert list(result.original) == ["title", "lead", *sections]


def test_it_tells_the_translated_parts_of_an_answer_from_the_others() -> None:
    result = answered(bilingual.FISHING, "fr")
    assert (result.title, result.lead) == (
        "Obtenir un permis de pêche",
        "Achetez le permis de pêche au quai.",
    )
    assert {"overview", "fees"} <= set(result.original)
    assert not {"title", "lead", "how_to_apply"} & set(result.original)


def test_it_counts_a_sum_as_no_language() -> None:
    result = answered(bilingual.PLOT, "fr")
    assert ("MRK 45.00",) in [section.items for section in result.sections]
    assert "fees" not in FRENCH.translated["garden", "rent-plot"]
    assert result.original == ()


def test_it_says_nothing_of_languages_to_whom_the_knowledge_speaks() -> None:
    result = answered(bilingual.PLOT_IN_ENGLISH, "")
    assert (result.language, result.original) == ("", ())
    assert {"language", "original"}.isdisjoint(result.as_dict())
    assert Reply.from_dict(result.as_dict()) == result


@pytest.mark.parametrize(
    ("text", "original"),
    [
        ("Vous louez le jardin pour un an et vous payez le loyer au guichet.", ()),
        ("You rent the garden for one year and you pay the rent at the desk.", ("paragraphs",)),
        ("MRK 45.00", ()),
    ],
)
def test_it_hears_which_language_free_text_is_in(text: str, original: tuple[str, ...]) -> None:
    service = FRENCH.services["garden", "rent-plot"]
    for entry in (render_answer(text, [service], FRENCH), render_guidance(text)):
        assert in_language(entry, "fr", FRENCH).original == original
        assert in_language(entry, "", FRENCH) is entry


def test_it_takes_no_translation_for_another_languages() -> None:
    """A German question over a release with French: nothing of it is in German."""
    result = answered(bilingual.PLOT_IN_ENGLISH, "")
    assert in_language(result, "de", RELEASE).original[:2] == ("title", "lead")
    # Even where the view that it was made from is a French one.
    french = answered(bilingual.PLOT, "fr")
    assert in_language(replace(french, original=()), "de", FRENCH).original[:2] == ("title", "lead")


def test_it_holds_a_language_that_nobody_writes_in_for_it() -> None:
    outcome = run(bilingual.PLOT_IN_POLISH, "pl")
    codes = [f.code for f in policy.language(bilingual.PLOT_IN_POLISH, {"en", "fr", "sw"})]
    assert codes == [Code.POLICY_LANGUAGE]
    assert not isinstance(outcome, Answered)
    if isinstance(outcome, Held):
        assert [f.code for f in outcome.findings] == codes


def test_it_holds_no_language_that_the_release_has() -> None:
    assert policy.language(bilingual.PLOT, {"en"})
    assert not policy.language(bilingual.PLOT, {"en"} | RELEASE.languages)
    assert isinstance(run(bilingual.PLOT, "fr"), Answered)


def test_it_lets_no_name_of_the_other_language_through_the_gate() -> None:
    state = {"agency_detect_v1": {"agencyDetected": ["garden"], "complexity": "low"}}
    context = Context(1, TEXT, {"session_id": SESSION, **state}, FRENCH)

    def codes(value: str) -> list[Code]:
        result = valid("category_select_v1")
        result["categorySelection"]["candidates"] = {"plots": {"value": value, "score": 0.9}}
        judgement = judge(load("category_select_v1"), ModelAnswer(json.dumps(result)), context)
        return [finding.code for finding in judgement.findings]

    assert codes("Jardins familiaux") == []
    assert codes("Allotments") == [Code.KNOWLEDGE_MISMATCH]
