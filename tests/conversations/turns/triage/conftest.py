"""An embedder without a model that knows who feels unneeded, surely or only a little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ieim.knowledge import crisis, vectors
from ieim.search import examples, letters
from ieim.search.embedders import CheckedEmbedder
from ieim.search.letters import Letters
from tests.embedders import Feelings
from tests.knowledge.test_crisis import few

SILENT = Letters(
    codes=("self_harm",),
    weights=np.zeros((letters.PLACES, 1), dtype=np.float32),
    shift=np.zeros(1),
    rarity=np.zeros(letters.PLACES, dtype=np.float32),
    threshold=9.0,
)
"""Letters that say nothing: the few examples here are told apart by single words."""


@pytest.fixture
def feelings(monkeypatch: pytest.MonkeyPatch, published: None) -> Feelings:
    """The embedder of this process; its release ranks by words, its crises are taught."""
    feelings = Feelings()
    careful = CheckedEmbedder(feelings, clock=lambda: 0.0)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: careful)
    monkeypatch.setattr(crisis, "_current", {})
    monkeypatch.setattr(crisis, "_tried", {})
    monkeypatch.setattr(examples, "crisis", few)
    monkeypatch.setattr(letters, "shipped", lambda: SILENT)
    monkeypatch.setattr(crisis, "DEADLINE", 60.0)
    crisis.prepare(trains=True)
    return feelings


@pytest.fixture
def unsure(feelings: Feelings) -> Feelings:
    """The same, with nothing in it that is sure enough to hold an answer."""
    for embedder, current in crisis._current.items():
        model = replace(current.model, strong=9.0)
        crisis._current[embedder] = current._replace(model=model)
    return feelings
