"""What stands in for a text over several agencies that says more than its sources."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import grounding
from ieim.pipeline.reply.retelling import retold
from ieim.pipeline.work import Answered, NeedsReview
from tests.fixtures import DEMO
from tests.pipeline.build import valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, high_script, run

ANSWER = "multi_agency_service_answer_v1"
FIRST = ("Passport Office: Report the loss.", "Parks Office: Book a pavilion")


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
    "text",
    [
        "Passport Office: Swiftly tell somebody about your misfortune.",
        "Send us your PIN.",
        "Hello!",
        "You must report the loss at once or you lose your rights.",
    ],
)
def test_no_word_of_the_models_is_shown(text: str) -> None:
    outcome, store, model = ended(text)
    assert isinstance(outcome, Answered)
    assert outcome.reply.paragraphs == FIRST
    assert outcome.reply.listed
    assert [card.source.agency_id for card in outcome.reply.cards] == ["passports", "parks"]
    # The model is asked once, and its words are kept with what is wrong with them.
    assert model.asked()[-1] == (ANSWER, 1)
    assert codes(store) == [{Code.REPLY_UNSUPPORTED}]
    assert ANSWER not in store.failed
    again, _ = run(ScriptedModel(high_script()), store)
    assert again == outcome


def test_what_the_rule_lets_through_is_told_in_the_entries_words_too() -> None:
    outcome, store, _ = ended("Report the loss at the Passport Office.")
    assert isinstance(outcome, Answered)
    assert codes(store) == [set()]
    assert outcome.reply.paragraphs == FIRST
    assert outcome.reply.listed


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Pay MRK 900.00 at the Passport Office.", Code.REPLY_UNGROUNDED),
        ("Report the loss to the Tax Office.", Code.SOURCES_MISSING),
        ("…", Code.REPLY_EMPTY),
    ],
)
def test_what_is_wrong_in_another_way_goes_to_a_person(text: str, code: Code) -> None:
    outcome, store, _ = ended(text, text)
    assert isinstance(outcome, NeedsReview)
    assert outcome.stage == ANSWER
    assert all(code in found for found in codes(store))


def test_every_service_has_first_things_that_its_own_gate_lets_through() -> None:
    release = read_bundle(DEMO).release()
    for language in ("en", "fr", "es"):
        told = release.in_language(language)
        for service in told.services.values():
            said = retold("", [service], told, question="")
            assert grounding.check(said, [service], told) == []
