"""What a message is: what the examples teach, and that the shipped weights are theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ieim.pipeline.ports import Matrix
from ieim.search import kinds
from ieim.search.embedders import EmbeddedEmbedder
from ieim.search.kinds import Kinds

LANGUAGES = {"en", "de", "es", "fr", "zh", "ar", "fil"}


@pytest.fixture(scope="module")
def embedder() -> EmbeddedEmbedder:
    return EmbeddedEmbedder()


def told(embedder: EmbeddedEmbedder, text: str) -> dict[str, float]:
    return kinds.shipped().of(embedder.queries([text])[0])


def by_kind(texts: Sequence[str]) -> Matrix:
    """Return a vector for each example: that of its kind, a little blurred."""
    names = list(kinds.examples())
    of = {
        text: kind for kind, by in kinds.examples().items() for line in by.values() for text in line
    }
    rows = np.random.default_rng(1).normal(0, 0.1, (len(texts), 16)).astype(np.float32)
    for row, text in zip(rows, texts, strict=True):
        if text in of:  # else a question that teaches fields
            row[names.index(of[text])] += 1
    vectors: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return vectors


def test_the_shipped_weights_are_of_these_examples() -> None:
    shipped = kinds.shipped()
    assert shipped.examples == kinds.examples_digest(), "run python -m ieim.search.kinds"
    assert shipped.embedder == EmbeddedEmbedder().id
    assert kinds.SHIPPED.stat().st_size < 60_000


def test_every_kind_has_examples_in_every_language_and_none_has_two_kinds() -> None:
    texts = [
        (kinds._folded(text), kind)
        for kind, by in kinds.examples().items()
        for line in by.values()
        for text in line
    ]
    assert all(set(by) == LANGUAGES for by in kinds.examples().values())
    assert all(text for text, _ in texts)
    assert len({text for text, _ in texts}) == len(set(texts))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("my neighbour put up a fence two metres into our garden", "inquiry"),
        ("which documents do I have to bring along?", "inquiry"),
        ("I was told that my application needs another signature", "inquiry"),
        ("no, I was asking about the residence permit", "correction"),
        ("Nein, ich wollte etwas anderes wissen", "correction"),
        ("thank you, you have been very helpful", "thanks"),
        ("tell me a joke about cats", "off_topic"),
        ("who made this chatbot", "about_assistant"),
        ("Wann haben Sie am Freitag geöffnet?", "about_office"),
        ("could you give me your telephone number", "about_office"),
        ("I would like to talk to a real human being", "wants_person"),
        ("je voudrais parler avec un humain", "wants_person"),
        ("can you please help me somehow", "unclear"),
        ("you are a stupid machine", "abuse"),
    ],
)
def test_it_tells_what_a_message_is(embedder: EmbeddedEmbedder, text: str, kind: str) -> None:
    probabilities = told(embedder, text)
    best = max(probabilities, key=lambda name: probabilities[name])
    assert ("inquiry" if best in ("follow_up", "next") else best) == kind
    assert sum(probabilities.values()) == pytest.approx(1)


def test_an_example_word_for_word_needs_no_vector(embedder: EmbeddedEmbedder) -> None:
    for text in ("Help", "  HELP!! ", "???"):
        assert kinds.kind_of_words(text) == "unclear"
    assert kinds.kind_of_words("") is None
    assert kinds.kind_of_words("help with my passport") is None
    vector = embedder.queries(["a passport for my son"])[0]
    probabilities = kinds.shipped().of(vector, "Give me a phone number.")
    assert probabilities["about_office"] == pytest.approx(0.99)
    assert sum(probabilities.values()) == pytest.approx(1)


def test_it_is_trained_for_any_embedder() -> None:
    model = Kinds.from_bytes(kinds.train(by_kind, "other").to_bytes())
    assert (model.embedder, model.weights.shape) == ("other", (17, len(kinds.examples())))
    for place, name in enumerate(kinds.examples()):
        vector = np.eye(16, dtype=np.float32)[place]
        assert model.of(vector)[name] > 0.9
