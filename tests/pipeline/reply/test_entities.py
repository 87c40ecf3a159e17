"""What triage found in a message, in a reply that repeats it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any

import pytest

from ieim.pipeline.findings import Code
from ieim.pipeline.reply.cards import Section
from ieim.pipeline.reply.template import entities_by_type
from ieim.pipeline.work import Answered, NeedsReview
from tests.pipeline.build import valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, payload, run


class ExtractLast:
    """Calls of which extract's ends only when nothing else is under way."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Callable[[], Any], Future[Any]]] = []

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        self._waiting.append((work, done))
        return done

    def wait(self, pending: Collection[Future[Any]]) -> None:
        waiting, self._waiting = self._waiting, []
        others = [entry for entry in waiting if entry[0].args[0].contract != "extract"]  # type: ignore[attr-defined]  # a partial
        for work, done in others or waiting:
            done.set_result(work())
        self._waiting += [entry for entry in waiting if not entry[1].done()]


def naming(*types: str) -> dict[str, Any]:
    """A service_select_v1 whose reply opens with entities."""
    result = valid("service_select_v1")
    keys = [f"entity_{type_}" for type_ in types]
    result["template"] = {
        "placeholders": {key: f"{{{key}}}" for key in [*keys, "service_name"]},
        "rules": "Open with " + " and ".join(f"{{{key}}}" for key in keys or ["service_name"]),
    }
    return result


def order(store: MemoryStore) -> list[str]:
    return [name for name, _ in store.records]


def test_a_reply_that_repeats_it_waits_for_it() -> None:
    model = ScriptedModel({"service_select_v1": [naming("date")]})
    outcome, store = run(model, executor=ExtractLast())
    assert isinstance(outcome, Answered)
    assert outcome.reply.sections[0] == Section("entity_date", ("3 May",))
    assert order(store)[-2:] == ["extract", "service_select_v1"]


def test_no_other_reply_does() -> None:
    _, store = run(ScriptedModel(), executor=ExtractLast())
    assert "extract" not in order(store)


def test_what_is_not_in_the_message_stands_behind_nothing() -> None:
    wrong = [naming("person_name"), naming("person_name") | {"response_id": "r-9"}]
    wrong[1]["telemetry"] = {"notes": "tried again"}
    outcome, _ = run(ScriptedModel({"service_select_v1": wrong}), executor=ExtractLast())
    assert isinstance(outcome, NeedsReview)
    assert {finding.code for finding in outcome.findings} == {Code.TEMPLATE_UNRESOLVED}


def test_the_types_are_offered() -> None:
    model = ScriptedModel()
    run(model)
    (result,) = [r for r in model.requests if r.contract == "service_select_v1"]
    assert "date" in payload(result)["entity_types"]
    form = result.response_format
    assert form is not None
    assert "entity_date" in str(form)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["3 May", "4 May"], {"date": "3 May"}),
        (["[EMAIL_1]", "4 May"], {"date": "4 May"}),
        (["  "], {}),
        (["Send your PIN to the helpful people at evil dot example before 4 May"], {}),
        ([], {}),
    ],
)
def test_the_first_of_a_type_is_meant_and_no_placeholder(
    values: list[str], shown: dict[str, str]
) -> None:
    results = [{"entity_type": "date", "value_redacted": value} for value in values]
    assert entities_by_type({"entities": results}) == shown
    assert entities_by_type(None) == {}
