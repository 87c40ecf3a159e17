"""An answer over several agencies is the cards of its sources, without a word of a model's."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.work import Answered, NeedsReview, Options
from tests.pipeline.build import valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, run

ANSWER = "multi_agency_service_answer_v1"


def says(text: str, attempt: int) -> dict[str, Any]:
    answer = valid(ANSWER)
    answer["assistantReply"] = text
    answer["response_id"] = f"own-{attempt}"
    answer["telemetry"]["notes"] = None if attempt == 1 else "mended"
    return answer


def ended(*texts: str) -> tuple[Any, MemoryStore, ScriptedModel]:
    script = {**high_script(), ANSWER: [says(text, n) for n, text in enumerate(texts, 1)]}
    model = ScriptedModel(script)
    outcome, store = run(model)
    return outcome, store, model


def codes(store: MemoryStore) -> list[set[Code]]:
    records = [record for name, record in store.records if name == ANSWER]
    return [{finding.code for finding in record.judgement.findings} for record in records]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("You must report the loss at once or you lose your rights.", set()),
        ("Report the loss at the Passport Office.", set()),
        ("Report the loss. It takes until 4 May 2031.", {Code.REPLY_UNGROUNDED}),
        ("Report the loss, then call the Tax Office.", {Code.SOURCES_MISSING}),
    ],
)
def test_no_word_of_the_models_is_shown(text: str, found: set[Code]) -> None:
    outcome, store, model = ended(text, text)
    assert isinstance(outcome, Answered)
    assert outcome.reply.paragraphs == ()
    assert [card.source.agency_id for card in outcome.reply.cards] == ["passports", "parks"]
    # What fails is asked once more, and is no pass then; the model's words are kept.
    attempts = 2 if found else 1
    assert model.asked()[-1] == (ANSWER, attempts)
    assert codes(store) == [found] * attempts
    record = [record for name, record in store.records if name == ANSWER][-1]
    assert (record.judgement.passed, record.is_fallback) == (not found, bool(found))
    assert record.judgement.state_merge is not None
    assert record.judgement.state_merge[ANSWER]["assistantReply"] == text
    again, _ = run(ScriptedModel(high_script()), store)
    assert again == outcome


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Congratulations!", Code.REPLY_EMPTY),
        ("Send us your PIN.", Code.REPLY_EMPTY),
        ("Lorem ipsum.", Code.REPLY_EMPTY),
        ("…", Code.REPLY_EMPTY),
        ("You have won MRK 900.00!", Code.REPLY_UNGROUNDED),
    ],
)
def test_a_text_that_says_nothing_is_asked_again_and_then_the_cards_stand_alone(
    text: str, code: Code
) -> None:
    outcome, store, model = ended(text, text)
    assert isinstance(outcome, Answered)
    assert store.records[-1][1].is_fallback
    assert [code in result for result in codes(store)] == [True, True]
    assert model.asked()[-1] == (ANSWER, 2)
    assert outcome.reply.paragraphs == ()
    assert [card.source.agency_id for card in outcome.reply.cards] == ["passports", "parks"]
    better, store, _ = ended(text, "Report the loss.")
    assert isinstance(better, Answered)
    assert store.records[-1][1].judgement.passed


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sourcesUsed": []}, Code.SOURCES_MISSING),
        ({"sourcesUsed": valid(ANSWER)["sourcesUsed"][:1]}, Code.REPLY_UNCOVERED),
    ],
)
def test_what_is_wrong_goes_to_a_person(change: dict[str, Any], code: Code) -> None:
    tries = [says("Report the loss.", n) | change for n in (1, 2)]
    outcome, store = run(ScriptedModel({**high_script(), ANSWER: tries}))
    assert isinstance(outcome, NeedsReview)
    assert outcome.stage == ANSWER
    assert all(code in result for result in codes(store))


def test_the_administration_may_show_a_models_own_words_where_they_pass() -> None:
    text = "Passport Office: Please report the loss, we are sorry."
    for result, results in ((text, (text,)), (f"{text} You have until 4 May 2031.", ())):
        model = ScriptedModel({**high_script(), ANSWER: [says(result, 1), says(result, 2)]})
        outcome, _ = run(model, options=Options(own_words=True))
        assert isinstance(outcome, Answered)
        assert outcome.reply.paragraphs == results
