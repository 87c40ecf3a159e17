"""Risk phrases: found as whole words in any spelling, with offsets, and never by accident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import default_labels
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import HelpLine, Label, Release
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk

DEMO = settings.BASE_DIR / "ieim" / "knowledge" / "demo" / "questions.jsonl"
LABELS = {label.code: label for label in default_labels() if label.set == "risk_flags"}


def risk_file() -> Path:
    return Path(risk.__file__).with_name("risk_phrases.yaml")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("I want to kill myself", ["self_harm"]),
        ("I don’t want to live any more", ["self_harm"]),
        ("I WANT  TO\nDIE", ["self_harm"]),
        ("ich will sterben", ["self_harm"]),
        ("Je veux mourir.", ["self_harm"]),
        ("no quiero vivir más", ["self_harm"]),
        ("I do not want to live.", ["self_harm"]),
        ("non voglio più vivere", ["self_harm"]),
        ("Nie chcę już żyć", ["self_harm"]),
        ("İntihar etmek istiyorum", ["self_harm"]),
        ("Я більше не хочу жити", ["self_harm"]),
        ("أريد أن أموت", ["self_harm"]),
        ("Il me frappe tous les jours", ["violence"]),
        ("mio marito mi picchia", ["violence"]),
        ("mąż mnie bije", ["violence"]),
        ("Kocam beni dövüyor", ["violence"]),
        ("чоловік мене б’є", ["violence"]),
        ("زوجي يضربني", ["violence"]),
        ("he said he's going to kill me", ["violence"]),
        ("We will sue the ministry", ["legal_threat"]),
        ("Ich wende mich an die Presse", ["regulator_or_press"]),
        ("my husband hits me, and he hits my child", ["violence", "minor_at_risk"]),
        ("he is unconscious, call an ambulance", ["medical_emergency"]),
        ("My lawyer will write to you", ["legal_threat"]),
        ("somebody used my identity", ["fraud"]),
        ("I am a journalist", ["regulator_or_press"]),
        ("Please delete my personal data", ["data_protection_request"]),
        ("Please send me all data you store about me", ["data_protection_request"]),
        ("This does not help. I want to talk to a person", ["person_wanted"]),
        ("Ich möchte mit einem Menschen sprechen", ["person_wanted"]),
        ("Je veux parler à une personne", ["person_wanted"]),
        ("k\u00adill my\u200bself", ["self_harm"]),
    ],
)
def test_it_finds_the_phrases(text: str, codes: list[str]) -> None:
    assert [found.code for found in risk.find(text)] == codes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I want to diet",
        "my skill myself taught",
        "How do I report a death?",
        "the press releases of the ministry",
        "My son wants to study law in court city",
        "Who overdoses the pool with chlorine?",
        "I want to kill my parking ticket",
        "Can Sue the clerk call me back? Sue, you have my number.",
        "Will Sue the registrar be there?",
        "It beats me why this form exists, the price hits me hard",
        "I cut myself at work and hurt myself falling. Can I claim sick pay?",
        "I don't want to live with my parents any more",
        "no quiero vivir en Madrid",
        "Von der Rente kann ich nicht mehr leben",
        "How do I blow up the photo for my passport?",
        "Can I bring a gun on a plane?",
        "My wife will kill me, I lost our passports",
        "ce qui me frappe, c'est le prix",
        "Das bringt mich um 500 Euro",
        "Burada yaşamak istemiyorum",
        "What is violent crime compensation?",
        "The stress will kill me before the deadline",
        "Whom do I have to talk to about my pension?",
        "Can a person from abroad buy land?",
    ],
)
def test_it_finds_nothing_in_plain_questions(text: str) -> None:
    assert risk.find(text) == []


def test_it_flags_no_demo_question() -> None:
    with DEMO.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    assert [text for text in texts if risk.find(text)] == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_it_points_at_the_words_as_sent(before: str, after: str) -> None:
    text = f"{before} . kill myself . {after}"
    found = {item.code: item for item in risk.find(text)}["self_harm"]
    assert 0 <= found.start < found.end <= len(text)
    assert "self_harm" in {item.code for item in risk.find(text[found.start : found.end])}


def flagged(*codes: str, source: risk.Source = "rule") -> list[Risk]:
    return [Risk(code, 0, 1, source) for code in codes]


def test_a_weak_flag_holds_nothing_where_it_shows_help_lines() -> None:
    shows = Label("risk_flags", "a", "A", "Call now.", effect="escalate")
    mute = Label("risk_flags", "b", "B", effect="escalate")
    asks = Label("risk_flags", "c", "C", "For a person.", effect="hold")
    labels = {label.code: label for label in (shows, mute, asks)}
    weak = flagged("a", "b", "c", "new", source="hint")
    assert [found.code for found in risk.shown(weak, labels)] == ["a"]
    assert len(risk.holds(weak, labels)) == 3
    assert risk.holds(weak[:1], labels) == []
    assert risk.shown(flagged("a"), labels) == []
    assert len(risk.holds([*weak[:1], *flagged("a")], labels)) == 1


def test_it_holds_by_the_labels_effect() -> None:
    labels = {
        "a": Label("risk_flags", "a", "A", effect="none"),
        "b": Label("risk_flags", "b", "B", effect="hold"),
        "c": Label("risk_flags", "c", "C", "Call now.", effect="escalate"),
    }
    assert risk.holds(flagged("a"), labels) == []
    assert [finding.code for finding in risk.holds(flagged("a", "b", "c"), labels)] == [
        Code.POLICY_RISK,
        Code.POLICY_RISK,
    ]
    release = Release(1, "0" * 64, {}, {}, {}, {"risk_flags": labels})
    assert risk.contacts(["a", "b", "c"], release) == (risk.Contact("Call now."),)


def test_it_shows_help_in_the_citizens_language_where_there_is_any() -> None:
    labels = {code: Label("risk_flags", code, code, "Call.", effect="escalate") for code in "ab"}
    labels["c"] = Label("risk_flags", "c", "C", "Nothing to show.", effect="hold")
    lines = (
        HelpLine("fr", "a", "Appelez."),
        HelpLine("de", "a", "Anrufen."),
        HelpLine("fr", "c", "Rien."),
    )
    release = Release(1, "0" * 64, {}, {}, {}, labels={"risk_flags": labels}, help_lines=lines)
    assert risk.contacts(["a", "b", "c"], release, ["fr"]) == (
        risk.Contact("Appelez.", "fr"),
        risk.Contact("Call."),
    )
    assert risk.contacts(["a"], release, ["it"]) == (risk.Contact("Call."),)


def test_it_holds_for_a_flag_that_the_labels_do_not_know() -> None:
    assert len(risk.holds(flagged("new_flag"), {})) == 1


@pytest.mark.parametrize("flag", ["self_harm", "violence"])
def test_it_knows_the_gravest_flags_in_every_language(flag: str) -> None:
    content = yaml.safe_load(risk_file().read_text(encoding="utf-8"))
    assert set(content[flag]) == {
        *("en", "de", "fr", "es", "it", "pl", "tr", "uk", "ar", "zh", "fil"),
    }


def test_it_finds_each_of_its_phrases_inside_a_sentence() -> None:
    sentences = [(code, f"Hello, {phrase}") for code, phrase in risk._phrases()]
    assert len(sentences) > 500
    assert [
        sentence
        for code, sentence in sentences
        if code not in {found.code for found in risk.find(sentence)}
    ] == []


def test_it_has_no_phrase_twice() -> None:
    listed = risk._phrases()
    assert len(set(listed)) == len(listed)


def test_it_has_a_default_label_for_every_flag() -> None:
    codes = {code for code, _ in risk._phrases()}
    assert codes <= set(LABELS)
    release = Release(1, "0" * 64, {}, {}, {}, {"risk_flags": LABELS})
    assert risk.contacts(["self_harm"], release)


def test_it_has_as_many_phrases_in_filipino_as_in_english_for_danger() -> None:
    # The embedder does not read Filipino: nothing else sees it there.
    content = yaml.safe_load(risk_file().read_text(encoding="utf-8"))
    assert {flag for flag in content if "fil" not in content[flag]} == set()
    for flag in ("self_harm", "violence", "minor_at_risk", "medical_emergency"):
        assert len(content[flag]["fil"]) >= len(content[flag]["en"])
