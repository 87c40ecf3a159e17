"""Personal data stays here: what a model is sent, what staff see, and the way back between them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from conversations.models import Attempt, EvidenceSpan, Stage, Turn
from conversations.turns import moves, running
from ieim.llm.offline import OfflineModel
from ieim.pipeline.personal.keys import compile_patterns
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from review.models import ReviewItem
from tests.fixtures import Ask

MAIL = "jane.doe@example.org"
IBAN = "DE89 3704 0044 0532 0130 00"
TEXT = f"I want to extend my tourist visa. Write to {MAIL} or pay back to {IBAN}, case TX-481516."


class Listening:
    """The offline engine, and everything that it was sent."""

    name = "listening"
    reads = False

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.said: dict[str, str] = {}

    @classmethod
    def for_a_person(cls) -> Listening:
        """One that stops the turn: keys are looked for where a person will read them."""
        model = cls()
        model.said["service_select_v1"] = "no json"
        return model

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.sent += [message.content for message in request.messages]
        if request.contract in self.said:
            return ModelAnswer(self.said[request.contract])
        return OfflineModel().complete(request, deadline=deadline)


def keys(*values: tuple[str, str, str]) -> str:
    results = [{"key_type": t, "key_value": v, "evidence_snippets": [q]} for t, v, q in values]
    return json.dumps({"keys": results})


def keys_of(turn: Turn) -> list[dict[str, Any]]:
    result = Stage.objects.get(turn=turn, contract="identity_assist").result
    assert result is not None
    results: list[dict[str, Any]] = result["keys"]
    return results


def test_it_sends_no_model_what_it_takes_for_personal_data(ask: Ask) -> None:
    model = Listening()
    ask(TEXT, secret="a", model=model)
    ask("and how much does it cost?", secret="a", model=model)
    everything = "\n".join(model.sent)
    assert "[EMAIL_1]" in everything
    assert MAIL not in everything
    assert "3704" not in everything
    stored = "\n".join(attempt.asked_text for attempt in Attempt.objects.all())
    assert "[EMAIL_1]" in stored
    assert MAIL not in stored


def test_it_maps_quotes_of_placeholders_back_to_what_the_citizen_wrote(ask: Ask) -> None:
    model = Listening.for_a_person()
    model.said["identity_assist"] = keys(("email", "[EMAIL_1]", "Write to [EMAIL_1]"))
    turn = ask(TEXT, model=model)
    span = EvidenceSpan.objects.get(stage__contract="identity_assist")
    assert TEXT[span.start : span.end] == f"Write to {MAIL}"
    (key,) = keys_of(turn)
    assert (key["key_value"], key["status"]) == (MAIL, "valid")


def test_it_shows_keys_that_hold_and_keys_that_do_not(ask: Ask, settings: Settings) -> None:
    patterns = compile_patterns({"case_reference": ["[A-Z]{2}-[0-9]{6}"]})
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "KEY_PATTERNS": patterns}
    model = Listening.for_a_person()
    model.said["identity_assist"] = keys(
        ("iban", "[IBAN_1]", "[IBAN_1]"),
        ("case_reference", "TX-481516", "TX-481516"),
        ("property_number", "TX-481516", "TX-481516"),
        ("email", "TX-481516", "TX-481516"),
    )
    statuses = [(key["key_type"], key["status"]) for key in keys_of(ask(TEXT, model=model))]
    assert statuses == [
        ("iban", "valid"),
        ("case_reference", "valid"),
        ("property_number", "unverified"),
        ("email", "invalid"),
    ]


def test_it_stops_a_quote_of_what_the_model_was_not_given(ask: Ask) -> None:
    model = Listening.for_a_person()
    model.said["identity_assist"] = keys(("email", MAIL, MAIL))
    ask(TEXT, model=model)
    item = ReviewItem.objects.get(stage="identity_assist")
    assert item.reasons == ["evidence.not_found"]


def test_it_shows_no_citizen_a_placeholder(ask: Ask) -> None:
    model = Listening()
    fields = {
        "judgements": {"inquiry": False},
        "assistantReply": "We will write to [EMAIL_1].",
        "nextStep": "session_end",
    }
    plain = json.loads(OfflineModel().complete(_judgement(ask), deadline=1).raw)
    model.said["judgement_v1"] = json.dumps({**plain, **fields})
    turn = ask("hello, I am at jane.doe@example.org", model=model)
    assert turn.state == "answered"
    assert "EMAIL" not in str(turn.reply.body)


def _judgement(ask: Ask) -> ModelRequest:
    """Return a request for judgement_v1, as the runner makes it, for what is no inquiry."""
    records: list[ModelRequest] = []

    class Catching:
        name = "catching"
        reads = False

        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            if request.contract == "judgement_v1":
                records.append(request)
            return OfflineModel().complete(request, deadline=deadline)

    ask("hello", model=Catching())
    return records[0]


def test_it_asks_no_model_when_redaction_fails(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ieim.pipeline.runner.prepare", broken)
    model = Listening()
    turn = ask(TEXT, model=model)
    for _ in range(moves.MAX_RUNS):
        running.run_turn(turn_id=turn.pk, model=model)
    turn.refresh_from_db()
    assert model.sent == []
    assert turn.state == "needs_review"
    assert ReviewItem.objects.get().reasons == ["pipeline.error"]
