"""With a competent model right answers go out, and what is held is held for a reason."""

from __future__ import annotations

import pytest

from ieim.knowledge import vectors
from tests.competent.model import CompetentModel, quotes
from tests.competent.playing import conversations, play, prepare
from tests.embedders import embedded
from tests.model_server import client_of, served

RIGHT = 57
"""Of sixty conversations."""


@pytest.mark.whole
def test_nearly_all_conversations_end_as_a_clerk_would_want(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "configured_embedder", embedded)
    prepare()
    competent = CompetentModel()
    with served(competent.answer) as base_url:
        model = client_of(base_url)
        played = [list(play(conversation, competent, model)) for conversation in conversations()]
    wrong = [str(entry) for talk in played for entry in talk if not entry.right]
    print("\n".join(wrong))
    results = [str(entry) for talk in played for entry in talk if entry.held_though_right]
    right = sum(all(entry.right for entry in talk) for talk in played)
    assert len(played) == 60
    assert results == []
    assert right >= RIGHT, "\n".join(wrong)


def test_the_script_quotes_what_the_message_says() -> None:
    messages = [message for conversation in conversations() for message in conversation["turns"]]
    assert [q for message in messages for q in quotes(message) if q not in message["says"]] == []
