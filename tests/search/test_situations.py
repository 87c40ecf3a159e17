"""Situations: after a death, with somebody ill; told by meaning, in other words and languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ieim import knowledge
from ieim.search.embedders import EmbeddedEmbedder
from ieim.search.situations import Situations

QUESTIONS = Path(knowledge.__file__).parent / "demo" / "golden.jsonl"


@pytest.fixture(scope="module")
def embedder() -> EmbeddedEmbedder:
    return EmbeddedEmbedder()


@pytest.fixture(scope="module")
def situations(embedder: EmbeddedEmbedder) -> Situations:
    return Situations(embedder.queries)


@pytest.mark.parametrize(
    ("text", "situation"),
    [
        ("my dad passed away", "condolence"),
        ("my mum died last night, what do I have to do", "condolence"),
        ("mein Mann ist gestorben", "condolence"),
        ("mon père est décédé hier", "condolence"),
        ("我丈夫去世了", "condolence"),
        ("my child is sick and I cannot work", "worry"),
        ("mein Kind ist krank und ich kann nicht arbeiten", "worry"),
        ("mi hijo está muy enfermo", "worry"),
        ("How do I order a death certificate?", ""),
        ("my daughter wants a passport", ""),
        ("I'm ill, how long do I get sick pay?", ""),
        ("my dog died", ""),
        ("We had a baby.", ""),
        ("my cousin just gave birth to twins", ""),
        ("wir haben einen Sohn bekommen", ""),
        ("we lost our baby last week", "condolence"),
    ],
)
def test_the_nearest_example_decides(
    embedder: EmbeddedEmbedder, situations: Situations, text: str, situation: str
) -> None:
    assert situations.of(embedder.queries([text])) == situation


def test_ordinary_questions_are_in_none(embedder: EmbeddedEmbedder, situations: Situations) -> None:
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    seen = [text for text in texts if situations.of(embedder.queries([text]))]
    assert all("died" in text for text in seen)
