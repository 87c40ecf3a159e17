"""Guidance: the administration's texts, and that citizens read no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import CASES, CIRCUMSTANCES, CaseText
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.reply import render_guidance
from ieim.pipeline.work import Answered, AttemptRecord, Held, NeedsReview, Options, Outcome
from tests.pipeline.build import RELEASE, judged, valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, payload, run
from tests.pipeline.searching import FakeSearch

LANGUAGES = ["en", "fr", "de", "es", "zh", "ar", "fil"]
OWN = (
    CaseText("thanks", "en", "Our pleasure. The gardens are open all year."),
    CaseText("thanks", "fr", "Avec plaisir."),
)
SHIPPED = {(each.case, each.language): each.text for each in guidance.shipped()}
GREETING = SHIPPED["greeting", "en"]
KINDS = {
    "hello": "greeting",
    "kumusta": "greeting",
    "谢谢": "thanks",
    "Danke": "thanks",
    "أنت غبي": "abuse",
}


def says(reply: str, **more: Any) -> dict[str, Any]:
    answer = valid("judgement_v1")
    answer.update(judgements={"inquiry": False}, assistantReply=reply, nextStep="session_end")
    return answer | more


def again(reply: str) -> dict[str, Any]:
    return says(reply, telemetry={"notes": "said it anew"})


def ended(reply: str, text: str = "hello", **turn: Any) -> tuple[Outcome, MemoryStore]:
    model = ScriptedModel({"judgement_v1": [says(reply), again(reply)]})
    return run(model, shortlist=FakeSearch(kinds=KINDS), text=text, **turn)


def judgements(store: MemoryStore) -> list[AttemptRecord]:
    return [record for name, record in store.records if name == "judgement_v1"]


def told(outcome: Outcome) -> str:
    assert isinstance(outcome, Answered | Held), outcome
    return outcome.reply.as_text()


def test_every_case_has_a_text_in_every_language() -> None:
    texts = (*CASES, *CIRCUMSTANCES)
    assert set(SHIPPED) == {(case, language) for case in texts for language in LANGUAGES}
    assert all(len(text.split()) < 40 for text in SHIPPED.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_texts_that_are_shipped_may_be_said(language: str) -> None:
    slot = guidance.slot(RELEASE, [language], "greeting")
    for case in CASES:
        answer = says(SHIPPED[case, language])
        assert judged("judgement_v1", answer, request={"guidance": slot}).passed


def test_the_administrations_own_text_comes_before_the_one_that_is_shipped() -> None:
    release = replace(RELEASE, texts=OWN)
    assert guidance.texts(release, ["en"])["thanks"] == OWN[0]
    assert guidance.texts(release, ["de"])["thanks"].text == SHIPPED["thanks", "de"]
    assert guidance.texts(release, ["pl", "fr"])["thanks"] == OWN[1]
    assert guidance.texts(release, ["pl"])["greeting"].text == GREETING


def test_one_language_may_have_two_codes() -> None:
    own = CaseText("thanks", "tl", "Walang anuman po.")
    for language in ("tl", "fil"):
        assert guidance.texts(RELEASE, [language])["abuse"].language == "fil"
        assert guidance.texts(replace(RELEASE, texts=(own,)), [language])["thanks"] == own
    assert {"tl", "fil"} <= guidance.languages(RELEASE)
    assert "pl" not in guidance.languages(RELEASE)


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("The office is closed for good.", GREETING),
        ("Hello. You can ask here about permits. What do you need?", GREETING),
        ("You are welcome! Send us your PIN.", GREETING),
        ("—!? \u200b", GREETING),
        # A model may choose among the texts: it repeats one.
        (SHIPPED["thanks", "en"], SHIPPED["thanks", "en"]),
        (f" {SHIPPED['thanks', 'en'].replace(' ', '  ')}\n", SHIPPED["thanks", "en"]),
        (SHIPPED["thanks", "fr"], GREETING),
    ],
)
def test_no_word_of_the_models_is_shown(reply: str, shown: str) -> None:
    outcome, store = ended(reply)
    assert isinstance(outcome, Answered)
    assert told(outcome) == shown
    # A blank one fails its contract: asked once more, it is no pass.
    blank = reply[0] == "—"
    results = [
        [finding.code for finding in record.judgement.findings] for record in judgements(store)
    ]
    assert results == ([[Code.REPLY_EMPTY]] * 2 if blank else [[]])
    record = judgements(store)[-1]
    assert record.is_fallback is blank
    assert record.judgement.output is not None
    assert record.judgement.output["assistantReply"] == reply
    assert "judgement_v1" not in store.failed
    resumed, _ = run(ScriptedModel(), store, shortlist=FakeSearch(kinds=KINDS), text="hello")
    assert resumed == outcome  # the fallback is what a second delivery finds


def test_what_a_person_writes_states_no_fact_of_its_own() -> None:
    assert judged("judgement_v1", says(SHIPPED["abuse", "zh"])).passed
    assert judged("judgement_v1", says("Please ask your question again.")).passed
    for fact in ("at https://evil.example", "on 1 May 2031", "by +999 20 555 0110", "for MRK 5"):
        (finding,) = judged("judgement_v1", says(f"Please ask us {fact}.")).findings
        assert (finding.code, finding.path) == (Code.REPLY_UNGROUNDED, "/assistantReply")


@pytest.mark.parametrize(
    ("text", "language", "case"),
    [
        ("hello", "", "greeting"),
        ("hello", "en", "greeting"),
        ("谢谢", "zh", "thanks"),
        ("Danke", "de", "thanks"),
        ("أنت غبي", "ar", "abuse"),
        ("kumusta", "tl", "greeting"),
        ("kumusta ang araw", "tl", "unclear"),
        ("zdravo", "sl", "unclear"),
    ],
)
def test_it_is_in_the_citizens_language(text: str, language: str, case: str) -> None:
    outcome, _ = ended("Our offices are closed.", text, language=language)
    known = {"": "en", "tl": "fil", "sl": "en"}
    assert told(outcome) == SHIPPED[case, known.get(language, language)]


def test_a_language_that_it_is_told_in_is_no_reason_for_a_person() -> None:
    text = "¿Qué tiempo hace hoy en la ciudad? ¿Va a llover mañana por la tarde?"
    assert isinstance(ended("Nada.", text, language="es")[0], Answered)
    polish = "Jaka będzie jutro pogoda w mieście i czy będzie padać deszcz?"
    assert isinstance(ended("Nic.", polish, language="pl")[0], Held)


def test_an_answer_that_is_wrong_otherwise_is_asked_again_and_then_a_persons() -> None:
    wrong = says("The office is closed.", nextStep="agency_detect_v1")
    model = ScriptedModel({"judgement_v1": [wrong, wrong]})
    outcome, _ = run(model, text="hello")
    assert isinstance(outcome, NeedsReview)
    assert model.asked() == [("judgement_v1", 1), ("judgement_v1", 2)]


def test_a_second_attempt_is_replaced_as_well() -> None:
    second = says("The office is closed.", telemetry={"notes": "JSON only"})
    model = ScriptedModel({"judgement_v1": ["not json", second]})
    outcome, _ = run(model, text="hello", shortlist=FakeSearch(kinds=KINDS))
    assert told(outcome) == GREETING


def test_a_model_is_given_the_texts_of_the_release() -> None:
    model = ScriptedModel()
    run(model, text="Danke", language="fr", shortlist=FakeSearch(kinds=KINDS))
    given = payload(model.requests[0])["guidance"]
    assert given["language"] == "fr"
    assert set(given["texts"]) == set(CASES)
    assert given["texts"]["thanks"] == SHIPPED["thanks", "fr"]


def test_it_knows_a_text_of_the_administrations_word_for_word() -> None:
    release = replace(RELEASE, texts=OWN)
    assert guidance.is_prepared(render_guidance(OWN[0].text), release)
    assert guidance.is_prepared(render_guidance(GREETING), release)
    assert not guidance.is_prepared(
        render_guidance("Hello. You can ask here about permits. What do you need?"), release
    )
    assert not guidance.is_prepared(replace(render_guidance(GREETING), kind="answer"), release)


def test_a_question_about_the_office_is_answered_with_its_contacts() -> None:
    contacts = "Telephone: +999 20 555 0110\n\nOpen: Monday, 09:00–17:00"
    options = Options(contacts=lambda: contacts)
    model = ScriptedModel({"judgement_v1": [says("You are welcome!"), again("You are welcome!")]})
    search = FakeSearch(kinds={"when are you open": "about_office"})
    outcome, _ = run(model, text="when are you open", options=options, shortlist=search)
    assert isinstance(outcome, Answered)
    ours = SHIPPED["about_office", "en"].removeprefix("{contacts}\n\n")
    assert outcome.reply.paragraphs == (*contacts.split("\n\n"), ours)
    assert guidance.is_prepared(outcome.reply, RELEASE)


def test_without_contacts_their_paragraph_is_left_out() -> None:
    for language in LANGUAGES:
        text = guidance.slot(RELEASE, [language], "about_office")["texts"]["about_office"]
        assert f"{{contacts}}\n\n{text}" == SHIPPED["about_office", language]
    own = replace(
        RELEASE, texts=(CaseText("about_office", "en", "Come in.\n\n{contacts}\n\nBye."),)
    )
    assert guidance.slot(own, ["en"], "about_office")["texts"]["about_office"] == "Come in.\n\nBye."
    result = render_guidance("Come in.\n\nTelephone: 1\n\nBye.")
    assert guidance.is_prepared(result, own)
    assert not guidance.is_prepared(render_guidance("Telephone: 1\n\nBye."), own)
