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

DEMO = settings.BASE_DIR / "ieim" / "knowledge" / "demo" / "golden.jsonl"
TEXTS = yaml.safe_load(Path(__file__).with_name("risk.yaml").read_text(encoding="utf-8"))
FOUND = [(codes, text) for codes, texts in TEXTS["found"].items() for text in texts]
LABELS = {label.code: label for label in default_labels() if label.set == "risk_flags"}


def risk_file() -> Path:
    return Path(risk.__file__).with_name("risk_phrases.yaml")


@pytest.mark.parametrize(("codes", "text"), FOUND)
def test_it_finds_what_people_say(codes: str, text: str) -> None:
    assert "+".join(sorted(entry.code for entry in risk.find(text))) == codes


@pytest.mark.parametrize("text", TEXTS["nothing"])
def test_it_finds_nothing_in_ordinary_questions(text: str) -> None:
    assert risk.find(text) == []


def test_a_wish_for_a_person_points_at_the_words_as_sent() -> None:
    text = "Bonjour. Je veux parler, s’il vous plaît, à quelqu’un. Merci"
    (hit,) = risk.find(text)
    assert text[hit.start : hit.end] == "Je veux parler, s’il vous plaît, à quelqu’un"


@pytest.mark.parametrize("piece", ["please ", "i want ", "mit jemandem ", "parler a ", "想和"])
def test_a_long_message_asks_for_no_person_by_repeating_a_piece(piece: str) -> None:
    assert risk.person_wanted((piece * 400)[:2000]) is None


def test_it_flags_no_demo_question() -> None:
    with DEMO.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    assert [text for text in texts if risk.find(text)] == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_it_points_at_the_words_as_sent(before: str, after: str) -> None:
    text = f"{before} . kill myself . {after}"
    flag = {item.code: item for item in risk.find(text)}["self_harm"]
    assert 0 <= flag.start < flag.end <= len(text)
    assert "self_harm" in {item.code for item in risk.find(text[flag.start : flag.end])}


def flagged(*codes: str, source: risk.Source = "rule") -> list[Risk]:
    return [Risk(code, 0, 1, source) for code in codes]


def test_a_weak_flag_holds_nothing_where_it_shows_help_lines() -> None:
    shows = Label("risk_flags", "a", "A", "Call now.", effect="escalate")
    mute = Label("risk_flags", "b", "B", effect="escalate")
    asks = Label("risk_flags", "c", "C", "For a person.", effect="hold")
    labels = {label.code: label for label in (shows, mute, asks)}
    weak = flagged("a", "b", "c", "new", source="hint")
    assert [entry.code for entry in risk.shown(weak, labels)] == ["a"]
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
    assert len(set(sentences)) == len(sentences) > 500
    assert [
        sentence
        for code, sentence in sentences
        if code not in {entry.code for entry in risk.find(sentence)}
    ] == []


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
